import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock as clock } from '../../src/base/clock.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { readHolder } from '../../src/db/embedded/folder-lock.ts'
import { openShared, socketPath } from '../../src/db/embedded/shared-folder.ts'
import { buildProgram, runProgram, startProgram } from '../support/cli.ts'
import { temporaryFolder, testDataDir } from '../support/postgres.ts'

beforeAll(buildProgram)

const thread = new URL('../../dist/program/engine-worker.mjs', import.meta.url)

/** No API answers there. */
const nowhere = ['--base-url', 'http://127.0.0.1:9/v3']
const player = '00000000-0000-4000-8000-00000000000a'

/** A process of `wynnsync start` that has the folder. */
async function startOn(dataDir: string) {
  const start = startProgram(['start', '--data-dir', dataDir, ...nowhere])
  onTestFinished(() => void start.child.kill('SIGKILL'))
  await expect.poll(() => existsSync(socketPath(dataDir) ?? ''), { timeout: 60_000 }).toBe(true)
  return start
}

async function filledFolder(): Promise<string> {
  const dataDir = await testDataDir()
  const db = await openEmbedded(dataDir, { clock })
  await db.query(`insert into sync.run (run_id, resource, program, started_at, finished_at, status, observed_at)
    values ('00000000-0000-4000-8000-000000000001', 'items', 'test', now(), now(), 'ok', now())`)
  await db.close()
  return dataDir
}

/** Runs that no command of a test wrote. */
async function countRuns(dataDir: string): Promise<number> {
  const db = await openEmbedded(dataDir, { clock })
  const [row] = await db.values(`select count(*)::int from sync.run where program = 'test'`)
  await db.close()
  return Number(row?.[0])
}

/** Commands that need the folder for themselves, in a folder with a lake and an embedded database of their own. */
const waiting = [
  ['migrate'],
  ['replay'],
  ['replay', 'items', '--yes'],
  ['backfill', '--from-lake', './lake'],
  ['move', '--to', './moved'],
  ['serve-db', '--port', '0'],
]

test('a command for which a person waits comes before what another process does all the time', {
  timeout: 120_000,
}, async () => {
  const dataDir = await filledFolder()
  const db = await openShared(dataDir, { clock, random: Math.random, thread })
  let isOver = false
  let done = 0
  // As a first sync beside it: one transaction after the other, several at once.
  const busy = Array.from({ length: 5 }, async () => {
    for (; !isOver; done++) await db.transaction((sql) => sql.query('select count(*) from generate_series(1, 2000000)'))
  })
  const run = async (...command: string[]) => {
    const before = done
    const { code, err } = await runProgram([...command, '--data-dir', dataDir, ...nowhere])
    return { command, code, err: err.replace(/.*goes on.*\n/g, ''), waitedFor: done - before }
  }
  const add = ['watch', 'add', 'mine', '--event', 'captured', '--command', 'true']
  const ran = [await run(...add), await run('watch', 'remove', 'mine', '--yes'), await run('web-key', 'add', 'bot')]
  isOver = true
  await Promise.all(busy)
  await db.close()
  // Those that are done while the program is loaded count, too: some, as each takes a while.
  for (const { waitedFor, ...one } of ran) {
    expect(one).toMatchObject({ code: 0, err: '' })
    expect(waitedFor, one.command.join(' ')).toBeLessThan(20)
  }
})

