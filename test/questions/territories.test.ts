import { readdirSync, readFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { guildId, place } from '../support/guild-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { instantOf, worldOf } from '../support/world.ts'

const [a, b] = ['a', 'b'].map(guildId)
const at = (time: string) => `timestamptz '2026-06-01T${time}Z'`

describe.each(kindsOfLongTests)('questions about territories on the %s database', (kind) => {
  const world = worldOf(kind)

  // Oak: a from 08:00, b from 10:10, b again from 10:20, nobody from 10:40, a from 10:50.
  // Elm: b from 09:00, gone from the map from 10:30. Ash: nobody, then a from 10:20.
  const ore = (stored: number) => ({
    resources: [{ type: 'ORE', generation: 60, stored, limit: 100 }],
    treasury: 'LOW',
  })
  const diary: readonly (readonly [string, object])[] = [
    ['10:00', { Oak: place('a', '08:00', ore(10)), Elm: place('b', '09:00'), Ash: place(null, null) }],
    ['10:11', { Oak: place('b', '10:10', ore(20)), Elm: place('b', '09:00'), Ash: place(null, null) }],
    ['10:21', { Oak: place('b', '10:20', ore(20)), Elm: place('b', '09:00'), Ash: place('a', '10:20') }],
    ['10:30', { Oak: place('b', '10:20', { ...ore(30), defences: 'HIGH', hq: true }), Ash: place('a', '10:20') }],
    ['10:40', { Oak: place(null, null, ore(30)), Ash: place('a', '10:20') }],
    ['11:00', { Oak: place('a', '10:50', ore(5)), Ash: place('a', '10:20') }],
  ]
  beforeEach(async () => {
    for (const [when, body] of diary) await world.sync(territories, body, when)
  })

  test.each([
    ['07:59:59', []],
    ['08:00', [['Oak', a, 'Guild a', 'aaa', '08:00', '10:10']]],
    ['10:09:59', [['Oak', a, 'Guild a', 'aaa', '08:00', '10:10']]],
    ['10:10', [['Oak', b, 'Guild b', 'bbb', '10:10', '10:20']]],
    ['10:39:59', [['Oak', b, 'Guild b', 'bbb', '10:20', '10:40']]],
    ['10:40', []],
    ['10:50', [['Oak', a, 'Guild a', 'aaa', '10:50', null]]],
    ['23:00', [['Oak', a, 'Guild a', 'aaa', '10:50', null]]],
  ])('1: who held it at %s', async (when, expected) => {
    expect(
      await world.rows(
        `select territory, guild_uuid, guild_name, guild_prefix, held_from, held_until from analytics.territory_owner_at('Oak', ${at(when)})`,
      ),
    ).toEqual(expected)
  })

  test('1, 4: who held a place while nobody looked is unknown, unless the same hold was found after', async () => {
    const every = {
      resource: 'territories',
      everySeconds: 600,
      setBy: 'start',
      at: new Date(instantOf('10:00')),
    } as const
    await setExpectedInterval(world.db, every)
    await world.sync(territories, { Oak: place('b', '12:30'), Ash: place('a', '10:20') }, '13:00')
    await world.sync(territories, { Oak: place('b', '12:30'), Ash: place('a', '10:20') }, '13:10')
    const owner = async (name: string, when: string) =>
      await world.rows(
        `select guild_name, held_from, held_until, confirmed_until, reason from analytics.territory_owner_at('${name}', ${at(when)})`,
      )
    // The response of 11:00 speaks until the next one was due.
    for (const when of ['11:00', '11:09:59'])
      expect(await owner('Oak', when)).toEqual([['Guild a', '10:50', '12:30', '11:00', null]])
    for (const when of ['11:10', '12:29:59'])
      expect(await owner('Oak', when)).toEqual([[null, null, null, '11:00', 'not observed']])
    expect(await owner('Oak', '12:30')).toEqual([['Guild b', '12:30', null, '13:10', null]])
    expect(await owner('Ash', '12:00')).toEqual([['Guild a', '10:20', null, '13:10', null]])
    // Nobody has looked since.
    for (const name of ['Oak', 'Ash']) {
      expect((await owner(name, '13:10'))[0]?.[4]).toBe(null)
      expect(await owner(name, '15:00')).toEqual([[null, null, null, '13:10', 'not observed']])
    }
    const map = async (when: string) =>
      await world.rows(`select territory, guild_name, held_from, reason from analytics.map_at(${at(when)})`)
    expect(await map('12:00')).toEqual([
      ['Ash', 'Guild a', '10:20', null],
      ['Oak', null, null, 'not observed'],
    ])
    expect((await map('15:00')).map(([, guild, , reason]) => [guild, reason])).toEqual([
      [null, 'not observed'],
      [null, 'not observed'],
    ])
    expect(
      await world.rows(`select territory, held_from, held_until, held_for::text, confirmed_until, confirmed_for::text
                          from analytics.territory_hold where held_from >= ${at('10:20')} order by 1, 2`),
    ).toEqual([
      ['Ash', '10:20', null, '02:50:00', '13:10', '02:50:00'],
      ['Oak', '10:20', '10:40', '00:20:00', '10:30', '00:10:00'],
      ['Oak', '10:50', '12:30', '01:40:00', '11:00', '00:10:00'],
      ['Oak', '12:30', null, '00:40:00', '13:10', '00:40:00'],
    ])
  })

  test('1: nobody holds a place that is unknown or was taken off the map', async () => {
    for (const name of ['Nowhere', 'oak', 'Elm'])
      expect(await world.rows(`select * from analytics.territory_owner_at('${name}', ${at('10:30')})`)).toEqual([])
  })

  test('2: every hold with its length; a current one is as long as answers tell', async () => {
    expect(
      await world.rows(
        `select territory, guild_uuid, guild_name, guild_prefix, held_from, held_until, held_for::text, is_current
           from analytics.territory_hold order by territory, held_from`,
      ),
    ).toEqual([
      ['Ash', a, 'Guild a', 'aaa', '10:20', null, '00:40:00', true],
      ['Elm', b, 'Guild b', 'bbb', '09:00', '10:30', '01:30:00', false],
      ['Oak', a, 'Guild a', 'aaa', '08:00', '10:10', '02:10:00', false],
      ['Oak', b, 'Guild b', 'bbb', '10:10', '10:20', '00:10:00', false],
      ['Oak', b, 'Guild b', 'bbb', '10:20', '10:40', '00:20:00', false],
      ['Oak', a, 'Guild a', 'aaa', '10:50', null, '00:10:00', true],
    ])
  })

  test('2: the holds between any two instants are those that lasted at one of them', async () => {
    const wrong = await world.rows(
      `with instant as (
         select held_from as at from analytics.territory_hold union select held_until from analytics.territory_hold
         union select held_from - interval '1 second' from analytics.territory_hold union select ${at('23:00')})
       select since.at, until.at, row.*
         from instant since join instant until on since.at < until.at
        cross join lateral (
          (select 'not there', territory, held_from from analytics.territory_hold
            where held_from < until.at and (held_until > since.at or held_until is null)
           except all select 'not there', territory, held_from from analytics.territory_held_between(since.at, until.at))
          union all
          (select 'not true', territory, held_from from analytics.territory_held_between(since.at, until.at)
           except all select 'not true', territory, held_from from analytics.territory_hold
            where held_from < until.at and (held_until > since.at or held_until is null))) row`,
    )
    expect(wrong).toEqual([])
    expect(
      await world.rows(`select * from analytics.territory_held_between(${at('10:10')}, ${at('10:11')}) order by 1`),
    ).toEqual([
      ['Elm', b, 'Guild b', 'bbb', '09:00', '10:30'],
      ['Oak', b, 'Guild b', 'bbb', '10:10', '10:20'],
    ])
  })

  test('2: who ever held something is listed once, as last seen', async () => {
    await world.sync(
      territories,
      { Oak: place('a', '11:30', { guild: { uuid: a, name: 'Renamed', prefix: 'new' } }) },
      '11:31',
    )
    expect(await world.rows(`select * from analytics.territory_holder order by held_from`)).toEqual([
      [b, 'Guild b', 'bbb', '10:20'],
      [a, 'Renamed', 'new', '11:30'],
    ])
  })

  test('3: every capture, from whom, and whether it was taken again', async () => {
    expect(
      await world.rows(
        `select captured_at, observed_at, territory, from_guild_uuid, from_guild_name, to_guild_uuid, to_guild_name, is_recapture
           from analytics.territory_capture order by captured_at, territory`,
      ),
    ).toEqual([
      ['10:10', '10:11', 'Oak', a, 'Guild a', b, 'Guild b', false],
      ['10:20', '10:21', 'Ash', null, null, a, 'Guild a', false],
      ['10:20', '10:21', 'Oak', b, 'Guild b', b, 'Guild b', true],
      ['10:50', '11:00', 'Oak', null, null, a, 'Guild a', false],
    ])
  })

  test('3: captures of holds from before there was a table of them are what would have been written down', async () => {
    const written = await world.rows('select * from game.territory_capture order by captured_at, territory')
    expect(written).toHaveLength(4)
    const scripts = readdirSync('migrations').filter((name) => name.endsWith('.sql'))
    const statements = scripts.flatMap((name) =>
      readFileSync(`migrations/${name}`, 'utf8').split('--> statement-breakpoint'),
    )
    const filling = statements.filter((one) => one.includes('INSERT INTO "game"."territory_capture"'))
    await world.db.query('delete from game.territory_capture')
    for (const statement of filling) await world.db.query(statement)
    expect(await world.rows('select * from game.territory_capture order by captured_at, territory')).toEqual(written)
  })

  test('3: who takes from whom in an interval that holds its beginning and not its end', async () => {
    const matrix = (from: string, to: string) =>
      world.rows(`select attacker, defender, captures from analytics.capture_matrix(${at(from)}, ${at(to)})`)
    expect(await matrix('10:10', '10:20')).toEqual([['Guild b', 'Guild a', 1]])
    expect(await matrix('10:20', '11:00')).toEqual([
      ['Guild a', null, 2],
      ['Guild b', 'Guild b', 1],
    ])
    expect(await matrix('11:00', '12:00')).toEqual([])
  })

  test('3: who takes from whom while hardly anybody looked says so', async () => {
    const shares = (from: string, to: string) =>
      world.rows(
        `select attacker, captures, round(coverage::numeric, 3)::text from analytics.capture_matrix(${at(from)}, ${at(to)})`,
      )
    // Without a schedule nobody knows how many responses there should be.
    expect(await shares('10:05', '10:15')).toEqual([['Guild b', 1, null]])
    await setExpectedInterval(world.db, {
      resource: 'territories',
      everySeconds: 600,
      setBy: 'start',
      at: new Date(instantOf('10:00')),
    })
    await world.sync(territories, { Oak: place('b', '12:30'), Ash: place('a', '10:20') }, '13:00')
    // The response of 10:50 did not come.
    expect(await shares('10:30', '11:00')).toEqual([['Guild a', 1, '0.667']])
    // Of two hours the first ten minutes: the response of 11:00 speaks until the next one was due.
    expect(await shares('11:00', '13:00')).toEqual([['Guild b', 1, '0.083']])
    expect(await shares('12:00', '13:00')).toEqual([['Guild b', 1, '0.000']])
  })

  test('4: the map at a moment, with the places that nobody holds', async () => {
    expect(
      await world.rows(
        `select territory, guild_uuid, guild_name, guild_prefix, held_from from analytics.map_at(${at('10:10')})`,
      ),
    ).toEqual([
      ['Ash', null, null, null, '10:00'],
      ['Elm', b, 'Guild b', 'bbb', '09:00'],
      ['Oak', b, 'Guild b', 'bbb', '10:10'],
    ])
    expect(await world.rows(`select territory, guild_name from analytics.map_at(${at('10:45')})`)).toEqual([
      ['Ash', 'Guild a'],
      ['Oak', null],
    ])
  })

  test('4: how many each guild held at every step', async () => {
    expect(
      await world.rows(
        `select at, guild_uuid, guild_name, territories
           from analytics.guild_territory_count(${at('10:00')}, ${at('11:00')}, interval '20 minutes')`,
      ),
    ).toEqual([
      ['10:00', a, 'Guild a', 1],
      ['10:00', b, 'Guild b', 1],
      ['10:20', b, 'Guild b', 2],
      ['10:20', a, 'Guild a', 1],
      ['10:40', a, 'Guild a', 1],
    ])
  })

  test('6: what a guild had in its territories while it held them', async () => {
    const economy = (guild = '', from = '', to = '') =>
      world.rows(
        `select at, territory, resource, stored, storage_limit, generation, treasury, defences, is_hq
           from analytics.territory_economy('${guild}', ${at(from)}, ${at(to)})`,
      )
    expect(await economy(b, '10:00', '12:00')).toEqual([
      ['10:11', 'Oak', 'ORE', 20, 100, 60, 'LOW', null, null],
      ['10:30', 'Oak', 'ORE', 30, 100, 60, 'LOW', 'HIGH', true],
    ])
    expect(await economy(b, '10:12', '10:30')).toEqual([])
    expect(await economy(a, '10:00', '12:00')).toEqual([
      ['10:00', 'Oak', 'ORE', 10, 100, 60, 'LOW', null, null],
      ['11:00', 'Oak', 'ORE', 5, 100, 60, 'LOW', null, null],
    ])
  })

  test('now: every place on the map and who holds it', async () => {
    expect(
      await world.rows(
        `select territory, guild_uuid, guild_name, guild_prefix, held_from, is_hq, treasury, defences, observed_at
           from analytics.territory order by 1`,
      ),
    ).toEqual([
      ['Ash', a, 'Guild a', 'aaa', '10:20', null, null, null, '11:00'],
      ['Oak', a, 'Guild a', 'aaa', '10:50', null, 'LOW', null, '11:00'],
    ])
  })
})
