import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { App } from '../../../app/app.ts'
import { codeOf, RetryableError } from '../../../base/errors.ts'
import type { Database } from '../../../db/database.ts'
import { readHolder } from '../../../db/embedded/folder-lock.ts'
import { readHeldLocks } from '../../../db/locks/held-locks.ts'
import { type Context, writeResult } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'

/** Held on a server for as long as `start` runs. */
export const startLock = 'wynnsync start'

/** What the embedded database's lock says that `start` does, first of all. */
export const startHold = 'start'

/** The process that runs `start` on this database. */
interface StartHolder {
  readonly pid: number
  readonly host: string
  /** ISO 8601, UTC. */
  readonly since: string
}

/** The holder of the embedded database, when it is a `start`; undefined with a server. */
export async function folderHolder({ config }: Pick<App, 'config'>): Promise<StartHolder | undefined> {
  if (config.databaseUrl !== undefined) return undefined
  const holder = await readHolder(config.dataDir)
  if (holder?.holds[0] !== startHold) return undefined
  return { pid: holder.pid, host: holder.host, since: holder.startedAt }
}

/** The holder of the lock on a server; undefined when it has just ended. */
export async function serverHolder(db: Database): Promise<StartHolder | undefined> {
  const [holder] = await readHeldLocks(db, startLock)
  return holder && { pid: holder.pid, host: holder.host, since: holder.since.toISOString() }
}

/** Another `start` runs. Not exit code 0: a supervisor must see that this process does nothing. */
export function skipStart(context: Context, holder: StartHolder | undefined): number {
  const by = holder ? `: ${textOf(holder)}` : ''
  const text = `skipped: another \`wynnsync start\` uses this database${by}; --replace stops it and takes its place\n`
  if (context.flags.json) writeResult(context, { status: 'skipped', ...(holder ? { holder } : {}) }, '')
  context.err.write(text)
  return exitCode.tryLater
}

/**
 * Sends SIGTERM to the holder, which ends as after Ctrl-C.
 * @throws RetryableError with what to do, when it runs on another machine, belongs to another user, or another program
 * has its id now
 */
export async function stopHolder({ err, flags }: Context, holder: StartHolder): Promise<void> {
  const { pid, host } = holder
  const cannot = (why: string) =>
    new RetryableError(`cannot stop ${textOf(holder)}: ${why}; stop it there: kill ${pid}`)
  if (host !== hostname()) throw cannot(`it runs on ${host}, this is ${hostname()}`)
  if (!(await isThisProgram(pid))) throw cannot('the process with this id here is another program')
  try {
    process.kill(pid, 'SIGTERM')
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return
    throw cannot(String(codeOf(error)))
  }
  if (!flags.quiet) err.write(`waiting until ${textOf(holder)} has ended\n`)
}

function textOf({ pid, host, since }: StartHolder): string {
  return `process ${pid} on ${host} since ${since}`
}

/** In a container, a process of the same host name may have another id. True where there is no /proc, and for one that has ended. */
async function isThisProgram(pid: number): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return line === '' || line.startsWith('wynnsync')
}
