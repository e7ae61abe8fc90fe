import { RetryableError } from '../base/errors.ts'
import { countOf } from './schemas/form/limits.ts'
import { escaped, fieldsOf, isFields, type UnknownField } from './schemas/form/unknown.ts'

/** Where a page stands in its listing. A number the server left out is null (API reference 4.1). */
export interface Controller {
  /** Records in all pages together. */
  readonly count: number | null
  readonly pages: number | null
  /** Number of this page; 0- or 1-indexed, as the server likes. */
  readonly current: number | null
  readonly prev: number | null
  /** The number of the next page; null on the last one. */
  readonly next: number | null
}

/** The records of one body, whichever form it had. */
export interface Listing {
  readonly records: unknown[]
  /** Null when the body had no controller. */
  readonly controller: Controller | null
  /** True when the body had no envelope: a bare array, or an object keyed by name, of everything. */
  readonly whole: boolean
  /** Fields of the envelope that the program does not know; absent: there is none. */
  readonly around?: readonly UnknownField[]
}

/**
 * Reads a body that lists records, in any form the service has used (API reference 4.1, 4.2): `{controller, results}`
 * with results as array or object, a bare array, or an object keyed by `keyField`, which is then put into the records;
 * null for keys that are mere positions.
 * @throws RetryableError when the body is none of these
 */
export function readListing(body: unknown, keyField: string | null = 'displayName'): Listing {
  if (Array.isArray(body)) return { records: body, controller: null, whole: true }
  if (!isFields(body)) throw unexpectedShape(body === null ? 'null' : typeof body)
  if (!('controller' in body) && !('results' in body))
    return { records: keyedRecords(body, keyField), controller: null, whole: true }
  const { results } = body
  const controller = readController(body.controller)
  const others = [...othersThan(envelope, body), ...othersThan(pageNumbers, body.controller, 'controller')]
  const page = { controller, whole: false, ...(others.length > 0 ? { around: others } : {}) }
  if (Array.isArray(results)) return { records: results, ...page }
  if (isFields(results)) return { records: keyedRecords(results, keyField), ...page }
  throw unexpectedShape('an envelope without results')
}

const envelope = ['controller', 'results']
const pageNumbers = ['count', 'current_count', 'pages', 'current', 'prev', 'previous', 'next']

function othersThan(known: readonly string[], value: unknown, ...above: readonly string[]): UnknownField[] {
  return fieldsOf(value).flatMap(([name, inner]) => {
    const place = [...above, name]
    return known.includes(name)
      ? []
      : [{ path: place.map((step) => `/${escaped(step)}`).join(''), place, value: inner }]
  })
}

function unexpectedShape(found: string): RetryableError {
  return new RetryableError(`unexpected shape: a listing was expected, found ${found}`, {
    context: { found, shape: found },
  })
}

/** Records with the name that was put into them: in the next version of a file most are the same objects. */
const named = new WeakMap<object, Readonly<Record<string, unknown>>>()

function keyedRecords(body: Readonly<Record<string, unknown>>, keyField: string | null): unknown[] {
  if (keyField === null) return Object.values(body)
  return Object.entries(body).map(([key, record]) => {
    if (!isFields(record) || keyField in record) return record
    const before = named.get(record)
    const now = before?.[keyField] === key ? before : { ...record, [keyField]: key }
    if (now !== before) named.set(record, now)
    return now
  })
}

function readController(value: unknown): Controller | null {
  if (!isFields(value)) return null
  const whole = (field: unknown) => {
    const number = countOf(field)
    return Number.isInteger(number) ? number : null
  }
  return {
    count: whole(value.count),
    pages: whole(value.pages),
    current: whole(value.current),
    prev: whole(value.prev ?? value.previous),
    next: whole(value.next),
  }
}
