import type { Database } from '../../../src/db/database.ts'
import { historyShape } from '../../../src/db/history.ts'
import type { Resource, Worklist } from '../../../src/sync/declare/resource.ts'
import { tablesOf } from '../../../src/sync/replay/replayed-tables.ts'
import { bulkTable, historySql } from '../../../src/sync/sql/history-sql.ts'

/** Fingerprints or values by name. */
export type Facts = ReadonlyMap<string, string>

/** In tables without a column for what a resource is about. */
export const rootKey = 'root'

/** What each row is about, first come first served, or several columns joined with a slash, in the tables of the resources whose responses are mutated. */
export const keyColumns: Readonly<Record<string, readonly string[]>> = {
  items: ['internal_name', 'key'],
  recipes: ['internal_name', 'key'],
  'item-sets': ['name', 'key'],
  'item-metadata': ['path'],
  territories: ['territory'],
  'guild-list': ['guild_uuid'],
  seasons: ['season'],
  'online-players': ['player_uuid', 'world'],
  guilds: ['player_uuid'],
  players: ['character_uuid'],
  'loot-pools': ['internal_name'],
  raids: ['internal_name'],
  camps: ['internal_name'],
  'world-events': ['internal_name'],
  quests: ['counted', 'key'],
  'map-markers': ['name/x/y/z'],
  'gathering-nodes': ['x/y/z/resource'],
  classes: ['class', 'key'],
  'ability-trees': ['id', 'key'],
  aspects: ['internal_name', 'key'],
  articles: ['pk', 'key'],
  videos: ['address'],
  'latest-news': ['forum_thread', 'key'],
  leaderboards: ['place'],
}

/** Everything that the tables of a resource ever said of each key: a fingerprint for each table and key. */
export async function historyOf(db: Database, resource: Resource | Worklist): Promise<Facts> {
  const columns = keyColumns[resource.name] ?? []
  const tables = [...tablesOf(resource), ...(resource.changeLog ? ['game.field_change'] : [])]
  const names = [...new Set(tables)].filter((table) => table.startsWith('game.'))
  const selects = names.map((table) => {
    const named = columns.map((column) => (column === 'path' && table.endsWith('change') ? 'key' : column))
    const key = `coalesce(${named.map(valueIn).join(', ')}, '${rootKey}')`
    return `select '${table}' as name, ${key} as key, md5(string_agg(row::text, ',' order by row::text)) as digest
              from (select to_jsonb(each) as row from ${table} each) rows group by 2`
  })
  const rows = await db.query<{ name: string; key: string; digest: string }>(selects.join(' union all '))
  return new Map(rows.map(({ name, key, digest }) => [`${key} in ${name}`, digest]))
}

/** A column of a row as text, or several in one. */
function valueIn(column: string): string {
  const parts = column.split('/').map((part) => `row ->> '${part}'`)
  return parts.length > 1 ? `concat_ws('/', ${parts.join(', ')})` : String(parts[0])
}

/** What holds now: the current version of each key, and the latest sample of each. */
export async function currentOf(db: Database, resource: Resource | Worklist): Promise<Facts> {
  const versions = [resource.history, ...Object.values(resource.relatedHistories ?? {})].map((history) => {
    const { table, keyText } = historySql(history)
    return `select '${table.name}' as name, ${keyText('one')} as key, encode(one.hash, 'hex') as value
              from ${table.name} one where one.valid_until = 'infinity'`
  })
  const samples = Object.values(resource.samples ?? {}).map(({ table, key }) => {
    const { name, columns } = bulkTable(table)
    const keys = key.map((property) => `one.${columns.get(property)?.name}`)
    return `select '${name}', latest.key, latest.value from (
              select distinct on (${keys.join(', ')}) concat_ws('/', ${keys.join(', ')}) as key, (to_jsonb(one) - 'observed_at')::text as value
                from ${name} one order by ${[...keys, 'one.observed_at desc'].join(', ')}) latest`
  })
  const rows = await db.query<{ name: string; key: string; value: string }>(
    [...versions, ...samples].join(' union all '),
  )
  return new Map(rows.map(({ name, key, value }) => [`${key} in ${name}`, value]))
}

/** The names of a resource's tables of versions. */
export function versionTables(resource: Resource | Worklist): string[] {
  return [resource.history, ...Object.values(resource.relatedHistories ?? {})].map(({ root }) => {
    if (!(historyShape in root)) throw new Error('no history')
    return bulkTable(root).name
  })
}
