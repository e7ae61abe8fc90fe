import * as z from 'zod'
import { isHideable } from './field-meta.ts'
import { escaped, isFields } from './unknown.ts'

/** Of the objects that may have a field: how many there were, and how many had it, `null` included. */
export interface Presence {
  readonly had: number
  readonly of: number
}

/** What of the fields that a schema names records have, by JSON pointer with `*` for every element and every key of a map. */
export type FieldPresence = ReadonlyMap<string, Presence>

interface Count {
  had: number
  of: number
}

type Counter = (value: unknown, counts: Map<string, Count>) => void

/** What single records were counted as: in the next version of a list nearly all are the same objects. */
export class CountedRecords {
  readonly ofRecord = new WeakMap<object, Kind>()
  /** Most records have the same fields as others. */
  readonly alike = new Map<string, Kind>()
  /** Paths by their number, and numbers by path. */
  readonly paths: string[] = []
  readonly numbers = new Map<string, number>()
}

/** The counts of a record: of each field the number of its path, how many had it, and of how many. */
type Kind = Float64Array

/** So many kinds of records are kept. */
const MOST_ALIKE = 5000

/** The named fields of a schema at any depth: which of them records have, and what they may hold. */
export interface SentFields {
  /**
   * Counts which fields records have. What a restriction of the record may hide is not counted.
   * @param counted where it is kept what each of the records was counted as
   */
  readonly count: (records: Iterable<unknown>, counted?: CountedRecords) => FieldPresence
  /** Whether a field is a list: one that is left out may be empty. */
  readonly isList: (path: string) => boolean
  /** Values that a field may have, different from each other; none where its schema does not say. */
  readonly examples: (path: string) => readonly unknown[]
}

/** Makes the functions for a schema. They are compiled when they are first needed: a command that loads nothing does without. */
export function sentFields(schema: z.core.$ZodType): SentFields {
  let counter: Counter | undefined
  return {
    count: (records, counted) => {
      counter ??= counterOf(schema, '')
      const counts = new Map<string, Count>()
      if (counter === undefined) return counts
      if (counted) countKinds(records, counter, { counts, counted })
      else for (const record of records) counter(record, counts)
      return counts
    },
    isList: (path) => {
      const field = schemaAt(schema, path.split('/').slice(1))
      return field instanceof z.ZodArray
    },
    examples: (path) => {
      const field = schemaAt(schema, path.split('/').slice(1))
      return field ? [0, 1, 2, 3].map((variant) => exampleOf(field, variant, path)) : []
    },
  }
}

/** Counts records of which most were counted before: how many there are of each kind, then the fields of each kind. */
function countKinds(
  records: Iterable<unknown>,
  counter: Counter,
  { counts, counted }: { readonly counts: Map<string, Count>; readonly counted: CountedRecords },
): void {
  const kinds = new Map<Kind, number>()
  for (const record of records) {
    if (typeof record !== 'object' || record === null) continue
    const kind = counted.ofRecord.get(record) ?? kindOf(record, counter, counted)
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  }
  // Thousands of kinds with dozens of fields each: sums by number take a twentieth of those by path.
  const sums = new Float64Array(2 * counted.paths.length)
  const order: number[] = []
  for (const [kind, times] of kinds)
    for (let at = 0; at < kind.length; at += 3) {
      const [number = 0, had = 0, of = 0] = [kind[at], kind[at + 1], kind[at + 2]]
      if (sums[2 * number + 1] === 0) order.push(number)
      sums[2 * number] = (sums[2 * number] ?? 0) + times * had
      sums[2 * number + 1] = (sums[2 * number + 1] ?? 0) + times * of
    }
  for (const number of order)
    counts.set(counted.paths[number] ?? '', { had: sums[2 * number] ?? 0, of: sums[2 * number + 1] ?? 0 })
}

function kindOf(record: object, counter: Counter, { ofRecord, alike, paths, numbers }: CountedRecords): Kind {
  const own = new Map<string, Count>()
  counter(record, own)
  const found = Float64Array.from(
    [...own].flatMap(([path, { had, of }]) => {
      const number = numbers.get(path) ?? paths.push(path) - 1
      numbers.set(path, number)
      return [number, had, of]
    }),
  )
  const name = found.join()
  const kind = alike.get(name) ?? found
  if (alike.size < MOST_ALIKE) alike.set(name, kind)
  ofRecord.set(record, kind)
  return kind
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? unwrapped(schema.unwrap()) : schema
}

