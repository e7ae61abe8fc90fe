import type { SqlValue } from '../database.ts'

/** What `infinity` of a timestamptz is in this program: the last instant a Date can hold. It goes back as infinity. */
export const FOREVER = new Date(8_640_000_000_000_000)

/** What `-infinity` of a timestamptz is in this program: the first instant a Date can hold. */
export const NEVER = new Date(-8_640_000_000_000_000)

/**
 * The instant as Postgres reads it: ISO 8601 in UTC, or infinity.
 * @throws RangeError for an invalid Date
 */
export function instantText(instant: Date): string {
  const at = instant.getTime()
  if (at === FOREVER.getTime()) return 'infinity'
  return at === NEVER.getTime() ? '-infinity' : instant.toISOString()
}

/** The bytes as Postgres reads a bytea. */
export function byteaText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`
}

/** An array literal: null is NULL, elements are quoted, arrays nest. */
export function arrayText(elements: readonly unknown[]): string {
  return `{${elements.map(elementText).join(',')}}`
}

function elementText(item: unknown): string {
  if (item === null || item === undefined) return 'NULL'
  if (Array.isArray(item)) return arrayText(item)
  if (typeof item === 'number' || typeof item === 'bigint' || typeof item === 'boolean') return String(item)
  return `"${plainText(item).replace(/["\\]/g, '\\$&')}"`
}

function plainText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Date) return instantText(value)
  if (value instanceof Uint8Array) return byteaText(value)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A value in Postgres' text format for a column or parameter of type `oid`. Strings for json are JSON text already. */
export function toText(value: Exclude<SqlValue, null>, oid: number): string {
  if (JSON_TYPES.has(oid)) return typeof value === 'string' ? value : JSON.stringify(value)
  return Array.isArray(value) ? arrayText(value) : plainText(value)
}

const JSON_TYPES = new Set([114, 3802])

type Reader = (text: string) => unknown

function readInstant(text: string): Date {
  if (text === 'infinity') return FOREVER
  if (text === '-infinity') return NEVER
  return new Date(`${text.replace(' ', 'T')}${/[+-]\d\d$/.test(text) ? ':00' : ''}`)
}

const readBytes: Reader = (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex'))
const readJson: Reader = (text) => JSON.parse(text)
const readText: Reader = (text) => text

/** A whole number that a number cannot hold exactly stays text. */
function readWhole(text: string): number | string {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : text
}

/** A fraction is as close as a number comes. */
const readNumeric: Reader = (text) => (/^-?\d+$/.test(text) ? readWhole(text) : Number(text))

/**
 * How each type is read, with the oids of the type and of its array (from pg_type, which never changes for these).
 * `date` and `timestamp` stay text: they name no instant. Types that are not listed come as text.
 */
const READERS: readonly (readonly [oid: number, arrayOid: number, read: Reader])[] = [
  [16, 1000, (text) => text === 't'],
  [17, 1001, readBytes],
  [18, 1002, readText],
  [19, 1003, readText],
  [20, 1016, readWhole],
  [21, 1005, Number],
  [23, 1007, Number],
  [25, 1009, readText],
  [26, 1028, Number],
  [114, 199, readJson],
  [700, 1021, Number],
  [701, 1022, Number],
  [1042, 1014, readText],
  [1043, 1015, readText],
  [1082, 1182, readText],
  [1083, 1183, readText],
  [1114, 1115, readText],
  [1184, 1185, readInstant],
  [1186, 1187, readText],
  [1700, 1231, readNumeric],
  [2950, 2951, readText],
  [3802, 3807, readJson],
]

/** Readers of Postgres' text format by type oid, arrays included. */
export const readers: ReadonlyMap<number, Reader> = new Map(
  READERS.flatMap(([oid, arrayOid, read]) => [
    [oid, read] as const,
    [arrayOid, (text: string) => readArray(text, read)] as const,
  ]),
)

/** Reads an array literal; an array of arrays comes as nested arrays. */
function readArray(text: string, read: Reader): unknown[] {
  // A literal whose lower bound is not 1 starts with its bounds: [0:1]={a,b}
  let at = text.indexOf('{') + 1
  const level = (): unknown[] => {
    const elements: unknown[] = []
    while (text[at] !== '}') {
      if (text[at] === '{') {
        at++
        elements.push(level())
      } else elements.push(element())
      if (text[at] === ',') at++
    }
    at++
    return elements
  }
  const element = (): unknown => {
    const start = at
    if (text[at] !== '"') {
      while (text[at] !== ',' && text[at] !== '}') at++
      const bare = text.slice(start, at)
      return bare === 'NULL' ? null : read(bare)
    }
    at++
    while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
    const quoted = text.slice(start + 1, at)
    at++
    return read(quoted.replace(/\\(.)/gs, '$1'))
  }
  return level()
}
