import * as z from 'zod'
import { renewAt } from '../api/auth/renewal.ts'
import type { CallOptions } from '../api/call.ts'
import type { Api } from '../api/client.ts'
import { ApiError, isOfRequest } from '../api/errors.ts'
import { type Dates, joinDates } from '../api/http/response-headers.ts'
import type { ApiResponse } from '../api/response.ts'
import { recordsOf } from '../api/schemas/form/bodies.ts'
import { vocabularyOf } from '../api/schemas/form/field-meta.ts'
import { isStorable, isUuid, uuidText } from '../api/schemas/form/limits.ts'
import { sentFields } from '../api/schemas/form/presence.ts'
import { type OddField, readLeniently } from '../api/schemas/form/record.ts'
import { fieldsOf, isFields, unknownFields } from '../api/schemas/form/unknown.ts'
import { RecordError } from '../base/errors.ts'
import { type Extraction, possible, type Resource, type ResponseContext } from '../sync/declare/resource.ts'
import type { Json } from '../sync/normalize/hash.ts'

/** What an answer that holds everything says of itself: its instant, and when asking again may bring something new. */
export function oneAnswer(answer: Dates & Parameters<typeof renewAt>[0]) {
  return severalAnswers([answer])
}

/** Extracts a resource whose records are all in one answer. */
export function oneRequest<Value>({
  ask,
  records,
}: {
  readonly ask: (api: Api, call: CallOptions) => Promise<ApiResponse<Value>>
  readonly records: (body: Value) => readonly unknown[]
}): Resource['extract'] {
  return async (api, { signal, lane }) => {
    const answer = await ask(api, { signal, lane })
    return { records: records(answer.body), ...oneAnswer(answer) }
  }
}

/** What several answers that hold everything together say of themselves. */
function severalAnswers(answers: readonly Parameters<typeof oneAnswer>[0][]) {
  const renewals = answers.map(renewAt).filter((at) => at !== null)
  return {
    complete: true,
    ...joinDates(answers),
    pages: answers.length,
    ...(renewals.length > 0 ? { renewAt: Math.max(...renewals) } : {}),
  }
}

/** One of several requests whose responses hold a resource together. */
interface Part {
  /** What it asks for, in words; absent: it may hold nothing. */
  readonly what?: string
  /** Brings the response, the records in it, and, where a list in it holds nothing, which. */
  readonly ask: () => Promise<readonly [Parameters<typeof oneAnswer>[0], readonly unknown[], (string | undefined)?]>
}

/** Requests in a row that fail before the others are left: the service is down. */
const mostFailed = 3

/**
 * Extracts a resource whose parts are requested one by one. A part that is refused, fails or holds nothing costs its own records: the others
 * are there, and nothing follows from what is lacking. Alone, the others may be enough to be plausible, and its records would count as gone.
 * @param before responses that the parts are known from
 * @throws why a part failed, where several in a row did, none is left, or the others would fail as well
 */
export async function severalParts(
  parts: readonly Part[],
  ...before: readonly Parameters<typeof oneAnswer>[0][]
): Promise<Pick<Extraction, 'records' | 'unsteady'> & ReturnType<typeof severalAnswers>> {
  const answers = [...before]
  const records: (readonly unknown[])[] = []
  const lacking: string[] = []
  let inRow = 0
  for (const { what, ask } of parts) {
    try {
      const [answer, found, without] = await ask()
      inRow = 0
      answers.push(answer)
      records.push(found)
      if (what && (found.length === 0 || without)) lacking.push(`${what}: no ${without ?? 'records'}`)
    } catch (error) {
      if (!(error instanceof ApiError)) inRow++
      if (!isOfRequest(error) || inRow === mostFailed || lacking.length + 1 === parts.length) throw error
      lacking.push(error.message)
    }
  }
  const all = { records: records.flat(), ...severalAnswers(answers) }
  return lacking.length === 0 ? all : { ...all, complete: false, unsteady: lacking.slice(0, 3).join('; ') }
}

/** The text of HTML as people read it: without its tags, with its entities as characters. */
export function plainText(html: string): string {
  const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ' }
  return html
    .replaceAll(/<br\s*\/?>|<\/(p|div|li|h[1-6])>/gi, '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|([a-z]+));/gi, (entity, decimal, hex, name) => {
      if (name !== undefined) return named[String(name).toLowerCase()] ?? entity
      const character = String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal))
      // NUL and halves of surrogate pairs cannot be stored.
      return isStorable(character) ? character : entity
    })
    .trim()
}

