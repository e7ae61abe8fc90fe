import { execFileSync } from 'node:child_process'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openServer } from '../../src/db/server/server.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { gameDigests } from '../support/backfill.ts'
import { runInside } from '../support/cli-inside.ts'
import { type Commit, gitRepository } from '../support/git-repository.ts'
import { guildBody, guildId, place } from '../support/guild-answers.ts'
import { smallItemWorld } from '../support/item-world.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { recordingFolder } from '../support/recording-folder.ts'
import { instantOf, item } from '../support/world.ts'

const owner = { 1: { rank: 'owner' } }
const guild = (letter: string, level: number) => guildBody(letter, owner, { level })
const map = (holder: string, acquired: string) => ({ Oak: place(holder, acquired) })
const commit = (at: string, files: Record<string, unknown>, more: Partial<Commit> = {}): Commit => ({
  at: instantOf(at),
  files: Object.fromEntries(
    Object.entries(files).map(([path, body]) => [path, typeof body === 'string' ? body : JSON.stringify(body)]),
  ),
  ...more,
})

const maps = ['data/items.json=items', 'map.json=territories', 'guilds/**/*.json=guilds'].flatMap((map) => [
  '--map',
  map,
])
const found = (glob: string, resource: string, commits: number) => ({ glob, resource, files: 1, commits })
const [byUuid, byPrefix] = [`guilds/${guildId('a')}.json`, 'guilds/deep/er/B B.json']
const history: Commit[] = [
  commit('10:00', { 'data/items.json': [item('Ash')], 'README.md': 'text', [byUuid]: guild('a', 10) }),
  commit('10:30', { [byPrefix]: guild('b', 7), 'map.json': map('a', '09:00') }),
  commit('11:00', { 'data/items.json': [item('Ash'), item('Oak')], [byUuid]: guild('a', 11) }),
  commit('11:30', { 'map.json': map('b', '11:10') }),
]
const lines = [
  { at: '10:00', path: '/item/database?fullResult', body: [item('Ash')] },
  { at: '10:00', path: `/guild/uuid/${guildId('a')}`, body: guild('a', 10) },
  { at: '10:30', path: `/guild/uuid/${guildId('b')}`, body: guild('b', 7) },
  { at: '10:30', path: '/guild/list/territory', body: map('a', '09:00') },
  { at: '11:00', path: '/item/database?fullResult', body: [item('Ash'), item('Oak')] },
  { at: '11:00', path: `/guild/uuid/${guildId('a')}`, body: guild('a', 11) },
  { at: '11:30', path: '/guild/list/territory', body: map('b', '11:10') },
]

/** What a sandbox responds for each resource that a file of git can hold. */
const routes = {
  camps: '/map/camps',
  'gathering-nodes': '/map/gathering-nodes',
  'guild-list': '/guild/list/guild?identifier=uuid',
  'item-sets': '/item/sets',
  items: '/item/database?fullResult',
  'latest-news': '/latest-news',
  'loot-pools': '/map/loot-pools',
  'map-markers': '/map/locations/markers',
  'online-players': '/player?identifier=uuid',
  quests: '/map/quests',
  raids: '/map/raids',
  recipes: '/item/recipe/database?full_result',
  seasons: '/guild/seasons',
  territories: '/guild/list/territory',
  videos: '/publisher/videos/list',
  'world-events': '/map/world-events',
}

interface Loaded {
  readonly resources: { readonly resource: string; readonly answers: number }[]
  readonly broken: string[]
  readonly skipped: string[]
  readonly known: number
}

async function load(repository: string, DATABASE_URL: string, args: readonly string[] = maps) {
  const { code, out, err } = await runInside(['backfill', '--from-git', repository, ...args, '--json'], {
    DATABASE_URL,
  })
  return { code, err, loaded: (out === '' ? null : JSON.parse(out)) as Loaded }
}

async function digests(url: string) {
  const db = await openServer(url)
  return await gameDigests(db).finally(() => db.close())
}

