import type { AnyPgTable } from 'drizzle-orm/pg-core'
import { FatalError } from '../../base/errors.ts'
import { historyShape } from '../../db/history.ts'
import { bulkTable, historySql } from '../sql/history-sql.ts'
import { type History, isWorklist, type ResourceBase } from './resource.ts'

interface OfResource {
  readonly resource: string
  /** Whether each key has responses of its own. */
  readonly isKeyed: boolean
}

export interface VersionsTable extends OfResource {
  readonly kind: 'versions'
  /** The resource, or the resource and the name of a related history, as claims name it. */
  readonly history: string
  /** The root. */
  readonly table: string
  readonly parts: readonly string[]
  readonly key: readonly string[]
  /** Whether a version says when it was first seen, which may be after its start. */
  readonly hasObserved: boolean
}

export interface RowsTable extends OfResource {
  readonly kind: 'rows'
  readonly table: string
  readonly time: string
  /** Of samples: the columns of a series. Of events undefined: a row says nothing of the time after it. */
  readonly series?: readonly string[]
  /** The column with the key of the worklist. */
  readonly scope?: string
  /** Averages by the hour of samples that were compacted: only where there is nothing of the resource yet. */
  readonly isAverage: boolean
  /** Whether the rows follow from the versions of a history: they are neither imported nor retracted, but made anew. */
  readonly isFollowing: boolean
  /** Whether a later response ends a row: only where all responses of the resource come from the same lake. */
  readonly isSession: boolean
}

export type WrittenTable = VersionsTable | RowsTable

/**
 * Columns that say which response a row is from, which hour is meant, or when a session began. A table with none of them is
 * imported by its first instant.
 */
const INSTANTS = ['observedAt', 'capturedAt', 'announcedAt', 'hour', 'latest', 'firstListedAt']

/** The tables that a resource writes, by kind: histories with their parts, and rows. What is worked out from other tables is not among them, but for what follows from its versions. */
export function writtenTables(resource: ResourceBase & { extractOne?: unknown }): WrittenTable[] {
  const isKeyed = isWorklist(resource as never)
  const of = { resource: resource.name, isKeyed }
  const related = Object.entries(resource.relatedHistories ?? {})
  const named: [string, History][] = [
    [resource.name, resource.history],
    ...related.map(([name, history]): [string, History] => [`${resource.name}/${name}`, history]),
  ]
  const histories = named.map(([, history]) => history)
  const versions = named.map(([name, history]) => {
    const { table, keyNames } = historySql(history)
    return {
      ...of,
      kind: 'versions' as const,
      history: name,
      table: table.name,
      parts: Object.values(history.parts).map((part) => bulkTable(part).name),
      key: keyNames.split(', '),
      hasObserved: table.columns.has('observedAt'),
    }
  })
  const series = new Map<AnyPgTable, readonly string[]>()
  for (const { table, key } of Object.values(resource.samples ?? {})) series.set(table, key)
  for (const { table, key } of resource.retained ?? []) series.set(table, key)
  const averages = (resource.retained ?? []).flatMap(averagesOf)
  const following = histories.flatMap((history) => history.following?.table ?? [])
  const others = [...(resource.derived ?? []), ...averages]
  const roots = new Set<AnyPgTable>(histories.map(({ root }) => root))
  const rows = [...new Set([...series.keys(), ...others])].filter(
    (table) => !roots.has(table) && !(historyShape in table),
  )
  return [
    ...versions,
    ...rows.map((table) => {
      const is = { isAverage: averages.includes(table), isFollowing: following.includes(table) }
      return rowsTable({ ...of, ...is }, table, series.get(table))
    }),
  ]
}

function averagesOf(retained: object): AnyPgTable[] {
  const { averages } = retained as { averages?: { table?: AnyPgTable } }
  return averages?.table ? [averages.table] : []
}

/** @throws FatalError for a table without an instant that is always set: its rows could not be ordered */
export function rowsTable(
  of: OfResource & Pick<RowsTable, 'isAverage' | 'isFollowing'>,
  table: AnyPgTable,
  key: readonly string[] | undefined,
): RowsTable {
  const { name, columns } = bulkTable(table)
  const named = (property: string) => columns.get(property)?.name ?? property
  const instants = [...columns].filter(([, column]) => column.notNull && /^timestamp/.test(column.getSQLType()))
  const time = INSTANTS.find((property) => columns.get(property)?.notNull) ?? instants[0]?.[0]
  if (time === undefined)
    throw new FatalError(`${name} has no column that says when; a lake cannot be imported into it`)
  const first = key?.[0] ?? [...columns.keys()][0]
  return {
    ...of,
    kind: 'rows',
    table: name,
    time: named(time),
    isSession: time === 'firstListedAt',
    ...(key === undefined ? {} : { series: key.map(named) }),
    ...(of.isKeyed && first !== undefined ? { scope: named(first) } : {}),
  }
}
