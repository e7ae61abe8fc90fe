import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { buildProgram, type Environment, runProgram } from '../support/cli.ts'
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

/** Runs the program; also gives how much memory it took at its peak, MB. */
async function measured(
  args: readonly string[],
  environment: Environment,
): Promise<{ code: number | null; mb: number }> {
  const folder = await temporaryFolder()
  const hook = join(folder, 'hook.cjs')
  await writeFile(hook, HOOK)
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
