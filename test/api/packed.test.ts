import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { buildProgram } from '../support/cli.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { program } from './reference-pages.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)
/** Nothing of the tester's own configuration but where his packages come from. */
const npm = (args: readonly string[], cwd: string) => run('npm', args, { cwd, maxBuffer: 1 << 24 })
const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

/** What `wynnsync/api` needs, with itself. */
const LIGHT = ['dequal', 'eventemitter3', 'p-queue', 'p-timeout', 'undici', 'wynnsync', 'zod']

/** It is 25 MB, most of them a compiler, for one test: it is installed here alone. */
const CHECKER = '@arethetypeswrong/core'
const checkerFolder = await mkdtemp(join(tmpdir(), 'wynnsync-checker-'))
await writeFile(join(checkerFolder, 'package.json'), '{ "private": true, "type": "module" }')
const absent = await npm(['install', ...quiet, `${CHECKER}@0.18.5`], checkerFolder).then(
  () => '',
  () => ` (skipped: ${CHECKER} cannot be installed)`,
)

/** What it finds of a package of ES modules alone, by how TypeScript looks for one. */
const ON_PURPOSE = [
  // Before TypeScript 4.7 it knew no `exports`, which keep the other files of the package for itself.
  { resolutionKind: 'node10', kind: 'NoResolution' },
  // Every Node that the package runs on takes `require` of an ES module, which none of its modules makes asynchronous.
  { resolutionKind: 'node16-cjs', kind: 'CJSResolvesToESM' },
]

let folder: string
let packed: string
let sandbox: Sandbox

beforeAll(async () => {
  await buildProgram()
  folder = await mkdtemp(join(tmpdir(), 'wynnsync-packed-'))
  const { stdout } = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root)
  const [made] = JSON.parse(stdout)
  packed = join(folder, made.filename)
  // That of a release, which `scripts/release.mjs` refuses.
  expect(made.unpackedSize).toBeLessThanOrEqual(9_000_000)
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  await npm(['install', ...quiet, packed], folder)
  sandbox = await startSandbox({ clock: systemClock })
})

afterAll(async () => {
  await sandbox?.close()
  for (const one of [folder, checkerFolder]) if (one !== undefined) await rm(one, { recursive: true, force: true })
})

