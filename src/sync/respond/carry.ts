import { isFields } from '../../api/schemas/form/unknown.ts'
import { instantText } from '../../db/bulk/values.ts'
import type { Sql } from '../../db/database.ts'
import { historyShape } from '../../db/history.ts'
import type { History, ResourceBase, Row } from '../declare/resource.ts'
import { type Claim, corroborate, forgetClaims, pendingClaims, type Witness } from '../evidence/claims.ts'
import { type DependentColumns, dependentsOf, textOf } from '../normalize/dependents.ts'
import { canonicalJson, type Json, sha256 } from '../normalize/hash.ts'
import { oddOf, type Preparation, type Prepared } from '../normalize/prepare.ts'
import { canonicalInstant, canonicalValues } from '../normalize/values.ts'
import { bulkTable, historySql } from '../sql/history-sql.ts'

/* What a response leaves out where the current version has it is no change: entities get it from their current version. */

/** Columns that tell one version from another, but are not of the record. */
const ofVersion = new Set(['validFrom', 'validUntil', 'previousUntil', 'hash', 'document', 'observedAt'])

/** What a response leaves out of the entities of a history. */
interface LeftOut extends Pick<DependentColumns, 'columns'> {
  readonly parts: Pick<ReadonlySet<string>, 'has' | 'keys' | 'size'>
  /** JSON pointers into the document, where the history keeps documents of whole records. */
  readonly fields?: readonly string[]
  /** It sent something there that could not be read, which is in `extra`. */
  readonly isOdd?: boolean
}

/** So long after a list could not be read its record may be missing before that is forgotten; ms. */
const longestClaim = 24 * 3_600_000

/** The current version of an entity. */
export interface Current {
  readonly entity: Prepared
  /** Its columns by name, as JSON. */
  readonly row: Readonly<Record<string, unknown>>
  readonly hash: Buffer
  readonly parts: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[] | null>>
}

interface Wanted {
  readonly properties: readonly string[]
  readonly pending: ReadonlySet<string>
  /** A condition on `incoming` and `current`; `incoming` has the entities' values of `properties`, by column name. */
  readonly where: string
}

const anyCurrent: Wanted = { properties: [], pending: new Set(), where: 'true' }

/** The current versions of entities, read by the index of their keys. */
export async function readCurrent(
  sql: Sql,
  history: History,
  entities: readonly Prepared[],
  { properties, pending, where }: Wanted = anyCurrent,
): Promise<Current[]> {
  const { table, keyArrays, keyNames, keyJoin, keyValues, nextParameter } = historySql(history)
  const columns = properties.flatMap((property) => table.columns.get(property) ?? [])
  const arrays = columns.map((column, nth) => `$${nextParameter + 1 + nth}::${column.getSQLType()}[]`)
  const parts = Object.entries(history.parts).map(
    ([part, one]) =>
      `'${part}', (select jsonb_agg(to_jsonb(part)) from ${bulkTable(one).name} part
                    where ${keyJoin('part', 'incoming')} and part.valid_from = current.valid_from)`,
  )
  const rows = await sql.query<{ position: number } & Omit<Current, 'entity'>>(
    `select incoming.position::int as position, to_jsonb(current) as row, current.hash, jsonb_build_object(${parts.join(', ')}) as parts
       from unnest(${[keyArrays, `$${nextParameter}::boolean[]`, ...arrays].join(', ')}) with ordinality
            as incoming(${[keyNames, 'is_pending', ...columns.map(({ name }) => name)].join(', ')}, position)
      cross join lateral (select * from ${table.name} version
                           where ${keyJoin('version', 'incoming')} and version.valid_until = 'infinity' limit 1) current
      where ${where}
      order by incoming.position`,
    [
      ...keyValues(entities.map(({ root }) => root)),
      entities.map(({ key }) => pending.has(key)),
      ...properties.map((property) => entities.map(({ root }) => sentText(root[property]))),
    ],
  )
  return rows.flatMap(({ position, row, hash, parts: rowsOf }) => {
    const entity = entities[position - 1]
    return entity ? [{ entity, row, hash: Buffer.from(hash), parts: rowsOf }] : []
  })
}

/** A value of an entity as text; null where it has none. */
export const sentText = (value: unknown) => (value === null || value === undefined ? null : String(value))

/** A value in the spelling in which values of an entity and of a table compare. */
export function comparable(value: unknown): string {
  return textOf(canonicalValues(value ?? null, new Map()))
}

/** Whether two versions say the same, by the values of each column; `columnOf` its name in a table. */
export function isSame(
  history: History,
  valuesOf: (property: string, columnOf: string) => readonly [unknown, unknown],
): boolean {
  return [...historySql(history).table.columns].every(([property, { name }]) => {
    if (ofVersion.has(property)) return true
    const [one, other] = valuesOf(property, name)
    return comparable(one) === comparable(other)
  })
}