function counterOf(wrapped: z.core.$ZodType, path: string): Counter | undefined {
  const schema = unwrapped(wrapped)
  if (schema instanceof z.ZodObject) return objectCounter(schema, path)
  if (schema instanceof z.ZodArray) {
    const count = counterOf(schema.element, `${path}/*`)
    return (
      count &&
      ((value, counts) => {
        if (Array.isArray(value)) for (const element of value) count(element, counts)
      })
    )
  }
  if (schema instanceof z.ZodRecord) {
    const count = counterOf(schema.valueType, `${path}/*`)
    return (
      count &&
      ((value, counts) => {
        if (isFields(value)) for (const name of Object.keys(value)) count(value[name], counts)
      })
    )
  }
  if (schema instanceof z.ZodUnion) {
    // Of several forms of an object it is not known which one is meant: their fields are not counted.
    const options = schema.options.map(unwrapped).filter((one) => !isScalar(one))
    const forms = options.filter((one) => !(one instanceof z.ZodArray))
    const counters = options.flatMap((one) =>
      forms.length > 1 && !(one instanceof z.ZodArray) ? [] : (counterOf(one, path) ?? []),
    )
    if (counters.length === 0) return undefined
    return (value, counts) => {
      for (const count of counters) count(value, counts)
    }
  }
  return undefined
}

function isScalar(schema: z.core.$ZodType): boolean {
  return !['object', 'array', 'record', 'union'].includes(schema._zod.def.type)
}

function objectCounter({ shape }: z.ZodObject, path: string): Counter {
  const fields = Object.entries(shape).map(([name, field]) => ({
    name,
    path: `${path}/${escaped(name)}`,
    isHideable: isHideable(field),
    count: counterOf(field, `${path}/${escaped(name)}`),
  }))
  const hides = 'restrictions' in shape
  return (value, counts) => {
    if (!isFields(value)) return
    const isRestricted = hides && restricts(value.restrictions)
    for (const { name, path: at, isHideable: mayBeHidden, count } of fields) {
      if (mayBeHidden && isRestricted) continue
      const presence = counts.get(at) ?? { had: 0, of: 0 }
      counts.set(at, presence)
      presence.of++
      const inner = value[name]
      if (inner === undefined || !Object.hasOwn(value, name)) continue
      presence.had++
      if (count && inner !== null) count(inner, counts)
    }
  }
}

/** Whether restrictions name anything: then what they may hide may be hidden. */
function restricts(restrictions: unknown): boolean {
  if (!isFields(restrictions)) return Array.isArray(restrictions) ? restrictions.length > 0 : Boolean(restrictions)
  return Object.values(restrictions).some((one) => one !== false && one !== null && one !== 'public')
}

function schemaAt(wrapped: z.core.$ZodType, [step, ...rest]: readonly string[]): z.core.$ZodType | undefined {
  const schema = unwrapped(wrapped)
  if (step === undefined) return schema
  if (schema instanceof z.ZodUnion) {
    for (const option of schema.options) {
      const found = schemaAt(option, [step, ...rest])
      if (found) return found
    }
    return undefined
  }
  if (schema instanceof z.ZodObject) {
    const field = schema.shape[step.replaceAll('~1', '/').replaceAll('~0', '~')]
    return field && schemaAt(field, rest)
  }
  if (step !== '*') return undefined
  if (schema instanceof z.ZodArray) return schemaAt(schema.element, rest)
  return schema instanceof z.ZodRecord ? schemaAt(schema.valueType, rest) : undefined
}

const uuid = '00000000-0000-4000-8000-000000000001'
const instant = '2020-01-01T00:00:00.000000Z'

/** Texts by variant: anything, what the field's name promises, a uuid, an instant. */
function textOf(variant: number, path: string): string {
  const name = path.split('/').at(-1) ?? ''
  const promised = /uuid$/i.test(name)
    ? uuid
    : /(acquired|joined|join|created|date|at|start|end)$/i.test(name)
      ? instant
      : 'x'
  return ['x', promised, uuid, instant][variant] ?? 'x'
}

/** A value that a schema takes. */
function exampleOf(wrapped: z.core.$ZodType, variant: number, path: string): unknown {
  const schema = unwrapped(wrapped)
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(
      Object.entries(schema.shape).map(([name, field]) => [name, exampleOf(field, variant, `${path}/${name}`)]),
    )
  // Two, such as the coordinates of a corner.
  if (schema instanceof z.ZodArray) return [0, 1].map(() => exampleOf(schema.element, variant, path))
  if (schema instanceof z.ZodRecord) return { 1: exampleOf(schema.valueType, variant, path) }
  if (schema instanceof z.ZodUnion)
    return exampleOf(schema.options[variant % schema.options.length] ?? schema, variant, path)
  if (schema instanceof z.ZodNumber) return 7 + variant
  if (schema instanceof z.ZodBoolean) return variant % 2 === 0
  return schema instanceof z.ZodUnknown ? undefined : textOf(variant, path)
}