test('a command that reads for long reads a copy beside a process that never pauses, and leaves none', {
  timeout: 300_000,
}, async () => {
  const [dataDir, folder] = [await filledFolder(), await temporaryFolder()]
  // As of a process that was killed a while ago.
  const abandoned = join(dataDir, 'reading', 'of-before')
  await mkdir(abandoned, { recursive: true })
  // Of a container that is gone: its processes cannot be seen.
  const holder = { pid: 1, processStart: null, host: 'elsewhere', startedAt: '', holds: [], id: 'other' }
  await writeFile(join(abandoned, 'lock'), JSON.stringify(holder))
  await utimes(abandoned, 0, 0)
  const db = await openShared(dataDir, { clock, random: Math.random, thread })
  let isOver = false
  let longest = 0
  const poll = async () => {
    while (!isOver) {
      const began = performance.now()
      await db.transaction(async (sql) => {
        await sql.query(`update sync.run set requests = coalesce(requests, 0) + 1 where program = 'test'`)
        await sql.query('select count(*) from generate_series(1, 200000)')
      })
      longest = Math.max(longest, performance.now() - began)
    }
  }
  const busy = Promise.all([poll(), poll()])
  const run = async (...command: string[]) => {
    const { code, err } = await runProgram([...command, '--data-dir', dataDir, ...nowhere], {}, folder)
    return { command, code, err: err.replace(/.* info .*\n/g, '') }
  }
  const exported = ['lake', 'export', './exported']
  for (const command of [
    ['backup', './backup'],
    ['backup', './backup'],
    exported,
    ['verify'],
    ['serve', '--export', './site', '--no-people'],
  ])
    expect(await run(...command)).toEqual({ command, code: 0, err: '' })
  expect(await readdir(join(dataDir, 'reading'))).toEqual([])
  isOver = true
  await busy
  await db.close()
  // They wait while files are copied, and for no more.
  expect(longest).toBeLessThan(20_000)
  const restored = await runProgram(['restore', './backup', '--data-dir', './restored', ...nowhere], {}, folder)
  expect(restored).toMatchObject({ code: 0 })
  expect(await countRuns(join(folder, 'restored'))).toBe(1)
})

test('a question for which syncs leave no time is answered by a copy, and the command says so', {
  timeout: 300_000,
}, async () => {
  const dataDir = await filledFolder()
  const db = await openShared(dataDir, { clock, random: Math.random, thread })
  await db.query(`create function slow() returns int language plpgsql as $$
    declare began timestamptz := clock_timestamp();
    begin while clock_timestamp() < began + interval '4.5 s' loop end loop; return count(*) from sync.run; end $$`)
  await db.query('create view analytics.slow as select slow() as runs')
  let isOver = false
  const busy = Array.from({ length: 2 }, async () => {
    while (!isOver) await db.transaction((sql) => sql.query('select count(*) from generate_series(1, 200000)'))
  })
  const { code, out, err } = await runProgram(['query', 'slow', '--csv', '--data-dir', dataDir, ...nowhere])
  isOver = true
  await Promise.all(busy)
  await db.close()
  const said = err.split('\n').filter((line) => !/goes on|waiting for an answer/.test(line))
  expect({ code, out, said }).toEqual({
    code: 0,
    out: 'runs\r\n1\r\n',
    said: [expect.stringContaining('asked of a copy of the database'), ''],
  })
  expect(await readdir(join(dataDir, 'reading'))).toEqual([])
})

