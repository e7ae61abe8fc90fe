import type { VersionsTable } from '../declare/written-tables.ts'
import type { Check } from './check.ts'

/** What must hold of the versions of a history, which constraints hold too, unless an index or a disk is broken. */
export function chainChecks(of: VersionsTable): Check[] {
  const { table, parts, key } = of
  const keys = key.join(', ')
  const chain: Check = {
    name: 'chain',
    table,
    meaning: 'versions of a key that overlap, of which two are current, or that do not name the end of the one before',
    find: chainFind(of),
  }
  const rootless = parts.map((part) => ({
    name: 'part',
    table: part,
    meaning: `parts of a version that ${table} does not have`,
    find: `select ${keys}, valid_from, count(*)::int as rows from ${part}
            where not exists (select from ${table} root where root.valid_from = ${nameOf(part)}.valid_from
                                 and ${key.map((column) => `root.${column} = ${nameOf(part)}.${column}`).join(' and ')})
            group by ${keys}, valid_from`,
  }))
  return [chain, ...rootless]
}

const nameOf = (table: string) => table.replace(/^.*\./, '')

/** What `problem` says of an interval that is none. */
export const REVERSED = 'ends before it begins'

/** SQL of the versions that do not follow on each other. */
export function chainFind({ table, key }: Pick<VersionsTable, 'table' | 'key'>): string {
  const keys = key.join(', ')
  return `select ${keys}, valid_from, valid_until, previous_until, problem
      from (select ${keys}, valid_from, valid_until, previous_until,
                   case when valid_from >= valid_until then '${REVERSED}'
                        when valid_until = 'infinity' and lead(valid_until) over versions = 'infinity' then 'two current versions'
                        when valid_until > lead(valid_from) over versions then 'overlaps the next version'
                        -- An overlap counts once, for the version before.
                        when previous_until is distinct from lag(valid_until) over versions
                             and (lag(valid_until) over versions <= valid_from) is not false
                        then 'does not name the end of the version before' end as problem
              from ${table} window versions as (partition by ${keys} order by valid_from)) version
     where problem is not null`
}
