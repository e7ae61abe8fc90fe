import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { FatalError, UsageError } from '../../base/errors.ts'
import { INDEX } from '../index-file.ts'

/**
 * The real path of a file of a lake. Its path is of the form that an export makes (`parseIndex`); what is left to refuse are
 * symbolic links that lead out.
 * @throws FatalError when it is missing or outside
 */
export async function pathIn(folder: string, path: string): Promise<string> {
  const real = await realpath(folder).catch(() => {
    throw new UsageError(`there is no folder ${folder}`)
  })
  const found = await realpath(join(real, path)).catch(() => {
    if (path === INDEX) throw new UsageError(`${folder} has no ${INDEX}: no lake was exported into it`)
    throw new FatalError('it is missing')
  })
  if (!found.startsWith(real + sep)) throw new FatalError('it is a link that leads out of the lake')
  return found
}

/**
 * Opens a file for reading. Opening a pipe would wait for its writer, and reading a device may never end.
 * @throws FatalError when it is no file
 */
export async function openFile(path: string): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    throw new FatalError('it cannot be opened', { cause: error })
  })
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new FatalError('it is no file but a folder, pipe or device')
}
