import { describe, expect, test } from 'vitest'
import { type Question, readQuestions } from '../../src/questions/questions.ts'
import { resources } from '../../src/resources/index.ts'
import { itemSets } from '../../src/resources/item-sets/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { compactCoverage } from '../../src/sync/coverage/coverage.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { guildBody, guildId, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { onlineBody, profile, syncOnline, syncPlayer } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { wrongRows } from '../support/verified.ts'
import { instantOf, item, worldOf } from '../support/world.ts'

const day = ["'2026-06-01 00:00Z'", "'2026-06-02 00:00Z'"]
const odd = ["'2026-06-01 10:10Z'", "'2026-06-01 11:50Z'"]

/** Calls of a question with arguments, where it takes some: over whole hours, and over an interval that cuts hours. */
function callsOf({ name, kind, parameters }: Question): string[] {
  if (kind === 'view') return [name]
  return [day, odd].flatMap((interval) => {
    const among = ['items', 'territories', 'online-players', 'guilds', 'players']
    const named = parameters.some((one) => one.name === 'resource') ? among : ['']
    return named.map((resource) => {
      const args = parameters.map((parameter) => {
        if (parameter.name === 'from_time') return interval[0]
        if (parameter.name === 'to_time' || parameter.name === 'at') return interval[1]
        return (
          {
            resource: `'${resource}'`,
            guild: `'${guildId('a')}'`,
            player: `'${playerId(1)}'`,
            territory: "'Oak'",
            counter: "'contributed'",
            kind: "'member'",
            entity: `'${guildId('a')}/${playerId(1)}'`,
            entity_name: `'${guildId('a')}/${playerId(1)}'`,
            value: '1',
            n: '5',
            is_since_joining: 'true',
            internal_name: "'Bow'",
            material: "'Bow'",
            season: '1',
            rank: "'chief'",
            step: "interval '20 minutes'",
            relation: "'item'",
          }[parameter.name] ?? 'null'
        )
      })
      return `${name}(${args.join(', ')})`
    })
  })
}

describe.each(kindsOfLongTests)('compacting the ledger of the %s database', (kind) => {
  const world = worldOf(kind)
  const until = (when: string) => ({ before: new Date(instantOf(when)), resources })

  /** Three hours with everything that a ledger may hold: unchanged, rejected, stale and failed answers, and a gap. */
  async function live(): Promise<void> {
    for (const resource of resources)
      await expectEvery(world.db, { resource: resource.name, everySeconds: 600, setBy: 'sync', at: new Date(0) })
    for (let minute = 0; minute < 180; minute += 10) {
      if (minute >= 70 && minute < 100) continue
      const when = `${10 + Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}`
      await world.sync(items, [item('Bow', minute < 120 ? {} : { levelRequirement: 5 })], when)
      await world.sync(territories, { Oak: place('a', minute < 60 ? '08:00' : '10:55') }, when)
      await syncOnline(world, minute === 50 ? {} : onlineBody({ EU1: minute < 60 ? [1, 2] : [1] }, minute % 20), when)
      if (minute === 40) await world.sync(territories, { Oak: place('b', '08:00') }, '10:20')
      const contributed = minute < 60 ? 10 : 40
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner', online: minute % 40 === 0, contributed } }), when)
      await syncPlayer(world, 1, minute === 30 ? null : profile(1, { online: minute < 60 }), when, 403)
    }
    world.sandbox.setAnswer('/item/sets', () => ({ status: 403, body: {} }))
    for (let nth = 0; nth < 3; nth++) {
      await world.syncNow(itemSets)
      await world.clock.advance(60_000)
    }
  }

  async function answers(): Promise<Record<string, unknown>> {
    const found: Record<string, unknown> = {}
    for (const question of await readQuestions(world.db)) {
      // It takes the name of one, not of a member of a guild, and reads no ledger.
      if (question.name === 'named_uuid') continue
      for (const call of callsOf(question)) {
        // What is now goes on while the test runs.
        const moving = { freshness: 'age', watch: 'until', observed: 'last_at' }[question.name]
        const now = moving === undefined ? '' : ` - '${moving}'`
        const text = `select to_jsonb(every)${now} as row from analytics.${call} every order by 1`
        found[call] = (await world.db.query(text)).map(({ row }) => row)
      }
    }
    return found
  }

  test('changes no answer to any question, and makes the ledger smaller', async () => {
    await live()
    const told = await answers()
    // What has no row here is not tested here.
    const silent = Object.entries(told).flatMap(([call, rows]) =>
      Array.isArray(rows) && rows.length > 0 ? [] : [call],
    )
    expect(
      // A question takes arguments; a view of recorded rows has none.
      silent.filter((call) => /(coverage|heatmap|contribution|activity|playtime|total|peak|counter)\(/.test(call)),
    ).toEqual([])
    const size = async () =>
      (await world.rows('select (select count(*) from sync.run), (select count(*) from sync.observation)'))[0]
    const [runs, observations] = (await size()) ?? []
    const done = await compactCoverage(world.db, until('12:30'))
    expect(done.hours).toBe(5 * 2)
    expect(done.runs).toBeGreaterThan(10)
    expect(done.observations).toBeGreaterThan(5)
    expect(await size()).toEqual([Number(runs) - done.runs, Number(observations) - done.observations])
    expect(await answers()).toEqual(told)
    expect(await wrongRows(world.db)).toEqual([])
    expect(await compactCoverage(world.db, until('12:30'))).toEqual({ hours: 0, runs: 0, observations: 0 })
    expect(await answers()).toEqual(told)
  })

  test('goes on where it stopped, and what comes after counts as ever', async () => {
    await live()
    await compactCoverage(world.db, until('11:30'))
    for (const when of ['13:20', '14:10']) await syncOnline(world, onlineBody({ EU1: [1] }), when)
    expect((await compactCoverage(world.db, until('23:00'))).hours).toBeGreaterThan(0)
    expect(
      await world.rows(
        `select hour, expected, observed, rejected, missed, round(coverage::numeric, 2) from analytics.coverage('online-players', ${day.map((one) => `timestamptz ${one}`).join(', ')}) where hour < '2026-06-01 14:00Z'`,
      ),
    ).toEqual([
      ['10:00', 6, 5, 1, 1, 0.83],
      ['11:00', 6, 3, 0, 3, 0.5],
      ['12:00', 6, 6, 0, 0, 1],
      ['13:00', 6, 1, 0, 5, 0.17],
    ])
    expect(await wrongRows(world.db)).toEqual([])
    expect(await world.syncNow(itemSets)).toMatchObject({ status: 'failed' })
  })

  test('leaves what nobody told an expectation of', async () => {
    await world.sync(items, [item('Bow')], '10:00')
    await world.sync(items, [item('Bow')], '12:00')
    expect(await compactCoverage(world.db, until('13:00'))).toEqual({ hours: 0, runs: 0, observations: 0 })
  })
})
