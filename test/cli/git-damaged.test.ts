import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFile, chmod, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { fetchRepository } from '../../src/api/recordings/git-clone.ts'
import { checkHead } from '../../src/api/recordings/git-history.ts'
import { systemClock } from '../../src/base/clock.ts'
import { openServer } from '../../src/db/server/server.ts'
import { gameDigests } from '../support/backfill.ts'
import { buildProgram, mainFile } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { gitRepository } from '../support/git-repository.ts'
import { place } from '../support/guild-answers.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { instantOf } from '../support/world.ts'

const times = ['10:00', '10:30', '11:00', '11:30', '12:00']
let repository: string
let whole: Record<string, string>
beforeAll(async () => {
  const commits = times.map((at, nth) => ({
    at: instantOf(at),
    files: { 'map.json': JSON.stringify({ Oak: place('abc'[nth % 3] as string, at) }) },
  }))
  repository = await gitRepository(commits)
  const DATABASE_URL = await testDatabaseUrl()
  expect((await load(DATABASE_URL)).code).toBe(0)
  whole = await digests(DATABASE_URL)
})

const loading = (place: string) => ['backfill', '--from-git', place, '--map', 'map.json=territories']

const load = async (DATABASE_URL: string) => await runInside(loading(repository), { DATABASE_URL })

async function digests(url: string) {
  const db = await openServer(url)
  return (await gameDigests(db).finally(() => db.close())) as Record<string, string>
}

/** Where an object lies that a name such as `HEAD:map.json` leads to. */
function objectAt(name: string): string {
  const hash = execFileSync('git', ['-C', repository, 'rev-parse', name], { encoding: 'utf8' }).trim()
  return join(repository, '.git/objects', hash.slice(0, 2), hash.slice(2))
}

/** What a load says while an object is damaged, and then what is loaded. */
async function loadWith(path: string, damage: (path: string, bytes: Buffer) => Promise<unknown>) {
  const DATABASE_URL = await testDatabaseUrl()
  const bytes = await readFile(path)
  await chmod(path, 0o644)
  await damage(path, bytes)
  const said = await load(DATABASE_URL)
  await writeFile(path, bytes)
  return { ...said, DATABASE_URL }
}

test('a pointer of Git LFS is called so, and nothing else is said where nothing was loaded', async () => {
  const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n'
  const place = await gitRepository([{ at: instantOf('10:00'), files: { 'map.json': pointer } }])
  const args = ['backfill', '--from-git', place, '--map', 'map.json=territories']
  const { code, err } = await runInside(args, { DATABASE_URL: await testDatabaseUrl() })
  expect([code, err]).toEqual([
    3,
    expect.stringMatching(/cannot be read: a pointer of Git LFS: its content is in no commit$/m),
  ])
  expect(err).not.toContain('wynnsync retract')
})

const flipped = (path: string, bytes: Buffer) =>
  writeFile(path, Buffer.concat([bytes.subarray(0, -9), Buffer.from([Number(bytes.at(-9)) ^ 4]), bytes.subarray(-8)]))

test.each([
  ['another bit', flipped, 'git cannot read'],
  ['no bytes', (path: string) => writeFile(path, ''), 'is missing'],
  ['no file', (path: string) => rm(path), 'is missing'],
] as const)(
  'a content of a repository with %s costs its response, and loads after a retraction',
  async (_, damage, reason) => {
    const { code, out, err, DATABASE_URL } = await loadWith(objectAt('HEAD~2:map.json'), damage)
    expect([code, out]).toEqual([3, expect.stringMatching(/territories +4 /)])
    expect(err.split('\n').filter((line) => line.includes(' error '))).toEqual([
      expect.stringMatching(`error territories: .*map.json of commit .*${reason}`),
    ])
    expect(err).toContain(
      `1 responses could not be read. Later ones are loaded, so once they are right: wynnsync retract ${repository}`,
    )
    const retracted = await runInside(['retract', repository, '--yes'], { DATABASE_URL })
    expect([retracted.code, (await load(DATABASE_URL)).code]).toEqual([0, 0])
    expect(await digests(DATABASE_URL)).toEqual(whole)
  },
)

test.each([
  ['HEAD', /the commit [0-9a-f]{10} of HEAD cannot be read; the repository is damaged/],
  ['HEAD~2', /the repository is damaged: clone it again/],
  ['HEAD~2^{tree}', /the repository is damaged: clone it again/],
])('a repository without %s says that it is damaged, and loads nothing', async (name, reason) => {
  const { code, err, DATABASE_URL } = await loadWith(objectAt(name), (path) => rm(path))
  expect([code, err]).toEqual([1, expect.stringMatching(reason)])
  expect((await load(DATABASE_URL)).code).toBe(0)
  expect(await digests(DATABASE_URL)).toEqual(whole)
})

