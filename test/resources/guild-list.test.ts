import { describe, expect, test } from 'vitest'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { guildId } from '../support/guild-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const [a = '', b = '', c = '', d = ''] = ['a', 'b', 'c', 'd'].map(guildId)
const listings = 'select guild_uuid, name, prefix, valid_from, valid_until from game.guild_listing order by 1, 4'

describe.each(kindsOfPart)('the guild list on the %s database', (kind) => {
  const world = worldOf(kind)

  test('says the same keyed by uuid and keyed by name', async () => {
    const byUuid = { [a]: { name: 'Alpha', prefix: 'ALP' }, [b]: { name: 'Beta', prefix: 'BET' } }
    const byName = { Alpha: { uuid: a, prefix: 'ALP' }, Beta: { uuid: b, prefix: 'BET' } }
    expect(await world.sync(guildList, byUuid, '10:00')).toMatchObject({ status: 'ok', inserted: 2 })
    expect(await world.sync(guildList, byName, '11:00')).toMatchObject({ status: 'unchanged' })
    expect(await world.rows(listings)).toEqual([
      [a, 'Alpha', 'ALP', '10:00', 'infinity'],
      [b, 'Beta', 'BET', '10:00', 'infinity'],
    ])
  })

  test('keeps another name and another prefix as versions', async () => {
    await world.sync(guildList, { [a]: { name: 'Alpha', prefix: 'ALP' } }, '10:00')
    await world.sync(guildList, { [a]: { name: 'Omega', prefix: 'ALP' } }, '11:00')
    await world.sync(guildList, { [a]: { name: 'Omega', prefix: 'OMG' } }, '12:00')
    await world.sync(guildList, { [a]: { name: 'Alpha', prefix: 'ALP' } }, '13:00')
    expect(await world.rows(listings)).toEqual([
      [a, 'Alpha', 'ALP', '10:00', '11:00'],
      [a, 'Omega', 'ALP', '11:00', '12:00'],
      [a, 'Omega', 'OMG', '12:00', '13:00'],
      [a, 'Alpha', 'ALP', '13:00', 'infinity'],
    ])
  })

  test('ends a guild that two complete lists lack, at the first, and not one that a single list lacks', async () => {
    const all = { [a]: { name: 'A', prefix: 'A' }, [b]: { name: 'B', prefix: 'B' }, [c]: { name: 'C', prefix: 'C' } }
    const { [b]: _, ...without } = all
    for (const [at, body] of [
      ['10:00', all],
      ['11:00', without],
      ['12:00', all],
      ['13:00', without],
      ['14:00', without],
    ] as const)
      await world.sync(guildList, body, at)
    expect(await world.rows(listings)).toEqual([
      [a, 'A', 'A', '10:00', 'infinity'],
      [b, 'B', 'B', '10:00', '13:00'],
      [c, 'C', 'C', '10:00', 'infinity'],
    ])
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a text', 'Guild a'],
    ['a list', ['Guild a', 'a']],
    ['nothing', {}],
    ['an error', { error: 'NotFound' }],
  ])('renames no guild whose entry is %s for a month, one or all of them', async (_what, entry) => {
    const all = Object.fromEntries([...'abcdef'].map((one) => [guildId(one), { name: `Guild ${one}`, prefix: one }]))
    const odd = Object.fromEntries(Object.keys(all).map((uuid) => [uuid, entry]))
    await world.sync(guildList, all, '10:00')
    const state = await world.rows(listings)
    for (const at of ['11:0', '12:3', '10 10:0', '28 10:0'])
      for (const [minute, body] of [{ ...all, [a]: entry }, odd].entries()) {
        const run = await world.sync(guildList, body, `${at}${minute}`)
        expect(run).toMatchObject({ inserted: 0, changed: 0, closed: 0 })
        expect(run.status).toMatch(/^(partial|rejected)$/)
      }
    expect(await world.rows(`select from sync.unread where key = '${a}'`)).toHaveLength(1)
    await world.sync(guildList, all, '29 10:00')
    expect(await world.rows(listings)).toEqual(state)
    expect(await world.rows('select from sync.unread where until_at is null')).toEqual([])
  })

  test('keeps when a guild ended that an old copy of the list shows once more', async () => {
    const all = Object.fromEntries([...'abcdef'].map((one) => [guildId(one), { name: `Guild ${one}`, prefix: one }]))
    const { [a]: _, ...without } = all
    const ofA = async () => (await world.rows(listings)).filter(([guild]) => guild === a).map((row) => row.slice(3))
    await world.sync(guildList, all, '10:00')
    for (const at of ['11:00', '12:00', '20 10:00']) await world.sync(guildList, without, at)
    await world.sync(guildList, all, '20 11:00')
    expect(await ofA()).toEqual([
      ['10:00', '11:00'],
      ['20 11:00', 'infinity'],
    ])
    for (const at of ['20 12:00', '20 13:00']) await world.sync(guildList, without, at)
    expect(await ofA()).toEqual([['10:00', '11:00']])
    for (const at of ['22 10:00', '22 11:00']) await world.sync(guildList, all, at)
    for (const at of ['22 12:00', '22 13:00']) await world.sync(guildList, without, at)
    expect(await ofA()).toEqual([
      ['10:00', '11:00'],
      ['22 10:00', '22 12:00'],
    ])
  })

  test('tells a guild founded anew under the same name and prefix from the one before', async () => {
    const rest = { [c]: { name: 'C', prefix: 'C' } }
    await world.sync(guildList, { [a]: { name: 'Alpha', prefix: 'ALP' }, ...rest }, '10:00')
    for (const at of ['11:00', '12:00', '13:00'])
      await world.sync(guildList, { [b]: { name: 'Alpha', prefix: 'ALP' }, ...rest }, at)
    expect(await world.rows(listings)).toEqual([
      [a, 'Alpha', 'ALP', '10:00', '11:00'],
      [b, 'Alpha', 'ALP', '11:00', 'infinity'],
      [c, 'C', 'C', '10:00', 'infinity'],
    ])
  })

  test('keeps names byte for byte: spaces at the ends, equal but for case, empty; and prefixes that repeat or are null', async () => {
    const body = {
      [a]: { name: ' Alpha ', prefix: 'ALP' },
      [b]: { name: 'ALPHA', prefix: 'alp' },
      [c]: { name: '', prefix: 'ALP' },
      [d]: { name: 'Ünï’s', prefix: null },
    }
    expect(await world.sync(guildList, body, '10:00')).toMatchObject({ status: 'ok', quarantined: 0 })
    const byName = {
      ' Alpha ': { uuid: a, prefix: 'ALP' },
      ALPHA: { uuid: b, prefix: 'alp' },
      '': { uuid: c, prefix: 'ALP' },
    }
    const again = { ...byName, 'Ünï’s': { uuid: d, prefix: null } }
    expect(await world.sync(guildList, again, '11:00')).toMatchObject({ status: 'unchanged' })
    expect(await world.rows('select name, prefix from game.guild_listing order by guild_uuid')).toEqual([
      [' Alpha ', 'ALP'],
      ['ALPHA', 'alp'],
      ['', 'ALP'],
      ['Ünï’s', null],
    ])
  })

  test('sets aside what has no uuid, since a name is no key, and ends nobody then', async () => {
    await world.sync(guildList, { Alpha: { uuid: a, prefix: 'ALP' }, Beta: { uuid: b, prefix: 'BET' } }, '10:00')
    for (const at of ['11:00', '12:00', '13:00'])
      expect(
        await world.sync(guildList, { Alpha: { uuid: a, prefix: at.slice(0, 2) }, Beta: { prefix: 'BET' } }, at),
      ).toMatchObject({ status: 'partial', quarantined: 1, closed: 0 })
    expect(await world.rows('select key, path, reason from sync.quarantine')).toEqual([
      [null, '/uuid', expect.stringContaining('Beta')],
    ])
  })

  test('believes neither of two entries that give one uuid two names', async () => {
    await world.sync(guildList, { Alpha: { uuid: a, prefix: 'A' }, Beta: { uuid: b, prefix: 'B' } }, '10:00')
    const body = { Gamma: { uuid: a, prefix: 'A' }, Delta: { uuid: a, prefix: 'A' }, Beta: { uuid: b, prefix: 'C' } }
    for (const at of ['11:00', '12:00']) await world.sync(guildList, body, at)
    expect(
      await world.rows(`select name, prefix from game.guild_listing where valid_until = 'infinity' order by 1`),
    ).toEqual([
      ['Alpha', 'A'],
      ['Beta', 'C'],
    ])
  })

  test('is rejected when it is empty or shrunken beyond belief', async () => {
    const all = Object.fromEntries([a, b, c, d].map((uuid) => [uuid, { name: uuid, prefix: 'X' }]))
    await world.sync(guildList, all, '10:00')
    for (const [at, body] of [
      ['11:00', {}],
      ['12:00', { [a]: all[a] }],
      ['13:00', { [a]: all[a] }],
    ] as const)
      expect(await world.sync(guildList, body, at)).toMatchObject({ status: 'rejected', closed: 0 })
    expect(await world.rows(`select count(*) from game.guild_listing where valid_until = 'infinity'`)).toEqual([[4]])
  })
})
