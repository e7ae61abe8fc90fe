import * as z from 'zod'
import { RecordError } from '../../../base/errors.ts'
import { fitsOf } from './fits.ts'
import { escaped, isFields } from './unknown.ts'

/**
 * A parser that throws RecordError for the first thing that does not fit. The error's context has `path` (JSON pointer
 * into the record), `expected` and `found` (shortened), and what `misfitOf` makes of them.
 * @param name what the record is, for the message
 */
export function recordParser<Schema extends z.ZodType>(name: string, schema: Schema) {
  // Made for the first record: a command that reads none does without.
  let fits: ReturnType<typeof fitsOf> | undefined
  return (record: unknown): z.output<Schema> => {
    fits ??= fitsOf(schema)
    if (fits(record)) return record as z.output<Schema>
    const result = schema.safeParse(withoutProto(record))
    if (result.success) return withProto(result.data)
    const { path: steps, expected } = firstProblem(result.error.issues)
    const path = steps.map(stepOf)
    const pointer = path.map((key) => `/${escaped(String(key))}`).join('')
    const found = show(valueAt(record, path))
    const place = pointer === '' ? 'the record itself' : pointer
    throw new RecordError(`${name}: ${place} should be ${expected}, found ${found}`, {
      context: {
        path: pointer,
        expected,
        found,
        anywhere: anywhere(schema, path),
        type: typeOf(valueAt(record, path)),
      },
    })
  }
}

/** A field that is not of the type that the program needs. */
export interface Misfit {
  /** JSON pointer with `*` for every element of an array and every key of a map: the same for all records. */
  readonly anywhere: string
  /** What it is: object, array, string, number, boolean, null, or undefined when it is not there. */
  readonly type: string
}

/** The misfit that a parser's error speaks of, or undefined. @param above pointer to where the record stands */
export function misfitOf({ context }: RecordError, above = ''): Misfit | undefined {
  const { anywhere: below, type } = context
  return typeof below === 'string' && typeof type === 'string' ? { anywhere: above + below, type } : undefined
}

/** A value of a record that cannot be read, while the rest of it can. */
export interface OddField extends Misfit {
  /** Where it stands in the record. */
  readonly place: readonly (string | number)[]
  readonly value: unknown
  readonly reason: string
}

/** So many values of one record are left out one by one; beyond them, whole fields of the record are. */
const oddOneByOne = 16

/**
 * Reads a record without the values that cannot be read, each with the smallest piece around it that may be missing: one odd
 * field costs that field. Of a list, the whole list is left out.
 * @param read throws RecordError with a JSON pointer into the record
 * @param required fields without which the record is not understood, and such fields of a field: `guild/uuid`
 * @throws RecordError the first one, when what cannot be read is required
 */
export function readLeniently<Value>(
  record: unknown,
  read: (record: unknown) => Value,
  required: readonly string[] = [],
): { readonly value: Value; readonly odd: readonly OddField[] } {
  let odd: readonly OddField[] = []
  let count = 0
  let first: RecordError | undefined
  for (let left = record; ; ) {
    try {
      return { value: read(left), odd }
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      first ??= error
      const place = removable(left, stepsOf(String(error.context.path ?? '')), count++)
      if (place.length === 0 || required.includes(place.slice(0, 2).join('/'))) throw first
      const value = valueAt(record, place)
      const steps =
        misfitOf(error)
          ?.anywhere.split('/')
          .slice(1, place.length + 1) ?? []
      const above =
        steps.length === place.length ? steps : place.map((step, nth) => (nth === 0 ? escaped(String(step)) : '*'))
      const anywhere = above.map((step) => `/${step}`).join('')
      const isInside = (one: OddField) => place.every((step, nth) => one.place[nth] === step)
      odd = [
        ...odd.filter((one) => !isInside(one)),
        { place, value, reason: error.message, type: typeOf(value), anywhere },
      ]
      left = without(left, place)
    }
  }
}

