import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import { createItemWorld } from '../../src/sandbox/generator/world.ts'
import { buildProgram, type Environment, runProgram } from '../support/cli.ts'
import { gitRepository } from '../support/git-repository.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'

beforeAll(() => buildProgram(), 120_000)

/** Not `resourceUsage`: what that gives may be the peak of the process that started this one. */
const HOOK = `
process.once('exit', () => {
  const status = require('node:fs').readFileSync('/proc/self/status', 'utf8')
  process.stderr.write('\\npeak ' + Number(/^VmHWM:\\s+(\\d+) kB/m.exec(status)[1]) / 1024 + '\\n')
})
`

/** The same of the space of new objects, once there are many that live. */
const HOOK_OF_NEW_OBJECTS = `
process.once('exit', () => {
  const live = []
  for (let nth = 0; nth < 1e6; nth++) live.push({ nth, list: [nth] })
  const [space] = require('node:v8').getHeapSpaceStatistics().filter((one) => one.space_name === 'new_space')
  process.stderr.write('\\npeak ' + space.space_size / 1048576 + '\\n')
})
`

/** How much of the pages of old objects is in use, in percent, once every other one of many is gone. */
const HOOK_OF_HOLES = `
process.once('exit', () => {
  require('node:v8').setFlagsFromString('--expose-gc')
  const gc = require('node:vm').runInNewContext('gc')
  let live = Array.from({ length: 4e5 }, (_, nth) => ({ nth, list: [nth, nth, nth] }))
  gc()
  live = live.filter((_, nth) => nth % 2 === 0)
  for (let round = 0; round < 8; round++) gc()
  const [space] = require('node:v8').getHeapSpaceStatistics().filter((one) => one.space_name === 'old_space')
  process.stderr.write('\\npeak ' + (100 * space.space_used_size) / space.physical_space_size + ' % of ' + live.length + '\\n')
})
`

/** Runs the program; also gives how much memory it took at its peak, MB. */
async function measured(
  args: readonly string[],
  environment: Environment,
  text = HOOK,
): Promise<{ code: number | null; mb: number }> {
  const folder = await temporaryFolder()
  const hook = join(folder, 'hook.cjs')
  await writeFile(hook, text)
  const { code, err } = await runProgram(args, { ...environment, NODE_OPTIONS: `--require ${hook}` })
  return { code, mb: Number(/^peak (\d+)/m.exec(err)?.[1]) }
}

test.skipIf(process.platform !== 'linux')(
  'a poll of the map takes less than 100 MB',
  async () => {
    const api = await servedApi()
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
    expect((await runProgram(['sync', 'territories'], environment)).code).toBe(0)
    const { code, mb } = await measured(['sync', 'territories'], environment)
    expect(code).toBe(0)
    expect(mb).toBeLessThan(100)
  },
  60_000,
)

test('a poll uses the code that the one before it kept', async () => {
  const api = await servedApi()
  const environment = {
    DATABASE_URL: await testDatabaseUrl(),
    WYNNSYNC_BASE_URL: api.url,
    HOME: await temporaryFolder(),
  }
  const kept = async () => {
    const names = await readdir(environment.HOME, { recursive: true })
    const entries = await Promise.all(
      names.map(async (name) => ({ name, is: await stat(join(environment.HOME, name)) })),
    )
    return entries.filter(({ is }) => is.isFile()).map(({ name, is }) => [name, is.ino, is.mtimeMs])
  }
  await runProgram(['sync', 'territories'], environment)
  await runProgram(['sync', 'territories'], environment)
  const before = await kept()
  expect(before.length).toBeGreaterThan(0)
  await runProgram(['sync', 'territories'], environment)
  expect(await kept()).toEqual(before)
})

test('the space of new objects stays small beside the thread of the embedded database, too', async () => {
  const environment = { WYNNSYNC_DATA_DIR: await temporaryFolder() }
  expect((await runProgram(['migrate'], environment)).code).toBe(0)
  // On a busy machine it may grow once before the thread is online, which is when the flag is set again: without that it is 32 MB each time.
  const sizes: number[] = []
  for (let run = 0; run < 3; run++) {
    const { code, mb } = await measured(['status'], environment, HOOK_OF_NEW_OBJECTS)
    expect(code).toBe(0)
    sizes.push(mb)
  }
  expect(Math.min(...sizes)).toBeLessThan(8)
}, 60_000)

/** The item database by type, of which each commit changes a few items of one type, and some all types. */
async function itemHistory(commits: number): Promise<string> {
  const random = seededRandom(1)
  const { items } = createItemWorld(1)
  const names = [...new Set(items.map(({ type }) => type))]
  const types = names.map((type) => [type, items.filter((item) => item.type === type)] as const)
  const history = Array.from({ length: commits }, (_, nth) => {
    const changed = types.filter((_type, at) => nth % 10 === 0 || at === nth % types.length)
    const files = changed.map(([type, own]) => {
      const at = Math.floor(random() * own.length)
      own[at] = { ...own[at], lore: `${nth}` } as (typeof own)[number]
      return [`items/${type}.json`, JSON.stringify(own)] as const
    })
    return { at: Date.UTC(2024, 0, 1) + nth * 7_200_000, files: Object.fromEntries(files) }
  })
  return await gitRepository(history)
}

test.skipIf(process.platform !== 'linux')(
  'a history of the item database from git takes less than 230 MB',
  async () => {
    const repository = await itemHistory(40)
    const environment = { DATABASE_URL: await testDatabaseUrl(), PATH: process.env.PATH ?? '' }
    const args = ['backfill', '--from-git', repository, '--map', 'items/*.json=items']
    const { code, mb } = await measured(args, environment)
    expect(code).toBe(0)
    expect(mb).toBeLessThan(230)
  },
  120_000,
)

test('a history from git leaves few holes in the memory of what it replaces', async () => {
  const environment = { DATABASE_URL: await testDatabaseUrl(), PATH: process.env.PATH ?? '' }
  const args = ['backfill', '--from-git', await itemHistory(1), '--map', 'items/*.json=items']
  const { code, mb: percent } = await measured(args, environment, HOOK_OF_HOLES)
  expect(code).toBe(0)
  expect(percent).toBeGreaterThan(80)
}, 120_000)
