import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { openServer } from '../../src/db/server/server.ts'
import { buildProgram, type Environment, mainFile, runProgram } from '../support/cli.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'

beforeAll(buildProgram)

/** A file that is always full. */
const full = '/dev/full'

/** Starts `wynnsync` with streams that cannot be written: always full, or with a reader that has gone. */
function startUnheard(args: readonly string[], env: Environment, streams: { out?: string; err?: string }) {
  const descriptors: number[] = []
  const stdio = [streams.out, streams.err].map((how) => {
    if (how !== full) return 'pipe' as const
    descriptors.push(openSync(full, 'w'))
    return descriptors.at(-1) as number
  })
  const child: ChildProcess = spawn(process.execPath, [mainFile, ...args], {
    env: { PATH: process.env.PATH, HOME: '/dev/null', WYNNSYNC_CLOCK: 'api', ...env },
    stdio: ['ignore', ...stdio],
  })
  for (const descriptor of descriptors) closeSync(descriptor)
  if (streams.out === 'gone') child.stdout?.destroy()
  if (streams.err === 'gone') child.stderr?.destroy()
  let err = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const finished = new Promise<{ code: number | null; err: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, err })),
  )
  return { child, finished }
}

describe.skipIf(!existsSync(full))('a log or a result that cannot be written', () => {
  test.each([
    ['a full disk for log and result', { out: full, err: full }],
    ['readers that have gone', { out: 'gone', err: 'gone' }],
  ])('leaves sync the exit code of its work: %s', async (_how, streams) => {
    const api = await servedApi()
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_LOG_LEVEL: 'trace' }
    const run = (url: string) =>
      startUnheard(['sync', 'territories', '--json', '--base-url', url], environment, streams).finished
    expect((await run(api.url)).code).toBe(0)
    expect((await run('http://127.0.0.1:1')).code).toBe(75)
  })

  test.each([full, 'gone'])('does not end start (%s)', async (how) => {
    const api = await servedApi()
    const url = await testDatabaseUrl()
    const environment = { DATABASE_URL: url, WYNNSYNC_BASE_URL: api.url, WYNNSYNC_LOG_LEVEL: 'trace' }
    const { child, finished } = startUnheard(['start'], environment, { out: how, err: how })
    const db = await openServer(url)
    onTestFinished(() => db.close())
    const runs = async () => Number((await db.query<{ n: number }>('select count(*)::int as n from sync.run'))[0]?.n)
    while ((await runs()) < 8 && child.exitCode === null) await systemClock.sleep(100)
    child.kill('SIGTERM')
    expect((await finished).code).toBe(0)
    expect(await runs()).toBeGreaterThanOrEqual(8)
  })

  test('is an error of a command that was called for its result, which says so', async () => {
    const asked = await startUnheard(['config', 'show'], {}, { out: full }).finished
    expect(asked).toEqual({ code: 1, err: 'wynnsync: the result could not be written: ENOSPC\n' })
    expect(await startUnheard(['config', 'show'], {}, { out: 'gone' }).finished).toEqual({ code: 0, err: '' })
  })

  test.each(['report', 'dictionary'])('%s says that the disk of its file is full, and what to do', async (command) => {
    const { code, err } = await runProgram([command, '--out', full], { DATABASE_URL: await testDatabaseUrl() })
    expect([code, err]).toEqual([1, expect.stringContaining(`make room on the disk of ${full}`)])
  })
})

describe.skipIf(process.platform === 'win32')('a limit of the size of files', () => {
  test.each(['server', 'embedded'])('is named by what meets it, and harms nothing (%s)', async (kind) => {
    const [folder, api] = [await temporaryFolder(), await servedApi()]
    const ofDatabase: Environment =
      kind === 'server' ? { DATABASE_URL: await testDatabaseUrl() } : { WYNNSYNC_DATA_DIR: join(folder, 'data') }
    const environment = { ...ofDatabase, WYNNSYNC_BASE_URL: api.url, WYNNSYNC_CLOCK: 'api' }
    expect((await runProgram(['sync', 'territories'], environment)).code).toBe(0)
    const commands = [
      ['backup', join(folder, 'backup')],
      ['lake', 'export', join(folder, 'lake')],
      ['lake', 'export', join(folder, 'history.duckdb')],
    ]
    const limited = ['-c', 'ulimit -f 8; exec "$0" "$@"', process.execPath, mainFile]
    const refuse = (command: readonly string[], more: Environment = {}) => {
      const env = { PATH: process.env.PATH, HOME: '/dev/null', ...environment, ...more }
      const { status, stderr } = spawnSync('sh', [...limited, ...command], { env, encoding: 'utf8' })
      expect([command[0], status, stderr]).toEqual([command[0], 1, expect.stringContaining('ulimit -f')])
      expect(stderr).not.toContain('damaged')
    }
    for (const command of commands) refuse(command)
    for (const command of commands) expect((await runProgram(command, environment)).code).toBe(0)
    // Of a server, only copies of files are written here.
    for (const command of kind === 'server'
      ? [
          ['restore', join(folder, 'backup')],
          ['backfill', '--from-lake', join(folder, 'lake')],
        ]
      : []) {
      const other = { ...environment, DATABASE_URL: await testDatabaseUrl() }
      refuse(command, other)
      expect((await runProgram(command, other)).code).toBe(0)
      expect((await runProgram(['verify'], other)).code).toBe(0)
    }
    const verify = ['verify', '--backup', join(folder, 'backup'), '--lake', join(folder, 'lake')]
    expect(await runProgram(verify, environment)).toMatchObject({ code: 0 })
  })
})