describe('the package, installed in an empty folder,', () => {
  test('runs the program of ten lines in docs/reference against a sandbox', async () => {
    expect(program.trim().split('\n')).toHaveLength(10)
    await writeFile(join(folder, 'program.js'), program)
    const { stdout, stderr } = await run(process.execPath, ['program.js', sandbox.url], { cwd: folder })
    expect(stderr).toBe('')
    expect(stdout).toMatch(/^owner \S+/m)
    expect(stdout).toMatch(/^bow \S+/m)
    expect(stdout).toMatch(/username: '\w+'/)
    expect(stdout).not.toContain('undefined')
  })

  test('names files, types and formats as publint asks', async () => {
    const { messages, pkg } = await publint({
      pkgDir: join(folder, 'node_modules/wynnsync'),
      level: 'suggestion',
      pack: false,
    })
    expect([pkg?.name, messages]).toEqual(['wynnsync', []])
  })

  test.skipIf(absent !== '')(`has types that all ways to import it find, and that say what runs${absent}`, async () => {
    await writeFile(
      join(checkerFolder, 'check.js'),
      `import { readFileSync } from 'node:fs'
import { checkPackage, createPackageFromTarballData } from '${CHECKER}'
const { packageName, problems } = await checkPackage(createPackageFromTarballData(readFileSync(process.argv[2])))
console.log(JSON.stringify([packageName, problems]))
`,
    )
    const { stdout } = await run(process.execPath, ['check.js', packed], { cwd: checkerFolder, maxBuffer: 1 << 24 })
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: object }
    const entrypoints = Object.keys(exports).filter((name) => name !== './package.json')
    const expected = entrypoints.flatMap((entrypoint) => ON_PURPOSE.map((problem) => ({ ...problem, entrypoint })))
    expect(JSON.parse(stdout)).toEqual(['wynnsync', expected])
  })

  test('has one copy of the program, and runs it with an embedded database', async () => {
    const installed = join(folder, 'node_modules/wynnsync')
    expect((await readdir(join(installed, 'dist'))).sort()).toEqual([
      'api',
      'base',
      'cluster',
      'main.js',
      'program',
      'questions',
      'sandbox',
    ])
    const env = { ...process.env, WYNNSYNC_DATA_DIR: join(folder, 'data'), WYNNSYNC_BASE_URL: sandbox.url }
    const wynnsync = async (...args: string[]) => (await run('npx', ['wynnsync', ...args], { cwd: folder, env })).stdout
    expect(await wynnsync('--version')).toBe(`${version}\n`)
    expect(await wynnsync('demo', '--help')).toContain('Usage: wynnsync demo')
    const { runs } = JSON.parse(await wynnsync('sync', 'territories', '--json', '--quiet'))
    expect(runs).toEqual([expect.objectContaining({ resource: 'territories', status: 'ok' })])
    await wynnsync('report', '--out', 'report.html')
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('<svg')
  })

  test('is light for a bot: without optional packages the client works, and commands on a server; others say what is missing', async () => {
    const light = await mkdtemp(join(tmpdir(), 'wynnsync-light-'))
    onTestFinished(() => rm(light, { recursive: true, force: true }))
    await writeFile(join(light, 'package.json'), '{ "private": true, "type": "module" }')
    await npm(['install', ...quiet, '--omit=optional', packed], light)
    const installed = await readdir(join(light, 'node_modules'))
    expect(installed.filter((name) => !name.startsWith('.')).sort()).toEqual(LIGHT)
    await writeFile(join(light, 'program.js'), program)
    const { stdout } = await run(process.execPath, ['program.js', sandbox.url], { cwd: light })
    expect(stdout).toMatch(/^owner \S+/m)
    const sync = (env: Record<string, string>) =>
      run('npx', ['wynnsync', 'sync', 'territories', '--json', '--quiet'], {
        cwd: light,
        env: { ...process.env, WYNNSYNC_BASE_URL: sandbox.url, WYNNSYNC_DATA_DIR: join(light, 'data'), ...env },
      })
    const onServer = await sync({ DATABASE_URL: await testDatabaseUrl() })
    expect(JSON.parse(onServer.stdout).runs).toEqual([expect.objectContaining({ status: 'ok' })])
    await expect(sync({})).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the embedded database is not installed: run npm install @electric-sql/pglite'),
    })
  })

  test('queries the views with drizzle as the documentation shows', async () => {
    const page = readFileSync(join(root, 'docs/how-to/drizzle.md'), 'utf8')
    const [, example = ''] = /```ts\n(.*?)```/s.exec(page) ?? []
    const [, others = ''] = /^npm install wynnsync (.+)$/m.exec(page) ?? []
    await npm(['install', ...quiet, ...others.split(' ')], folder)
    await writeFile(join(folder, 'views.mjs'), example)
    const env = { ...process.env, DATABASE_URL: await testDatabaseUrl() }
    const { stdout, stderr } = await run(process.execPath, ['views.mjs'], { cwd: folder, env })
    // console.table draws an empty table: nothing was synced into this database.
    expect([stdout.trim(), stderr]).toEqual([expect.stringContaining('(index)'), ''])
  })

  test("starts a sandbox for the tests of somebody's bot", async () => {
    await writeFile(
      join(folder, 'sandbox.mjs'),
      `import { createClient } from 'wynnsync/api'
import { startSandbox } from 'wynnsync/sandbox'
const sandbox = await startSandbox({ seed: 7 })
const api = createClient({ baseUrl: sandbox.url })
console.log(Object.keys((await api.guilds.territories()).body).length)
await api.close()
await sandbox.close()
`,
    )
    const { stdout, stderr } = await run(process.execPath, ['sandbox.mjs'], { cwd: folder })
    expect([Number(stdout) > 100, stderr]).toEqual([true, ''])
  })

  test('runs the bot of the examples against a sandbox', async () => {
    const { holds } = sandbox.history()
    const guild = holds.at(-1)?.guild ?? ''
    const { prefix } = (await (await fetch(`${sandbox.url}/guild/uuid/${guild}`)).json()) as { prefix: string }
    await copyFile(join(root, 'examples/guild-bot.mjs'), join(folder, 'guild-bot.mjs'))
    const args = ['guild-bot.mjs', prefix, '--once', '--base-url', sandbox.url]
    const { stdout, stderr } = await run(process.execPath, args, { cwd: folder })
    expect(stderr).toBe('')
    expect(stdout).toMatch(/^.+: \d+ of \d+ online.*\n[1-9]\d* territories\n$/)
  })

  test('has types', async () => {
    await writeFile(
      join(folder, 'typed.ts'),
      `import { createClient, createReadApi, type GuildProfile, type Item, type MapAtRow, NotFound } from 'wynnsync/api'
const api = createClient({ baseUrl: '${sandbox.url}' })
const guild: GuildProfile = (await api.guilds.byName('Owls')).read()
export const ranks: string[] = guild.members.map(({ rank, username, contributed }) => rank + username + (contributed ?? 0))
export const prefix: string | null | undefined = guild.prefix
export const weapons: Item[] = (await api.items.search({ type: ['bow'], tier: 'mythic' })).read()
for await (const item of api.items.each()) item.internalName.toUpperCase()
const answer = await api.guilds.territories()
export const left: number | null | undefined = answer.rateLimit?.remaining
export const missing = (error: unknown): error is NotFound => error instanceof NotFound
const history = createReadApi({ url: 'http://127.0.0.1:8080' })
export const map: Promise<MapAtRow[]> = history.mapAt({ at: new Date() }).all()
for await (const row of history.memberContribution({ guild: 'ABC' })) row.contributed?.toFixed()
for await (const row of history.territoryHold({ is_current: true })) row.held_from?.toUpperCase()
// @ts-expect-error it needs a guild
history.memberContribution()
// @ts-expect-error a level is no text
await api.items.search({ levelRange: 'ten' })
// @ts-expect-error there is no such field
guild.members[0].rank.nothing
`,
    )
    // What it exports stands by itself: no types of Node, none of a library.
    expect(await compile('typed.ts', { skipLibCheck: false, types: [] })).toBe('')
  })

  test('has types for views and sandbox', async () => {
    await writeFile(
      join(folder, 'others.ts'),
      `import { territoryHold } from 'wynnsync/schema'
import { type Sandbox, startSandbox } from 'wynnsync/sandbox'
export const start = (): Promise<Sandbox> => startSandbox({ faults: { gateway: 0.5 } })
export type Until = typeof territoryHold.$inferSelect.heldUntil
export const until: Until = new Date()
// @ts-expect-error an instant is a Date
export const wrong: Until = 'tomorrow'
`,
    )
    const typeRoots = [join(root, 'node_modules/@types')]
    expect(await compile('others.ts', { skipLibCheck: true, types: ['node'], typeRoots })).toBe('')
  })
})

/** What the compiler says of a file in the folder; empty when it has no objection. */
async function compile(file: string, options: object): Promise<string> {
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    lib: ['es2023', 'dom'],
    ...options,
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await run(process.execPath, [compiler, '-p', folder]).catch((error: { stdout: string }) => error)
  return stdout
}
