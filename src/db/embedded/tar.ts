import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { syncFile } from './sync-files.ts'

/*
 * A folder as a compressed tar archive (POSIX ustar), so that `tar` reads it too. Only what a folder of plain files
 * needs: no links, no owners. Blocks of zeros become holes when it is unpacked.
 */

const BLOCK_BYTES = 512
/** What is written at once; of zeros alone it becomes a hole. */
const CHUNK_BYTES = 32 * 1024
const ZEROS = Buffer.alloc(CHUNK_BYTES)
const MODE = { file: 0o600, folder: 0o700 }
const FOLDER = '5'.charCodeAt(0)

/** An archive that was not written by `pack`, or not to its end. */
export class DamagedArchive extends Error {}

/**
 * Packs all that is in `folder`. The archive is complete and on the disk when this returns.
 * @param compress by default gzip at its quickest level: a cluster is mostly empty space in pages, which any level finds
 */
export async function pack(
  folder: string,
  archive: string,
  { compress = createGzip({ level: 1 }), signal }: { compress?: Transform; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  await pipeline(blocks(folder), compress, createWriteStream(archive, { mode: MODE.file }), { signal })
  await syncFile(archive)
}

async function* blocks(folder: string): AsyncGenerator<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const named = entries.map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
  for (const { entry, path } of named.sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const name = path.slice(folder.length + 1).replaceAll('\\', '/')
    if (entry.isDirectory()) yield header(`${name}/`, 0, true)
    if (!entry.isFile()) continue
    const { size } = await stat(path)
    yield header(name, size, false)
    // `end`: what is appended meanwhile does not belong to it.
    if (size > 0)
      for await (const chunk of createReadStream(path, { end: size - 1, highWaterMark: 1 << 20 })) yield chunk
    if (size % BLOCK_BYTES > 0) yield Buffer.alloc(BLOCK_BYTES - (size % BLOCK_BYTES))
  }
  yield Buffer.alloc(2 * BLOCK_BYTES)
}

function header(name: string, size: number, isFolder: boolean): Buffer {
  if (Buffer.byteLength(name) > 100) throw new RangeError(`too long a name for the archive: ${name}`)
  const block = Buffer.alloc(BLOCK_BYTES)
  const octal = (value: number, at: number, digits: number) => block.write(value.toString(8).padStart(digits, '0'), at)
  block.write(name, 0)
  octal(isFolder ? MODE.folder : MODE.file, 100, 7)
  octal(0, 108, 7)
  octal(0, 116, 7)
  octal(size, 124, 11)
  octal(0, 136, 11)
  block.write(isFolder ? '5' : '0', 156)
  block.write('ustar\0' + '00', 257)
  octal(checksum(block), 148, 6)
  return block
}

/** The sum of the bytes of a header, its own field read as blanks. */
function checksum(block: Buffer): number {
  return block.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0)
}

/**
 * Unpacks an archive of `pack` into a folder.
 * @param decompress the other end of its `compress`
 * @throws when the archive is damaged or cut off
 */
export async function unpack(archive: Readable, folder: string, decompress: Transform = createGunzip()): Promise<void> {
  await mkdir(folder, { recursive: true, mode: MODE.folder })
  await pipeline(archive, decompress, (source) => writeEntries(reader(source), folder))
}

type Reader = ReturnType<typeof reader>

function reader(source: AsyncIterable<Buffer>) {
  const chunks = source[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  return {
    take: async (bytes: number): Promise<Buffer> => {
      while (rest.length < bytes) {
        const { value, done } = await chunks.next()
        if (done) throw new DamagedArchive('the archive is cut off')
        rest = rest.length === 0 ? value : Buffer.concat([rest, value])
      }
      const taken = rest.subarray(0, bytes)
      rest = rest.subarray(bytes)
      return taken
    },
    /** Reads on to the end, where the checksum is compared. */
    finish: async (): Promise<void> => {
      while (!(await chunks.next()).done);
    },
  }
}

async function writeEntries({ take, finish }: Reader, folder: string): Promise<void> {
  for (;;) {
    const block = await take(BLOCK_BYTES)
    if (block[0] === 0) return finish()
    const text = (from: number, to: number) => block.toString('utf8', from, to).replace(/\0.*$/s, '')
    if (Number.parseInt(text(148, 154), 8) !== checksum(block)) throw new DamagedArchive('the archive is damaged')
    const path = join(folder, text(0, 100))
    if (!path.startsWith(join(folder, '/'))) throw new DamagedArchive(`the archive leaves its folder: ${text(0, 100)}`)
    if (block[156] === FOLDER) await mkdir(path, { recursive: true, mode: MODE.folder })
    else await writeEntry(take, path, Number.parseInt(text(124, 135), 8))
  }
}

async function writeEntry(take: Reader['take'], path: string, size: number): Promise<void> {
  const handle = await open(path, 'wx', MODE.file)
  try {
    let written = 0
    for (let at = 0; at < size; ) {
      const chunk = await take(Math.min(CHUNK_BYTES, size - at))
      const isHole = chunk.equals(ZEROS.subarray(0, chunk.length))
      // On a full disk a write may write less without an error; the next one has it.
      for (let from = isHole ? chunk.length : 0; from < chunk.length; )
        from += (await handle.write(chunk, from, chunk.length - from, at + from)).bytesWritten
      at += chunk.length
      if (!isHole) written = at
    }
    if (written < size) await handle.truncate(size)
    await take((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES)
  } finally {
    await handle.close()
  }
}
