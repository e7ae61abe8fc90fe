import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { codeOf, FatalError } from '../../base/errors.ts'

/** The longest index or list that is read, in bytes: 100,000 files. */
const INDEX_BYTES = 64_000_000

/**
 * Opens a file for reading. Opening a pipe would wait for its writer, and reading a device may never end.
 * @throws FatalError when it is no file
 */
export async function openFile(path: string): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    // That says nothing of the file.
    if (/^E(ACCES|PERM|MFILE|NFILE)$/.test(String(codeOf(error)))) throw error
    throw new FatalError('it cannot be opened', { cause: error })
  })
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new FatalError('it is no file but a folder, pipe or device')
}

/** The text of an index or list. @throws FatalError when it is longer than any */
export async function indexText(read: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of read) {
    size += chunk.length
    if (size > INDEX_BYTES) throw new FatalError('it is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
