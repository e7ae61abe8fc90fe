import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { openServer } from '../../src/db/server/server.ts'
import { gameDigests } from '../support/backfill.ts'
import { runInside } from '../support/cli-inside.ts'
import { type Commit, gitRepository } from '../support/git-repository.ts'
import { guildBody, guildId, playerId } from '../support/guild-answers.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { type Fields, hasRecordings, recordedFolder, recordedResponses } from '../support/recorded.ts'
import { recordingFolder } from '../support/recording-folder.ts'
import { instantOf, item } from '../support/world.ts'

/** What the API responded at an instant, by target. */
interface State {
  readonly at: number
  readonly bodies: Readonly<Record<string, unknown>>
}

type Files = Readonly<Record<string, unknown>>
type Layout = (state: State, nth: number) => Files

const all = '/item/database?fullResult'
const hours = (nth: number) => instantOf(`${10 + 2 * nth}:00`)
const states: readonly State[] = [0, 1, 2, 3].map((nth) => ({
  at: hours(nth),
  bodies: {
    [all]: ['weapon', 'tome', 'charm', 'ingredient'].flatMap((type) =>
      Array.from({ length: 9 }, (_, one) =>
        item(`${type} ${one + (nth > 1 ? 1 : 0)}`, {
          type,
          tier: 'rare',
          requirements: { level: nth },
          displayName: `${type} ${one}`,
        }),
      ),
    ),
  },
}))

const recordsIn = ({ bodies }: State) => bodies[all] as Fields[]
/** As `jq` writes them: keyed by a name that is not repeated in the record. */
function named(records: readonly Fields[]): Fields {
  const isUnique = new Set(records.map(({ displayName }) => displayName)).size === records.length
  return Object.fromEntries(
    records.map(({ displayName, ...rest }) =>
      isUnique ? [String(displayName), rest] : [String(rest.internalName), { displayName, ...rest }],
    ),
  )
}
function byType(records: readonly Fields[], ofAll: (records: readonly Fields[]) => unknown): Files {
  const types = [...new Set(records.map(({ type }) => String(type)))]
  return Object.fromEntries(
    types.map((type) => [`Reference/${type}.json`, ofAll(records.filter((one) => one.type === type))]),
  )
}

/** How archives keep a response, each as the files of one state. */
const layouts: Readonly<Record<string, Layout>> = {
  whole: (state) => ({ 'data/items.json': recordsIn(state) }),
  'by type': (state) => byType(recordsIn(state), (records) => records),
  'keyed by name': (state) => byType(recordsIn(state), named),
  'with an expanded twin': (state) => {
    const files = byType(recordsIn(state), (records) => records)
    const twins = Object.entries(files).map(([path, body]) => [
      path.replace('.json', '_expanded.json'),
      JSON.stringify(body, null, 2),
    ])
    return { ...files, ...Object.fromEntries(twins) }
  },
  'whole, then in another folder by type': (state, nth) =>
    nth < 2
      ? { 'old/all.json': recordsIn(state) }
      : { ...byType(recordsIn(state), (records) => records), 'old/all.json': null },
  'in an envelope': (state) => ({ 'items.json': { updated: state.at, source: 'x', data: recordsIn(state), count: 1 } }),
  'in an envelope by type, in another one': (state) => ({
    'all.json': {
      data: Object.fromEntries(Object.entries(byType(recordsIn(state), named))),
      removed: recordsIn(state),
    },
  }),
  'by type and packed': (state) =>
    Object.fromEntries(
      Object.entries(byType(recordsIn(state), named)).map(([path, body]) => [
        `${path}.gz`,
        gzipSync(JSON.stringify(body)),
      ]),
    ),
  ...dated(),
  'with a byte order mark and the lines of Windows': (state) => ({
    'items.json': `\ufeff${JSON.stringify(recordsIn(state), null, 1).replaceAll('\n', '\r\n')}`,
  }),
}

/** Layouts with a file or folder for each state, which stays. */
function dated(): Record<string, Layout> {
  const stamp = ({ at }: State, between: string) =>
    new Date(at).toISOString().slice(0, 19).replace('T', between).replaceAll(':', '-')
  return {
    'in a file for each time': (state) => ({ [`days/items ${stamp(state, '_')}.json`]: recordsIn(state) }),
    'in a file for each second since 1970': (state) => ({ [`items_${state.at / 1000}.json`]: recordsIn(state) }),
    'in a folder for each time, by type': (state) =>
      Object.fromEntries(
        Object.entries(byType(recordsIn(state), named)).map(([path, body]) => [`${stamp(state, '/')}/${path}`, body]),
      ),
  }
}

