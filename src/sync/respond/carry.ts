import type { Sql } from '../../db/database.ts'
import type { History } from '../declare/resource.ts'
import { canonicalJson, type Json, sha256 } from '../normalize/hash.ts'
import type { Prepared } from '../normalize/prepare.ts'
import { canonicalInstant } from '../normalize/values.ts'
import { historySql } from '../sql/history-sql.ts'

/** Columns that tell one version from another, but are not of the record. */
const ofVersion = new Set(['validFrom', 'validUntil', 'previousUntil', 'hash', 'document', 'observedAt'])

/** The current version of an entity. */
export interface Current {
  readonly entity: Prepared
  /** Its columns by name, as JSON. */
  readonly row: Readonly<Record<string, unknown>>
  readonly hash: Buffer
}

/**
 * The current versions of entities, read by the index of their keys.
 * @param where a condition on `incoming` and `current`; `incoming` has the entities' values of `properties`, by column name
 */
export async function readCurrent(
  sql: Sql,
  history: History,
  entities: readonly Prepared[],
  { properties, pending, where }: { properties: readonly string[]; pending: ReadonlySet<string>; where: string },
): Promise<Current[]> {
  const { table, keyArrays, keyNames, keyJoin, keyValues, nextParameter } = historySql(history)
  const columns = properties.flatMap((property) => table.columns.get(property) ?? [])
  const arrays = columns.map((column, nth) => `$${nextParameter + 1 + nth}::${column.getSQLType()}[]`)
  const rows = await sql.query<{ position: number; row: Record<string, unknown>; hash: Buffer }>(
    `select incoming.position::int as position, to_jsonb(current) as row, current.hash
       from unnest(${[keyArrays, `$${nextParameter}::boolean[]`, ...arrays].join(', ')}) with ordinality
            as incoming(${[keyNames, 'is_pending', ...columns.map(({ name }) => name)].join(', ')}, position)
      cross join lateral (select * from ${table.name} version
                           where ${keyJoin('version', 'incoming')} and version.valid_until = 'infinity' limit 1) current
      where ${where}
      order by incoming.position`,
    [
      ...keyValues(entities.map(({ root }) => root)),
      entities.map(({ key }) => pending.has(key)),
      ...properties.map((property) => entities.map(({ root }) => textOf(root[property]))),
    ],
  )
  return rows.flatMap(({ position, row, hash }) => {
    const entity = entities[position - 1]
    return entity ? [{ entity, row, hash: Buffer.from(hash) }] : []
  })
}

export const textOf = (value: unknown) => (value === null || value === undefined ? null : String(value))

/** A value in the spelling in which values of an entity and of a table compare. */
export function comparable(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? canonicalInstant(value) : (value ?? null))
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

/**
 * What a response leaves out where the current version has it is no change: entities without a value in a column get that
 * of their current version.
 */
export async function carryForward(
  sql: Sql,
  history: History,
  property: string,
  entities: readonly Prepared[],
): Promise<readonly Prepared[]> {
  const without = entities.filter(({ root }) => textOf(root[property]) === null)
  const column = historySql(history).table.columns.get(property)
  if (without.length === 0 || !column) return entities
  const where = `current.${column.name} is not null`
  const known = await readCurrent(sql, history, without, { properties: [], pending: new Set(), where })
  const carried = new Map(known.map((one) => [one.entity, withValuesOf(history, one, [property])]))
  return entities.map((entity) => carried.get(entity) ?? entity)
}
