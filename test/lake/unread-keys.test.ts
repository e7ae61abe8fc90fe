import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { openDuckDb } from '../../src/lake/duckdb.ts'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { items } from '../../src/resources/items/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, openMember, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { changeIndex, lakeBetween } from '../support/lake-folder.ts'
import { bothKinds, temporaryFolder } from '../support/postgres.ts'
import { instantOf, item, type World, worldOf } from '../support/world.ts'

const others = ['Ash', 'Fir', 'Yew', 'Box', 'Bay'].map((name) => item(name))
const elm = (level: number) => [item('Elm', { requirements: { level } }), ...others]
const unreadable = [item('Elm', { type: 7 }), ...others]
const rest = Object.fromEntries(['Ash', 'Elm', 'Fir', 'Yew', 'Box'].map((name) => [name, place('b', '09:00')]))
const held = (letter: string, since: string) => ({ ...rest, Oak: place(letter, since) })
const oddly = { ...rest, Oak: { guild: 7, acquired: 'yesterday' } }
const members = (...numbers: number[]) =>
  guildBody('a', { 9: { rank: 'owner' }, ...Object.fromEntries(numbers.map((number) => [number, openMember])) })
const key = (number: number) => `${guildId('a')}/${playerId(number)}`

describe.each(bothKinds)('a lake of a key that could not be read, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const theirs = worldOf('server')
  const yetOthers = worldOf('server')
  let lake: ReturnType<typeof lakeBetween>
  beforeEach(() => {
    lake = lakeBetween(theirs, world)
  })
  const spans = (of: World = world) =>
    of.rows('select resource, key, from_at, until_at from sync.unread order by 1, 2, 3')
  const claims = () => world.rows('select kind, subject, first_at, times from sync.claim order by 1, 2')
  const carried = async (at: string) => {
    await lake.exported()
    await world.clock.advanceTo(instantOf(at))
    await lake.imported()
  }
  const items_ = (of: World) =>
    of.rows(
      `select level, valid_from, valid_until, confirmed_until from analytics.item_history where internal_name = 'Elm' order by 2`,
    )
  const oak = (of: World) =>
    of.rows(
      `select held_from, held_until, confirmed_until from analytics.territory_hold where territory = 'Oak' order by 1`,
    )
  const belongs = (of: World, number = 2) =>
    of.rows(
      `select confirmed_until from analytics.guild_member_history where player_uuid = '${playerId(number)}' order by 1`,
    )

  test('confirms it no longer than its database did, also while it cannot be read, and goes on from there', async () => {
    for (const at of ['10:00', '11:10']) await theirs.sync(items, elm(1), at)
    for (const at of ['12:20', '13:30', '14:40']) await theirs.sync(items, unreadable, at)
    await carried('15:00')
    expect(await spans()).toEqual([['items', 'Elm', '12:20', null]])
    expect(await items_(world)).toEqual([[1, '10:00', 'infinity', '11:10']])
    expect(await items_(world)).toEqual(await items_(theirs))
    await carried('15:10')
    expect(await spans()).toEqual(await spans(theirs))
    // What their next response shows, this database knows by the next import.
    await theirs.sync(items, elm(2), '16:00')
    await carried('16:10')
    expect(await spans()).toEqual([['items', 'Elm', '12:20', '16:00']])
    expect(await items_(world)).toEqual(await items_(theirs))
    // It cannot be read again, and the first response of this database can.
    for (const at of ['17:10', '18:20']) await theirs.sync(items, unreadable, at)
    await carried('18:30')
    expect(await spans()).toEqual(await spans(theirs))
    await world.sync(items, elm(3), '20:00')
    expect(await spans()).toEqual([
      ['items', 'Elm', '12:20', '16:00'],
      ['items', 'Elm', '17:10', '20:00'],
    ])
    expect((await items_(world)).at(-2)).toEqual([2, '16:00', '20:00', '16:00'])
  })

  test('says so after one response, too, which is one of two that it takes here', async () => {
    for (const at of ['10:00', '10:01']) await theirs.sync(territories, held('a', '08:00'), at)
    await theirs.sync(territories, oddly, '10:02')
    await carried('10:05')
    expect(await claims()).toEqual(['Oak', 'Oak'].map((name) => ['unread', name, '10:02', 1]))
    expect(await oak(world)).toEqual([['08:00', null, '10:01']])
    await world.sync(territories, oddly, '10:10')
    expect(await spans()).toEqual(['territories', 'territories/holds'].map((name) => [name, 'Oak', '10:02', null]))
    expect(await oak(world)).toEqual([['08:00', null, '10:01']])
    await world.sync(territories, held('a', '08:00'), '10:20')
    expect(await oak(world)).toEqual([['08:00', null, '10:20']])
  })

  test('has a member whom the last response lacked, who is gone since then or is back', async () => {
    await syncGuild(theirs, members(1, 2, 3), '10:00')
    await syncGuild(theirs, members(1, 2, 3), '10:10')
    await syncGuild(theirs, members(1, 3), '10:20')
    await carried('10:25')
    expect(await claims()).toEqual([['missing', key(2), '10:20', 1]])
    expect(await belongs(world)).toEqual([['10:10']])
    expect(await belongs(world, 3)).toEqual([['10:20']])
    await syncGuild(theirs, members(1, 2), '10:30')
    await carried('10:35')
    expect(await claims()).toEqual([['missing', key(3), '10:30', 1]])
    expect([await belongs(world), await belongs(world, 3)]).toEqual([[['10:30']], [['10:20']]])
    await syncGuild(world, members(1, 2), '10:40')
    expect(await claims()).toEqual([])
    expect(await world.versions('guild_member', 'player_uuid')).toContainEqual([playerId(3), '10:00', '10:30'])
  })

  test('has one whom the last response here lacked, which counts anew when it comes again', async () => {
    await syncGuild(world, members(1, 2, 3), '10:00')
    await syncGuild(world, members(1, 3), '10:10')
    for (const at of ['10:20', '10:30']) await syncGuild(theirs, members(1, 2, 3), at)
    await carried('10:35')
    expect(await spans()).toEqual([['guilds/members', key(2), '10:10', '10:20']])
    for (const at of ['10:40', '10:50']) {
      await syncGuild(world, members(1, 3), at)
      expect(await belongs(world)).toEqual([['10:30']])
    }
    expect(await world.versions('guild_member', 'player_uuid')).toContainEqual([playerId(2), '10:00', '10:40'])
  })

  test('says nothing of the time in which this database observed, and of what it did not until then', async () => {
    await theirs.sync(territories, held('a', '08:00'), '10:00')
    await theirs.sync(territories, oddly, '10:02')
    await lake.exported()
    await world.sync(territories, rest, '12:00')
    await lake.imported()
    expect(await claims()).toEqual([])
    expect(await spans()).toEqual(['territories', 'territories/holds'].map((name) => [name, 'Oak', '10:02', '12:00']))
    expect(await oak(world)).toEqual([['08:00', '12:00', '10:00']])
    // Their next responses could not read it either, and this database could.
    await theirs.sync(territories, oddly, '12:10')
    await lake.exported()
    await world.sync(territories, held('c', '12:05'), '12:11')
    await world.sync(territories, held('c', '12:05'), '12:20')
    await lake.imported()
    expect((await oak(world)).at(-1)).toEqual(['12:05', null, '12:20'])
    expect((await spans()).filter(([, , , until]) => until === null)).toEqual([])
  })

  test('ends what could not be read here either, when theirs could', async () => {
    await world.sync(items, elm(1), '10:00')
    for (const at of ['11:10', '12:20']) await world.sync(items, unreadable, at)
    for (const at of ['11:15', '13:30']) await theirs.sync(items, elm(1), at)
    await theirs.sync(items, elm(2), '14:40')
    await carried('15:00')
    expect(await spans()).toEqual([['items', 'Elm', '11:10', '14:40']])
    expect((await items_(world)).at(-1)).toEqual([2, '14:40', 'infinity', '14:40'])
  })

  test.each(['first', 'last'] as const)(
    'is unknown between the lakes of two machines, where it comes %s',
    async (which) => {
      for (const at of ['10:00', '10:01']) await theirs.sync(territories, held('a', '08:00'), at)
      await theirs.sync(territories, oddly, '10:02')
      for (const at of ['11:00', '11:10']) await yetOthers.sync(territories, held('c', '10:40'), at)
      const their = lakeBetween(theirs, world)
      const other = lakeBetween(yetOthers, world)
      for (const one of [their, other]) await one.exported()
      await world.clock.advanceTo(instantOf('12:00'))
      for (const one of which === 'first' ? [their, other] : [other, their]) await one.imported()
      const known = [
        ['08:00', '10:40', '10:01'],
        ['10:40', null, '11:10'],
      ]
      expect([await oak(world), await claims()]).toEqual([known, []])
      await yetOthers.sync(territories, held('c', '10:40'), '12:10')
      await other.exported()
      await world.clock.advanceTo(instantOf('12:20'))
      for (const one of [their, other, other]) await one.imported()
      expect((await oak(world)).at(-1)).toEqual(['10:40', null, '12:10'])
      expect((await oak(world)).at(0)).toEqual(known[0])
    },
  )

  test('that is not in the tables of an older lake comes with the first one that has it', async () => {
    for (const at of ['10:00', '11:10']) await theirs.sync(items, elm(1), at)
    for (const at of ['12:20', '13:30']) await theirs.sync(items, unreadable, at)
    const folder = join(await temporaryFolder(), 'lake')
    const options = { clock: theirs.clock, program: 'test', people: true, keepMs: 0, onProgress: () => {} }
    await exportLake(theirs.db, folder, options)
    const index = await readFile(join(folder, 'index.json'))
    await changeIndex(folder, (one) => {
      one.files = one.files.filter(({ table }) => !['sync.unread', 'sync.claim'].includes(table))
    })
    await world.clock.advanceTo(instantOf('15:00'))
    const take = () =>
      importLake(world.db, openPlace(folder), { clock: world.clock, maxBytes: 1e9, onProgress: () => {} })
    expect(await take()).toMatchObject({ refused: [] })
    expect(await spans()).toEqual([])
    await writeFile(join(folder, 'index.json'), index)
    expect(await take()).toMatchObject({ refused: [], notTaken: [] })
    expect(await spans()).toEqual(await spans(theirs))
    expect(await items_(world)).toEqual(await items_(theirs))
  })

  test('names no player unless asked to, none who hides something, and comes to none who does here', async () => {
    await syncGuild(theirs, members(1, 2, 3, 4), '10:00')
    await syncGuild(theirs, members(3, 4), '10:10')
    await theirs.sync(items, elm(1), '10:00')
    await theirs.sync(items, unreadable, '10:11')
    const folder = join(await temporaryFolder(), 'lake')
    const keysIn = async (people: boolean) => {
      const options = { clock: theirs.clock, program: 'test', people, keepMs: 0, onProgress: () => {} }
      await exportLake(theirs.db, folder, options)
      const duck = await openDuckDb()
      const [file] = await readdir(join(folder, 'sync.claim'))
      const rows = await duck.rows(`select subject from '${join(folder, 'sync.claim', String(file))}' order by 1`)
      duck.close()
      return rows.map(({ subject }) => subject)
    }
    expect(await keysIn(false)).toEqual(['Elm'])
    expect(await keysIn(true)).toEqual(['Elm', key(1), key(2)].sort())
    await theirs.db.query(
      `insert into sync.privacy_restriction (player_uuid, field_group, told_by, since, is_pending)
       values ($1, 'mainAccess', $2, now(), true)`,
      [playerId(1), `guilds/${guildId('a')}`],
    )
    expect(await keysIn(true)).toEqual(['Elm', key(2)].sort())
    await world.db.query(
      `insert into sync.privacy_restriction (player_uuid, field_group, told_by, since, is_pending)
       values ($1, 'mainAccess', $2, now(), false)`,
      [playerId(2), `guilds/${guildId('a')}`],
    )
    await carried('11:00')
    expect(await claims()).toEqual([['unread', 'Elm', '10:11', 1]])
  })
})
