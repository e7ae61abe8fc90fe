import { open, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** How many files are synced at once: the disk's journal takes them together. */
const FILES_AT_ONCE = 16

/** Brings a folder with all that is in it onto the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  await Promise.all(
    Array.from({ length: FILES_AT_ONCE }, async () => {
      for (let file = files.pop(); file !== undefined; file = files.pop()) await syncFile(file)
    }),
  )
  for (const entry of entries) if (entry.isDirectory()) await syncNames(join(entry.parentPath, entry.name))
  await syncNames(folder)
  await syncNames(dirname(folder))
}

/** Brings the names in a folder onto the disk: what was created, renamed and deleted in it. */
export async function syncNames(folder: string): Promise<void> {
  // Windows has no handle for a folder, and keeps names in order by itself.
  if (process.platform !== 'win32') await syncFile(folder, 'r')
}

/** Brings one file onto the disk. Windows syncs only what may be written. */
export async function syncFile(path: string, flags: 'r' | 'r+' = 'r+'): Promise<void> {
  const handle = await open(path, flags)
  await handle.sync().finally(() => handle.close())
}
