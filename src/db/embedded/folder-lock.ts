import { hash, randomUUID } from 'node:crypto'
import { link, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import type { Clock } from '../../base/clock.ts'
import { codeOf, FatalError, RetryableError, reach, UsageError } from '../../base/errors.ts'
import { createFolder } from '../../base/private-folder.ts'

const holderSchema = z.object({
  pid: z.number(),
  /** Boot and kernel ticks at which the process started; null where there is no /proc. Distinguishes reused pids. */
  processStart: z.string().nullable().catch(null),
  host: z.string(),
  /** ISO 8601, UTC. */
  startedAt: z.string(),
  /** What it does, for messages: `sync items`. */
  holds: z.array(z.string()).readonly(),
  /** Distinguishes two locks of one process. */
  id: z.string(),
})

/** The process that has a data folder open, as in the lock file. */
export type Holder = Readonly<z.infer<typeof holderSchema>>

/** How often a waiting process tries again, in milliseconds. */
const POLL_MS = 100

/** How long before the lock a draft without content was begun by a process that is gone, in milliseconds. */
const DRAFT_MS = 60_000

const lockPath = (dataDir: string) => join(dataDir, 'lock')

/** The holder of `dataDir`: null when there is none, or when it is dead. */
export async function readHolder(dataDir: string): Promise<Holder | null> {
  const text = await readLock(dataDir)
  const holder = text === null ? null : parseHolder(text)
  return holder && (await isAlive(holder)) ? holder : null
}

/**
 * Takes the lock of a data folder, which lets one process at a time open the database in it. It is the pid's life that
 * counts, not a heartbeat: a process whose event loop is blocked for minutes keeps its lock, one that is killed loses
 * it at once.
 *
 * @param options.holds what the caller does, for the messages of others
 * @param options.waitMs how long to wait for another holder, in milliseconds; 0 gives up at once
 * @returns releases the lock
 * @throws RetryableError that names the holder when it still has the folder after `waitMs`
 * @throws UsageError when the folder cannot be created or written, FatalError when its disk is full or fails
 */
export async function lockFolder(
  dataDir: string,
  options: { clock: Clock; holds?: readonly string[]; waitMs?: number },
): Promise<() => Promise<void>> {
  const { clock, holds = [], waitMs = 0 } = options
  try {
    createFolder(dataDir)
  } catch (error) {
    throw unusable(dataDir, 'created', error)
  }
  const mine: Holder = {
    pid: process.pid,
    processStart: await processStart(process.pid),
    host: hostname(),
    startedAt: new Date(clock.now()).toISOString(),
    holds,
    id: randomUUID(),
  }
  const giveUpAt = clock.now() + waitMs
  for (;;) {
    if (await claim(dataDir, mine)) {
      await removeAbandoned(dataDir)
      return () => release(dataDir, mine)
    }
    const text = await readLock(dataDir)
    if (text === null) continue
    const holder = parseHolder(text)
    if (!holder || !(await isAlive(holder))) {
      await removeStale(dataDir, text, mine)
      continue
    }
    if (clock.now() >= giveUpAt) throw heldBy(dataDir, holder)
    await clock.sleep(Math.min(POLL_MS, giveUpAt - clock.now()))
  }
}

/** Puts the lock file in place with its whole content, or finds that there is one: link(2) does not overwrite. */
async function claim(dataDir: string, mine: Holder): Promise<boolean> {
  const draft = join(dataDir, `lock.${mine.id}`)
  try {
    await writeFile(draft, `${JSON.stringify(mine)}\n`, { mode: 0o600 }).catch((error: unknown) => {
      throw unusable(dataDir, 'written', error)
    })
    await link(draft, lockPath(dataDir))
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/**
 * Removes a dead holder's lock. Reading it and unlinking it are two steps, so between them only one process may act:
 * the one whose marker stands. A marker belongs to this one lock text and names its owner; when the owner is dead too,
 * the next number counts. The process that gets a marker reads the lock again before it removes anything.
 */
async function removeStale(dataDir: string, stale: string, me: Holder): Promise<void> {
  const marker = join(dataDir, `lock.recovery.${hash('sha256', stale).slice(0, 16)}`)
  for (let turn = 0; ; turn++) {
    try {
      // A symbolic link appears with its content complete; it points at nothing.
      await symlink(`${me.pid}:${me.processStart ?? ''}`, `${marker}.${turn}`)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
      if (await ownerLives(`${marker}.${turn}`)) return
      continue
    }
    if ((await readLock(dataDir)) === stale) await rm(lockPath(dataDir), { force: true })
    reach('recovery: a lock of a process that is gone')
    for (let past = turn; past >= 0; past--) await rm(`${marker}.${past}`, { force: true })
    return
  }
}

/** Removes what processes that were killed while they took the lock left beside it: drafts, and markers of locks before. */
async function removeAbandoned(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir).catch(() => [])) {
    const path = join(dataDir, name)
    const isAbandoned = /^lock\.recovery\.[0-9a-f]+\.\d+$/.test(name)
      ? !(await ownerLives(path))
      : /^lock\.[0-9a-f-]{36}$/.test(name) && (await isAbandonedDraft(dataDir, path))
    if (isAbandoned) await rm(path, { force: true })
  }
}

/** A draft without its whole content may still be written. */
async function isAbandonedDraft(dataDir: string, path: string): Promise<boolean> {
  const [found, lock] = await Promise.all([path, lockPath(dataDir)].map((file) => stat(file).catch(() => undefined)))
  if (!found || !lock) return false
  const holder = parseHolder(await readFile(path, 'utf8').catch(() => ''))
  return holder ? !(await isAlive(holder)) : lock.mtimeMs - found.mtimeMs > DRAFT_MS
}

async function ownerLives(marker: string): Promise<boolean> {
  try {
    const [pid = '', start = ''] = (await readlink(marker)).split(/:(.*)/)
    return await isRunning(Number(pid), start === '' ? null : start)
  } catch (error) {
    // Gone again: its owner has finished, and the lock must be read anew.
    if (codeOf(error) === 'ENOENT') return true
    throw error
  }
}

async function release(dataDir: string, mine: Holder): Promise<void> {
  const text = await readLock(dataDir)
  if (text !== null && parseHolder(text)?.id === mine.id) await rm(lockPath(dataDir), { force: true })
}

async function isAlive(holder: Holder): Promise<boolean> {
  // Another machine's processes cannot be seen from here.
  return holder.host !== hostname() || (await isRunning(holder.pid, holder.processStart))
}

async function isRunning(pid: number, start: string | null): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false
  }
  const current = await processStart(pid)
  return start === null || current === null || start === current
}

