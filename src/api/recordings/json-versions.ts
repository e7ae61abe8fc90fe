import { parseJsonBytes, parseJsonText } from '../../base/text/decode.ts'

/** The values of the first level of a version, in their order, and where they are in its bytes. */
interface Version {
  readonly bytes: Buffer
  readonly values: unknown[]
  /** None in a list. */
  readonly names: string[]
  readonly starts: number[]
  readonly ends: number[]
}

const noVersion: Version = { bytes: Buffer.alloc(0), values: [], names: [], starts: [], ends: [] }

/** Bytes at the beginning of a value that few others begin with. */
const beginning = 64

/** So many values are looked at where one came or went, before all are looked for by their beginning. */
const nearby = 16

const byte = (character: string) => character.charCodeAt(0)
const [quote, backslash, comma, colon] = ['"', '\\', ',', ':'].map(byte)
const mark = Buffer.from('\ufeff')
const [openList, closeList, openObject, closeObject] = ['[', ']', '{', '}'].map(byte)

/**
 * Parses versions of a document one after the other, as JSON.parse does. Values of the first level that have the same bytes as
 * in the version before are the same objects: of 5 MB with few changes that takes a tenth of the time, and hardly any memory.
 * @throws SyntaxError as JSON.parse does
 */
export function versionParser(): (bytes: Buffer) => unknown {
  let before = noVersion
  return (bytes) => {
    const now = { bytes, values: [], names: [], starts: [], ends: [] }
    const document = parseValues(now, before)
    before = document === undefined ? noVersion : now
    return document ?? parseJsonBytes(bytes)
  }
}

/** A document as it was written, and where its values of the first level are. */
interface Written {
  readonly bytes: Buffer
  readonly values: readonly unknown[]
  /** None in a list. */
  readonly names: readonly string[]
  readonly starts: Uint32Array
  readonly ends: Uint32Array
}

const noBytes = Buffer.alloc(0)
const nothingWritten: Written = {
  bytes: noBytes,
  values: [],
  names: [],
  starts: new Uint32Array(),
  ends: new Uint32Array(),
}

/**
 * Writes versions of a document one after the other, as JSON.stringify does with what JSON.parse gave. Values of the first level that
 * are the same objects as in the version before are copied from there, those that follow each other at once. Bytes hold while two
 * more versions are written; the third takes their place: buffers of megabytes for each version would have the garbage collector run
 * every few. While one response is stored, the next one is opened, which may take two versions.
 */
export function versionWriter(): (document: object) => Buffer {
  let before = nothingWritten
  let older: readonly Buffer[] = [noBytes, noBytes]
  return (document) => {
    const isList = Array.isArray(document)
    const names = isList ? [] : Object.keys(document)
    const values: unknown[] = isList ? document : Object.values(document)
    const [free = noBytes, ...others] = older
    const out = writer(free, before.bytes.length + 65_536)
    const starts = new Uint32Array(values.length)
    const ends = new Uint32Array(values.length)
    const numberOf = searched(before)
    let next = 0
    for (let nth = 0; nth < values.length; ) {
      const separator = nth > 0 ? ',' : isList ? '[' : '{'
      out.add(isList ? separator : `${separator}${JSON.stringify(names[nth])}:`)
      const number = numberOf(values[nth], next)
      if (number === undefined) {
        starts[nth] = out.length()
        out.add(JSON.stringify(values[nth]))
        ends[nth] = out.length()
        nth++
        continue
      }
      let count = 1
      const isSameNext = (one: number, other: number) =>
        one < values.length && values[one] === before.values[other] && names[one] === before.names[other]
      while (number + count < before.values.length && isSameNext(nth + count, number + count)) count++
      const moved = out.length() - (before.starts[number] ?? 0)
      for (let at = 0; at < count; at++) {
        starts[nth + at] = (before.starts[number + at] ?? 0) + moved
        ends[nth + at] = (before.ends[number + at] ?? 0) + moved
      }
      out.copy(before.bytes, before.starts[number] ?? 0, before.ends[number + count - 1] ?? 0)
      nth += count
      next = number + count
    }
    out.add((values.length > 0 ? '' : isList ? '[' : '{') + (isList ? ']' : '}'))
    older = [...others, before.bytes]
    before = { values, names, starts, ends, bytes: out.bytes() }
    return before.bytes
  }
}