function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The smallest piece of a record at or around a place that is there and is no element of a list; empty when it is the record. */
function removable(record: unknown, steps: readonly string[], before: number): readonly string[] {
  const place = before < oddOneByOne ? [...steps] : steps.slice(0, 1)
  for (; place.length > 0; place.pop()) {
    const around = valueAt(record, place.slice(0, -1))
    if (isFields(around) && Object.hasOwn(around, place.at(-1) ?? '')) return place
  }
  return []
}

/** A copy of a record without what stands at a place. */
function without(record: unknown, [step = '', ...rest]: readonly (string | number)[]): unknown {
  if (!isFields(record)) {
    if (!Array.isArray(record)) return record
    return record.map((element, index) => (String(index) === String(step) ? without(element, rest) : element))
  }
  const fields = Object.entries(record)
  const kept = rest.length > 0 ? fields : fields.filter(([name]) => name !== step)
  return Object.fromEntries(kept.map(([name, value]) => [name, name === step ? without(value, rest) : value]))
}

/** The JSON type of a value; undefined when there is none. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Names of people and ids are keys of maps: what is reported once must not name them. */
function anywhere(schema: z.core.$ZodType, path: readonly PropertyKey[]): string {
  return starred(schema, path) ?? path.map(() => '/*').join('')
}

function starred(schema: z.core.$ZodType, path: readonly PropertyKey[]): string | undefined {
  const [key, ...rest] = path
  if (key === undefined) return ''
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return starred(schema.unwrap(), path)
  if (schema instanceof z.ZodArray)
    return prefixed('/*', typeof key === 'number' ? starred(schema.element, rest) : undefined)
  if (schema instanceof z.ZodRecord) return prefixed('/*', starred(schema.valueType, rest))
  if (schema instanceof z.ZodUnion) {
    for (const option of schema.options) {
      const found = starred(option, path)
      if (found !== undefined) return found
    }
    return undefined
  }
  const field = schema instanceof z.ZodObject ? schema.shape[String(key)] : undefined
  return field && prefixed(`/${escaped(String(key))}`, starred(field, rest))
}

function prefixed(step: string, rest: string | undefined): string | undefined {
  return rest === undefined ? undefined : step + rest
}

type Issue = z.core.$ZodIssue

function firstProblem(issues: readonly Issue[]): { path: readonly PropertyKey[]; expected: string } {
  const [issue] = issues
  if (issue === undefined) return { path: [], expected: 'something else' }
  if (issue.code === 'invalid_type') return { path: issue.path, expected: issue.expected }
  if (issue.code !== 'invalid_union') return { path: issue.path, expected: issue.message }
  // Of the alternatives, the one whose problem lies deepest is the one that was meant.
  const inner = issue.errors.map((alternative) => firstProblem(alternative))
  const deepest = inner.reduce((best, one) => (one.path.length > best.path.length ? one : best), {
    path: [],
    expected: '',
  })
  if (deepest.path.length > 0) return { path: [...issue.path, ...deepest.path], expected: deepest.expected }
  return { path: issue.path, expected: [...new Set(inner.map((one) => one.expected))].join(' or ') }
}

function valueAt(record: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    record,
  )
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`
}

/** Stands for `__proto__` while a schema reads a value: schemas leave out a field of that name. */
const stand = '\u0000__proto__'

/** A value with every field called `__proto__` under another name; the value itself where it has none. */
function withoutProto<Value>(value: Value): Value {
  return renamed(value, '__proto__', stand) as Value
}

/** The same the other way round. */
function withProto<Value>(value: Value): Value {
  return renamed(value, stand, '__proto__') as Value
}

/** One step of a path in a value of `withoutProto`, as it stands in the value itself. */
function stepOf(step: PropertyKey): PropertyKey {
  return step === stand ? '__proto__' : step
}

function renamed(value: unknown, from: string, to: string): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const elements = value.map((one) => renamed(one, from, to))
    return elements.some((one, nth) => one !== value[nth]) ? elements : value
  }
  const fields = Object.entries(value).map(([name, inner]) => [name === from ? to : name, renamed(inner, from, to)])
  const isSame =
    !Object.hasOwn(value, from) && fields.every(([name, inner]) => inner === Reflect.get(value, String(name)))
  // Unlike an assignment, this makes a field of `__proto__` too.
  return isSame ? value : Object.fromEntries(fields)
}