test.each([
  ['a commit of its graph', (git: string, object: string) => rm(join(git, object))],
  ['a line of its packed names', (git: string) => appendFile(join(git, 'packed-refs'), 'main\n')],
])('a repository in which %s cannot be read says that it is damaged, and what helps', async (_, damage) => {
  const files = (nth: number) => ({ 'map.json': JSON.stringify({ Oak: place('a', times[nth] as string) }) })
  const packed = await gitRepository(times.map((at, nth) => ({ at: instantOf(at), files: files(nth) })))
  const git = (...args: string[]) => execFileSync('git', ['-C', packed, ...args], { encoding: 'utf8', stdio: 'pipe' })
  git('commit-graph', 'write', '--reachable')
  git('pack-refs', '--all')
  const hash = git('rev-parse', 'HEAD~2').trim()
  await damage(join(packed, '.git'), join('objects', hash.slice(0, 2), hash.slice(2)))
  const { code, err } = await runInside(loading(packed), { DATABASE_URL: await testDatabaseUrl() })
  expect([code, err]).toEqual([1, expect.stringContaining('the repository is damaged: clone it again')])
})

test.skipIf(process.platform !== 'linux')(
  'a repository that git has no memory for is not called damaged',
  async () => {
    const folder = await temporaryFolder()
    const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
    await writeFile(join(folder, 'git'), `#!/bin/sh\nulimit -v 20000\nexec ${git} "$@"\n`, { mode: 0o755 })
    const large = await gitRepository([{ at: 0, files: { 'map.json': randomBytes(2e7).toString('base64') } }])
    execFileSync('git', ['-C', large, 'gc', '--quiet'])
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
    await expect(checkHead(large)).rejects.toMatchObject({
      name: 'RetryableError',
      message: expect.stringMatching(/ cannot be read now: .*cannot allocate memory$/i),
    })
    vi.unstubAllEnvs()
  },
  120_000,
)

test('a clone of a URL that cannot be used is fetched anew, and no repository above it is touched', async () => {
  const above = await gitRepository([{ at: instantOf('09:00'), files: { 'own.txt': 'own' } }])
  const head = (folder: string) => execFileSync('git', ['-C', folder, 'rev-parse', 'main'], { encoding: 'utf8' }).trim()
  const own = head(above)
  const folder = join(above, 'data/git/0')
  const fetch = () => fetchRepository(`file://${repository}`, folder, { clock: systemClock })
  await fetch()
  const empty = (path: string) => writeFile(join(folder, path), '')
  const lock = async (path: string, at: number) => {
    await empty(path)
    await utimes(join(folder, path), at, at)
  }
  const damages = [
    () => empty('HEAD'),
    () => empty('refs/heads/main'),
    () => rm(join(folder, 'objects'), { recursive: true }),
    () => lock('config.lock', 0),
    async () => {
      await rm(join(folder, 'refs/heads/main'))
      await lock('refs/heads/main.lock', 0)
    },
  ]
  for (const damage of damages) {
    await damage()
    await fetch()
    expect([head(folder), head(above)]).toEqual([head(repository), own])
  }
  await lock('config.lock', systemClock.now() / 1000)
  await expect(fetch()).rejects.toThrow('could not lock config file')
})

test('a content that is damaged in the clone of a URL loads once that is removed, as is said', async () => {
  const [url, DATABASE_URL] = [`file://${repository}`, await testDatabaseUrl()]
  const env = { DATABASE_URL, WYNNSYNC_DATA_DIR: await temporaryFolder() }
  await runInside([...loading(url), '--dry-run'], env)
  const clones = join(env.WYNNSYNC_DATA_DIR, 'git')
  const clone = join(clones, String(await readdir(clones)))
  const path = join(clone, relative(join(repository, '.git'), objectAt('HEAD~2:map.json')))
  await chmod(path, 0o644)
  await flipped(path, await readFile(path))
  const { code, err } = await runInside(loading(url), env)
  expect([code, err]).toEqual([
    3,
    expect.stringContaining(`remove ${clone}, which is fetched anew, wynnsync retract ${url}, and the same command`),
  ])
  await rm(clone, { recursive: true })
  const retracted = await runInside(['retract', url, '--yes'], env)
  expect([retracted.code, (await runInside(loading(url), env)).code]).toEqual([0, 0])
  expect(await digests(DATABASE_URL)).toEqual(whole)
})

test.skipIf(process.platform !== 'linux')(
  'a limit of the size of files is named where a URL is cloned, with what to do',
  async () => {
    await buildProgram()
    const random = { 'map.json': randomBytes(500_000).toString('hex') }
    const url = `file://${await gitRepository([{ at: instantOf('10:00'), files: random }])}`
    const env = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_DATA_DIR: await temporaryFolder() }
    const run = [process.execPath, mainFile, 'backfill', '--from-git', url, '--detect']
    const limited = spawnSync('sh', ['-c', 'ulimit -f 400; exec "$0" "$@"', ...run], {
      env: { PATH: process.env.PATH, HOME: '/dev/null', ...env },
      encoding: 'utf8',
    })
    expect([limited.status, limited.stderr]).toEqual([1, expect.stringContaining('ulimit -f')])
  },
)
