import * as z from 'zod'
import { absenceOf } from './field-meta.ts'
import { escaped, isFields } from './unknown.ts'

/** Of the objects that may have a field: how many there were, and how many had it, `null` included. */
interface Presence {
  readonly had: number
  readonly of: number
}

/** What of the fields that a schema names records have, by JSON pointer with `*` for every element and every key of a map. */
type FieldPresence = ReadonlyMap<string, Presence>

interface Count {
  had: number
  of: number
}

type Counter = (value: unknown, counts: Map<string, Count>) => void

/** What single records were counted as, and all of the version before: in the next version of a list nearly all are the same objects. */
export class CountedRecords {
  readonly ofRecord = new WeakMap<object, Kind>()
  /** Most records have the same fields as others. */
  readonly alike = new Map<string, Kind>()
  /** Paths by their number, and numbers by path. */
  readonly paths: string[] = []
  readonly numbers = new Map<string, number>()
  /** The records of the version before, and of each field by its number how many of them had it, and of how many. */
  before: readonly unknown[] = []
  sums: number[] = []
}

/** The counts of a record: of each field the number of its path, how many had it, and of how many. */
type Kind = Int32Array

/** So many kinds of records are kept. */
const KEPT_SHAPES = 5000

/** The named fields of a schema at any depth: which of them records have, and what they may hold. */
export interface SentFields {
  /**
   * Counts which fields records have. What a restriction of the record may hide is not counted.
   * @param counted where it is kept what each of the records was counted as
   */
  readonly count: (records: readonly unknown[], counted?: CountedRecords) => FieldPresence
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

/** Counts records of which most were counted before: only what differs from the version before is added, and taken away. */
function countKinds(
  records: readonly unknown[],
  counter: Counter,
  { counts, counted }: { readonly counts: Map<string, Count>; readonly counted: CountedRecords },
): void {
  const { before, sums, paths } = counted
  const add = (record: unknown, times: 1 | -1) => {
    if (typeof record !== 'object' || record === null) return
    const kind = counted.ofRecord.get(record) ?? kindOf(record, counter, counted)
    for (let at = 0; at < kind.length; at += 3) {
      const [number = 0, had = 0, of = 0] = [kind[at], kind[at + 1], kind[at + 2]]
      sums[2 * number] = (sums[2 * number] ?? 0) + times * had
      sums[2 * number + 1] = (sums[2 * number + 1] ?? 0) + times * of
    }
  }
  const shorter = Math.min(records.length, before.length)
  const differing = records.length - before.length
  let first = 0
  while (first < shorter && records[first] === before[first]) first++
  // From the end too: where one came or went, the others are as far from there as before.
  let last = records.length
  while (last > first && last > first + differing && records[last - 1] === before[last - 1 - differing]) last--
  for (let nth = first; nth < Math.max(last, last - differing); nth++) {
    const now = nth < last ? records[nth] : undefined
    const then = nth < last - differing ? before[nth] : undefined
    if (now === then) continue
    add(now, 1)
    add(then, -1)
  }
  counted.before = records
  for (const [number, path] of paths.entries()) {
    const [had = 0, of = 0] = [sums[2 * number], sums[2 * number + 1]]
    if (of > 0) counts.set(path, { had, of })
  }
}

function kindOf(record: object, counter: Counter, { ofRecord, alike, paths, numbers }: CountedRecords): Kind {
  const own = new Map<string, Count>()
  counter(record, own)
  const found = new Int32Array(3 * own.size)
  let at = 0
  for (const [path, { had, of }] of own) {
    const number = numbers.get(path) ?? paths.push(path) - 1
    numbers.set(path, number)
    found.set([number, had, of], at)
    at += 3
  }
  const name = Buffer.from(found.buffer).toString('latin1')
  const kind = alike.get(name) ?? found
  if (alike.size < KEPT_SHAPES) alike.set(name, kind)
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
  const fields = Object.entries(shape).flatMap(([name, field]) => {
    const at = `${path}/${escaped(name)}`
    const absence = absenceOf(field)
    return absence === 'sometimes'
      ? []
      : { name, path: at, isHideable: absence === 'hidden', count: counterOf(field, at) }
  })
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
