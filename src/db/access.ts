import { FatalError, messageOf } from '../base/errors.ts'
import type { Database, Sql } from './database.ts'
import { READER } from './reader.ts'
import { sqlState } from './sql-errors.ts'

/** SQLSTATE of a write into a read-only database, and of a statement without the right to it. */
export const READ_ONLY = '25006'
export const NO_RIGHT = '42501'

/** Why nothing can be written, or null where it can. */
export async function readOnlyReason(sql: Sql): Promise<string | null> {
  const [row] = await sql.query<{ standby: boolean; setting: string }>(
    `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as setting`,
  )
  if (row?.standby) return 'it is a standby'
  return row?.setting === 'on' ? 'default_transaction_read_only is on' : null
}

/** The error of a database that would have to be migrated and cannot be. */
export function cannotMigrate(db: Database, reason: string): FatalError {
  return new FatalError(
    `database ${db.place} is read-only (${reason}), and its tables are not those of this version of wynnsync: run \`wynnsync migrate\` of this version where it can be written`,
    { context: { place: db.place, sqlState: READ_ONLY } },
  )
}

/** The same error; where a right was missing, with the server's reason and what to grant. */
export async function withGrants(db: Database, error: unknown): Promise<unknown> {
  const cause = innermost(error)
  if (sqlState(cause) !== NO_RIGHT) return cause
  const [row] = await db
    .query<{ user: string; database: string; owner: string | null; isSuper: boolean | null; reads: boolean }>(
      `select quote_ident(current_user) as user, quote_ident(current_database()) as database,
              (select nspowner::regrole::text from pg_namespace where nspname = 'sync') as owner,
              (select rolsuper from pg_roles
                where oid = (select nspowner from pg_namespace where nspname = 'sync')) as "isSuper",
              coalesce(pg_has_role(to_regrole($1), 'usage'), false) as reads`,
      [READER],
    )
    .catch(() => [])
  const { user = 'this user', database = 'this database', owner = null, isSuper = true, reads = false } = row ?? {}
  // Such a login is meant for other programs: it is not to become the owner.
  if (reads)
    return new FatalError(
      `database ${db.place}: ${user} is in the role ${READER}, which reads the schema analytics alone, with psql, Grafana or another program; this command needs a login with the rights of ${owner ?? 'the owner of the tables'}`,
      { context: { place: db.place, sqlState: NO_RIGHT } },
    )
  const said = `database ${db.place}: ${messageOf(cause)}`
  const context = { place: db.place, sqlState: NO_RIGHT }
  if (owner === null) {
    const grant = `grant create on database ${database} to ${user}`
    return new FatalError(`${said}; ask the owner of the database for: ${grant}`, { context: { ...context, grant } })
  }
  // Membership in the owner would give all that it may do, in every database; what a superuser owns cannot be reassigned as a whole.
  const handOver = isSuper
    ? `alter ... owner to ${user}, for all that is in the schemas of wynnsync (docs/how-to/psql.md has it)`
    : `reassign owned by ${owner} to ${user}`
  return new FatalError(
    `${said}; the tables belong to ${owner}: use its login, or ask a superuser to hand them over in this database: ${handOver}`,
    { context },
  )
}

/** The innermost cause with an SQLSTATE: query builders wrap it into an error about their statement. */
function innermost(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (sqlState(cause) !== undefined) return cause
  return error
}
