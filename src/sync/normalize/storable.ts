import { type AnyPgTable, getTableConfig } from 'drizzle-orm/pg-core'
import { isStorable, longestKey, uuidText } from '../../api/schemas/form/limits.ts'
import { isFields } from '../../api/schemas/form/unknown.ts'
import { FatalError, RecordError } from '../../base/errors.ts'
import { historyShape } from '../../db/history.ts'
import type { Entity, History, Row } from '../declare/resource.ts'
import { bulkTable } from '../sql/history-sql.ts'
import { pointerStep } from './changed-fields.ts'
import { columnCheck, type ValueCheck } from './column-check.ts'
import { canonicalJson } from './hash.ts'
import { hasInexact, tooDeep } from './nesting.ts'

/** What is checked of the entities of one history. */
type HistoryChecks = ReturnType<typeof checksOf>

/** The checks of the entities of one history, compiled once. */
export function checksOf(history: History) {
  const parts = new Map(Object.entries(history.parts).map(([name, table]) => [name, rowCheck(table)]))
  return { root: rowCheck(history.root), parts, keyOf: keyOfRow(history) }
}

/** What of an entity names and describes it. */
interface Texts {
  readonly key: string
  readonly documentText: string
}

/** @throws RecordError when Postgres could not store the entity */
export function storableTexts(entity: Entity, checks: HistoryChecks, body: unknown): Texts {
  const documentText = canonicalJson(entity.document)
  const bad = unstorable.exec(documentText)
  if (bad)
    throw misfitting(`text with the character ${bad[1]} cannot be stored`, entity.key, placeOf(body, undefined, ''))
  if (hasInexact(entity.document)) {
    const place = [...placesIn(entity.document)].find(({ value }) => typeof value === 'number' && hasInexact(value))
    throw misfitting(inexactReason, entity.key, placeOf(body, place?.value, place?.name ?? ''))
  }
  const key = checks.keyOf(entity.root)
  if (key.length > longestKey) throw misfitting(`a key of ${key.length} characters is too long`, key, '')
  const misfit = firstBad(entity, checks)
  if (misfit)
    throw misfitting(misfit.reason, key, placeOf(body, misfit.value, misfit.property) || partIn(body, misfit.part))
  return { key, documentText }
}

/** Text that Postgres cannot keep in jsonb: NUL, or half of a surrogate pair, as JSON.stringify escapes them. */
const unstorable = /(?<!\\)(?:\\\\)*(\\u0000|\\ud[89a-f][0-9a-f]{2})/

export const inexactReason = 'a number beyond 2^53 cannot be stored exactly'

/** Whether a value, and the steps to where it stands, can be kept in jsonb as they are. */
export function isKeepable(place: readonly unknown[], value: unknown): boolean {
  return tooDeep(value) === undefined && !unstorable.test(JSON.stringify([place, value])) && !hasInexact(value)
}

/** Pointer to the field of a record that a part table is named after; empty when it has none. */
function partIn(body: unknown, part: string | undefined): string {
  return part !== undefined && isFields(body) && Object.hasOwn(body, part) ? pointerStep(part) : ''
}

function firstBad({ root, parts }: Entity, checks: HistoryChecks): (BadValue & { readonly part?: string }) | undefined {
  const bad = checks.root(root)
  if (bad) return bad
  for (const [name, rows] of Object.entries(parts)) {
    const check = checks.parts.get(name)
    if (!check) throw new FatalError(`no part table is called ${name}`)
    for (const row of rows) {
      const wrong = check(row)
      if (wrong) return { ...wrong, part: name }
    }
  }
  return undefined
}

function misfitting(reason: string, key: string, path: string): RecordError {
  return new RecordError(reason, { context: { key, path } })
}

/** A value that Postgres would refuse. */
interface BadValue {
  readonly reason: string
  /** Property name of its column. */
  readonly property: string
  readonly value: unknown
}

/** Finds the first value of a row that does not fit its table, so that one bad value never fails the whole response. */
type RowCheck = (row: Row) => BadValue | undefined

const rowChecks = new WeakMap<AnyPgTable, RowCheck>()

/** One check for each column, compiled once for all rows of a table. */
export function rowCheck(table: AnyPgTable): RowCheck {
  const check = rowChecks.get(table) ?? newRowCheck(table)
  rowChecks.set(table, check)
  return check
}

function newRowCheck(table: AnyPgTable): RowCheck {
  const { name, columns } = bulkTable(table)
  const longest = indexedLengths(table)
  const checks = new Map<string, { readonly column: string; readonly check: ValueCheck }>()
  for (const [property, column] of columns) {
    // Rows do not bring it: the engine fills it in.
    if (column.getSQLType() !== 'bytea')
      checks.set(property, { column: column.name, check: columnCheck(column, longest.get(column.name)) })
  }
  return (row) => {
    for (const property in row) {
      const known = checks.get(property)
      if (!known) throw new FatalError(`table ${name} has no column ${property}`)
      const reason = known.check(row[property])
      if (reason !== undefined) return { reason: `${known.column} ${reason}`, property, value: row[property] }
    }
    return undefined
  }
}

/** How long a text may be in each column that stands in an index: several share the room of one entry. */
function indexedLengths(table: AnyPgTable): Map<string, number> {
  const { indexes, primaryKeys, uniqueConstraints, columns } = getTableConfig(table)
  const texts = new Set(columns.flatMap(({ columnType, name }) => (columnType === 'PgText' ? [name] : [])))
  const entries = [
    ...indexes.map(({ config }) => config.columns.map((column) => ('name' in column ? String(column.name) : ''))),
    ...[...primaryKeys, ...uniqueConstraints].map((constraint) => constraint.columns.map(({ name }) => name)),
  ].map((names) => names.filter((name) => texts.has(name)))
  const lengths = new Map<string, number>()
  for (const names of entries) {
    const share = Math.min(longestKey, Math.floor(roomOfIndex / names.length))
    for (const name of names) lengths.set(name, Math.min(share, lengths.get(name) ?? share))
  }
  return lengths
}

/** In characters of up to three bytes; Postgres takes 2704 bytes in all. */
const roomOfIndex = 800

/** The natural key of a root's row as Postgres prints it, its columns joined by `/`. */
function keyOfRow(history: History): (root: Row) => string {
  const { columns } = bulkTable(history.root)
  const parts = history.root[historyShape].key.map((property) => {
    const isUuid = columns.get(property)?.columnType === 'PgUUID'
    return (root: Row) => (isUuid ? uuidText(String(root[property])) : String(root[property]))
  })
  const [only, ...others] = parts
  if (only && others.length === 0) return only
  return (root) => parts.map((part) => part(root)).join('/')
}

interface Place {
  readonly path: string
  /** The last step of the path. */
  readonly name: string
  readonly value: unknown
}

/**
 * JSON pointer to where a record has a value that came out of it: under this name if it stands there, else wherever it stands
 * first; of a text that was put together, to the part that cannot be stored. Empty where it is not to be found.
 */
export function placeOf(record: unknown, value: unknown, name: string): string {
  let first: string | undefined
  let unstorable: string | undefined
  for (const place of placesIn(record)) {
    const isHere = Object.is(place.value, value)
    if (isHere && place.name === name) return place.path
    if (isHere) first ??= place.path
    if (!isStorable(place.name) || (typeof place.value === 'string' && !isStorable(place.value)))
      unstorable ??= place.path
  }
  return first ?? unstorable ?? ''
}

function* placesIn(value: unknown, path = ''): Generator<Place> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    const place = { path: path + pointerStep(name), name, value: inner as unknown }
    yield place
    yield* placesIn(place.value, place.path)
  }
}