/** Files become commits; only what changed is in one. `rewritten`: all commits were made anew within a minute. */
function commitsOf(history: readonly State[], filesOf: Layout, rewritten = false): Commit[] {
  const before = new Map<string, string | Buffer>()
  return history.map((state, nth) => {
    const files = Object.entries(filesOf(state, nth)).flatMap(([path, body]): [string, string | Buffer | null][] => {
      const text = body === null || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
      if (String(before.get(path) ?? null) === String(text)) return []
      if (text === null) before.delete(path)
      else before.set(path, text)
      return [[path, text]]
    })
    const at = rewritten ? Date.UTC(2026, 8, 1) + nth * 1000 : state.at
    return { at, ...(rewritten ? { written: state.at } : {}), files: Object.fromEntries(files) }
  })
}

/** All files in one commit. */
function atOnce(commits: readonly Commit[]): Commit[] {
  const at = Math.max(...commits.map((commit) => commit.at)) + 365 * 86_400_000
  return [{ at, files: Object.assign({}, ...commits.map(({ files }) => files)) }]
}

async function digestsOf(args: readonly string[]) {
  const DATABASE_URL = await testDatabaseUrl()
  const { code, out, err } = await runInside(['backfill', ...args, '--json'], { DATABASE_URL })
  expect([code, err]).toEqual([0, expect.any(String)])
  const db = await openServer(DATABASE_URL)
  const digests = await gameDigests(db).finally(() => db.close())
  return { digests, loaded: JSON.parse(out) as { skipped: string[]; broken: string[] } }
}

const fromFolder = async (history: readonly State[]) => {
  const lines = history.flatMap(({ at, bodies }) =>
    Object.entries(bodies).map(([path, body]) => ({ at: new Date(at).toISOString().slice(11, 16), path, body })),
  )
  return (await digestsOf(['--from', await recordingFolder(lines)])).digests
}

const fromGit = async (commits: readonly Commit[]) =>
  await digestsOf(['--from-git', await gitRepository(commits), '--detect', '--yes'])

/** Trees, maps and aspects of two classes; from the second state on one node is other, from the third on another. */
const abilityStates: readonly State[] = [0, 1, 2].map((nth) => ({
  at: hours(nth),
  bodies: Object.fromEntries(
    ['archer', 'mage'].flatMap((name) => [
      [`/ability/tree/${name}`, treeOf(name, nth)],
      [`/ability/map/${name}`, mapOf(nth)],
      [`/aspects/${name}`, [{ name: `A ${nth}`, internalName: name, icon: null, requiredClass: name, tiers: {} }]],
    ]),
  ),
}))

function treeOf(name: string, nth: number) {
  const ability = { name: `Shot ${nth}`, slot: 1, coordinates: { x: 1, y: 1 }, description: [name], page: 1 }
  return {
    archetypes: { sharp: { name: 'Sharp', description: 'd', shortDescription: 's', slot: 1 } },
    pages: { 1: { shot: ability } },
  }
}

function mapOf(nth: number) {
  const node = (x: number, more: object) => ({
    coordinates: { x, y: nth },
    meta: { page: 1, icon: 'i' },
    family: ['shot'],
    ...more,
  })
  return { 1: [node(1, { type: 'ability' }), node(2, { type: 'connector' })] }
}

const fileOf = (target: string) => `raw/${target.split('/').slice(1).reverse().join('_')}.json`
const perClass = (state: State) =>
  Object.fromEntries(Object.entries(state.bodies).map(([target, body]) => [fileOf(target), body]))
function inOneFile({ bodies }: State): Files {
  const files: Record<string, Record<string, unknown>> = {}
  for (const [target, body] of Object.entries(bodies)) {
    const [kind = '', name = ''] = [target.split('/').slice(1, -1).join('_'), target.split('/').at(-1)]
    files[`Reference/${kind}.json`] = { ...files[`Reference/${kind}.json`], [name]: body }
  }
  return files
}

/** A file for each class, or fields of one. */
function byClass({ bodies }: State, _nth = 0, nameOf = (name: string) => `data/${name}.json`): Files {
  const files: Record<string, Record<string, unknown>> = {}
  for (const [target, body] of Object.entries(bodies)) {
    const [, kind = '', name = ''] = /(\w+)\/(\w+)$/.exec(target) ?? []
    files[nameOf(name)] = { ...files[nameOf(name)], [kind]: body }
  }
  return files
}

