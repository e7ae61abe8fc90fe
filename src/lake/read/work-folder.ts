import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { codeOf, withRoom } from '../../base/errors.ts'

const PREFIX = 'wynnsync-lake-'

/** Those of this process. */
const own = new Set<string>()

/**
 * A folder of this machine, for its owner only, for copies of a lake's files while `work` lasts. Those of processes that were
 * killed are removed first: the copies may name players.
 * @throws FatalError that names the place where its disk is full
 */
export async function inWorkFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  await removeAbandoned()
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`))
  own.add(basename(folder))
  try {
    return await work(folder)
  } catch (error) {
    throw withRoom(error, `the temporary folder ${tmpdir()}, which TMPDIR names`)
  } finally {
    await rm(folder, { recursive: true, force: true })
    own.delete(basename(folder))
  }
}

async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    if (!name.startsWith(PREFIX) || own.has(name)) continue
    const path = join(tmpdir(), name)
    const found = await lstat(path).catch(() => undefined)
    // Everybody may write there.
    if (!found?.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) continue
    const pid = Number(/^\d+(?=-)/.exec(name.slice(PREFIX.length))?.[0] ?? 0)
    // A container numbers its processes anew: another one had this number before.
    const isGone = pid > 0 && (pid === process.pid || !isRunning(pid))
    if (isGone) await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
