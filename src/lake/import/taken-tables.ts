import { resources } from '../../resources/index.ts'
import { type WrittenTable, writtenTables } from '../../sync/declare/written-tables.ts'
import { bulkTable } from '../../sync/sql/history-sql.ts'
import { fieldChange } from '../../sync/tables/ledger.ts'

/*
 * Tables by kind, from the declarations of the resources. Of each kind one set of statements imports all tables:
 * - versions (slowly changing dimension): a root with its parts, `merge-versions.ts`
 * - samples: a row holds until the next one of its series, `merge-rows.ts`
 * - events and averages: a row says what happened at an instant, or in an hour, `merge-rows.ts`
 * - the ledger: which times were observed, `merge-ledger.ts`
 * - sessions: rows that a later response ends, `merge-rows.ts`
 * What follows from versions is not imported, but made anew from the versions of both.
 */

const written = resources.flatMap(writtenTables)
const follows = (one: WrittenTable) => one.kind === 'rows' && one.isFollowing

/** Every table that is imported, with how. */
export const takenTables: readonly WrittenTable[] = written.filter((one) => !follows(one))

/** Tables of what follows from versions. */
export const followingTables: readonly string[] = [
  bulkTable(fieldChange).name,
  ...written.filter(follows).map(({ table }) => table),
]