/** Two guilds and two boards: a guild rises in each state, one member leaves and one comes; a board has other places. */
const keyedStates: readonly State[] = [0, 1, 2].map((nth) => ({
  at: hours(nth),
  bodies: Object.fromEntries([
    ...['a', 'b'].map((letter) => [
      `/guild/uuid/${guildId(letter)}`,
      guildBody(letter, { 1: { rank: 'owner' }, [2 + nth]: {}, 9: { contributed: nth } }, { level: 5 + nth }),
    ]),
    ...['guildLevel', 'guildWars'].map((board) => [
      `/leaderboards/${board}`,
      Object.fromEntries(
        Array.from({ length: 100 }, (_, place) => [
          String(place + 1),
          { uuid: playerId(place + (place > 97 ? nth : 0)), name: `G${place}`, prefix: 'G', level: 100 - place + nth },
        ]),
      ),
    ]),
  ]),
}))

/** As a name and what it has, of guilds or of boards. */
const namedIn = ({ bodies }: State, kind: string) =>
  Object.entries(bodies).flatMap(([target, body]): [string, unknown][] =>
    target.startsWith(kind)
      ? [[kind === '/guild/' ? String((body as Fields).name) : (target.split('/').at(-1) ?? ''), body]]
      : [],
  )
const filesOfKeys = (state: State, guildFile: (name: string) => string, boardFile: (name: string) => string) =>
  Object.fromEntries([
    ...namedIn(state, '/guild/').map(([name, body]) => [guildFile(name), body]),
    ...namedIn(state, '/leaderboards/').map(([name, body]) => [boardFile(name), body]),
  ])
const dayOf = ({ at }: State) => new Date(at).toISOString().slice(0, 19).replaceAll(':', '')

/** How archives keep what has a response for each key. */
const keyedLayouts: Readonly<Record<string, Layout>> = {
  'a file for each': (state) =>
    filesOfKeys(
      state,
      (name) => `data/${name}.json`,
      (name) => `leaderboards/${name}.json`,
    ),
  'a file for each time of each': (state) =>
    filesOfKeys(
      state,
      (name) => `guilds/${name} ${dayOf(state)}.json`,
      (name) => `leaderboards/${name}/${dayOf(state)}.json`,
    ),
  'a folder for each time': (state) =>
    filesOfKeys(
      state,
      (name) => `${dayOf(state)}/guilds/${name}.json`,
      (name) => `${dayOf(state)}/leaderboards/${name}.json`,
    ),
  'all in one file': (state) => ({
    'guilds.json': { time: state.at, guilds: Object.fromEntries(namedIn(state, '/guild/')) },
    'leaderboards.json': Object.fromEntries(namedIn(state, '/leaderboards/')),
  }),
  'a list in a file for each time': (state) => ({
    [`${dayOf(state)}.json`]: namedIn(state, '/guild/').map(([, body]) => [state.at, body]),
    [`leaderboards/${dayOf(state)}.json`]: Object.fromEntries(namedIn(state, '/leaderboards/')),
  }),
}

