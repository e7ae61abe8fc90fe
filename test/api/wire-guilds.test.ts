import { describe, expect, test } from 'vitest'
import { unknownFields } from '../../src/api/schemas/form/unknown.ts'
import {
  guildMemberSchema,
  guildSchema,
  membersOf,
  memberTotal,
  parseGuild,
  parseGuildMember,
  readGuildList,
} from '../../src/api/schemas/guilds.ts'
import { restrictionsOf } from '../../src/api/schemas/people/restrictions.ts'
import { parseSeason } from '../../src/api/schemas/seasons.ts'
import { parseTerritory, territorySchema } from '../../src/api/schemas/territories.ts'
import { RecordError } from '../../src/base/errors.ts'

const uuid = '00000000-0000-4000-8000-000000000001'
const other = '00000000-0000-4000-8000-000000000002'

describe('a territory', () => {
  test.each([
    ['nothing at all', {}],
    ['no guild', { guild: null, acquired: null, hq: false }],
    ['a guild of nulls, and no word about its headquarters', { guild: { uuid: null, name: null, prefix: null } }],
    ['a guild whose seat is unknown', { guild: { uuid, name: 'Owls', prefix: 'OWL', hq: null } }],
    ['a guild that is only a name', { guild: 'Owls' }],
    ['resources with an unknown type', { resources: [{ type: 'SALT', generation: 1, stored: 2, limit: 1 }] }],
    ['resources as numbers by type', { resources: { emeralds: 9000, ore: 0 } }],
    ['no resources', { resources: [], links: [] }],
    ['an unknown level', { treasury: 'ENORMOUS', defences: null }],
    ['corners in any order', { location: { start: [5, -5], end: [-5, 5] } }],
  ])('may have %s', (_name, record) => {
    expect(parseTerritory(record)).toStrictEqual(record)
  })

  test('tells what is new in it', () => {
    const record = { mood: 1, guild: { uuid, colour: 'red' }, resources: [{ type: 'ORE', purity: 2 }] }
    expect(parseTerritory(record)).toStrictEqual(record)
    expect(unknownFields(territorySchema)(record).map(({ path }) => path)).toEqual([
      '/mood',
      '/guild/colour',
      '/resources/*/purity',
    ])
  })

  test.each([
    ['text', 'Somewhere', ''],
    ['a generation in words', { resources: [{ type: 'ORE', generation: 'much' }] }, '/resources/0/generation'],
    ['a link that is no name', { links: ['A', 7] }, '/links/1'],
  ])('is put aside when it is or has %s', (_name, record, path) => {
    expect(() => parseTerritory(record)).toThrow(RecordError)
    expect(() => parseTerritory(record)).toThrow(
      expect.objectContaining({ context: expect.objectContaining({ path }) }),
    )
  })
})

describe('a guild', () => {
  test.each([
    ['nothing but its uuid', {}],
    ['null wars, raids, banner and prefix', { wars: null, raids: null, banner: null, prefix: null, ranking: {} }],
    [
      'a banner without structure, its layers spelled either way',
      {
        banner: {
          base: 'SILVER',
          tier: 0,
          layers: [
            { colour: 'RED', pattern: 'CROSS' },
            { color: 'PUCE', pattern: 'CROSS' },
          ],
        },
      },
    ],
    ['seasons from 0 on', { seasonRanks: { 0: { rating: 19_000_000, finalTerritories: 0 }, 1: null } }],
    ['members that are nonsense', { members: { total: 1, owner: { Ada: 'gone' } } }],
  ])('may have %s', (_name, fields) => {
    expect(parseGuild({ uuid, ...fields })).toStrictEqual({ uuid, ...fields })
    expect(unknownFields(guildSchema)({ uuid, ...fields })).toEqual([])
  })

  test('is put aside without a uuid', () => {
    expect(() => parseGuild({ name: 'Owls' })).toThrow('guild: /uuid should be string, found nothing')
  })

  test('has members of every rank, unknown ones too, in both keyings', () => {
    const ada = { uuid, joined: '2026-01-01T00:00:00Z' }
    const bo = { username: 'Bo' }
    const members = { total: 3, owner: { Ada: ada }, chief: {}, warden: { [other]: bo }, recruit: { Cy: 7 } }
    expect(membersOf(parseGuild({ uuid, members }))).toEqual([
      { rank: 'owner', key: 'Ada', record: ada },
      { rank: 'warden', key: other, record: bo },
      { rank: 'recruit', key: 'Cy', record: 7 },
    ])
    expect(memberTotal({ members })).toBe(3)
  })

  test('has a member whose name means something to JavaScript', () => {
    const body: unknown = JSON.parse(`{"uuid":"${uuid}","members":{"owner":{"__proto__":{"uuid":"${other}"}}}}`)
    expect(membersOf(parseGuild(body))).toEqual([{ rank: 'owner', key: '__proto__', record: { uuid: other } }])
  })

  test.each([[undefined], [null], ['many'], [[]], [{ owner: null, chief: 3, recruit: 'none', captain: [] }]])(
    'has no members, and no total, in %j',
    (members) => {
      expect(membersOf({ members })).toEqual([])
      expect(memberTotal({ members })).toBeNull()
    },
  )
})

