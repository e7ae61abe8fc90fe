import { mkdir, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { codeOf, UsageError } from '../app/errors.ts'
import { createFolder } from '../app/private-folder.ts'
import type { LakeStore, StoreSettings } from './lake-store.ts'

/**
 * @param place a folder, or `s3://bucket/prefix`
 * @throws UsageError when it is neither, or a setting of the bucket is missing
 */
export async function openStore(place: string, settings?: StoreSettings): Promise<LakeStore> {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(place)) return folderStore(resolve(place))
  if (!/^s3:\/\//i.test(place) || settings === undefined)
    throw new UsageError('the place of a lake must be a folder or s3://bucket/prefix')
  const { s3Store } = await import('./s3/s3-store.ts')
  return s3Store(place, settings)
}

function folderStore(folder: string): LakeStore {
  return {
    place: folder,
    work: folder,
    readText: async (path) =>
      await readFile(join(folder, path), 'utf8').catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT') return undefined
        throw error
      }),
    put: async (file, path) => {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await rename(file, join(folder, path))
    },
    list: async () => {
      const names = await readdir(folder, { recursive: true })
      return names.map((name) => name.replaceAll('\\', '/')).filter((path) => path.endsWith('.parquet'))
    },
    remove: async (path) => {
      await rm(join(folder, path), { force: true })
      // The folder of a month or a table goes with its last file.
      for (const above of [dirname(path), dirname(dirname(path))])
        if (above !== '.') await rmdir(join(folder, above)).catch(() => {})
    },
  }
}

/** Creates the folder for what is being written. @returns its path; whatever an interrupted export left in it is gone */
export async function writingFolder({ work }: LakeStore): Promise<string> {
  createFolder(work)
  const folder = join(work, 'writing')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder)
  return folder
}
