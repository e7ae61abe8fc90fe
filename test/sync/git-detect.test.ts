import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { resources } from '../../src/resources/index.ts'
import { detectResponses } from '../../src/sync/backfill/git-detect.ts'
import { gitRepository } from '../support/git-repository.ts'
import { temporaryFolder } from '../support/postgres.ts'
import { instantOf, item } from '../support/world.ts'

type Files = Readonly<Record<string, unknown>>
const at = (nth: number) => instantOf('10:00') + 60_000 * nth
const repository = (...commits: Files[]) =>
  gitRepository(
    commits.map((files, nth) => ({
      at: at(nth),
      files: Object.fromEntries(Object.entries(files).map(([path, body]) => [path, JSON.stringify(body)])),
    })),
  )
const textsOf = (files: Files) =>
  Object.fromEntries(Object.entries(files).map(([path, body]) => [path, JSON.stringify(body)]))
const uuid = (nth: number) => `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`

/** What is detected, as `glob=resource` of what the command has; and the rest. */
async function detect(...commits: Files[]) {
  const { detected, leftOut, notRead, notSent } = await detectResponses(await repository(...commits), resources)
  const text = ({ glob, resource }: (typeof detected)[number]) => `${glob}=${resource}`
  const [mapped, others] = [true, false].map((is) => detected.filter((one) => one.mapped === is).map(text))
  return { mapped, others, leftOut, notRead, notSent, detected }
}

const part = (type: string, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, item(name, { type, tier: 'rare' })]))
/** The same as `jq` prints it, with what somebody worked out of it. */
const expanded = (files: Files) =>
  Object.fromEntries(Object.entries(files).map(([name, one]) => [name, { ...(one as object), lore: 'long' }]))

const player = (nth: number, more: object = {}) => ({ uuid: uuid(nth), name: `Player ${nth}`, ...more })
const guild = (nth: number, more: object = {}) => ({
  uuid: uuid(nth),
  name: `Guild ${nth}`,
  prefix: `G${nth}`,
  ...more,
})
const board = (entry: (nth: number) => object) =>
  Object.fromEntries(Array.from({ length: 30 }, (_, nth) => [String(nth + 1), entry(nth + 1)]))