/** What of WebAssembly is used; Node has no types of it. */
interface Assembly {
  readonly Memory: new (limits: { readonly initial: number }) => { readonly buffer: ArrayBuffer }
}
const assembly = (globalThis as unknown as { WebAssembly: Assembly }).WebAssembly

/** In bytes. */
const PAGE_BYTES = 65_536
const MAPPED_FROM_BYTES = 262_144

/**
 * Memory for so many bytes or a few more. Of long ones it is mapped alone, and goes back as a whole: what lies between those and short ones the
 * C library's allocator would keep, 60 MB after some hundred versions.
 */
function ownMemory(length: number): Buffer {
  if (length < MAPPED_FROM_BYTES) return Buffer.allocUnsafeSlow(length)
  try {
    return Buffer.from(new assembly.Memory({ initial: Math.ceil(length / PAGE_BYTES) }).buffer)
  } catch {
    // It takes more addresses than a process may have, perhaps.
    return Buffer.allocUnsafeSlow(length)
  }
}

/** Memory for versions of a file that are read one after the other: it holds while so many more are read, and is used again. */
export function versionMemory(more: number): (length: number) => Buffer {
  const used: Buffer[] = []
  return (length) => {
    const oldest = used.length > more ? used.shift() : undefined
    // Some room: the next version is hardly as long.
    const bytes = oldest && oldest.length >= length ? oldest : ownMemory(length + (length >> 4))
    used.push(bytes)
    return bytes.subarray(0, length)
  }
}

/** Finds the objects of a version: at a place or a few further on, or anywhere once several are not there. */
function searched({ values }: Pick<Written, 'values'>): (value: unknown, next: number) => number | undefined {
  let misses = 0
  let numbers: Map<unknown, number> | undefined
  return (value, next) => {
    for (let number = next; number <= next + nearby && number < values.length; number++) {
      if (values[number] !== value) continue
      misses = 0
      return number
    }
    // Of a record that is new or was changed, what follows it is probably where it was.
    if (typeof value !== 'object' || ++misses <= nearby / 2) return undefined
    numbers ??= new Map(values.map((one, number) => [one, number]))
    return numbers.get(value)
  }
}

/** Gathers bytes, about so many, in the memory of others that are not needed any more where that is enough. */
function writer(free: Buffer, room: number) {
  let bytes = free.buffer.byteLength < room ? ownMemory(room) : Buffer.from(free.buffer)
  let length = 0
  const hold = (more: number) => {
    if (length + more <= bytes.length) return
    const larger = ownMemory(2 * (length + more))
    bytes.copy(larger, 0, 0, length)
    bytes = larger
  }
  return {
    length: () => length,
    bytes: () => bytes.subarray(0, length),
    add: (text: string) => {
      hold(3 * text.length)
      length += bytes.write(text, length)
    },
    copy: (from: Buffer, start: number, end: number) => {
      hold(end - start)
      length += from.copy(bytes, length, start, end)
    },
  }
}

