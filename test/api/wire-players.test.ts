import { describe, expect, test } from 'vitest'
import { unknownFields } from '../../src/api/schemas/form/unknown.ts'
import { characterSchema, parseCharacter } from '../../src/api/schemas/people/characters.ts'
import { parsePlayer, playerSchema, readOnlineList } from '../../src/api/schemas/people/players.ts'

const uuid = '00000000-0000-4000-8000-000000000001'

describe('a player', () => {
  test.each([
    ['nothing but a uuid', {}],
    [
      'null wherever it was seen',
      {
        legacyRankColour: null,
        veteran: null,
        lastJoin: null,
        supportRank: null,
        server: null,
        activeCharacter: null,
        nickname: null,
        guild: null,
        globalData: null,
        characters: null,
      },
    ],
    ['a colour as object', { legacyRankColour: { main: '#aa0000', sub: '#ff5555' } }],
    ['a bare colour', { legacyRankColour: '#aa0000' }],
    ['a guild', { guild: { uuid, name: 'Owls', prefix: 'OWL', rank: 'OWNER', rankStars: null } }],
    ['featured stats of both kinds', { featuredStats: { 'globalData.wars': 5, firstJoin: '2013-10-23T20:02:38Z' } }],
    ['raid statistics', { globalData: { raidStats: { damageDealt: 186_268_752, deaths: 11 }, guildRaids: null } }],
    ['no raid statistics', { globalData: { raidStats: null } }],
    ['a support rank nobody knows', { supportRank: 'patron' }],
    ['characters that are nonsense', { characters: { x: 5 } }],
  ])('may have %s', (_name, fields) => {
    expect(parsePlayer({ uuid, ...fields })).toStrictEqual({ uuid, ...fields })
    expect(unknownFields(playerSchema)({ uuid, ...fields })).toEqual([])
  })

  test('is put aside without a uuid', () => {
    expect(() => parsePlayer({ username: 'Ada' })).toThrow('player: /uuid should be string, found nothing')
  })

  test('tells what is new in it, and what is gone from it passes', () => {
    const record = { uuid, publicProfile: true, globalData: { killedMobs: 3 } }
    expect(parsePlayer(record)).toStrictEqual(record)
    expect(unknownFields(playerSchema)(record).map(({ path }) => path)).toEqual([
      '/publicProfile',
      '/globalData/killedMobs',
    ])
  })
})

describe('a character', () => {
  test.each([
    ['nothing', {}],
    ['a reskin by name', { type: 'ASSASSIN', reskin: 'NINJA' }],
    ['a reskin or not', { reskin: true }],
    ['no reskin', { reskin: null }],
    ['hidden skill points', { skillPoints: { error: 'This player limits their skill points visibility.' } }],
    ['some skill points, in either spelling', { skillPoints: { defense: 3, defence: 3 } }],
    ['null skill points', { skillPoints: null }],
    ['some professions', { professions: { fishing: { level: 3, xpPercent: 1 }, singing: null } }],
    [
      'null wherever a stat was removed',
      { wars: null, playtime: null, pvp: null, quests: null, removedStat: ['wars'] },
    ],
    ['walked so far that it is negative', { blocksWalked: -2_147_483_648, xp: 2 ** 40 }],
    ['a way of playing nobody knows', { gamemode: ['hunted', 'blindfolded'], meta: { died: true } }],
  ])('may have %s', (_name, record) => {
    expect(parseCharacter(record)).toStrictEqual(record)
    expect(unknownFields(characterSchema)(record)).toEqual([])
  })

  test('is put aside when its level is text', () => {
    expect(() => parseCharacter({ level: '106' })).toThrow('character: /level should be number, found "106"')
  })
})

describe('the list of players online', () => {
  test('has a world for each, or none', () => {
    expect(readOnlineList({ total: 4, players: { Ada: 'EU1', Bo: null, Cy: 17, Di: '' } })).toEqual({
      total: 4,
      players: [
        { key: 'Ada', world: 'EU1' },
        { key: 'Bo', world: null },
        { key: 'Cy', world: '17' },
        { key: 'Di', world: null },
      ],
    })
  })

  test('keeps a player whose name means something to JavaScript', () => {
    expect(readOnlineList(JSON.parse('{"total":1,"players":{"__proto__":"EU1"}}')).players).toEqual([
      { key: '__proto__', world: 'EU1' },
    ])
  })

  test.each([
    [{}, 'undefined', null],
    [null, 'undefined', null],
    [[], 'undefined', null],
    ['x', 'undefined', null],
    [{ total: '5', players: null }, 'null', 5],
  ])('of %j has no players, and says that it is no list', (body, misshapen, total) => {
    expect(readOnlineList(body)).toEqual({ total, misshapen, players: [] })
  })
})