describe('a guild member', () => {
  test.each([
    ['nothing', {}],
    ['an uuid, or a name, or both', { uuid, username: 'Ada' }],
    ['more experience than 32 bits hold', { contributed: 2 ** 53 - 1, contributionRank: 1 }],
    ['hidden whereabouts', { online: false, lastJoin: null, server: null, restrictions: { online_status: true } }],
    ['no totals', { globalData: null, weekly: {}, restrictions: { main_access: true } }],
    [
      'totals with gaps',
      {
        globalData: {
          wars: null,
          raids: null,
          dungeons: { total: 1, list: {} },
          guildRaids: { total: null, list: null },
          currentGuildRaids: { total: 2, list: { 'The Nest': 2 } },
          pvp: {},
          playtime: 12.5,
        },
      },
    ],
    ['restrictions of any kind', { restrictions: { moon_access: 'later', onlineStatus: null } }],
  ])('may have %s', (_name, record) => {
    expect(parseGuildMember(record)).toStrictEqual(record)
    expect(unknownFields(guildMemberSchema)(record)).toEqual([])
  })

  test.each([
    ['is text', 'gone', ''],
    ['has contributed in words', { contributed: 'much' }, '/contributed'],
    ['has raids in words', { globalData: { raids: { list: { 'a/b': 'x' } } } }, '/globalData/raids/list/a~1b'],
  ])('that %s is put aside', (_name, record, path) => {
    expect(() => parseGuildMember(record)).toThrow(
      expect.objectContaining({ context: expect.objectContaining({ path }) }),
    )
  })
})

describe('restrictions', () => {
  test.each([
    [
      { online_status: true, main_access: false, guild_high_ranked_access: true },
      ['guildHighRankedAccess', 'onlineStatus'],
    ],
    [{ onlineStatus: true, mainAccess: true, characterListAccess: false }, ['mainAccess', 'onlineStatus']],
    [{ online_status: true, onlineStatus: true }, ['onlineStatus']],
    [{ online_status: 'true', main_access: 1, moon_access: true }, ['mainAccess', 'moonAccess', 'onlineStatus']],
    [{}, []],
    [null, []],
    [['online_status'], ['onlineStatus']],
  ])('%j', (restrictions, expected) => {
    expect(restrictionsOf({ restrictions })).toEqual(expected)
  })

  test('of what is no record are none', () => {
    for (const record of [undefined, null, 'x', 7, {}, []]) expect(restrictionsOf(record)).toEqual([])
  })
})

describe('a season', () => {
  const reward = { condition: { type: 'SR', value: 1 }, type: 'BADGE', value: 'S1', expires: null }

  test.each([
    ['the documented name of its beginning', { initDate: '2026-07-24T23:01:00Z', endDate: '2026-09-27T04:01:00Z' }],
    ['the name clients read', { startDate: '2026-07-24T23:01:00Z', endDate: null }],
    [
      'rewards of all sorts',
      {
        ratingRewards: [reward, { ...reward, value: 2048 }, { ...reward, value: null, type: 'HAT' }, {}],
        leaderboardRewards: [],
      },
    ],
  ])('may have %s', (_name, record) => {
    expect(parseSeason(record)).toStrictEqual(record)
  })

  test('is put aside when a reward is none', () => {
    expect(() => parseSeason({ ratingRewards: [5] })).toThrow('season: /ratingRewards/0 should be object, found 5')
  })
})

describe('the list of guilds', () => {
  test('is read by name and by uuid alike', () => {
    const expected = [{ uuid, name: 'Owls', prefix: 'OWL' }]
    expect(readGuildList({ Owls: { uuid, prefix: 'OWL' } })).toEqual(expected)
    expect(readGuildList({ [uuid]: { name: 'Owls', prefix: 'OWL' } })).toEqual(expected)
    expect(readGuildList({ [uuid]: { uuid, name: 'Owls', prefix: 'OWL' } })).toEqual(expected)
  })

  test('keeps what is odd', () => {
    const body = {
      '': { uuid, prefix: 'NO' },
      ' Owls ': { uuid: other, prefix: null },
      Lost: { prefix: 'LST' },
      Blank: { uuid: '', prefix: 'BLK' },
      Void: null,
      [uuid]: { name: '', prefix: null },
      [other]: null,
    }
    expect(readGuildList(body)).toEqual([
      { uuid, name: '', prefix: 'NO' },
      { uuid: other, name: ' Owls ', prefix: null },
      { uuid: undefined, name: 'Lost', prefix: 'LST' },
      { uuid: undefined, name: 'Blank', prefix: 'BLK' },
      { uuid: undefined, name: 'Void', prefix: null },
      { uuid, name: '', prefix: null },
      { uuid: other, name: null, prefix: null },
    ])
  })

  test('of nothing is empty', () => {
    for (const body of [{}, [], null, 'x']) expect(readGuildList(body)).toEqual([])
  })
})
