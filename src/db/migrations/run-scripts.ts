import { basename } from 'node:path'
import type { Clock } from '../../app/clock.ts'
import { FatalError, messageOf } from '../../app/errors.ts'
import type { Sql } from '../database.ts'
import { sqlState } from '../sql-errors.ts'
import { naming, type Script } from './migration-files.ts'

/** PostgreSQL manual, appendix A: dependent_objects_still_exist. */
const IS_NEEDED = '2BP01'

export interface InstalledScripts {
  readonly applied: readonly string[]
  /** Why they could not be replaced; the present ones stay. */
  readonly postponed?: string
}

/**
 * Installs the repeatable SQL from the first file that changed on. Where a view of the user's own needs what is to be
 * dropped, all present views stay: syncs go on without waiting for a person.
 *
 * @throws FatalError naming the file that failed
 */
export async function runScripts(sql: Sql, scripts: readonly Script[], clock: Clock): Promise<InstalledScripts> {
  await sql.query('savepoint scripts')
  try {
    const applied = await runDueScripts(sql, scripts, clock)
    await sql.query('release savepoint scripts')
    return { applied }
  } catch (error) {
    if (sqlState(error) !== IS_NEEDED || !(error instanceof FatalError)) throw error
    await sql.query('rollback to savepoint scripts; release savepoint scripts')
    const { cause } = error
    const objects = cause instanceof FatalError ? cause.context.detail : messageOf(cause)
    return {
      applied: [],
      postponed: `${error.context.file} makes something anew that objects of your own need (${objects}): save their definitions, drop them, run \`wynnsync migrate\`, and create them again`,
    }
  }
}

async function runDueScripts(sql: Sql, scripts: readonly Script[], clock: Clock): Promise<string[]> {
  const rows = await sql.query<{ name: string; sha256: string }>('select name, sha256 from sync.installed_sql')
  const installed = new Map(rows.map(({ name, sha256 }) => [name, sha256]))
  const first = scripts.findIndex(({ name, sha256 }) => installed.get(name) !== sha256)
  const due = first < 0 ? [] : scripts.slice(first)
  for (const { name, path, text, sha256 } of due) {
    await naming(basename(path), () => sql.query(text))
    await sql.query(
      `insert into sync.installed_sql (name, sha256, installed_at) values ($1, $2, $3)
       on conflict (name) do update set sha256 = excluded.sha256, installed_at = excluded.installed_at`,
      [name, sha256, new Date(clock.now())],
    )
  }
  return due.map(({ name }) => name)
}
