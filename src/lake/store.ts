import { mkdir, readdir, realpath, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { codeOf, messageOf, RetryableError, UsageError } from '../base/errors.ts'
import { createFolder } from '../base/private-folder.ts'
import { lockFolder } from '../db/embedded/folder-lock.ts'
import { fileKind, type LakeStore, type StoreSettings, WRITING } from './lake-store.ts'
import { indexText, openFile } from './read/index-text.ts'

/**
 * @param place a folder, or `s3://bucket/prefix`
 * @throws UsageError when it is neither, or a setting of the bucket is missing
 */
export async function openStore(place: string, settings?: StoreSettings): Promise<LakeStore> {
  if (fileKind(place))
    throw new UsageError(`${place} is one file, which only lake export writes: name a folder or s3://bucket/prefix`)
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(place)) return folderStore(resolve(place))
  if (!/^s3:\/\//i.test(place) || settings === undefined)
    throw new UsageError('the place of a lake must be a folder or s3://bucket/prefix')
  const { s3Store } = await import('./s3/s3-store.ts')
  return s3Store(place, settings)
}

function folderStore(folder: string): LakeStore {
  const readText = async (path: string) => {
    const real = await realpath(join(folder, path)).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    })
    const file = real === undefined ? undefined : await openFile(real).catch((error: unknown) => unread(path, error))
    return file && (await indexText(file.createReadStream()).catch((error: unknown) => unread(path, error)))
  }
  const unread = (path: string, error: unknown): never => {
    throw new UsageError(`${join(folder, path)} cannot be read: ${messageOf(error)}`, { cause: error })
  }
  const put = async (file: string, path: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await rename(file, join(folder, path))
  }
  return {
    place: folder,
    work: join(folder, WORK),
    readText,
    put,
    // One process at a time has the folder for writing.
    replace: async (file, path, was) => {
      if ((await readText(path)) !== was) return false
      await put(file, path)
      return true
    },
    list: async (ending) => {
      // A link is not followed: it may lead in a circle, or to files that are not of this place.
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
      const paths = files.map((file) => relative(folder, file).replaceAll('\\', '/'))
      const wanted = paths.filter((path) => path.endsWith(ending))
      const sizes = await Promise.all(wanted.map(async (path) => (await stat(join(folder, path))).size))
      return new Map(wanted.map((path, index) => [path, sizes[index] ?? 0]))
    },
    remove: async (path) => {
      await rm(join(folder, path), { force: true })
      // The folder of a month or a table goes with its last file.
      for (const above of [dirname(path), dirname(dirname(path))])
        if (above !== '.') await rmdir(join(folder, above)).catch(() => {})
    },
  }
}

/** Below the folder of a lake, what is not part of it. A folder of the user has another name. */
const WORK = '.wynnsync'

/**
 * Runs an export with a folder for what is being written: whatever an interrupted one left in it is gone.
 * @throws RetryableError while another process writes there
 */
export async function withWritingFolder<T>(
  { place, work }: Pick<LakeStore, 'place' | 'work'>,
  clock: Clock,
  write: (folder: string) => Promise<T>,
): Promise<T> {
  createFolder(work)
  const release = await lockFolder(work, { clock, holds: ['lake export'] }).catch((error: unknown) => {
    if (!(error instanceof RetryableError)) throw error
    const { pid, host, since } = error.context
    throw new RetryableError(
      `process ${pid} on ${host} has been exporting into ${place} since ${since}; try again later`,
    )
  })
  const folder = join(work, WRITING)
  const clear = () => rm(folder, { recursive: true, force: true })
  try {
    await clear()
    await mkdir(folder)
    return await write(folder)
  } finally {
    await clear()
    await release()
    // It stays while something is to be taken up by the next export.
    await rmdir(work).catch(() => {})
  }
}
