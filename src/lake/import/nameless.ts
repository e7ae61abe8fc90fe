import { quoted } from '../../db/bulk/copy-columns.ts'
import type { Sql } from '../../db/database.ts'
import { inProfiles } from '../../resources/personal.ts'
import { bulkTable } from '../../sync/load/bulk-table.ts'
import { engineNaming } from '../../sync/privacy/named-columns.ts'
import { fieldChange } from '../../sync/record/tables.ts'
import type { LakeTable } from '../tables.ts'

const namingOf = (name: string) => [...engineNaming, ...inProfiles.naming].find(({ table }) => table === name)

/** Columns of a table that is not about players, but could name one in its text. */
export function namedIn({ name, types }: Pick<LakeTable, 'name' | 'types'>): string[] {
  // Of several resources only those are imported that name no player.
  if ('player_uuid' in types || name === bulkTable(fieldChange).name) return []
  const named = (namingOf(name)?.columns ?? []).flatMap((column) => (column.naming === 'text' ? [column.name] : []))
  // By these a response counts as known: of the responses that this database receives.
  return name === 'sync.run' ? [...named, 'content_hash', 'body_hash', 'normalized'] : named
}

/**
 * Makes the documents anew that stay out because they could name a player, of the columns that cannot. Their content hash is
 * that of the response: the next one with this content is no change.
 */
export async function rebuildDocuments(sql: Sql, table: string, staged: string): Promise<void> {
  const naming = namingOf(table)
  if (!naming?.columns.some(({ name, naming }) => name === 'document' && naming === 'text')) return
  const kept = Object.keys(naming.exempt).filter((name) => name !== 'hash')
  const fields = kept.map((name) => `'${name}', ${quoted(name)}`)
  await sql.query(`update ${staged} set document = jsonb_strip_nulls(jsonb_build_object(${fields.join(', ')}))`)
}