/** Boot and kernel ticks at which the process started (proc(5), field 22 of stat); null where there is no /proc. */
async function processStart(pid: number): Promise<string | null> {
  try {
    const [boot, stat] = await Promise.all([bootId(), readFile(`/proc/${pid}/stat`, 'utf8')])
    if (boot === null) return null
    // The second field is the program's name in brackets, and may hold blanks and brackets itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return `${boot}/${fields[19] ?? ''}`
  } catch {
    return null
  }
}

/** The id of this start of the machine; null where there is no /proc. */
export async function bootId(): Promise<string | null> {
  return readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim(),
    () => null,
  )
}

function parseHolder(text: string): Holder | null {
  try {
    return holderSchema.parse(JSON.parse(text))
  } catch {
    return null
  }
}

async function readLock(dataDir: string): Promise<string | null> {
  try {
    return await readFile(lockPath(dataDir), 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** What another folder or other permissions would cure, unlike a full or failing disk. */
const UNUSABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EEXIST', 'ELOOP', 'ENAMETOOLONG', 'EINVAL'])

/** What room on the disk would cure. */
const FULL = new Set(['ENOSPC', 'EDQUOT'])

function unusable(dataDir: string, what: 'created' | 'written', error: unknown): unknown {
  const code = String(codeOf(error))
  if (!(error instanceof Error) || code === 'undefined') return error
  const message = `the data folder ${dataDir} cannot be ${what}: ${error.message}`
  if (UNUSABLE.has(code))
    return new UsageError(`${message}; choose another with --data-dir (WYNNSYNC_DATA_DIR), or change its permissions`)
  return new FatalError(FULL.has(code) ? `${message}; make room on its disk` : message, { cause: error })
}

/** A holder for messages: `process 7 on elsewhere (sync items)`. */
export function nameOf(holder: Holder): string {
  const named = holder.holds.slice(0, 3).join(', ')
  const more = holder.holds.length - 3
  const doing = named === '' ? '' : ` (${named}${more > 0 ? ` and ${more} more` : ''})`
  return `process ${holder.pid}${elsewhereOf(holder)}${doing}`
}

const elsewhereOf = (holder: Holder) => (holder.host === hostname() ? '' : ` on ${holder.host}`)

function heldBy(dataDir: string, holder: Holder): RetryableError {
  const elsewhere = elsewhereOf(holder)
  const advice = elsewhere
    ? `if it is gone, delete ${lockPath(dataDir)}`
    : 'wait for it, stop it, or give this run another --data-dir; a Postgres server (DATABASE_URL) can be shared'
  return new RetryableError(
    `the data folder ${dataDir} is in use by ${nameOf(holder)} since ${holder.startedAt}; ${advice}`,
    {
      context: { dataDir, pid: holder.pid, host: holder.host, since: holder.startedAt, holds: holder.holds.join(', ') },
    },
  )
}
