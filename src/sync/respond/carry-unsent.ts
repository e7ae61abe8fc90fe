import { isFields } from '../../api/schemas/form/unknown.ts'
import type { Sql } from '../../db/database.ts'
import { historyShape } from '../../db/history.ts'
import type { History, ResourceBase, Row } from '../declare/resource.ts'
import { type DependentColumns, dependentsOf, textOf } from '../normalize/dependents.ts'
import { canonicalJson, type Json, sha256 } from '../normalize/hash.ts'
import type { Prepared } from '../normalize/prepare.ts'
import { canonicalValues } from '../normalize/values.ts'
import { bulkTable } from '../sql/bulk-table.ts'
import { historySql } from '../sql/history-sql.ts'

/** Columns that tell one version from another, but are not of the record. */
const ofVersion = new Set(['validFrom', 'validUntil', 'previousUntil', 'hash', 'document', 'observedAt'])

/** What a response leaves out of the entities of a history. */
export interface LeftOut extends DependentColumns {
  /** JSON pointers into the document, where the history keeps documents of whole records. */
  readonly fields?: readonly string[]
}

interface Current {
  readonly key: string
  readonly began: string
  readonly hash: Buffer
  readonly row: Readonly<Record<string, unknown>>
  readonly parts: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[] | null>>
}

/**
 * What a response leaves out where the current version has it is no change: entities without it get that of their current version.
 * Where nothing else differs, they count as unchanged.
 */
export async function carryUnsent(
  sql: Sql,
  history: History,
  { columns, parts, fields = [] }: LeftOut,
  entities: readonly Prepared[],
): Promise<readonly Prepared[]> {
  const { table, hasDocument } = historySql(history)
  const isLeftOut = (root: Row, property: string) => columns.get(property)?.has(textOf(root[property])) === true
  const lacks = ({ root }: Prepared) =>
    parts.size > 0 || [...columns.keys()].some((property) => isLeftOut(root, property))
  if (columns.size + parts.size + fields.length === 0) return entities
  const without = fields.length > 0 && hasDocument ? entities : entities.filter(lacks)
  if (without.length === 0) return entities
  const current = await readCurrent(sql, history, without)
  const compared = [...table.columns].filter(([name]) => !ofVersion.has(name))
  return entities.flatMap((entity) => {
    const known = current.get(entity.key)
    if (!known || !without.includes(entity)) return [entity]
    const root: Record<string, unknown> = { ...entity.root }
    const carried = new Set<string>()
    for (const [property, column] of compared)
      if (isLeftOut(entity.root, property) && (known.row[column.name] ?? null) !== null) {
        root[property] = known.row[column.name]
        carried.add(property)
      }
    const ofParts: Record<string, readonly Row[]> = { ...entity.parts }
    for (const part of parts) ofParts[part] = partRows(history, part, known)
    const whole = { ...entity, root, parts: ofParts }
    if (fields.length > 0 && hasDocument) {
      const document = filled(JSON.parse(entity.documentText) as Json, known.row.document as Json, fields)
      const documentText = canonicalJson(document)
      return [{ ...whole, documentText, hash: sha256(documentText) }]
    }
    const isSame =
      compared.every(
        ([name, column]) => carried.has(name) || spelled(root[name]) === spelled(known.row[column.name]),
      ) && Object.keys(history.parts).every((part) => parts.has(part) || samePart(history, part, entity, known))
    if (isSame) return [{ ...whole, hash: known.hash }]
    // Which version it is follows from what it lacks: nothing is known of it, unless that is only an instant.
    const isTime = (property: string) => table.columns.get(property)?.getSQLType() === 'timestamp with time zone'
    if (history.compare && ![...columns.keys()].every(isTime)) return []
    return [history.compare ? entity : whole]
  })
}

/**
 * A list that cannot be read is not empty: an entity of whose record it came gets that of its current version. What came is in `extra`.
 * @param examples some records of the response, as they came
 */
export async function carryOdd(
  sql: Sql,
  resource: ResourceBase,
  examples: readonly unknown[],
  entities: readonly Prepared[],
  at: Date,
): Promise<readonly Prepared[]> {
  const alike = new Map<string, { parts: Set<string>; those: Prepared[] }>()
  for (const entity of entities.filter(({ odd }) => odd.length > 0)) {
    const fields = entity.odd.map(({ anywhere }) => anywhere)
    const { parts } = dependentsOf(resource, examples, fields, at.getTime()).root
    const unread = [...parts].filter((part) => entity.parts[part]?.length === 0).sort()
    const group = alike.get(unread.join()) ?? { parts: new Set(unread), those: [] }
    if (unread.length > 0) alike.set(unread.join(), group)
    group.those.push(entity)
  }
  const carried = new Map<string, Prepared>()
  for (const { parts, those } of alike.values())
    for (const one of await carryUnsent(sql, resource.history, { columns: new Map(), parts }, those))
      carried.set(one.key, one)
  return carried.size > 0 ? entities.map((entity) => carried.get(entity.key) ?? entity) : entities
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
  const { table, hasDocument } = historySql(history)
  if (hasDocument || history.compare || entities.length === 0) return entities
  const current = await readCurrent(sql, history, entities)
  const columns = [...table.columns].filter(([name]) => !ofVersion.has(name))
  return entities.map((entity) => {
    const known = current.get(entity.key)
    if (!known || Buffer.compare(entity.hash, known.hash) === 0) return entity
    const isSame =
      columns.every(([name, column]) => spelled(entity.root[name]) === spelled(known.row[column.name])) &&
      Object.keys(history.parts).every((part) => samePart(history, part, entity, known))
    return isSame ? { ...entity, hashAsSent: Buffer.from(known.hash) } : entity
  })
}

/** A value as it is compared: with instants in one spelling. */
function spelled(value: unknown): string {
  return textOf(canonicalValues(value ?? null, new Map()))
}

async function readCurrent(sql: Sql, history: History, entities: readonly Prepared[]): Promise<Map<string, Current>> {
  const { keyText, table } = historySql(history)
  const keys = history.root[historyShape].key
  const parts = Object.entries(history.parts).map(([part, one], nth) => {
    const { name } = bulkTable(one)
    const join = keys.map((key) => `part.${table.columns.get(key)?.name} = current.${table.columns.get(key)?.name}`)
    return `'${part}', (select jsonb_agg(to_jsonb(part)) from ${name} part where part.valid_from = current.valid_from and ${join.join(' and ')}) /* ${nth} */`
  })
  const rows = await sql.query<Current>(
    `select ${keyText('current')} as key, current.valid_from::text as began, current.hash, to_jsonb(current) as row,
            jsonb_build_object(${parts.join(', ')}) as parts
       from ${table.name} current where ${keyText('current')} = any($1::text[]) and current.valid_until = 'infinity'`,
    [entities.map(({ key }) => key)],
  )
  return new Map(rows.map((row) => [row.key, row]))
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

function samePart(history: History, part: string, entity: Prepared, known: Current): boolean {
  const before = partRows(history, part, known)
  const properties = Object.keys(before[0] ?? {})
  const texts = (rows: readonly Row[]) =>
    rows.map((row) => properties.map((property) => spelled(row[property])).join('\n')).sort()
  const now = entity.parts[part] ?? []
  return now.length === before.length && texts(now).join('\n\n') === texts(before).join('\n\n')
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
