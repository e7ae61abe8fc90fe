import { describe, expect, test } from 'vitest'
import { board, detect, guild, place, placed, player, uuid } from '../support/git-detecting.ts'
import { item } from '../support/world.ts'

const choice = (nth: number) => ({ uuid: uuid(nth), username: `P${nth}`, rank: 'Player', supportRank: null })

/** Files that look alike, and whose each is: null for nobody's. */
const alike: readonly (readonly [what: string, body: unknown, resource: string | null])[] = [
  [
    'guilds by name',
    { 'Guild 1': { uuid: uuid(1), prefix: 'G1' }, 'Guild 2': { uuid: uuid(2), prefix: null } },
    'guild-list',
  ],
  ['guilds by uuid', { [uuid(1)]: { name: 'Guild 1', prefix: 'G1' } }, 'guild-list'],
  ['a board of players', board((nth) => player(nth, { score: nth, metaScore: 5, previousRanking: 3 })), null],
  ['a board of players, of names alone', board((nth) => player(nth)), null],
  ['a board of guilds', board((nth) => guild(nth, { level: 5, territories: 2 })), null],
  ['a board of guilds with how many members each has', board((nth) => guild(nth, { level: 5, members: 9 })), null],
  ['a board of guilds, of names alone', board((nth) => guild(nth)), null],
  ['a list of players', [player(1), player(2)], null],
  ['players by name', { 'Player 1': player(1), 'Player 2': player(2) }, null],
  ['guilds with their level', { 'Guild 1': guild(1, { level: 3 }) }, null],
  ['items', [item('Ash', { type: 'weapon' })], 'items'],
  ['items, page by page', { controller: { count: 1 }, results: { Ash: item('Ash') } }, 'items'],
  [
    'recipes',
    [{ internalName: 'a', type: 'bow', skill: 'woodworking', materials: [{ item: 'Oak', amount: 2 }] }],
    'recipes',
  ],
  [
    'recipes by name, of which only the key has it',
    {
      'Bow1-3': { type: 'bow', skill: 'woodworking', level: { minimum: 1 }, materials: [{ item: 'Oak', amount: 2 }] },
    },
    'recipes',
  ],
  ['what has a name and another type', [item('Ash', { type: 'quest' }), item('Oak', { type: 'cave' })], null],
  ['sets', { Set: { bonuses: { 1: { minor: { a: 1 } } }, parts: ['Ash'] } }, 'item-sets'],
  [
    'the map',
    { Oak: { guild: { uuid: uuid(1), name: 'A', prefix: 'A' }, acquired: '2026-05-01T09:00:00Z' } },
    'territories',
  ],
  ['places without an owner', { Oak: { location: { start: [1, 2], end: [3, 4] } } }, null],
  ['seasons', { 1: { startDate: '2024-01-01T00:00:00Z', endDate: '2024-02-01T00:00:00Z', srPerWar: 5 } }, 'seasons'],
  ['who is online', { total: 1, players: { [uuid(1)]: 'EU1' } }, 'online-players'],
  ['who is online, by name', { total: 1, players: { Player: 'EU1' } }, null],
  ['camps', [{ ...place, ...placed, type: 'CAMP' }], 'camps'],
  ['raids', [{ ...place, ...placed, type: 'RAID' }], 'raids'],
  [
    'pools',
    [
      { ...place, type: 'CAMP' },
      { ...place, internalName: 'b', type: 'RAID' },
    ],
    'loot-pools',
  ],
  ['events', [{ internalName: '0a', name: 'A', level: 5, location: [], schedule: null }], 'world-events'],
  ['items of 2023', { Ash: { internalName: 'Ash', type: 'helmet', requirements: { level: 5 } } }, 'items'],
  [
    'accessories of 2023',
    {
      Ash: {
        internalName: 'Ash',
        accessoryType: 'ring',
        tier: 'rare',
        base: { health: 5 },
        requirements: { level: 5 },
        lore: 'l',
      },
    },
    'items',
  ],
  ['markers', [{ name: 'A', icon: 'a.png', x: '1', y: '2', z: '3' }], 'map-markers'],
  ['nodes', [{ x: 1, y: 2, z: 3, angle: 0, type: 'NODE', resource: 'OAK', level: 1 }], 'gathering-nodes'],
  ['where players are', [{ uuid: uuid(1), name: 'P', server: 'EU1', x: 1, y: 2, z: 3 }], null],
  [
    'news',
    [
      {
        title: 'T',
        date: '2026-05-01',
        forumThread: 'https://example.org/1',
        author: 'A',
        content: 'c',
        comments: '3',
      },
    ],
    'latest-news',
  ],
  ['videos', ['https://youtu.be/a', 'https://www.youtube.com/b'], 'videos'],
  ['addresses', ['https://example.org/a', 'https://example.org/b'], null],
  ['a guild', { ...guild(1), level: 5, members: { total: 0, owner: {} } }, 'guilds'],
  ['a guild without members', { ...guild(1), level: 5 }, null],
  ['a player', { uuid: uuid(1), username: 'P', online: false, playtime: 5, globalData: { wars: 1 } }, 'players'],
  ['a player who hides most', { uuid: uuid(1), username: 'P', online: false, supportRank: null }, 'players'],
  [
    'players whom a name may mean',
    { error: 'MultipleObjectsReturned', code: 300, objects: { [uuid(1)]: choice(1), [uuid(2)]: choice(2) } },
    null,
  ],
  ['a member', { uuid: uuid(1), username: 'P', contributed: 5, joined: '2026-05-01T09:00:00Z', lastJoin: null }, null],
  ['an error', { error: 'TooManyRequests', detail: 'x', code: 429 }, null],
  ['nothing', {}, null],
]