describe('an archive is found and loaded as the same responses in a folder of recordings, row for row', () => {
  test.each(Object.entries(layouts))('%s', async (_layout, filesOf) => {
    const { digests, loaded } = await fromGit(commitsOf(states, filesOf))
    expect([loaded.broken, loaded.skipped]).toEqual([[], []])
    expect(digests).toEqual(await fromFolder(states))
    expect(digests['game.item']).toMatchObject({ rows: 144 })
  })

  test.each(Object.entries(dated()))('%s, all committed at once a year later', async (_layout, filesOf) => {
    const { digests } = await fromGit(atOnce(commitsOf(states, filesOf)))
    expect(digests).toEqual(await fromFolder(states))
  })

  test('with dates that were rewritten', async () => {
    const { digests } = await fromGit(commitsOf(states, layouts.whole as (typeof layouts)[string], true))
    expect(digests).toEqual(await fromFolder(states))
  })

  test.each([
    ['a file for each class', perClass],
    ['the classes in one file', inOneFile],
    ['all of a class in one file', byClass],
    [
      'all of all classes in one file',
      (state: State) => ({ 'abilities.json': { classes: byClass(state, 0, (name) => name) } }),
    ],
  ])('of abilities, %s', async (_layout, filesOf) => {
    const { digests } = await fromGit(commitsOf(abilityStates, filesOf))
    expect(digests).toEqual(await fromFolder(abilityStates))
    expect(digests['game.ability']).toMatchObject({ rows: 14 })
  })

  test('of recipes by name, of which only the key has it', async () => {
    const recipe = (level: number) => ({
      type: 'bow',
      skill: 'woodworking',
      level: { minimum: level, maximum: 9 },
      materials: [{ item: 'Oak', amount: 2 }],
    })
    const recipeStates = [1, 2].map((nth): State => {
      const named = { 'Bow1-9': recipe(1), [`Wand${nth}-9`]: recipe(nth) }
      const body = Object.entries(named).map(([internalName, one]) => ({ internalName, ...one }))
      return { at: hours(nth), bodies: { '/item/recipe/database?full_result': body, named } }
    })
    const { digests } = await fromGit(commitsOf(recipeStates, ({ bodies }) => ({ 'recipes.json': bodies.named })))
    const asked = recipeStates.map(({ at, bodies: { named: _, ...bodies } }) => ({ at, bodies }))
    expect(digests).toEqual(await fromFolder(asked))
    expect(digests['game.recipe']).toMatchObject({ rows: 3 })
  })

  test('but not territories of version 1, in which a guild is a name alone', async () => {
    const DATABASE_URL = await testDatabaseUrl()
    const map = { Oak: { territory: 'Oak', guild: 'A', guildPrefix: 'A', acquired: '2026-04-30 09:00:00' } }
    const repository = await gitRepository([{ at: hours(0), files: { 'map.json': JSON.stringify(map) } }])
    const { code, err } = await runInside(['backfill', '--from-git', repository, '--map', 'map.json=territories'], {
      DATABASE_URL,
    })
    expect([code, err]).toEqual([3, expect.stringContaining('a form that the API does not send')])
  })

  test.each(Object.entries(keyedLayouts))('of guilds and boards, %s', async (layout, filesOf) => {
    const { digests, loaded } = await fromGit(commitsOf(keyedStates, filesOf))
    expect([loaded.broken, loaded.skipped]).toEqual([[], []])
    expect(digests).toEqual(await fromFolder(keyedStates))
    expect([digests['game.guild'], digests['game.guild_member']]).toMatchObject([{ rows: 2 }, { rows: 10 }])
    if (layout.includes('time'))
      expect((await fromGit(atOnce(commitsOf(keyedStates, filesOf)))).digests).toEqual(digests)
  })

  test('of abilities, which go on with a commit that has only one class', async () => {
    const only = (name: string) => (state: State) =>
      Object.fromEntries(Object.entries(perClass(state)).filter(([path]) => path.includes(name)))
    const repository = await gitRepository(commitsOf(abilityStates.slice(0, 2), perClass))
    const DATABASE_URL = await testDatabaseUrl()
    const args = ['backfill', '--from-git', repository, '--detect', '--yes', '--json']
    await runInside(args, { DATABASE_URL })
    await gitRepository(commitsOf(abilityStates.slice(2), only('archer')), repository)
    const { code, out } = await runInside(args, { DATABASE_URL })
    expect([code, JSON.parse(out).resources.map(({ changed }: { changed: number }) => changed > 0)]).toEqual([
      0,
      [true, true],
    ])
  })
})

describe.runIf(hasRecordings)('an archive of what the API really sent is loaded so, too', () => {
  const folder = recordedFolder('recordings') ?? ''
  const real = () =>
    recordedResponses(folder, '/item/database', 'fullResult').map(
      ({ at, body }): State => ({ at: at.getTime(), bodies: { [all]: body } }),
    )

  let ofFolder: Promise<{ digests: object }> | undefined

  test.each(Object.entries(layouts))('%s', { timeout: 600_000 }, async (_layout, filesOf) => {
    const { digests } = await fromGit(commitsOf(real(), filesOf))
    ofFolder ??= digestsOf(['items', '--from', folder])
    expect(digests).toEqual((await ofFolder).digests)
  })

  test.each([
    ['a file for each class', perClass],
    ['the classes in one file', inOneFile],
  ])('of abilities since 2023, %s', { timeout: 600_000 }, async (_layout, filesOf) => {
    const abilities = recordedFolder('recordings-abilities') ?? ''
    const ofClasses = ['archer', 'mage'].flatMap((name) =>
      ['/ability/tree/', '/ability/map/', '/aspects/'].flatMap((target) =>
        recordedResponses(abilities, target + name).map(({ at, body }) => ({
          at: at.getTime(),
          target: target + name,
          body,
        })),
      ),
    )
    const instants = [...new Set(ofClasses.map(({ at }) => at))].sort((a, b) => a - b)
    const history = instants.map((at): State => {
      const now = ofClasses.filter((one) => one.at === at)
      return { at, bodies: Object.fromEntries(now.map(({ target, body }) => [target, body])) }
    })
    // A file with all classes has those that did not change, too.
    let before: State['bodies'] = {}
    const whole = history.map(({ at, bodies }): State => {
      before = { ...before, ...bodies }
      return { at, bodies: before }
    })
    const { digests } = await fromGit(commitsOf(whole, filesOf))
    expect(digests).toEqual((await digestsOf(['--from', abilities])).digests)
  })
})