/** An entity with values of its current version instead of its own. Where nothing else differs, it counts as unchanged. */
export function withValuesOf(
  history: History,
  { entity, row, hash }: Current,
  properties: readonly string[],
): Prepared {
  const { columns } = historySql(history).table
  const carried = Object.fromEntries(
    properties.map((property) => {
      const value = row[columns.get(property)?.name ?? '']
      return [property, typeof value === 'string' ? canonicalInstant(value) : value]
    }),
  )
  const root = { ...entity.root, ...carried }
  if (isSame(history, (property, column) => [root[property], row[column]])) return { ...entity, root, hash }
  const documentText = canonicalJson({ ...(JSON.parse(entity.documentText) as object), ...carried } as Json)
  return { ...entity, root, documentText, hash: sha256(documentText), hashAsSent: undefined }
}

/** Gives entities without a value in a column that of their current version. */
export async function carryForward(
  sql: Sql,
  history: History,
  property: string,
  entities: readonly Prepared[],
): Promise<readonly Prepared[]> {
  const without = entities.filter(({ root }) => sentText(root[property]) === null)
  const column = historySql(history).table.columns.get(property)
  if (without.length === 0 || !column) return entities
  const where = `current.${column.name} is not null`
  const known = await readCurrent(sql, history, without, { ...anyCurrent, where })
  const carried = new Map(known.map((one) => [one.entity, withValuesOf(history, one, [property])]))
  return entities.map((entity) => carried.get(entity) ?? entity)
}

/** Gives entities what a response leaves out of all of them. Where nothing else differs, they count as unchanged. */
export async function carryUnsent(
  sql: Sql,
  history: History,
  leftOut: LeftOut,
  entities: readonly Prepared[],
): Promise<readonly Prepared[]> {
  const { columns, parts, fields = [] } = leftOut
  if (columns.size + parts.size + fields.length === 0) return entities
  const isWhole = fields.length > 0 && historySql(history).hasDocument
  const lacks = ({ root }: Prepared) =>
    isWhole || parts.size > 0 || [...columns.keys()].some((property) => isLeftOut(leftOut, root, property))
  const without = entities.filter(lacks)
  if (without.length === 0) return entities
  const known = await readCurrent(sql, history, without)
  const carried = new Map(known.map((one) => [one.entity, carriedOf(history, leftOut, one)]))
  return entities.flatMap((entity) => {
    const whole = carried.get(entity)
    return whole === null ? [] : [whole ?? entity]
  })
}

const isLeftOut = ({ columns }: LeftOut, root: Row, property: string) =>
  columns.get(property)?.has(textOf(root[property])) === true

/** An entity with what it leaves out; null where nothing is known of it without that. */
function carriedOf(history: History, leftOut: LeftOut, current: Current): Prepared | null {
  const { entity, row, hash } = current
  const { columns, parts, fields = [], isOdd = false } = leftOut
  const { table, hasDocument } = historySql(history)
  const root: Record<string, unknown> = { ...entity.root }
  for (const [property, { name }] of table.columns)
    if (!ofVersion.has(property) && isLeftOut(leftOut, entity.root, property) && (row[name] ?? null) !== null)
      root[property] = row[name]
  const ofParts: Record<string, readonly Row[]> = { ...entity.parts }
  for (const part of parts.keys()) ofParts[part] = partRows(history, part, current)
  const whole = { ...entity, root, parts: ofParts }
  if (fields.length > 0 && hasDocument) {
    const read = isOdd ? withoutOdd(entity, fields) : (JSON.parse(entity.documentText) as Json)
    const documentText = canonicalJson(filled(read, row.document as Json, fields))
    return { ...whole, documentText, hash: sha256(documentText) }
  }
  const isSameRow = isSame(history, (property, column) =>
    isOdd && property === 'extra' ? [null, null] : [root[property], row[column]],
  )
  const isOther = (part: string) => !parts.has(part) && !samePart(history, part, current)
  if (isSameRow && !Object.keys(history.parts).some(isOther)) return { ...whole, hash }
  // Which version it is follows from what it lacks: nothing is known of it, unless that is only an instant.
  const isTime = (property: string) => table.columns.get(property)?.getSQLType() === 'timestamp with time zone'
  if (history.compare && ![...columns.keys()].every(isTime)) return null
  return history.compare ? entity : whole
}

/**
 * A list of a record that cannot be read is not empty. Until enough responses agree it is as the current version has it; then it is
 * unknown from the first of them on: the next version has nothing of it, and what came is in `extra`.
 */