describe('responses that somebody kept in git', () => {
  test('give row for row what the same responses as recordings give', async () => {
    const [ofGit, ofFolder] = [await testDatabaseUrl(), await testDatabaseUrl()]
    const { code, loaded } = await load(await gitRepository(history), ofGit)
    expect([code, loaded.broken, loaded.skipped, loaded.known]).toEqual([0, [], [], 0])
    expect(loaded.resources.map(({ resource, answers }) => [resource, answers])).toEqual([
      ['items', 2],
      ['territories', 2],
      ['guilds', 3],
    ])
    const folder = await recordingFolder(lines)
    expect(await runInside(['backfill', '--from', folder], { DATABASE_URL: ofFolder })).toMatchObject({ code: 0 })
    const expected = await digests(ofFolder)
    expect(await digests(ofGit)).toEqual(expected)
    expect(expected['game.territory_capture']).toMatchObject({ rows: 1 })
  })

  test('go on after the last commit that was loaded, and read no other again', async () => {
    const DATABASE_URL = await testDatabaseUrl()
    const repository = await gitRepository(history.slice(0, 2))
    await load(repository, DATABASE_URL)
    await gitRepository(history.slice(2), repository)
    const { code, loaded } = await load(repository, DATABASE_URL)
    expect([code, loaded.known]).toEqual([0, 4])
    expect(loaded.resources.map(({ answers }) => answers)).toEqual([1, 1, 1])
    expect((await load(repository, DATABASE_URL)).loaded).toMatchObject({ resources: [], known: 7 })
  })

  test('are left out where they are no JSON or go back in time, and each is named with its commit', async () => {
    const DATABASE_URL = await testDatabaseUrl()
    const repository = await gitRepository([
      ...history,
      commit('12:00', { 'map.json': '{"Oak": ' }),
      commit('08:00', { 'data/items.json': [item('Older')] }),
      commit('12:10', { 'map.json': map('a', '12:05'), 'guilds/\u202e\u001b[31m.json': '<html>' }),
      { at: instantOf('12:20'), files: { 'map.json': null } },
      // A wrong clock hides nothing that comes after it.
      { ...commit('12:25', { 'map.json': map('b', '12:25') }), at: Date.UTC(2230, 0, 1) },
      commit('12:30', { 'map.json': map('c', '12:25') }),
    ])
    const { code, loaded } = await load(repository, DATABASE_URL)
    expect(code).toBe(3)
    expect(loaded.broken.map((line) => line.replace(/[0-9a-f]{10} /, ''))).toEqual([
      expect.stringMatching(/^territories: map.json of commit is not JSON, or JSON that ended early/),
      expect.stringMatching(/^guilds: guilds.*\.json of commit is not JSON/),
    ])
    expect(loaded.skipped).toEqual([
      expect.stringMatching(/^data\/items.json of commit .* is not loaded: it is dated before/),
      expect.stringMatching(/^map.json of commit .* is not loaded: it is dated 2230-01-01T00:00:00.000Z$/),
    ])
    const held = await runInside(['query', 'territory', '--json'], { DATABASE_URL })
    expect(held.out).toContain('"Guild c"')
    const shown = await runInside(['backfill', '--from-git', repository, ...maps], { DATABASE_URL })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be printed
    expect(shown.out).not.toMatch(/[\u001b\u202e]/)
    const query = await runInside(['query', 'item', '--json'], { DATABASE_URL })
    expect(query.out).not.toContain('Older')
  })

  test('come from the first parents alone where branches were merged', async () => {
    const DATABASE_URL = await testDatabaseUrl()
    const repository = await gitRepository([
      commit('10:00', { 'map.json': map('a', '09:00') }),
      commit('10:10', { 'map.json': map('b', '10:05') }, { branch: 'other' }),
      commit('10:20', { 'map.json': map('c', '10:15') }),
      commit('10:30', { 'map.json': map('c', '10:15') }, { merges: 'other' }),
    ])
    const { loaded } = await load(repository, DATABASE_URL, ['--map', 'map.json=territories'])
    expect(loaded.resources).toMatchObject([{ resource: 'territories', answers: 2 }])
    expect(loaded.skipped).toEqual([expect.stringMatching(/^commits of merged branches are left out, 1 of them/)])
  })

  test('run nothing that a repository of any origin asks for', async () => {
    const repository = await gitRepository(history)
    const ran = join(await temporaryFolder(), 'ran')
    const script = join(await temporaryFolder(), 'script')
    await writeFile(script, `#!/bin/sh\ntouch ${ran}\n`)
    await chmod(script, 0o755)
    const config = `[core]\nfsmonitor = ${script}\nhooksPath = ${repository}/hooks\npager = ${script}\n[diff]\nexternal = ${script}\n[diff "json"]\ntextconv = ${script}\ncommand = ${script}\n[filter "json"]\nsmudge = ${script}\n`
    const log = `[log]\nshowSignature = true\nshowRoot = false\nfollow = true\n[gpg]\nprogram = ${script}\n`
    await writeFile(join(repository, '.git/config'), config + log, { flag: 'a' })
    const git = (args: readonly string[], input = '') =>
      execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8', input })
    const last = git(['cat-file', 'commit', 'HEAD'])
    const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEz\n -----END PGP SIGNATURE-----\n'
    const signed = git(['hash-object', '-t', 'commit', '-w', '--stdin'], last.replace('\n\n', `\n${signature}\n`))
    git(['update-ref', 'HEAD', signed.trim()])
    await mkdir(join(repository, '.git/info'), { recursive: true })
    await writeFile(join(repository, '.git/info/attributes'), '*.json diff=json filter=json\n')
    const { code, loaded } = await load(repository, await testDatabaseUrl())
    const { existsSync } = await import('node:fs')
    expect([code, existsSync(ran)]).toEqual([0, false])
    expect(loaded.resources.map(({ answers }) => answers)).toEqual([2, 2, 3])
    // What a partial clone lacks, git would fetch by a program that its configuration names.
    const object = git(['rev-parse', 'HEAD:map.json']).trim()
    await rm(join(repository, '.git/objects', object.slice(0, 2), object.slice(2)))
    const partial = `[core]\nrepositoryFormatVersion = 1\n[extensions]\npartialClone = origin\n[remote "origin"]\npromisor = true\nurl = ext::touch ${ran}\n[protocol "ext"]\nallow = always\n`
    await writeFile(join(repository, '.git/config'), partial, { flag: 'a' })
    await load(repository, await testDatabaseUrl())
    expect(existsSync(ran)).toBe(false)
  })

  test('need a repository, a mapping that matches, and a resource of one request', async () => {
    const DATABASE_URL = await testDatabaseUrl()
    const repository = await gitRepository(history)
    const empty = await temporaryFolder()
    const messages = [
      [empty, maps, /not a git repository/],
      [repository, ['--map', 'none/*.json=items'], /no commit of .* has a file that matches none\/\*\.json/],
      [repository, ['--map', 'map.json'], /--map must look like --map 'glob=resource'/],
      [repository, ['--map', 'map.json=teritories'], /territories/],
      [repository, ['--map', 'map.json=item-metadata'], /several requests for one response/],
      [repository, [], /--from-git needs --map/],
      [repository, [...maps, '--limit', '3'], /it takes --map, --detect, --yes/],
    ] as const
    for (const [place, args, message] of messages) {
      const { code, err } = await load(place, DATABASE_URL, args)
      expect([err, code]).toEqual([expect.stringMatching(message), place === empty ? 1 : 2])
    }
  })

  test('are found by what is in them, with --detect, which loads nothing', async () => {
    const sandbox = await startSandbox({ seed: 3, game: { guilds: 40, players: 800 }, items: smallItemWorld() })
    const bodies: Record<string, unknown> = {}
    for (const [name, path] of Object.entries(routes)) {
      const response = await fetch(sandbox.url + path)
      bodies[`kept/${name}.json`] = await response.json()
    }
    await sandbox.close()
    const hostile = { 'od[d]/\u202e\u001b[31m.json': map('a', '09:00'), 'notes.json': { text: 'none' }, 'a.json': [] }
    const repository = await gitRepository([
      ...history,
      commit('12:00', { ...bodies, ...hostile, 'broken.json': '{"Oak": ' }),
    ])
    const args = ['backfill', '--from-git', repository, '--detect']
    const { code, out } = await runInside([...args, '--json'], {})
    const { detected } = JSON.parse(out) as { detected: { glob: string; resource: string }[] }
    const of = ({ glob, resource }: { glob: string; resource: string }) => [glob, resource]
    expect([code, detected.filter(({ glob }) => glob.startsWith('kept/')).map(of)]).toEqual([
      0,
      Object.keys(routes)
        .toSorted()
        .map((name) => [`kept/${name}.json`, name]),
    ])
    expect(detected.filter(({ glob }) => !glob.startsWith('kept/'))).toEqual([
      { ...found('data/items.json', 'items', 2), records: 2, expected: 6600, mapped: true },
      { ...found('guilds/*.json', 'guilds', 2), records: 1, expected: 15_500, mapped: true },
      { ...found('guilds/deep/er/*.json', 'guilds', 1), records: 1, expected: 15_500, mapped: true },
      // The whole map is in another file.
      { ...found('map.json', 'territories', 2), records: 1, expected: 400, mapped: false },
      { ...found('od\\[d\\]/\u202e\u001b\\[31m.json', 'territories', 1), records: 1, expected: 400, mapped: false },
    ])
    const shown = await runInside(args, {})
    expect(shown.out).toContain("--map 'data/items.json=items'")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be printed
    expect(shown.out).not.toMatch(/[\u001b\u202e]/)
    expect(await runInside([...args, '--map', 'a=items'], {})).toMatchObject({ code: 2 })
  })

  test('are loaded as they are by the command that --detect prints: what never left has no end', async () => {
    const kinds = ['weapon', 'tome', 'charm', 'tool', 'ingredient', 'material']
    const names = (type: string, nth: number) =>
      Array.from({ length: 12 }, (_, one) => `${type} ${one + (nth > 1 ? 1 : 0)}`)
    const body = (type: string, nth: number) =>
      Object.fromEntries(names(type, nth).map((name) => [name, item(name, { type, subType: `${nth}` })]))
    const twice = (type: string, nth: number) => ({
      [`Reference/it's {${type}}\u001b.json`]: JSON.stringify(body(type, nth)),
      [`Reference/it's {${type}}\u001b_expanded.json`]: JSON.stringify(body(type, nth), null, 2),
    })
    const board = Object.fromEntries([1, 2].map((nth) => [nth, { uuid: guildId('a'), name: 'Player', score: nth }]))
    const commits = [0, 1, 2, 3].flatMap((nth) => kinds.map((type) => twice(type, nth)))
    const repository = await gitRepository([
      ...commits.map((files, nth) => ({ at: instantOf('00:00') + nth * 5_400_000, files })),
      { at: instantOf('00:00') + 200_000_000, files: { 'players.json': JSON.stringify(board) } },
    ])
    const { out } = await runInside(['backfill', '--from-git', repository, '--detect'], {})
    const command = out.split('\n').find((line) => line.startsWith('wynnsync ')) ?? ''
    const args = execFileSync('sh', [
      '-c',
      `for one in ${command.slice('wynnsync '.length)}; do printf '%s\\0' "$one"; done`,
    ])
    const given = args.toString().split('\0').slice(0, -1)
    expect(given.filter((one) => one === '--map')).toHaveLength(1)
    const DATABASE_URL = await testDatabaseUrl()
    expect(await runInside([...given, '--json'], { DATABASE_URL })).toMatchObject({ code: 0 })
    const db = await openServer(DATABASE_URL)
    const ended = `select internal_name, count(*)::int as n from game.item group by 1 having max(valid_until) <> 'infinity' order by 1`
    const rows = await db.query<{ internal_name: string }>(ended)
    const [{ n: people } = { n: -1 }] = await db.query<{ n: number }>(
      'select count(*)::int as n from game.guild_listing',
    )
    await db.close()
    expect(rows.map(({ internal_name: name }) => name)).toEqual(kinds.map((type) => `${type} 0`).sort())
    expect(people).toBe(0)
  })

  test('are fetched from a URL, found and loaded by one command, which says the price first and goes on later', async () => {
    const [byMaps, byOne] = [await testDatabaseUrl(), await testDatabaseUrl()]
    const repository = await gitRepository(history.slice(0, 2))
    // Without HEAD on the same name, and without the tags of its owner.
    execFileSync('git', ['-C', repository, 'branch', '-m', 'main', 'data'])
    const all = ['--map', 'data/items.json=items', '--map', 'map.json=territories', '--map', 'guilds/**/*.json=guilds']
    await load(repository, byMaps, all)
    const WYNNSYNC_DATA_DIR = await temporaryFolder()
    const url = `file://${repository}`
    const once = ['backfill', '--from-git', url, '--detect', '--yes']
    const priced = await runInside([...once, '--dry-run', '--json'], { DATABASE_URL: byOne, WYNNSYNC_DATA_DIR })
    expect(JSON.parse(priced.out)).toMatchObject({ from: url, responses: 4, known: 0, skipped: [], broken: [] })
    const text = await runInside(once, { DATABASE_URL: byOne, WYNNSYNC_DATA_DIR })
    expect([text.code, text.out]).toEqual([
      0,
      expect.stringMatching(/^glob .*\n4 responses to load, .* about 1 s\n.*items/s),
    ])
    expect(await digests(byOne)).toEqual(await digests(byMaps))
    execFileSync('git', ['-C', repository, 'branch', '-m', 'data', 'main'])
    await gitRepository(history.slice(2), repository)
    await load(repository, byMaps, all)
    const later = await runInside([...once, '--json'], { DATABASE_URL: byOne, WYNNSYNC_DATA_DIR })
    expect(JSON.parse(later.out)).toMatchObject({ from: url, known: 4, leftOut: [], notRead: 0 })
    expect(await digests(byOne)).toEqual(await digests(byMaps))
  })

  test('say after the first of them how long all take at that pace', async () => {
    const DATABASE_URL = await testDatabaseUrl()
    const many = Array.from({ length: 41 }, (_, nth) => commit('10:00', { 'map.json': map(`${nth}`, '09:00') }))
    const rising = many.map((one, nth) => ({ ...one, at: one.at + 60_000 * nth }))
    const args = ['backfill', '--from-git', await gitRepository(rising), '--map', 'map.json=territories']
    expect((await runInside(args, { DATABASE_URL })).out).toMatch(
      /^41 responses to load, .*\nat the pace of the first 20 responses: about \d+ \w+ in all\n/,
    )
  })

  test('are not fetched by what runs a command, and an address that is away is tried later', async () => {
    const DATABASE_URL = await testDatabaseUrl()
    const WYNNSYNC_DATA_DIR = await temporaryFolder()
    const run = (place: string) =>
      runInside(['backfill', '--from-git', place, '--detect', '--yes'], { DATABASE_URL, WYNNSYNC_DATA_DIR })
    const ran = join(await temporaryFolder(), 'ran')
    expect(await run(`ext::touch ${ran}`)).toMatchObject({ code: 2 })
    expect(await run('ftp://example.org/a')).toMatchObject({ code: 2, err: expect.stringContaining('not by ftp') })
    const away = await run('file:///nowhere/at-all')
    expect([away.code, away.err]).toEqual([
      75,
      expect.stringMatching(/^wynnsync: file:\/\/\/nowhere\/at-all: fatal: /m),
    ])
    const secret = await run('http://user:secret@127.0.0.1:1/a.git')
    expect([secret.code, secret.err.includes('secret')]).toEqual([75, false])
    const { existsSync } = await import('node:fs')
    expect(existsSync(ran)).toBe(false)
  })

  test('are looked for by a command that says something every second', async () => {
    const repository = await gitRepository(history)
    const folder = await temporaryFolder()
    const git = execFileSync('sh', ['-c', 'command -v git']).toString().trim()
    const slow = `#!/bin/sh\ncase "$*" in *--raw*) sleep 4.6;; esac\nexec ${git} "$@"\n`
    await writeFile(join(folder, 'git'), slow)
    await chmod(join(folder, 'git'), 0o755)
    const PATH = `${folder}:${process.env.PATH}`
    const { code, err } = await runInside(['backfill', '--from-git', repository, '--detect'], { PATH })
    expect(code).toBe(0)
    expect(err.split('\n').filter((line) => line.includes('commits')).length).toBeGreaterThanOrEqual(3)
  })
})
