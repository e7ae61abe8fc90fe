import type { Database } from '../../db/database.ts'
import type { ResourceBase } from '../declare/resource.ts'
import { writtenTables } from '../declare/written-tables.ts'
import { archiveChecks } from './archive-checks.ts'
import { chainChecks } from './chain-checks.ts'
import { type Check, findWrong, type WrongRows } from './check.ts'
import { claimChecks, claimWide } from './claim-checks.ts'
import { coverageChecks } from './coverage-checks.ts'
import { ledgerChecks, ledgerWide } from './ledger-checks.ts'
import { outboxChecks } from './outbox-checks.ts'

/** What a check found. */
export interface Verified extends WrongRows {
  readonly check: string
  readonly table: string
  readonly meaning: string
}

interface VerifyOptions {
  readonly signal?: AbortSignal | undefined
  /** Called before each check: how many are done, of how many. */
  readonly onProgress?: (done: number, of: number) => void
}

/** Everything that must hold of the tables that these resources write, and of those of the engine. */
export async function checksOf(resources: readonly ResourceBase[]): Promise<Check[]> {
  const ofResources: Check[] = []
  for (const resource of resources) {
    const tables = writtenTables(resource)
    ofResources.push(
      ...tables.flatMap((table) => (table.kind === 'versions' ? chainChecks(table) : [])),
      ...((await resource.checks?.()) ?? []),
      ...ledgerChecks(resource, tables),
      ...claimChecks(resource),
    )
  }
  return [...ofResources, ...claimWide, ...ledgerWide, ...coverageChecks, ...archiveChecks, ...outboxChecks]
}

/** Runs every check, and changes nothing. */
export async function verifyDatabase(
  db: Database,
  resources: readonly ResourceBase[],
  { signal, onProgress }: VerifyOptions = {},
): Promise<Verified[]> {
  const checks = await checksOf(resources)
  const done: Verified[] = []
  for (const check of checks) {
    signal?.throwIfAborted()
    onProgress?.(done.length, checks.length)
    const found = await findIn(db, check, signal)
    const { name, table, meaning } = check
    done.push({ check: name, table, meaning, wrong: found.wrong, examples: [...found.examples] })
  }
  return done
}

/** One statement is one snapshot. What reads in pieces takes none, so that the embedded database serves others between them. */
async function findIn(db: Database, check: Check, signal: AbortSignal | undefined): Promise<WrongRows> {
  const { find } = check
  if (typeof find === 'function') return await find(db, signal)
  return await db.transaction(async (sql) => {
    await sql.query('set transaction read only; set local statement_timeout = 0')
    return await findWrong(sql, find)
  })
}
