import { beforeEach, describe, expect, test } from 'vitest'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { guildBody, guildId, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { lakeBetween } from '../support/lake-folder.ts'
import { instantOf, item, worldOf } from '../support/world.ts'

const list = (letters: string) =>
  Object.fromEntries([...letters].map((letter) => [guildId(letter), { name: `Guild ${letter}`, prefix: letter }]))
const some = (...names: string[]) => names.map((name) => item(name))
const rest = { Elm: place('b', '09:00'), Ash: place('b', '09:00') }
const all = { Oak: place('a', '08:00'), ...rest }
const holds = `select guild_name, valid_from, valid_until from game.territory_hold where territory = 'Oak' order by 2`

describe('a lake that is imported while a response lacks what it had', () => {
  const world = worldOf('server')
  const theirs = worldOf('server')
  let lake: ReturnType<typeof lakeBetween>
  beforeEach(() => {
    lake = lakeBetween(theirs, world)
  })
  const versionsOf = async (key: string, table?: string, column?: string) =>
    (await world.versions(table, column)).filter(([one]) => one === key)

  test('ends a territory when the database of the lake first lacked it, and syncs go on', async () => {
    await theirs.sync(territories, all, '10:00:05')
    for (const at of ['10:30', '10:31', '11:00']) await theirs.sync(territories, rest, at)
    await world.sync(territories, all, '10:00')
    await lake.exported()
    await world.sync(territories, rest, '12:00')
    await lake.imported()
    const ended = [['Guild a', '08:00', '10:30']]
    expect(await world.rows(holds)).toEqual(ended)
    for (const at of ['12:00:10', '12:00:20', '12:01'])
      expect(await world.sync(territories, rest, at)).toMatchObject({ closed: 0 })
    const captured = { ...rest, Elm: place('c', '12:01:05') }
    expect(await world.sync(territories, captured, '12:01:10')).toMatchObject({ status: 'ok' })
    expect(await world.rows(holds)).toEqual(ended)
    expect(await versionsOf('Oak', 'territory', 'territory')).toEqual([['Oak', '10:00', '10:30']])
    // What comes back begins anew or goes on, as ever.
    expect(await world.sync(territories, { ...captured, Oak: place('c', '12:02') }, '12:02:10')).toMatchObject({
      status: 'ok',
    })
    expect((await world.rows(holds)).at(-1)).toEqual(['Guild c', '12:02', 'infinity'])
  })

  test('ends a guild of the list, and another one that is gone later ends as well', async () => {
    await theirs.sync(guildList, list('abcdef'), '10:45')
    for (const at of ['11:55', '12:55', '13:55', '14:55']) await theirs.sync(guildList, list('abcde'), at)
    await world.sync(guildList, list('abcdef'), '10:50')
    await world.sync(guildList, list('abcde'), '12:00')
    await lake.exported()
    await world.clock.advanceTo(instantOf('20:00'))
    await lake.imported()
    for (const at of ['21:00', '22:00', '23:00'])
      expect(await world.sync(guildList, list('abcd'), at)).not.toMatchObject({ status: 'failed' })
    expect(await world.sync(guildList, list('abcd1'), '02 12:00')).toMatchObject({ status: 'ok', inserted: 1 })
    const ends = (await world.versions('guild_listing', 'guild_uuid')).map(([key, , until]) => [key, until])
    expect(ends.slice(-2)).toEqual([
      [guildId('e'), '21:00'],
      [guildId('f'), '11:55'],
    ])
  })

  test('contradicts lists that were shrunken before it', async () => {
    const strict = { plausibleShare: 0.9 }
    for (const at of ['10:30', '11:30', '12:30', '13:30', '14:30', '15:30'])
      await theirs.sync(guildList, list('abcdef'), at)
    await world.sync(guildList, list('abcdef'), '10:00')
    for (const at of ['10:10', '11:20']) await world.sync(guildList, list('abc'), at, strict)
    expect(await world.rows('select kind, times from sync.claim')).toEqual([['shrunken', 2]])
    await lake.exported()
    await world.clock.advanceTo(instantOf('16:00'))
    await lake.imported()
    expect(await world.sync(guildList, list('abc'), '16:10', strict)).toMatchObject({ status: 'rejected' })
    expect(await world.rows('select kind, times from sync.claim')).toEqual([['shrunken', 1]])
  })

  test('ends a member of a guild', async () => {
    const [both, one] = [{ 1: { rank: 'owner' }, 2: {} }, { 1: { rank: 'owner' } }]
    for (const { db } of [theirs, world])
      await setExpectedInterval(db, {
        resource: 'guilds',
        everySeconds: 600,
        setBy: 'start',
        at: new Date(instantOf('09:00')),
      })
    for (const at of ['09:55', '10:05', '10:15']) await syncGuild(theirs, guildBody('a', both), at)
    for (const at of ['10:25', '10:35', '10:45', '10:55', '11:05', '11:15', '11:25', '11:35', '11:45', '11:55'])
      await syncGuild(theirs, guildBody('a', one), at)
    for (const at of ['09:50', '10:00', '10:10']) await syncGuild(world, guildBody('a', both), at)
    await syncGuild(world, guildBody('a', one), '12:00')
    await lake.exported()
    await world.clock.advanceTo(instantOf('12:06'))
    await lake.imported()
    for (const at of ['12:10', '12:20', '12:30'])
      expect(await syncGuild(world, guildBody('a', one), at)).not.toMatchObject({ status: 'failed' })
    expect(await versionsOf(playerId(2), 'guild_member', 'player_uuid')).toEqual([[playerId(2), '09:50', '10:25']])
  })

  test('does not end by itself what the lake had', async () => {
    await theirs.sync(items, some('Ash', 'Elm', 'Fir', 'Oak'), '10:30')
    const changed = [...some('Ash', 'Elm', 'Fir'), item('Oak', { requirements: { level: 3 } })]
    await theirs.sync(items, changed, '11:00')
    await world.sync(items, some('Ash', 'Elm', 'Fir', 'Oak'), '10:00')
    await lake.exported()
    await world.sync(items, some('Ash', 'Elm', 'Fir'), '12:00')
    await lake.imported()
    expect(await versionsOf('Oak')).toEqual([
      ['Oak', '10:00', '11:00'],
      ['Oak', '11:00', 'infinity'],
    ])
    expect(await world.sync(items, some('Ash', 'Elm', 'Fir'), '13:00')).toMatchObject({ closed: 1 })
    expect(await versionsOf('Oak')).toEqual([
      ['Oak', '10:00', '11:00'],
      ['Oak', '11:00', '12:00'],
    ])
  })

  test('that shows it later, too, makes absences count anew', async () => {
    await world.sync(items, some('Ash', 'Elm', 'Fir', 'Oak'), '10:00')
    await world.sync(items, some('Ash', 'Elm', 'Fir'), '12:00')
    for (const at of ['12:30', '13:00']) await theirs.sync(items, some('Ash', 'Elm', 'Fir', 'Oak'), at)
    await lake.exported()
    await world.clock.advanceTo(instantOf('13:10'))
    await lake.imported()
    expect(await world.sync(items, some('Ash', 'Elm', 'Fir'), '14:00')).toMatchObject({ closed: 0 })
    expect(await world.sync(items, some('Ash', 'Elm', 'Fir'), '15:00')).toMatchObject({ closed: 1 })
    expect(await versionsOf('Oak')).toEqual([['Oak', '10:00', '14:00']])
  })

  test.each([
    ['when it was first missed', '11:00', '12:00'],
    ['after the response that confirms', '12:30', 'infinity'],
  ])('may have left a version that begins %s: the response is loaded nevertheless', async (_, began, ended) => {
    await world.sync(items, some('Ash', 'Elm', 'Fir', 'Oak'), '10:00')
    await world.sync(items, some('Ash', 'Elm', 'Fir'), '11:00')
    await world.db.query(`update game.item set valid_from = $1 where internal_name = 'Oak'`, [
      new Date(instantOf(began)),
    ])
    const now = some('Ash', 'Elm', 'Fir', 'Yew')
    expect(await world.sync(items, now, '12:00')).toMatchObject({ status: 'ok', inserted: 1 })
    expect(await versionsOf('Oak')).toEqual([['Oak', began, ended]])
    for (const at of ['13:00', '14:00'])
      expect(await world.sync(items, now, at)).not.toMatchObject({ status: 'failed' })
    expect(await versionsOf('Oak')).toEqual([['Oak', began, ended === 'infinity' ? '13:00' : ended]])
  })
})
