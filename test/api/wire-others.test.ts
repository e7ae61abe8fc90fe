import { describe, expect, test } from 'vitest'
import { readAbilityNodes, readAspects } from '../../src/api/schemas/abilities.ts'
import { parseArticle, readNews, readVideos } from '../../src/api/schemas/articles.ts'
import { readLeaderboard, readLeaderboardTypes } from '../../src/api/schemas/leaderboards.ts'
import { readGuild, readPlayer } from '../../src/api/schemas/people/profiles.ts'
import { readMapContents, readMarkers, readWorldEvents } from '../../src/api/schemas/places.ts'
import { readSearch } from '../../src/api/schemas/search.ts'
import { RecordError } from '../../src/base/errors.ts'

const uuid = '00000000-0000-4000-8000-000000000001'

describe('a guild is read', () => {
  const members = (owner: object) => ({ uuid, members: { total: 2, owner, captain: {}, recruit: { Bo: { uuid } } } })

  test('with its members in one list, named by the key that the record lacks', () => {
    const byName = readGuild(members({ Ada: { uuid, contributed: 5e12 } }))
    expect(byName.members).toEqual([
      { rank: 'owner', username: 'Ada', uuid, contributed: 5e12 },
      { rank: 'recruit', username: 'Bo', uuid },
    ])
    const byUuid = readGuild(members({ [uuid]: { username: 'Ada' } }))
    expect(byUuid.members[0]).toEqual({ rank: 'owner', username: 'Ada', uuid })
  })

  test('or refused, naming the member that is none', () => {
    expect(() => readGuild(members({ Ada: { contributed: 'much' } }))).toThrow(
      'guild member: /contributed should be number, found "much"',
    )
  })
})

describe('a player is read', () => {
  test('with his characters, or null where they are hidden or were not asked for', () => {
    expect(readPlayer({ uuid, characters: { [uuid]: { level: 5 } } }).characters?.[uuid]?.level).toBe(5)
    expect(readPlayer({ uuid }).characters).toBeNull()
    expect(readPlayer({ uuid, characters: null }).characters).toBeNull()
  })
})

describe('abilities are read', () => {
  const node = (page: number) => ({ type: 'ability', meta: { page, icon: 'connector_up_down' }, family: [] })

  test('from pages and from a plain list', () => {
    const nodes = [node(1), node(2)]
    expect(readAbilityNodes({ 1: [nodes[0]], 2: [nodes[1]] })).toEqual(nodes)
    expect(readAbilityNodes(nodes)).toEqual(nodes)
    expect(readAbilityNodes({ pages: 2, map: nodes })).toEqual(nodes)
  })

  test('also in the form of 2023, with names in capitals', () => {
    const [old] = readAbilityNodes({
      pages: 7,
      map: [
        {
          TYPE: 'CONNECTOR',
          COORDINATES: { X: 5, Y: 2 },
          META: { ICON: 'connector_up_down', PAGE: '1', LINKS: ['up'], Other: 'As It Is' },
          FAMILY: ['First', 'second'],
        },
      ],
    })
    expect(old).toEqual({
      type: 'connector',
      coordinates: { x: 5, y: 2 },
      meta: { icon: 'connector_up_down', page: 1, links: ['up'], Other: 'As It Is' },
      family: ['First', 'second'],
    })
  })

  test('and aspects from a list and from an object by name', () => {
    const aspect = { internalName: 'deadbeef', tiers: { 1: { threshold: 1, description: [] } } }
    expect(readAspects([{ name: 'Of Owls', ...aspect }])).toEqual([{ name: 'Of Owls', ...aspect }])
    expect(readAspects({ 'Of Owls': aspect })).toEqual([{ name: 'Of Owls', ...aspect }])
  })
})

describe('a leaderboard is read', () => {
  test('from the best down, those who hide included', () => {
    const redacted = { name: 'redacted', uuid: 'redacted', characterType: 'redacted', restricted: true, score: 7 }
    const board = readLeaderboard({ 10: { name: 'Ada', metaScore: 1.3e15 }, 2: redacted })
    expect(board).toEqual([
      { ...redacted, position: 2 },
      { name: 'Ada', metaScore: 1.3e15, position: 10 },
    ])
  })

  test('and its names', () => expect(readLeaderboardTypes(['guildLevel'])).toEqual(['guildLevel']))
})

describe('places are read', () => {
  test('with unknown words and fields kept', () => {
    const camp = { internalName: 'c', difficulty: 'INSANE', rewards: [{ type: 'PONY', colour: 'pink' }], new: 1 }
    expect(readMapContents([camp])).toEqual([camp])
    expect(readMarkers([{ name: 'Inn', x: '1', y: 64, z: '-3' }])).toEqual([{ name: 'Inn', x: '1', y: 64, z: '-3' }])
  })

  test('and refused with the place of what does not fit', () => {
    expect(() => readWorldEvents([{ internalName: 'a' }, { internalName: 5 }])).toThrow(RecordError)
    expect(() => readWorldEvents([{ internalName: 'a' }, { internalName: 5 }])).toThrow('/1/internalName')
  })
})

describe('a search is read', () => {
  test('with empty kinds as lists, as objects, or left out', () => {
    const found = { players: { [uuid]: 'Ada' }, guilds: [], territories: {}, items: {} }
    expect(readSearch({ query: 'a', ...found })).toEqual({
      query: 'a',
      players: { [uuid]: 'Ada' },
      guilds: {},
      guildsPrefix: {},
      items: [],
      territories: {},
      discoveries: {},
    })
  })

  test('with items by name, as until 2026', () => {
    const items = { Idol: { internalName: 'Idol', type: 'weapon' } }
    expect(readSearch({ items }).items).toEqual([{ internalName: 'Idol', type: 'weapon', displayName: 'Idol' }])
  })
})

describe('what the website says is read', () => {
  test('with poll questions and votes', () => {
    const question = { question: 'Which?', answers: { a: 'This' } }
    const poll = { id: 4, content: [{ type: 'question', content: question }], votes: { total: 1, q: { a: 1 } } }
    expect(parseArticle(poll)).toEqual(poll)
  })

  test('and videos and news, by position or in a list', () => {
    expect(readVideos({ 1: 'https://example.org/a', 2: 'https://example.org/b' })).toHaveLength(2)
    expect(readNews([{ title: 'A', comments: '12' }])).toEqual([{ title: 'A', comments: '12' }])
  })
})