/**
 * What the schema of a resource's documents knows: their fields, and members of their enums.
 * @param whole of whole records, where these hold more than their documents
 */
export function knownBy(schema: z.ZodType, whole = schema) {
  return { unknownFields: unknownFields(schema), vocabulary: vocabularyOf(schema), sent: sentFields(whole) }
}

/** The error of a record that cannot be understood at a JSON pointer. */
export function recordError(path: string, reason: string): RecordError {
  return new RecordError(reason, { context: { path } })
}

/** Unix time, in seconds or milliseconds, of the years 2013 to 2100 as ISO 8601 with microseconds, also as a text; anything else as it is. */
export function instantOf(value: unknown): unknown {
  const isText = typeof value === 'string' && /^\d{10}(\d{3})?$/.test(value)
  if (typeof value !== 'number' && !isText) return value
  const number = Number(value)
  const ms = number < 1e11 ? number * 1000 : number
  return ms >= Date.UTC(2013) && ms < Date.UTC(2100) ? new Date(ms).toISOString().replace('Z', '000Z') : value
}

/** A field of a record of unknown shape, or undefined when it is not there. */
export function fieldOf(record: unknown, field: string): unknown {
  return typeof record === 'object' && record !== null ? Reflect.get(record, field) : undefined
}

/** A text field of a record of unknown shape, or undefined when it is not there, empty or not text. */
export function textField(record: unknown, field: string): string | undefined {
  const value = fieldOf(record, field)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Whether a record of unknown shape has all of these fields, whatever their values. */
export function hasFields(record: unknown, ...fields: readonly string[]): boolean {
  return isFields(record) && fields.every((field) => Object.hasOwn(record, field))
}

/** The records of a body with their keys; one without a key has an object of its own instead. */
interface KeyedList {
  readonly keys: readonly (string | object)[]
  readonly records: readonly unknown[]
}

/** Joins bodies that list records: see `FileForm`. @param keyField where a record has its key; absent: no two have one key */
export function joinLists(nameField: string | null, keyField?: string): (bodies: readonly unknown[]) => unknown[] {
  if (keyField === undefined) return (bodies) => bodies.flatMap((body) => recordsOf(body, nameField))
  const keyed = new WeakMap<object, KeyedList>()
  // What was joined last, where no two records had one key.
  let before: readonly KeyedList[] = []
  return (bodies) => {
    const lists = bodies.map((body, nth) => {
      // Of several files most are the same as in the version before.
      const list = keyed.get(Object(body)) ?? keyedList(recordsOf(body, nameField), keyField, before[nth])
      if (body instanceof Object) keyed.set(body, list)
      return list
    })
    const all = ([] as unknown[]).concat(...lists.map(({ records }) => records))
    const hasSameKeys = lists.length === before.length && lists.every(({ keys }, nth) => keys === before[nth]?.keys)
    const joined = hasSameKeys ? all : latestOf(lists)
    before = joined.length === all.length ? lists : []
    return joined
  }
}

/** @param before the list that stood in its place: where it has the same keys, it is the same list of them */
function keyedList(records: readonly unknown[], keyField: string, before: KeyedList | undefined): KeyedList {
  let isSame = records.length === before?.records.length
  const keys = records.map((record, nth) => {
    const former = before?.keys[nth]
    const key = before && record === before.records[nth] ? former : textField(record, keyField)
    isSame &&= key === former
    return key ?? {}
  })
  return { keys: isSame && before ? before.keys : keys, records }
}

/** Of several records with one key the last one, where the first one stood. */
function latestOf(lists: readonly KeyedList[]): unknown[] {
  const latest = new Map<string | object, unknown>()
  for (const { keys, records } of lists) for (const [nth, key] of keys.entries()) latest.set(key, records[nth])
  return [...latest.values()]
}

/** Joins bodies that are maps by key. */
export function joinMaps(bodies: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(bodies.flatMap((body) => fieldsOf(body)))
}

/** @throws RecordError when a record has none of the fields that its schema names: it is something else, such as an envelope */
export function refuseOther(record: unknown, { shape }: z.ZodObject): void {
  if (isFields(record) && !Object.keys(record).some((name) => Object.hasOwn(shape, name)))
    throw recordError('', 'none of its fields is known')
}

/** A uuid of a record as Postgres prints it; anything else in small letters. */
export function uuidField(record: unknown, field: string): string | undefined {
  const text = textField(record, field)
  return text === undefined ? undefined : uuidText(text)
}

/** Why a record is not about the key that was asked for, or undefined: taken, it would change what is known of another. */
export function aboutAnother(record: unknown, key: string): string | undefined {
  const uuid = uuidField(record, 'uuid')
  const isOther = uuid !== undefined && isUuid(uuid) && uuid !== uuidText(key)
  return isOther ? 'the response is about another uuid than the one that was asked for' : undefined
}

/**
 * Reads a record whose pieces are records of their own without the values that cannot be read.
 * @param required names of the fields without which it is not understood
 * @returns also whether all of some fields could be read: what could not is not null
 * @throws RecordError when the record has no fields, or a required one cannot be understood
 */
export function readableOf<Value>(
  record: unknown,
  parse: (record: unknown) => Value,
  required: readonly string[],
): {
  readonly value: Value
  readonly odd: readonly OddField[]
  readonly hasAll: (...names: readonly (keyof Value & string)[]) => boolean
} {
  const { value, odd } = readLeniently(record, parse, required)
  return { value, odd, hasAll: (...names) => !odd.some(({ place: [name] }) => names.some((one) => one === name)) }
}

/**
 * A record whose instants of the past are possible.
 * @throws RecordError with the JSON pointer of the first that lies before the game began, or after the response
 */
export function withPossible<Value extends object>(
  value: Value,
  context: ResponseContext | undefined,
  ...names: readonly (keyof Value & string)[]
): Value {
  for (const name of names) {
    const instant = value[name] as string | null | undefined
    if (typeof instant === 'string' && possible(instant, context, [], { field: name }) === null)
      throw recordError(`/${name}`, 'lies before the game began, or after the response')
  }
  return value
}

/**
 * Makes the function that finds, in some fields of a record, what their schema does not name, in its place. Such fields have tables of their
 * own: of what they hold, this alone goes into the document.
 * @param isCounted numbers of any depth are counted, by the names that lead to them
 */
export function unnamedIn({ shape }: z.ZodObject, names: readonly string[], isCounted = false) {
  const find = unknownFields(z.looseObject(Object.fromEntries(names.map((name) => [name, shape[name]]))))
  return (record: object): Readonly<Record<string, Json>> => {
    const found: Record<string, Json> = {}
    for (const { place, value } of find(record)) {
      const kept = isCounted ? withoutNumbers(value as Json) : (value as Json)
      if (place.length > 1 && kept !== undefined) put(found, place, kept)
    }
    return found
  }
}

/** What of a value is not counted; undefined where nothing is left. A null says no more than a number that is not sent. */
function withoutNumbers(value: Json): Json | undefined {
  if (value === null || typeof value === 'number') return undefined
  if (!isFields(value)) return value
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const rest = withoutNumbers(inner as Json)
    return rest === undefined ? [] : [[name, rest] as const]
  })
  return kept.length > 0 ? Object.fromEntries(kept) : undefined
}

/** Sets a value at a place; what stands before it in a list is empty. */
function put(around: object, [step = '', ...rest]: readonly (string | number)[], value: Json): void {
  if (Array.isArray(around)) while (around.length <= Number(step)) around.push({})
  const inner = typeof rest[0] === 'number' ? [] : {}
  const isThere = Object.hasOwn(around, step) && Array.isArray(inner) === Array.isArray(Reflect.get(around, step))
  const next = rest.length === 0 ? value : isThere ? Reflect.get(around, step) : inner
  // Unlike an assignment, this makes a field of `__proto__` too.
  Object.defineProperty(around, step, { value: next, configurable: true, enumerable: true, writable: true })
  if (rest.length > 0) put(next, rest, value)
}

export function omit<Fields extends object, Name extends keyof Fields>(fields: Fields, ...names: readonly Name[]) {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.some((one) => one === name))) as {
    [Field in keyof Fields as Field extends Name ? never : Field]: Fields[Field]
  }
}

/** Every number in a record of any depth, under the names that lead to it: `raids.list.Some Raid`. */
export function numbersIn(value: unknown, path = ''): [string, number][] {
  if (typeof value === 'number') return [[path, value]]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => numbersIn(inner, path ? `${path}.${name}` : name))
}