const reward = { name: 'R', type: 'ITEM', amount: 1, always: false }
const place = { internalName: 'aa', name: 'A', rewards: [reward] }
const placed = { lore: null, difficulty: 'EASY', level: 5, length: 'SHORT', requirements: [], location: null }

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

  test('that many commits changed are named where the API sends nothing like them', async () => {
    const commits = [1, 2, 3, 4, 5].map((nth) => ({ 'state.json': { left: nth } }))
    const { notSent } = await detect({ 'tsconfig.json': { strict: true } }, ...commits)
    expect(notSent).toEqual([{ what: 'JSON in no form that the API sends', paths: ['state.json'] }])
  })

  test('that are boards are boards where their folder says so, and nothing else', async () => {
    const boards = {
      'leaderboards/combatSoloLevel.json': board((nth) => player(nth, { score: nth })),
      'leaderboards/guildLevel.json': board((nth) => guild(nth, { level: 5 })),
    }
    expect((await detect(boards)).mapped).toEqual(['leaderboards/*.json=leaderboards'])
  })

  test('that are parts of a response make one map with braces, without their twins', async () => {
    const files = {
      gear: part('weapon', 'Ash', 'Oak', 'Elm'),
      tomes: part('tome', 'Ode', 'Lay'),
      charms: part('charm', 'Ring'),
      ingredients: part('ingredient', 'Salt', 'Herb'),
    }
    const commits = Object.entries(files).map(([name, body]) => ({
      [`Reference/${name}.json`]: body,
      [`Reference/${name}_expanded.json`]: expanded(body),
    }))
    const { mapped, others, leftOut, detected } = await detect(...commits, {
      'Reference/urls.json': [{ id: 'a', url: 'https://example.org' }],
      'Data/gear_missing.json': part('weapon', 'Ash'),
      'old/a,{b}.json': part('weapon', 'Ash', 'Oak'),
    })
    expect(mapped).toEqual(['Reference/{charms,gear,ingredients,tomes}.json=items'])
    expect(others).toEqual(['Data/gear_missing.json=items', String.raw`old/a\,\{b\}.json=items`])
    expect(leftOut.map(({ path, sameAs }) => `${path} ${sameAs}`).sort()).toEqual(
      Object.keys(files)
        .sort()
        .map((name) => `Reference/${name}_expanded.json Reference/${name}.json`),
    )
    expect(detected.find((one) => one.mapped)).toMatchObject({ files: 4, commits: 4, records: 8, expected: 6600 })
  })

  test('are one where the file with all records is beside its copies', async () => {
    const all = { ...part('weapon', 'Ash', 'Oak', 'Elm'), ...part('tome', 'Ode', 'Lay') }
    const { mapped, leftOut } = await detect(
      { 'items.json': all, 'weapons.json': part('weapon', 'Ash', 'Oak', 'Elm'), 'items.pretty.json': expanded(all) },
      { 'items.json': { ...all, ...part('charm', 'Ring') } },
    )
    expect(mapped).toEqual(['items.json=items'])
    expect(leftOut.map(({ path }) => path).sort()).toEqual(['items.pretty.json', 'weapons.json'])
  })

  test('of other days beside each other are all mapped, however many', async () => {
    const names = (nth: number) => ['Ash', 'Oak', 'Elm', `New ${nth}`]
    const days = (count: number) =>
      Array.from({ length: count }, (_, nth) => ({ [`days/${2000 + nth}.json`]: part('weapon', ...names(nth)) }))
    expect((await detect(...days(3))).mapped).toEqual(['days/{2000,2001,2002}.json=items'])
    const { mapped, detected } = await detect(...days(45))
    expect([mapped, detected[0]?.files]).toEqual([['days/*.json=items'], 45])
  })

  test('with a date in their names are one series, in one folder or each in its own, however many', async () => {
    const state = (nth: number) => part('weapon', 'Ash', 'Oak', 'Elm', `New ${nth}`)
    const series = (pathOf: (day: string) => string) =>
      detect(
        Object.fromEntries(
          Array.from({ length: 400 }, (_, nth) => {
            const day = new Date(instantOf('10:00') + 86_400_000 * nth).toISOString()
            return [pathOf(day), state(nth)]
          }),
        ),
      )
    const found = async (pathOf: (day: string) => string) => {
      const { mapped, detected, leftOut } = await series(pathOf)
      return [mapped, detected.map(({ files }) => files), leftOut]
    }
    expect(await found((day) => `items [${day.slice(0, 10)}].json`)).toEqual([
      [String.raw`items \[????-??-??\].json=items`],
      [400],
      [],
    ])
    expect(await found((day) => `v3/${day.slice(0, 10).replaceAll('-', '/')}/items.json`)).toEqual([
      ['v3/????/??/??/items.json=items'],
      [400],
      [],
    ])
    expect(await found((day) => `items_${Date.parse(day)}.json`)).toEqual([
      ['items_?????????????.json=items'],
      [400],
      [],
    ])
    expect(await found((day) => `${day.slice(0, 7)}/items_${Date.parse(day) / 1000}.json`)).toEqual([
      ['????-??/items_??????????.json=items'],
      [400],
      [],
    ])
    const guilds = (day: number, nth: number) => [
      `2026-05-1${day}/guilds/${uuid(nth)}.json`,
      { ...guild(nth), members: {} },
    ]
    const ofGuilds = [1, 2, 3].flatMap((day) => Array.from({ length: 50 }, (_, nth) => guilds(day, nth)))
    const { mapped, detected } = await detect(Object.fromEntries(ofGuilds))
    expect([mapped, detected.map(({ files, records }) => [files, records])]).toEqual([
      ['????-??-??/guilds/*.json=guilds'],
      [[150, 50]],
    ])
  })

  test('are looked into where an envelope is around responses, but not for what was added or removed', async () => {
    const items = part('weapon', 'Ash', 'Oak')
    const recipes = [{ internalName: 'a', type: 'bow', skill: 'woodworking', materials: [] }]
    expect((await detect({ 'cache.json': { at: 5, recipes, items, used: part('weapon', 'Ash') } })).mapped).toEqual([
      'cache.json=items',
      'cache.json=recipes',
    ])
    const one = { ...guild(1), members: { total: 0 } }
    expect((await detect({ 'guild.json': { timestamp: 5, data: one } })).mapped).toEqual(['*.json=guilds'])
    expect(
      (await detect({ 'changes.json': { added: items, removed: items, modified: [{ before: items }] } })).detected,
    ).toEqual([])
  })

  test('are states of one where only numbers in their paths differ, and each came with another commit', async () => {
    const versions = ['2.0', '2.1', '2.10'].map((version, nth) => ({
      [`v${version}/items.json`]: part('weapon', 'Ash', 'Oak', 'Elm', `New ${nth}`),
    }))
    expect((await detect(...versions)).mapped).toEqual(
      ['v2.0', 'v2.1', 'v2.10'].map((name) => `${name}/items.json=items`),
    )
  })

  test('of all keys in one are found, as a map or a list, with a time beside each or not', async () => {
    const guilds = Array.from({ length: 30 }, (_, nth) => ({ ...guild(nth), members: { total: 0 } }))
    const { mapped, detected } = await detect({
      'a/by-name.json': { updated: 5, guilds: Object.fromEntries(guilds.map((one) => [one.name, one])) },
      'b/list.json': guilds,
      'c/pairs.json': guilds.map((one) => [5, one]),
      'd/others.json': [...guilds.slice(0, 10), ...Array.from({ length: 20 }, (_, nth) => guild(nth))],
    })
    expect(mapped).toEqual(['a/by-name.json=guilds', 'b/list.json=guilds', 'c/pairs.json=guilds'])
    expect(detected.map(({ files, records }) => [files, records])).toEqual([
      [1, 30],
      [1, 30],
      [1, 30],
    ])
  })

  test('of a key each are one series where each has its own folder, but for folders with something else', async () => {
    const folders = (file: string) =>
      Array.from({ length: 60 }, (_, nth) => [`guilds/G ${nth}/${file}`, { ...guild(nth), members: { total: 0 } }])
    const days = [...folders('2026-05-01.json'), ...folders('2026-05-02.json')]
    const { mapped, detected } = await detect(Object.fromEntries([...days, ['guilds/G 1/notes.json', [1]]]))
    expect([mapped, detected[0]?.files, detected[0]?.records]).toEqual([['guilds/*/????-??-??.json=guilds'], 120, 60])
    const others = Object.fromEntries([...folders('guild.json').slice(0, 3), ['guilds/x/guild.json', [1]]])
    expect((await detect(others)).mapped).toEqual([0, 1, 2].map((nth) => `guilds/G ${nth}/*.json=guilds`))
  })

  test('of a key each leave out what is beside them', async () => {
    const guilds = Object.fromEntries(
      Array.from({ length: 45 }, (_, nth) => [`guilds/${uuid(nth)}.json`, { ...guild(nth), members: { total: 0 } }]),
    )
    expect((await detect(guilds)).mapped).toEqual(['guilds/*.json=guilds'])
    const { mapped, detected } = await detect({ ...guilds, 'guilds/index.json': { all: [1, 2] } })
    expect([mapped, detected[0]?.records]).toEqual([['guilds/????????-????-????-????-????????????.json=guilds'], 45])
    const named = { 'a/B.json': { ...guild(1), members: {} }, 'a/C.json': { ...guild(2), members: {} }, 'a/x.json': [] }
    expect((await detect(named)).mapped).toEqual(['a/{B,C}.json=guilds'])
  })

  test('are read a few of each folder and each once, in a history of 2,000 commits', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 300 }, (_, nth) => [`guilds/${uuid(nth)}.json`, { ...guild(nth), members: { total: 0 } }]),
    )
    const commits = Array.from({ length: 2000 }, (_, nth) => ({
      'map.json': { Oak: { guild: null, acquired: null, location: { start: [nth, 0] } } },
    }))
    const place = await repository(many, ...commits)
    const steps: (readonly [what: string, done: number, of: number | null])[] = []
    const began = performance.now()
    const { detected, notRead } = await detectResponses(place, resources, (...step) => void steps.push(step))
    expect(performance.now() - began).toBeLessThan(10_000)
    expect(detected.map(({ glob, commits: count }) => [glob, count])).toEqual([
      ['guilds/*.json', 1],
      ['map.json', 2000],
    ])
    expect([steps.at(-1), notRead]).toEqual([['files', 13, 13], 0])
    expect(steps.filter(([what]) => what === 'commits').at(-1)).toEqual(['commits', 2001, 2001])
  })

  test('are found where they were before they were renamed, split or moved, and where the latest version is an error page', async () => {
    const all = { ...part('weapon', 'Ash', 'Oak', 'Elm'), ...part('tome', 'Ode', 'Lay') }
    const types = { 'api/gear.json': part('weapon', 'Ash', 'Oak', 'Elm'), 'api/tomes.json': part('tome', 'Ode', 'Lay') }
    const place = await gitRepository([
      { at: at(0), files: { 'a.json': JSON.stringify(all), 'copy.json': JSON.stringify(all) } },
      {
        at: at(1),
        files: { 'a.json': null, 'data/b.json': JSON.stringify(all), 'copy.json': JSON.stringify(all, null, 2) },
      },
      { at: at(2), files: { 'data/b.json': null, 'copy.json': null, ...textsOf(types) } },
      { at: at(3), files: { 'api/gear.json': '<html><body>502</body></html>' } },
    ])
    const { detected, leftOut } = await detectResponses(place, resources)
    const mapped = detected.filter((one) => one.mapped).map(({ glob }) => glob)
    expect(mapped).toEqual(['a.json', 'api/{gear,tomes}.json', 'data/b.json'])
    expect(
      [...detected.filter((one) => !one.mapped).map(({ glob }) => glob), ...leftOut.map(({ path }) => path)].sort(),
    ).toEqual(['copy.json'])
  })

  test('are found where each line is a record or a response, and in lists of responses with times', async () => {
    const lines = (all: readonly unknown[]) => all.map((one) => JSON.stringify(one)).join('\n')
    const items = part('weapon', 'Ash', 'Oak')
    const map = (name: string) => ({ [name]: { guild: guild(1), acquired: '2026-05-01T09:00:00Z' } })
    const timed = ['2026-05-01T09:00:00Z', '2026-05-01T10:00:00Z'].map((time, nth) => ({
      time,
      data: map(`Oak ${nth}`),
    }))
    const files = {
      'items.jsonl': lines(Object.values(items)),
      'map/2026-05-01.ndjson.gz': gzipSync(lines(timed)),
      'map/2026-05-02.ndjson.gz': gzipSync(lines(timed.slice(1))),
      'log.jsonl': lines([{ level: 'info', time: '2026-05-01T09:00:00Z', data: { a: 1 } }]),
    }
    const place = await gitRepository([{ at: at(0), files }])
    const { detected, unreadable } = await detectResponses(place, resources)
    expect(detected.map(({ glob, resource }) => `${glob}=${resource}`)).toEqual([
      'items.jsonl=items',
      'map/????-??-??.ndjson.gz=territories',
    ])
    expect(unreadable).toEqual([])
  })

  test('that hold no JSON are named, and packed files and UTF-16 are read', async () => {
    const map = JSON.stringify({ Oak: { guild: null, acquired: null, location: { start: [1, 0] } } })
    const items = JSON.stringify(part('weapon', 'Ash', 'Oak'))
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n'
    const place = await gitRepository([
      {
        at: at(0),
        files: {
          'map.json': Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(map, 'utf16le')]),
          'items.json.gz': gzipSync(items),
          'lfs.json': pointer,
          'gateway.json': '<html>',
          'cut.json': items.slice(0, 20),
          'none.json': '',
        },
      },
    ])
    const { detected, unreadable } = await detectResponses(place, resources)
    expect(detected.map(({ glob, resource }) => `${glob}=${resource}`)).toEqual([
      'items.json.gz=items',
      'map.json=territories',
    ])
    expect(unreadable.map(({ path, reason }) => `${path}: ${reason}`).sort()).toEqual([
      'cut.json: not JSON, or JSON that ended early',
      'gateway.json: a page of HTML',
      'lfs.json: a pointer of Git LFS: its content is in no commit',
      'none.json: empty',
    ])
  })

  test('are looked for in what HEAD names, which must be there', async () => {
    const place = await repository({ 'map.json': { Oak: { guild: null, acquired: null } } })
    const git = (...args: string[]) => execFileSync('git', ['-C', place, ...args])
    git('config', 'uploadpack.allowFilter', 'true')
    const [partial, shallow] = [join(await temporaryFolder(), 'partial'), join(await temporaryFolder(), 'shallow')]
    git('clone', '--quiet', '--no-checkout', '--filter=blob:none', `file://${place}`, partial)
    git('clone', '--quiet', '--depth=1', `file://${place}`, shallow)
    await expect(detectResponses(partial, resources)).rejects.toThrow(/partial clone without its files/)
    expect((await detectResponses(shallow, resources)).remarks).toEqual([
      expect.stringMatching(/^the clone is shallow/),
    ])
    git('symbolic-ref', 'HEAD', 'refs/heads/gone')
    await expect(detectResponses(place, resources)).rejects.toThrow(
      /HEAD names no commit, and the branches are main; choose one/,
    )
  })
})