describe('a command that needs an embedded folder for itself', { timeout: 600_000 }, () => {
  test('says at once for whom it waits and what helps, and ends with 75 after half a minute', async () => {
    const [dataDir, other, folder] = [await filledFolder(), await filledFolder(), await temporaryFolder()]
    await runProgram(['lake', 'export', './lake', '--data-dir', other, ...nowhere], {}, folder)
    const start = await startOn(dataDir)
    const pid = String(start.child.pid)
    const commands = [
      ...waiting.map((command) => [...command, '--data-dir', dataDir]),
      ['move', '--to', dataDir, '--data-dir', other],
    ]
    const ended = await Promise.all(
      commands.map(async (command) => {
        const { child, finished } = startProgram([...command, ...nowhere], {}, folder)
        await once(child.stderr as NodeJS.ReadableStream, 'data')
        const said = performance.now()
        const { code, out, err } = await finished
        return {
          command,
          code,
          out,
          lines: err
            .trim()
            .split('\n')
            .filter((line) => !line.includes('goes on')),
          waited: performance.now() - said,
        }
      }),
    )
    for (const { command, code, out, lines, waited } of ended) {
      const [first, last] = [lines[0], lines.at(-1)]
      expect({ command, code, out }).toEqual({ command, code: 75, out: '' })
      for (const line of [first, last])
        expect(line).toMatch(new RegExp(`${dataDir} is in use by process ${pid} \\(start, .* since 20.*stop it, or`))
      expect(first).toMatch(/: waiting for up to (2\d|30) s until it ends; /)
      expect({ command, waited: waited > 15_000 }).toEqual({ command, waited: true })
    }
    start.child.kill('SIGTERM')
    expect(await start.finished).toMatchObject({ code: 0 })
    expect([await countRuns(dataDir), await countRuns(other)]).toEqual([1, 1])
  })

  test('goes on when `start` ends, and ends itself at the first signal', async () => {
    const [dataDir, folder] = [await filledFolder(), await temporaryFolder()]
    const start = await startOn(dataDir)
    const run = (command: readonly string[]) =>
      startProgram([...command, '--data-dir', dataDir, ...nowhere], {}, folder)
    const moving = run(['move', '--to', './moved'])
    const stopped = [run(['replay']), run(['move', '--to', './other']), run(['migrate'])]
    await Promise.all([moving, ...stopped].map(({ child }) => once(child.stderr as NodeJS.ReadableStream, 'data')))
    const told = performance.now()
    for (const { child } of stopped) child.kill('SIGTERM')
    for (const { finished } of stopped) expect([75, null, 143]).toContain((await finished).code)
    expect(performance.now() - told).toBeLessThan(10_000)
    start.child.kill('SIGTERM')
    expect(await moving.finished).toMatchObject({ code: 0 })
    expect(existsSync(join(folder, 'moved'))).toBe(true)
    expect(await readHolder(dataDir)).toBeNull()
  })
})

describe('a command that works through the holder of an embedded folder', { timeout: 600_000 }, () => {
  test('reads and writes while `start` has it', async () => {
    const [dataDir, folder] = [await filledFolder(), await temporaryFolder()]
    const start = await startOn(dataDir)
    for (const [command, code] of [
      [['query', 'freshness'], 0],
      [['status'], 0],
      [['report', '--out', './report.html'], 0],
      [['runs', 'list'], 0],
      [['quarantine', 'list'], 0],
      [['quarantine', 'retry'], 0],
      [['dictionary'], 0],
      [['web-key', 'add', 'x'], 0],
      [['web-key', 'list'], 0],
      [['privacy', 'show', player], 0],
      [['privacy', 'purge', player, '--yes'], 0],
      [['backfill', 'guilds', '--dry-run'], 0],
      [['start'], 75],
    ] as const) {
      const ended = await runProgram([...command, '--data-dir', dataDir, ...nowhere], {}, folder)
      // One that takes more than two seconds to answer says so.
      expect({ command, ...ended }).toMatchObject({ code, err: expect.not.stringMatching(/waiting for (?!an answer)/) })
    }
    // The API cannot be reached, or `start` syncs it just now.
    const synced = await runProgram(['sync', 'recipes', '--data-dir', dataDir, ...nowhere], {}, folder)
    expect([0, 75]).toContain(synced.code)
    expect(synced.err).not.toMatch(/waiting for (?!an answer)/)
    for (const command of [['serve', '--port', '0'], ['mcp']]) {
      const { child, finished } = startProgram([...command, '--data-dir', dataDir, ...nowhere], {}, folder)
      if (command[0] === 'serve') await once(child.stdout as NodeJS.ReadableStream, 'data')
      else await delay(3000)
      child.kill('SIGTERM')
      expect({ command, ...(await finished) }).toMatchObject({ err: expect.not.stringContaining('waiting for') })
    }
    expect(await readHolder(dataDir)).toMatchObject({ pid: start.child.pid })
    start.child.kill('SIGTERM')
    expect(await start.finished).toMatchObject({ code: 0 })
    const db = await openEmbedded(dataDir, { clock })
    expect(await db.values('select name from sync.web_key')).toEqual([['x']])
    await db.close()
  })
})
