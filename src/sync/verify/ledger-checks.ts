import { isWorklist, type ResourceBase } from '../declare/resource.ts'
import type { VersionsTable, WrittenTable } from '../declare/written-tables.ts'
import { accepted } from '../sql/history-sql.ts'
import type { Check } from './check.ts'

/**
 * What must hold between the history of a resource and the ledger. Where retention has removed responses, only what came after
 * them is held against those that are left.
 */
export function ledgerChecks(
  resource: ResourceBase & { extractOne?: unknown },
  tables: readonly WrittenTable[],
): Check[] {
  const isKeyed = isWorklist(resource as never)
  return [
    ...tables.flatMap((table) => (table.kind === 'versions' ? [sourceCheck(table)] : [])),
    ...(isKeyed ? [worklistCheck(resource.name)] : []),
    ...(resource.changeLog ? tables.slice(0, 1).flatMap((table) => changeChecks(resource.name, table)) : []),
  ]
}

/** From when on the ledger of a resource has every accepted response. */
const wholeSince = (resource: string) =>
  `(select greatest((select thinned_until from sync.coverage_reach where resource = '${resource}'),
                    (select fine_since from sync.tier where sample_table = 'ledger/${resource}'),
                    (select coarse_since from sync.tier where sample_table = 'ledger/${resource}'), '-infinity') as since)`

function sourceCheck({ resource, table, key, hasObserved, isKeyed }: VersionsTable): Check {
  const seen = hasObserved ? 'version.observed_at' : 'version.valid_from'
  const keyText = key.map((column) => `version.${column}::text`).join(` || '/' || `)
  const response = isKeyed
    ? `select from sync.observation one where one.resource = '${resource}' and one.key = version.${key[0]}::text
          and one.observed_at = ${seen} and one.${accepted}`
    : `select from sync.run one where one.resource = '${resource}' and one.observed_at = ${seen} and one.${accepted}`
  return {
    name: 'source',
    table,
    meaning: 'versions that begin with a response which is neither in the ledger nor of a lake',
    find: `select ${key.map((column) => `version.${column}`).join(', ')}, version.valid_from, ${seen} as seen_at
             from ${table} version, ${wholeSince(resource)} whole
            where ${seen} >= whole.since and not exists (${response})
              and not exists (select from sync.source_version said where said.table_name = '${table}'
                                 and said.key = ${keyText} and said.valid_from = version.valid_from)`,
  }
}

function worklistCheck(resource: string): Check {
  return {
    name: 'worklist',
    table: 'sync.work_item',
    meaning: `keys of ${resource} whose latest accepted response is not in the ledger`,
    find: `select item.resource, item.key, item.observed_at from sync.work_item item, ${wholeSince(resource)} whole
            where item.resource = '${resource}' and item.observed_at >= whole.since
              and not exists (select from sync.observation one where one.resource = item.resource and one.key = item.key
                                 and one.observed_at = item.observed_at and one.${accepted})`,
  }
}

/** What was written down field by field follows from versions. */
function changeChecks(resource: string, root: WrittenTable): Check[] {
  if (root.kind !== 'versions') return []
  const keyOf = (row: string) => root.key.map((column) => `${row}.${column}::text`).join(` || '/' || `)
  const keyText = keyOf('version')
  return [
    {
      follows: { history: root.table, key: 'wrong.key' },
      name: 'change',
      table: 'game.field_change',
      meaning: `changes of ${resource} at an instant at which no version begins or ends`,
      find: `select change.resource, change.key, change.changed_at, change.path from game.field_change change
              where change.resource = '${resource}'
                and not exists (select from ${root.table} version where ${keyText} = change.key
                                   and change.changed_at in (version.valid_from, version.valid_until))`,
    },
    {
      follows: { history: root.table, key: keyOf('wrong') },
      name: 'version without change',
      table: root.table,
      meaning: 'versions after another one of which no change was written down',
      find: `select ${root.key.map((column) => `version.${column}`).join(', ')}, version.valid_from from ${root.table} version
              where version.previous_until is not null
                and not exists (select from game.field_change change where change.resource = '${resource}'
                                   and change.key = ${keyText} and change.changed_at = version.valid_from)`,
    },
  ]
}

/** What must hold of the ledger as a whole. */
export const ledgerWide: readonly Check[] = [
  {
    name: 'import',
    table: 'sync.source_version',
    meaning: 'what is said to come from an import that is not known',
    find: `select source_id, table_name, key, valid_from from sync.source_version said
            where not exists (select from sync.source where source.source_id = said.source_id)
            union all
           select source_id, 'sync.run', run_id::text, observed_at from sync.run
            where source_id is not null and not exists (select from sync.source where source.source_id = run.source_id)`,
  },
  {
    name: 'gap',
    table: 'sync.gap',
    meaning: 'gaps of a resource that overlap',
    find: `select resource, began_at, ended_at from (
             select *, lead(began_at) over (partition by resource order by began_at) as next_at from sync.gap) gap
            where ended_at > next_at or ended_at < began_at`,
  },
]