/** @returns undefined for what is not understood here, such as what is no JSON */
function parseValues(now: Version, before: Version): unknown {
  const { bytes, values, names, starts, ends } = now
  const hasMark = bytes.length > 2 && bytes.compare(mark, 0, 3, 0, 3) === 0
  const first = afterSpace(bytes, hasMark ? 3 : 0)
  const isList = bytes[first] === openList
  if (!isList && bytes[first] !== openObject) return undefined
  const object: Record<string, unknown> = {}
  const find = finder(before, bytes, isList)
  const add = (name: string, value: unknown, start: number, end: number) => {
    values.push(value)
    starts.push(start)
    ends.push(end)
    if (isList) return true
    if (Object.hasOwn(object, name)) return false
    names.push(name)
    object[name] = value
    return true
  }
  try {
    for (let at = first; ; ) {
      at = afterSpace(bytes, at + 1)
      let name: unknown = ''
      if (!isList) {
        const end = endOfValue(bytes, at)
        name = parsedValue(bytes, at, end)
        at = afterSpace(bytes, end)
        // An own property of that name takes more than an assignment.
        if (typeof name !== 'string' || name === '__proto__' || bytes[at] !== colon) return undefined
        at = afterSpace(bytes, at + 1)
      }
      const same = find(at)
      if (same === undefined) {
        const end = endOfValue(bytes, at)
        if (!add(name as string, parsedValue(bytes, at, end), at, end)) return undefined
        at = afterSpace(bytes, end)
      } else {
        const { number, count } = same
        const moved = at - (before.starts[number] ?? 0)
        for (let other = number; other < number + count; other++) {
          const own = other === number ? (name as string) : (before.names[other] ?? '')
          const start = (before.starts[other] ?? 0) + moved
          const end = (before.ends[other] ?? 0) + moved
          if (!add(own, before.values[other], start, end)) return undefined
        }
        at = afterSpace(bytes, ends.at(-1) ?? 0)
      }
      if (bytes[at] === comma) continue
      const isEnd = bytes[at] === (isList ? closeList : closeObject) && afterSpace(bytes, at + 1) === bytes.length
      if (!isEnd) return undefined
      // A copy: what becomes of the list is no matter of the next version.
      return isList ? values.slice() : object
    }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Values of the version before that follow each other there, and from some place on here too. */
interface Run {
  readonly number: number
  readonly count: number
}

/** Finds values of the version before, byte for byte: in their order, or a few further on, or by their beginning. */
function finder(before: Version, bytes: Buffer, isList: boolean): (at: number) => Run | undefined {
  let next = 0
  let misses = 0
  let begins: Map<string, number> | undefined
  let last = 1
  return (at) => {
    for (let number = next; number <= next + nearby && number < before.values.length; number++) {
      if (!isSame(before, { number, count: 1 }, bytes, at)) continue
      misses = 0
      return runFrom(number, at)
    }
    if (++misses <= nearby / 2) return undefined
    begins ??= new Map(before.starts.map((start, number) => [beginningOf(before.bytes, start), number]))
    const number = begins.get(beginningOf(bytes, at))
    if (number === undefined) return undefined
    // Where it was changed, what follows it is probably the same.
    next = number + 1
    return isSame(before, { number, count: 1 }, bytes, at) ? runFrom(number, at) : undefined
  }

  /** As many as are the same from there on: twice as many as the last time are compared at once, or half, down to one. */
  function runFrom(number: number, at: number): Run {
    // What a list was is no list of names.
    const most = isList === (before.names.length === 0) ? before.values.length - number : 1
    let count = Math.min(2 * last, most)
    while (count > 1 && !isSame(before, { number, count }, bytes, at)) count >>= 1
    last = count
    next = number + count
    return { number, count }
  }
}

/** Whether values of the version before are there, byte for byte, with what is between them. */
function isSame(before: Version, { number, count }: Run, bytes: Buffer, at: number): boolean {
  const start = before.starts[number] ?? 0
  const end = at + (before.ends[number + count - 1] ?? 0) - start
  // Most that are others end otherwise.
  if (end > bytes.length || bytes[end - 1] !== before.bytes[start + end - at - 1]) return false
  if (before.bytes.compare(bytes, at, end, start, start + end - at) !== 0) return false
  const next = bytes[afterSpace(bytes, end)]
  return next === comma || next === closeList || next === closeObject
}

function beginningOf(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + beginning)
}

function parsedValue(bytes: Buffer, start: number, end: number): unknown {
  return parseJsonText(bytes.toString('utf8', start, end))
}

function afterSpace(bytes: Buffer, from: number): number {
  let at = from
  for (let one = bytes[at]; one === 32 || one === 10 || one === 13 || one === 9; one = bytes[at]) at++
  return at
}

/** Where a value ends that begins here, if it is one: it regards brackets and strings only. */
function endOfValue(bytes: Buffer, start: number): number {
  let depth = 0
  for (let at = start; at < bytes.length; at++) {
    const one = bytes[at] ?? 0
    if (one === quote) {
      at = endOfString(bytes, at)
      if (depth === 0) return at + 1
    } else if (one === openList || one === openObject) depth++
    else if (one === closeList || one === closeObject) {
      if (depth <= 1) return at + depth
      depth--
    } else if (depth === 0 && (one === comma || one === colon || one <= 32)) return at
  }
  return bytes.length
}

/** Where the quote is that ends a string; behind the last byte where there is none. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === backslash) at++
    else if (bytes[at] === quote) return at
  }
  return bytes.length
}
