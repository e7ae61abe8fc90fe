import type { Sql } from '../db/database.ts'
import { historyShape } from '../db/history.ts'
import { bulkTable, copyRows } from './bulk-table.ts'
import type { Json } from './hash.ts'
import { historySql } from './history-sql.ts'
import type { Prepared } from './prepare.ts'
import type { History } from './resource.ts'

/** What a load found to be different from the current versions. */
export interface Loaded {
  /** Entities that had no current version. */
  readonly inserted: readonly Prepared[]
  /** Entities whose current version said something else, with the document it had. */
  readonly changed: readonly { readonly entity: Prepared; readonly before: Json }[]
  readonly unchanged: number
}

interface Difference {
  readonly position: number
  readonly living: boolean
  readonly before: Json
  readonly ended: Date | null
}

/** Entities compared and written in one round of statements; bounds the memory of a million. */
const chunkSize = 20_000

/**
 * Writes new versions of the entities that changed and nothing for those that did not: one statement compares all
 * fingerprints with the current versions, one closes the changed ones, and COPY brings in the new rows.
 * Closing and inserting are two statements because in one the new row may meet the one-current-row index first.
 *
 * @param at the instant the answer speaks for: the end of the old versions and the start of the new ones
 */
export async function loadVersions(
  sql: Sql,
  history: History,
  entities: readonly Prepared[],
  at: Date,
): Promise<Loaded> {
  const inserted: Prepared[] = []
  const changed: { entity: Prepared; before: Json }[] = []
  for (let start = 0; start < entities.length; start += chunkSize) {
    const chunk = entities.slice(start, start + chunkSize)
    const versions: { entity: Prepared; previousUntil: Date | null }[] = []
    for (const { position, living, before, ended } of await findDifferences(sql, history, chunk)) {
      const entity = chunk[position - 1]
      if (!entity) continue
      if (living) changed.push({ entity, before })
      else inserted.push(entity)
      versions.push({ entity, previousUntil: living ? at : ended })
    }
    await closeVersions(
      sql,
      history,
      versions.filter((one) => one.previousUntil === at).map((one) => one.entity),
      at,
    )
    await insertVersions(sql, history, versions, at)
  }
  return { inserted, changed, unchanged: entities.length - inserted.length - changed.length }
}

async function findDifferences(sql: Sql, history: History, chunk: readonly Prepared[]): Promise<Difference[]> {
  const key = historySql(history)
  return await sql.query<Difference>(
    `select incoming.position::int as position, current.hash is not null as living, ${key.hasDocument ? 'current.document' : 'null'} as before, past.ended
       from unnest(${key.keyArrays}, $${key.nextParameter}::bytea[]) with ordinality as incoming(${key.keyNames}, hash, position)
       left join ${key.table.name} current on ${key.keyJoin('current', 'incoming')} and current.valid_until = 'infinity'
       left join lateral (select max(version.valid_until) as ended from ${key.table.name} version
                           where ${key.keyJoin('version', 'incoming')}) past on current.hash is null
      where current.hash is distinct from incoming.hash
      order by incoming.position`,
    [...key.keyValues(chunk.map((one) => one.root)), chunk.map((one) => one.hash)],
  )
}

async function closeVersions(sql: Sql, history: History, entities: readonly Prepared[], at: Date): Promise<void> {
  if (entities.length === 0) return
  const key = historySql(history)
  await sql.query(
    `update ${key.table.name} current set valid_until = $${key.nextParameter}
       from unnest(${key.keyArrays}) as ending(${key.keyNames})
      where ${key.keyJoin('current', 'ending')} and current.valid_until = 'infinity'`,
    [...key.keyValues(entities.map((one) => one.root)), at],
  )
}

async function insertVersions(
  sql: Sql,
  history: History,
  versions: readonly { readonly entity: Prepared; readonly previousUntil: Date | null }[],
  at: Date,
): Promise<void> {
  if (versions.length === 0) return
  const root = bulkTable(history.root)
  const keys = history.root[historyShape].key
  const roots = function* () {
    for (const { entity, previousUntil } of versions) {
      const { hash, documentText: document } = entity
      yield { ...entity.root, hash, document, validFrom: at, validUntil: 'infinity', previousUntil }
    }
  }
  await copyRows(sql, root, roots())
  for (const [part, table] of Object.entries(history.parts)) {
    const parts = function* () {
      for (const { entity } of versions) {
        const version: Record<string, unknown> = { validFrom: at }
        for (const key of keys) version[key] = entity.root[key]
        for (const row of entity.parts[part] ?? []) yield { ...version, ...row }
      }
    }
    if (versions.some(({ entity }) => entity.parts[part]?.length)) await copyRows(sql, bulkTable(table), parts())
  }
}
