import type { Sql } from '../../db/database.ts'
import type { History } from '../declare/resource.ts'
import type { Prepared } from '../normalize/prepare.ts'
import { historySql } from '../sql/history-sql.ts'

/** Columns that tell one version from another, but are not of the record. */
const ofVersion = new Set(['validFrom', 'validUntil', 'previousUntil', 'hash', 'document', 'observedAt'])

/**
 * What a response leaves out where the current version has it is no change: entities without a value in a column get that
 * of their current version. Where nothing else differs, they count as unchanged.
 */
export async function carryForward(
  sql: Sql,
  history: History,
  property: string,
  entities: readonly Prepared[],
): Promise<readonly Prepared[]> {
  const without = entities.filter(({ root }) => root[property] === null || root[property] === undefined)
  if (without.length === 0) return entities
  const { keyText, table } = historySql(history)
  const { name, columns } = table
  const column = columns.get(property)
  if (!column) return entities
  const rows = await sql.query<{ key: string; carried: string; hash: Buffer; row: Record<string, unknown> }>(
    `select ${keyText('current')} as key, current.${column.name}::text as carried, current.hash, to_jsonb(current) as row
       from ${name} current
      where ${keyText('current')} = any($1::text[]) and current.valid_until = 'infinity' and current.${column.name} is not null`,
    [without.map(({ key }) => key)],
  )
  const current = new Map(rows.map((row) => [row.key, row]))
  const compared = [...columns].filter(([name]) => name !== property && !ofVersion.has(name))
  return entities.map((entity) => {
    const known = current.get(entity.key)
    if (!known || (entity.root[property] ?? null) !== null) return entity
    const isSame = compared.every(
      ([name, column]) => JSON.stringify(entity.root[name] ?? null) === JSON.stringify(known.row[column.name] ?? null),
    )
    const carried = { ...entity, root: { ...entity.root, [property]: known.carried } }
    return isSame ? { ...carried, hash: known.hash } : carried
  })
}
