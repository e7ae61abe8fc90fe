import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock, virtualClock } from '../../src/base/clock.ts'
import { FatalError, RetryableError } from '../../src/base/errors.ts'
import { type Holder, lockFolder, readHolder } from '../../src/db/embedded/folder-lock.ts'
import { compileInto } from '../support/compiled.ts'
import { temporaryFolder } from '../support/postgres.ts'

const clock = systemClock

/** A process that lives until it is killed. */
async function livingProcess(): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn(process.execPath, ['--eval', 'console.log("up"); setInterval(() => {}, 1000)'])
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) await killed(child)
  })
  await once(child.stdout, 'data')
  return Object.assign(child, { pid: child.pid ?? 0 })
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/** Writes the lock that another process would have left. */
async function lockOf(dataDir: string, holder: Partial<Holder>): Promise<void> {
  const whole = { processStart: null, host: hostname(), startedAt: '2026-05-01T00:00:00.000Z', holds: [], id: 'other' }
  await writeFile(join(dataDir, 'lock'), `${JSON.stringify({ ...whole, ...holder })}\n`)
}

/** What the kernel says about a process's start, as the lock file has it. */
async function startOf(pid: number): Promise<string> {
  const dataDir = await temporaryFolder()
  await lockFolder(dataDir, { clock })
  const mine = await readHolder(dataDir)
  const boot = mine?.processStart?.split('/')[0]
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  return `${boot}/${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
}

test('the lock says who holds the folder and what for, and is gone when given back', async () => {
  const dataDir = join(await temporaryFolder(), 'made', 'here')
  expect(await readHolder(dataDir)).toBeNull()
  const unlock = await lockFolder(dataDir, { clock: virtualClock(Date.UTC(2026, 0, 1)), holds: ['sync items'] })
  expect(await readHolder(dataDir)).toMatchObject({
    pid: process.pid,
    host: hostname(),
    startedAt: '2026-01-01T00:00:00.000Z',
    holds: ['sync items'],
  })
  await unlock()
  expect(await readHolder(dataDir)).toBeNull()
  expect(await readdir(dataDir)).toEqual([])
})

test('a second opener in the same process is refused too', async () => {
  const dataDir = await temporaryFolder()
  const unlock = await lockFolder(dataDir, { clock })
  await expect(lockFolder(dataDir, { clock })).rejects.toThrow(RetryableError)
  await unlock()
  await (await lockFolder(dataDir, { clock }))()
})

test('a living holder is waited for, then named with what it does, since when, and what to do', async () => {
  const dataDir = await temporaryFolder()
  const { pid } = await livingProcess()
  await lockOf(dataDir, { pid, processStart: await startOf(pid), holds: ['sync items', 'sync guilds'] })
  const waiting = virtualClock(0, { auto: true })
  const refused = lockFolder(dataDir, { clock: waiting, waitMs: 10_000 })
  await expect(refused).rejects.toThrow(RetryableError)
  await expect(refused).rejects.toThrow(
    new RegExp(`process ${pid} \\(sync items, sync guilds\\) since 2026-05-01T00:00:00.000Z; .*--data-dir`),
  )
  expect(waiting.now()).toBe(10_000)
})

test('a waiting opener gets the folder when the holder gives it back', async () => {
  const dataDir = await temporaryFolder()
  const unlock = await lockFolder(dataDir, { clock })
  const waiting = virtualClock(0)
  let got = false
  const second = lockFolder(dataDir, { clock: waiting, waitMs: 60_000 }).then((mine) => {
    got = true
    return mine
  })
  await waiting.advance(1000)
  expect(got).toBe(false)
  await unlock()
  while (!got) {
    await waiting.advance(100)
    await systemClock.sleep(1)
  }
  await (await second)()
})

test('the lock of a killed process is taken over', async () => {
  const dataDir = await temporaryFolder()
  const child = await livingProcess()
  await lockOf(dataDir, { pid: child.pid, processStart: await startOf(child.pid) })
  expect(await readHolder(dataDir)).toMatchObject({ pid: child.pid })
  await killed(child)
  expect(await readHolder(dataDir)).toBeNull()
  await (await lockFolder(dataDir, { clock }))()
  expect(await readdir(dataDir)).toEqual([])
})

test('a full disk is named with the folder and what helps, and nothing is left behind', async (context) => {
  const dataDir = await temporaryFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', dataDir], { stdio: 'ignore' })
  } catch {
    return context.skip('no file system can be mounted here')
  }
  onTestFinished(() => void execFileSync('umount', ['-l', dataDir]))
  await writeFile(join(dataDir, 'fill'), Buffer.alloc(4096))
  const full = lockFolder(dataDir, { clock })
  await expect(full).rejects.toThrow(FatalError)
  await expect(full).rejects.toThrow(/^the data folder .* cannot be written: ENOSPC.*; make room on its disk$/)
  expect(await readdir(dataDir)).toEqual(['fill'])
  await rm(join(dataDir, 'fill'))
  await (await lockFolder(dataDir, { clock }))()
})

test('a pid that another process has now is not mistaken for the holder', async () => {
  const dataDir = await temporaryFolder()
  const { pid } = await livingProcess()
  await lockOf(dataDir, { pid, processStart: 'another boot/12345' })
  await (await lockFolder(dataDir, { clock }))()
})

test('a holder on another machine is never judged dead, and the message says which file to delete', async () => {
  const dataDir = await temporaryFolder()
  await lockOf(dataDir, { pid: 2 ** 22 + 1, host: 'elsewhere' })
  await expect(lockFolder(dataDir, { clock })).rejects.toThrow(
    `on elsewhere since 2026-05-01T00:00:00.000Z; if it is gone, delete ${dataDir}/lock`,
  )
})

test('a lock file that says nothing is a dead one', async () => {
  const dataDir = await temporaryFolder()
  await writeFile(join(dataDir, 'lock'), '')
  await (await lockFolder(dataDir, { clock }))()
})

test('of eight that find a dead lock, one at a time gets the folder', async () => {
  for (let round = 0; round < 25; round++) {
    const dataDir = await temporaryFolder()
    await lockOf(dataDir, { pid: 2 ** 22 + 1, processStart: 'gone/1', id: `${round}` })
    let inside = 0
    let entered = 0
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const unlock = await lockFolder(dataDir, { clock: quick, waitMs: 60_000 })
        inside++
        entered++
        expect(inside).toBe(1)
        await new Promise((resolve) => setImmediate(resolve))
        expect(inside).toBe(1)
        inside--
        await unlock()
      }),
    )
    expect(entered).toBe(8)
    expect(await readdir(dataDir)).toEqual([])
  }
})

test('a recoverer that died on the way does not keep others from recovering', async () => {
  const dataDir = await temporaryFolder()
  await lockOf(dataDir, { pid: 2 ** 22 + 1, processStart: 'gone/1' })
  const digest = createHash('sha256')
    .update(await readFile(join(dataDir, 'lock'), 'utf8'))
    .digest('hex')
    .slice(0, 16)
  await symlink(`${2 ** 22 + 2}:gone/2`, join(dataDir, `lock.recovery.${digest}.0`))
  await (await lockFolder(dataDir, { clock }))()
  expect(await readdir(dataDir)).toEqual([])
})

test('what killed processes left beside the lock is gone with the next holder, and what a living one writes stays', async () => {
  const dataDir = await temporaryFolder()
  const draft = async (pid: number, id: string) => {
    await lockOf(dataDir, { pid, id })
    await rename(join(dataDir, 'lock'), join(dataDir, `lock.${id}`))
  }
  const [dead, living, empty, old] = Array.from({ length: 4 }, () => randomUUID())
  await draft(2 ** 22 + 1, String(dead))
  await draft(process.pid, String(living))
  for (const id of [empty, old]) await writeFile(join(dataDir, `lock.${id}`), '')
  await utimes(join(dataDir, `lock.${old}`), 0, 0)
  await symlink(`${2 ** 22 + 2}:gone/2`, join(dataDir, 'lock.recovery.0123456789abcdef.0'))
  await symlink(`${process.pid}:`, join(dataDir, 'lock.recovery.0123456789abcdef.1'))
  await writeFile(join(dataDir, 'lock.notes'), 'of somebody else')
  await (await lockFolder(dataDir, { clock }))()
  const left = [`lock.${living}`, `lock.${empty}`, 'lock.notes', 'lock.recovery.0123456789abcdef.1']
  expect(await readdir(dataDir)).toEqual(left.sort())
})

/** Real time, but polling fast, so that the rounds do not take seconds. */
const quick = { now: () => Date.now(), sleep: () => systemClock.sleep(1) }

/** Takes the lock five times, and looks each time whether anybody else is inside. */
const CONTEND = `
import { mkdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFolder } from './db/embedded/folder-lock.js'
const clock = { now: () => Date.now(), sleep: (ms) => new Promise((wake) => setTimeout(wake, Math.min(ms, 2))) }
const dataDir = process.argv[2]
let alone = 0
for (let turn = 0; turn < 5; turn++) {
  const unlock = await lockFolder(dataDir, { clock, waitMs: 50_000 })
  await mkdir(join(dataDir, 'inside'))
  await clock.sleep(1)
  await rmdir(join(dataDir, 'inside'))
  alone++
  // The last turn ends without giving back, as a killed process would.
  if (turn < 4) await unlock()
}
process.stdout.write('alone ' + alone + ' times')
`

test('eight processes that die with the lock never hold the folder together', async () => {
  const folder = await temporaryFolder()
  await compileInto(folder, ['db/embedded/folder-lock.ts'])
  await writeFile(join(folder, 'contend.js'), CONTEND)
  const dataDir = join(folder, 'data')
  await mkdir(dataDir)
  await lockOf(dataDir, { pid: 2 ** 22 + 1, processStart: 'gone/1' })
  const contend = promisify(execFile)
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, () => contend(process.execPath, [join(folder, 'contend.js'), dataDir])),
  )
  expect(outcomes.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 8 }, () => 'alone 5 times'))
})
