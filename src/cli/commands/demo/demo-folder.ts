import { readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { systemClock } from '../../../base/clock.ts'
import { codeOf, RetryableError, UsageError } from '../../../base/errors.ts'
import { lockFolder } from '../../../db/embedded/folder-lock.ts'

/** A file that only the folders of demos have. */
export const marker = 'wynnsync-demo'

const isLock = (name: string) => /^lock(\.|$)/.test(name)

/**
 * An empty folder for a demo: the given one, or one in the temporary folder of the system. What an earlier demo left is removed.
 * @throws UsageError when it holds something else; RetryableError when a process has it open
 */
export async function demoFolder(given: string | undefined): Promise<string> {
  const folder = given === undefined ? join(tmpdir(), `wynnsync-demo-${process.getuid?.() ?? -1}`) : resolve(given)
  const isOwn = (names: readonly string[]) =>
    given === undefined || names.includes(marker) || names.every((name) => isLock(name))
  if (!isOwn(await namesIn(folder)))
    throw new UsageError(`${folder} holds something that is not a demo's; --data-dir must name an empty folder for it`)
  // With its lock, so that a demo that is running, or a command on its database, keeps what it has.
  const unlock = await lockFolder(folder, { clock: systemClock, holds: ['demo'] }).catch((error: unknown) => {
    if (!(error instanceof RetryableError)) throw error
    const { pid, holds } = error.context
    const holder = `process ${pid}${holds ? ` (${holds})` : ''}`
    throw new RetryableError(`${holder} uses ${folder}: stop it, or name another folder for this demo: --data-dir`)
  })
  try {
    for (const name of await namesIn(folder))
      if (!isLock(name)) await rm(join(folder, name), { recursive: true, force: true })
    await writeFile(join(folder, marker), 'What is in this folder is removed by the next demo in it.\n')
  } finally {
    await unlock()
  }
  return folder
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    // What is no folder at all, its lock reports.
    if (/^(ENOENT|ENOTDIR|EACCES)$/.test(String(codeOf(error)))) return []
    throw error
  }
}
