import fs, { type PathLike } from 'node:fs'
import { lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { Random } from '../../src/base/clock.ts'
import { copyFolder } from './postgres.ts'

/*
 * What a power cut leaves of a folder. All that is written to it is recorded in order, with every fsync. An image of a
 * cut holds what was synced before it; of what came later each block is there or not, at random, in any order, and of
 * the names in a folder those up to a random one: file systems with a journal write names in order, and an fsync of a
 * new file brings its name along.
 */

type Change =
  | { readonly at: number; readonly kind: 'write'; readonly offset: number; readonly bytes: Buffer }
  | { readonly at: number; readonly kind: 'resize'; readonly size: number }
  | { readonly at: number; readonly kind: 'sync' }

interface File {
  readonly id: number
  /** Where its first content lies; null for one that was created later. */
  readonly origin: string | null
  readonly changes: Change[]
}

/** What happened to the names of one folder. */
type Naming =
  | { readonly at: number; readonly kind: 'name'; readonly name: string; readonly file: File | 'folder' }
  | { readonly at: number; readonly kind: 'unname'; readonly name: string }
  | { readonly at: number; readonly kind: 'rename'; readonly from: string; readonly name: string; readonly file: File }
  | { readonly at: number; readonly kind: 'sync' }

export interface Recording {
  /** How much has happened so far. */
  now(): number
  /** Puts an image of a cut into a new folder. */
  image(at: number, random: Random, into: string): Promise<void>
  stop(): void
}

/** Records all that this process writes below `folder` from now on, through the synchronous functions of node:fs. */
export async function recordWrites(folder: string, first: string): Promise<Recording> {
  await copyFolder(folder, first)
  const files = new Map<string, File>()
  const opened = new Map<number, File | string>()
  const namings = new Map<string, Naming[]>()
  let happened = 0
  const isInside = (path: unknown): path is string => typeof path === 'string' && path.startsWith(`${folder}/`)
  const namingsOf = (path: string) => {
    const list = namings.get(path) ?? []
    namings.set(path, list)
    return list
  }
  const fileAt = (path: string): File => {
    let file = files.get(path)
    if (!file) {
      file = { id: files.size, origin: path.slice(folder.length + 1), changes: [] }
      files.set(path, file)
    }
    return file
  }
  const create = (path: string) => {
    const file: File = { id: -1, origin: null, changes: [] }
    files.set(path, file)
    namingsOf(dirname(path)).push({ at: ++happened, kind: 'name', name: basename(path), file })
    return file
  }

  const real = { ...fs }
  const patched = {
    openSync: (path: PathLike, flags: number, mode?: number) => {
      const isNew = isInside(path) && !real.existsSync(path)
      const fd = real.openSync(path, flags, mode)
      if (path === folder || isInside(path)) {
        if (real.fstatSync(fd).isDirectory()) opened.set(fd, path)
        else {
          const file = isNew ? create(path) : fileAt(path)
          opened.set(fd, file)
          if (Number(flags) & fs.constants.O_TRUNC) file.changes.push({ at: ++happened, kind: 'resize', size: 0 })
        }
      }
      return fd
    },
    closeSync: (fd: number) => {
      opened.delete(fd)
      real.closeSync(fd)
    },
    writeSync: (fd: number, buffer: Uint8Array, offset: number, length: number, position: number) => {
      const written = real.writeSync(fd, buffer, offset, length, position)
      const file = opened.get(fd)
      if (typeof file === 'object') {
        const bytes = Buffer.from(buffer.slice(offset, offset + written))
        file.changes.push({ at: ++happened, kind: 'write', offset: position, bytes })
      }
      return written
    },
    writeFileSync: (path: string, data: string, options: fs.WriteFileOptions) => {
      if (isInside(path) && data !== '') throw new Error('only empty files are created this way')
      const isNew = isInside(path) && !real.existsSync(path)
      real.writeFileSync(path, data, options)
      if (isNew) create(path)
      else if (isInside(path)) fileAt(path).changes.push({ at: ++happened, kind: 'resize', size: 0 })
    },
    ftruncateSync: (fd: number, size: number) => {
      real.ftruncateSync(fd, size)
      const file = opened.get(fd)
      if (typeof file === 'object') file.changes.push({ at: ++happened, kind: 'resize', size })
    },
    truncateSync: (path: string, size: number) => {
      real.truncateSync(path, size)
      if (isInside(path)) fileAt(path).changes.push({ at: ++happened, kind: 'resize', size })
    },
    renameSync: (from: string, to: string) => {
      if (isInside(from) && dirname(from) !== dirname(to)) throw new Error('a file moved to another folder')
      real.renameSync(from, to)
      if (!isInside(from)) return
      const file = fileAt(from)
      files.delete(from)
      files.set(to, file)
      const name = { from: basename(from), name: basename(to), file }
      namingsOf(dirname(to)).push({ at: ++happened, kind: 'rename', ...name })
    },
    unlinkSync: (path: string) => {
      real.unlinkSync(path)
      if (!isInside(path)) return
      files.delete(path)
      namingsOf(dirname(path)).push({ at: ++happened, kind: 'unname', name: basename(path) })
    },
    mkdirSync: (path: string, options: fs.MakeDirectoryOptions) => {
      real.mkdirSync(path, options)
      if (isInside(path))
        namingsOf(dirname(path)).push({ at: ++happened, kind: 'name', name: basename(path), file: 'folder' })
    },
    fsyncSync: (fd: number) => {
      real.fsyncSync(fd)
      const what = opened.get(fd)
      if (typeof what === 'string') namingsOf(what).push({ at: ++happened, kind: 'sync' })
      else what?.changes.push({ at: ++happened, kind: 'sync' })
    },
  }
  Object.assign(fs, patched)
  syncBuiltinESMExports()

  return {
    now: () => happened,
    image: (at, random, into) => buildImage({ folder, first, namings, known: files, at, random, into }),
    stop: () => {
      for (const name of Object.keys(patched)) Reflect.set(fs, name, Reflect.get(real, name))
      syncBuiltinESMExports()
    },
  }
}

interface Cut {
  readonly folder: string
  readonly first: string
  readonly namings: ReadonlyMap<string, readonly Naming[]>
  readonly known: ReadonlyMap<string, File>
  readonly at: number
  readonly random: Random
  readonly into: string
}

async function buildImage(cut: Cut): Promise<void> {
  const { folder, first, namings, known, random, into } = cut
  await copyFolder(first, into)
  // The first names of all files that were ever changed.
  const content = new Map<string, File>()
  const everNamed = [...namings.values()]
    .flat()
    .flatMap((one) => ('file' in one && one.file !== 'folder' ? one.file : []))
  for (const file of new Set([...known.values(), ...everNamed]))
    if (file.origin !== null) content.set(file.origin, file)
  const placed = new Map<string, File>(content)
  for (const [path, list] of namings) {
    const inside = path.slice(folder.length + 1)
    for (const naming of survivingNames(list, cut)) {
      const name = naming.kind === 'sync' ? '' : join(inside, naming.name)
      if (naming.kind === 'unname') {
        placed.delete(name)
        await rm(join(into, name), { recursive: true, force: true })
      } else if (naming.kind === 'name' && naming.file === 'folder') await mkdir(join(into, name), { recursive: true })
      else if (naming.kind === 'name' && naming.file !== 'folder') placed.set(name, naming.file)
      else if (naming.kind === 'rename') {
        placed.delete(join(inside, naming.from))
        await rm(join(into, inside, naming.from), { force: true })
        placed.set(name, naming.file)
      }
    }
  }
  const blockSize = [512, 4096, 8192][Math.floor(random() * 3)] ?? 512
  const share = random()
  for (const [name, file] of placed) {
    const origin = file.origin === null ? Buffer.alloc(0) : await readFile(join(first, file.origin))
    const bytes = survivingBytes(
      origin,
      file.changes.filter(({ at }) => at <= cut.at),
      { blockSize, share, random },
    )
    if (await lstat(dirname(join(into, name))).catch(() => null)) await writeFile(join(into, name), bytes)
  }
}

/** Which of the changes to the names of a folder a cut leaves: all that are synced, and some more. */
function survivingNames(list: readonly Naming[], { at, random }: Cut): readonly Naming[] {
  const past = list.filter((one) => one.at <= at)
  let least = 0
  for (const [index, one] of past.entries()) {
    const isSynced =
      one.kind === 'sync' ||
      ('file' in one &&
        one.file !== 'folder' &&
        one.file.changes.some((change) => change.kind === 'sync' && change.at > one.at && change.at <= at))
    if (isSynced) least = index + 1
  }
  return past.slice(0, least + Math.floor(random() * (past.length - least + 1)))
}

/** The content of a file after a cut: what was synced, and of each block written later one of its states. */
function survivingBytes(
  origin: Buffer,
  changes: readonly Change[],
  { blockSize, share, random }: { blockSize: number; share: number; random: Random },
): Buffer {
  const synced = changes.findLastIndex(({ kind }) => kind === 'sync') + 1
  const later = changes.slice(synced)
  const content = growing(origin, changes)
  for (const change of changes.slice(0, synced)) content.apply(change)
  // How many of the later changes a block has seen.
  const seen = new Map<number, number>()
  const drawn = () => (random() < share ? later.length : Math.floor(random() * (later.length + 1)))
  const sizes = [content.size()]
  for (const [index, change] of later.entries()) {
    if (change.kind !== 'write') {
      if (change.kind === 'resize') sizes.push(change.size)
      continue
    }
    const end = change.offset + change.bytes.length
    sizes.push(Math.max(sizes.at(-1) ?? 0, end))
    for (let from = change.offset; from < end; ) {
      const block = Math.floor(from / blockSize)
      const to = Math.min((block + 1) * blockSize, end)
      if (!seen.has(block)) seen.set(block, drawn())
      const bytes = change.bytes.subarray(from - change.offset, to - change.offset)
      if (index < (seen.get(block) ?? 0)) content.apply({ at: 0, kind: 'write', offset: from, bytes })
      from = to
    }
  }
  content.apply({ at: 0, kind: 'resize', size: sizes[Math.min(sizes.length - 1, drawn())] ?? 0 })
  return content.bytes()
}

/** A file's content that changes are applied to. */
function growing(origin: Buffer, changes: readonly Change[]) {
  const ends = changes.map((change) => (change.kind === 'write' ? change.offset + change.bytes.length : 0))
  const resized = changes.map((change) => (change.kind === 'resize' ? change.size : 0))
  const room = Buffer.alloc(Math.max(origin.length, ...ends, ...resized))
  origin.copy(room)
  let size = origin.length
  return {
    size: () => size,
    bytes: () => room.subarray(0, size),
    apply(change: Change) {
      if (change.kind === 'write') {
        change.bytes.copy(room, change.offset)
        size = Math.max(size, change.offset + change.bytes.length)
      } else if (change.kind === 'resize') {
        room.fill(0, Math.min(size, change.size))
        size = change.size
      }
    },
  }
}