export async function carryOdd(
  sql: Sql,
  witness: Witness,
  resource: ResourceBase,
  { examples = [], seen }: Pick<Preparation, 'examples' | 'seen'>,
  entities: readonly Prepared[],
): Promise<readonly Prepared[]> {
  const { history } = resource
  const unread = new Map<Prepared, Map<string, ReadonlySet<string>>>()
  for (const entity of oddOf(entities))
    for (const { anywhere } of entity.odd) {
      const { parts } = dependentsOf(resource, examples, [anywhere], witness.at.getTime()).root
      const empty = [...parts.keys()].filter((part) => entity.parts[part]?.length === 0)
      if (empty.length > 0)
        unread.set(entity, (unread.get(entity) ?? new Map<string, ReadonlySet<string>>()).set(anywhere, new Set(empty)))
    }
  const known = unread.size > 0 ? await readCurrent(sql, history, [...unread.keys()]) : []
  const lacking = known.flatMap((current) =>
    [...(unread.get(current.entity) ?? [])].flatMap(([value, parts]) =>
      [...parts].some((part) => current.parts[part]) ? [{ subject: current.entity.key, value, current, parts }] : [],
    ),
  )
  const named = (one: Required<Claim>) => `${one.subject} ${one.value}`
  const made = new Set(lacking.map(named))
  const over = (await pendingClaims(sql, witness, 'unsent')).filter(
    ({ subject, value, firstAt }) =>
      value.startsWith('/') &&
      !made.has(named({ subject, value })) &&
      (seen.has(subject) || witness.at.getTime() - firstAt.getTime() > longestClaim),
  )
  await forgetClaims(sql, witness.resource, 'unsent', over)
  const { confirmed } = await corroborate(sql, witness, 'unsent', lacking)
  const since = new Map(confirmed.map((one) => [named(one), one.firstAt]))
  const judged = new Map<string, Prepared>()
  for (const one of lacking) {
    const firstAt = since.get(named(one))
    const entity = judged.get(one.subject) ?? one.current.entity
    const leftOut = { columns: new Map(), parts: one.parts, fields: [one.value], isOdd: true }
    const whole = firstAt
      ? { ...entity, since: entity.since ?? instantText(firstAt) }
      : carriedOf(history, leftOut, { ...one.current, entity })
    if (whole) judged.set(one.subject, whole)
  }
  return judged.size > 0 ? entities.map((entity) => judged.get(entity.key) ?? entity) : entities
}

/**
 * Entities that have the content of their current version, which a response without some field wrote: their hash is another one, and it is
 * the same version. Not of documents, which are filled where a field is not sent.
 */
export async function withoutReturns(
  sql: Sql,
  history: History,
  entities: readonly Prepared[],
): Promise<readonly Prepared[]> {
  if (historySql(history).hasDocument || history.compare || entities.length === 0) return entities
  const returned = new Map<Prepared, Prepared>()
  for (const current of await readCurrent(sql, history, entities)) {
    const { entity, row, hash } = current
    if (
      !entity.hash.equals(hash) &&
      isSame(history, (property, column) => [entity.root[property], row[column]]) &&
      Object.keys(history.parts).every((part) => samePart(history, part, current))
    )
      returned.set(entity, { ...entity, hashAsSent: hash })
  }
  return entities.map((entity) => returned.get(entity) ?? entity)
}

/** The rows of a part of a version, as entities have them. */
function partRows(history: History, part: string, { parts }: Current): Row[] {
  const table = history.parts[part]
  if (!table) return []
  const own = new Set(['validFrom', ...history.root[historyShape].key])
  const columns = [...bulkTable(table).columns].filter(([property]) => !own.has(property))
  return (parts[part] ?? []).map((row) =>
    Object.fromEntries(columns.map(([property, column]) => [property, row[column.name] ?? null])),
  )
}

function samePart(history: History, part: string, current: Current): boolean {
  const before = partRows(history, part, current)
  const properties = Object.keys(before[0] ?? {})
  const texts = (rows: readonly Row[]) =>
    rows.map((row) => properties.map((property) => comparable(row[property])).join('\n')).sort()
  const now = current.entity.parts[part] ?? []
  return now.length === before.length && texts(now).join('\n\n') === texts(before).join('\n\n')
}

/** The document of an entity without what could not be read in some fields. */
function withoutOdd({ documentText, extra }: Prepared, fields: readonly string[]): Json {
  const document = JSON.parse(documentText) as Json
  for (const { path, place } of extra) {
    if (!fields.includes(path)) continue
    const around = place.slice(0, -1).reduce<unknown>((at, step) => Reflect.get(Object(at), step), document)
    Reflect.deleteProperty(Object(around), place.at(-1) ?? '')
  }
  return document
}

/** A document with what an earlier one has of some fields, where what is around them is in both. */
function filled(document: Json, before: Json, fields: readonly string[]): Json {
  const whole = structuredClone(document)
  for (const field of fields) fill(whole, before, field.split('/').slice(1))
  return whole
}

function fill(into: unknown, from: unknown, [step = '', ...rest]: readonly string[]): void {
  if (typeof into !== 'object' || into === null || typeof from !== 'object' || from === null) return
  const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
  for (const key of step === '*' ? Object.keys(into) : [name]) {
    if (rest.length > 0) fill(Reflect.get(into, key), Reflect.get(from, key), rest)
    else if (isFields(into) && Object.hasOwn(from, key) && into[key] === undefined)
      Object.defineProperty(into, key, {
        value: Reflect.get(from, key),
        configurable: true,
        enumerable: true,
        writable: true,
      })
  }
}