/** What others keep of the same things, and what it is called. */
const notSent: [what: string, body: unknown, says: RegExp][] = [
  [
    'territories of version 1',
    { Oak: { territory: 'Oak', guild: 'A', acquired: '2020-01-01 09:00:00' } },
    /territories.*version 1/,
  ],
  [
    'territories of 2023',
    { Oak: { guild: { name: 'A', prefix: 'A' }, acquired: '2023-10-01T09:00:00.000000' } },
    /territories.*no uuids/,
  ],
  [
    'a guild of 2023',
    { name: 'A', prefix: 'A', level: 3, members: { total: 0, owner: {} } },
    /a guild without its uuid: of 2023/,
  ],
  ['guilds of 2023', { 'Guild 1': { prefix: 'OWL' }, 'Guild 2': { prefix: null } }, /guilds by their names.*of 2023/],
  ['who is online, by name', { total: 1, players: { Player: 'EU1' } }, /who is online by name/],
  [
    'places of territories',
    [{ name: 'Oak', start: '1,2', end: '3,4', spawnLocation: '1,2,3' }],
    /places of territories/,
  ],
  [
    'territories with what they produce',
    { Oak: { resources: {}, 'Trading Routes': ['Ash'] } },
    /places of territories/,
  ],
  [
    'items of a planner',
    { items: [{ name: 'Ash', type: 'helmet', tier: 'Rare', lvl: 5 }], sets: {} },
    /items.*planner/,
  ],
  ['items without a kind', { Ash: { internalName: 'Ash', requirements: { level: 5 } } }, /items.*what kind/],
  ['ingredients of version 2', [{ name: 'Ash', tier: 1, level: 5, skills: ['COOKING'] }], /ingredients.*version 2/],
  ['recipes of version 2', [{ id: 'Bow-1-3', type: 'BOW', skill: 'WOODWORKING', materials: [] }], /recipes.*version 2/],
  ['trees of a planner', { Mage: [{ display_name: 'Ice', parents: [], blockers: [] }] }, /ability trees.*planner/],
  ['members with who left', { members: { P: { rank: 'OWNER' } }, joined: {}, left: {} }, /members of a guild/],
  ['players of a tracker', { P: { username: 'P', lastUpdate: 5, stats: {} } }, /tracker keeps of players/],
  ['a response of version 1', { guilds: ['A'], request: { timestamp: 5, version: 1 } }, /version 1 of the API/],
  ['a response of version 2', { kind: 'a', code: 200, timestamp: 5, version: '2', data: [] }, /version 2 of the API/],
  [
    'aspects with other descriptions',
    {
      mage: {
        A: {
          name: 'A',
          icon: {},
          requiredClass: 'mage',
          tiers: { 1: { threshold: 1, description: [[{ text: 'a' }]] } },
        },
      },
    },
    /aspects with descriptions/,
  ],
]

describe('files of a git history', () => {
  test.each(alike)('that are %s are recognised by the fields that only they have', async (_what, body, resource) => {
    const { detected } = await detect({ 'some/file.json': body })
    expect(detected.map((one) => one.resource)).toEqual(resource === null ? [] : [resource])
  })

  test.each(notSent)('that are %s are named as what they are, in an envelope or not', async (_what, body, says) => {
    for (const content of [body, { updated: 5, data: body }]) {
      const { detected, notSent } = await detect({ 'data/some.json': content })
      expect([detected, notSent]).toEqual([[], [{ what: expect.stringMatching(says), paths: ['data/some.json'] }]])
    }
  })
})
