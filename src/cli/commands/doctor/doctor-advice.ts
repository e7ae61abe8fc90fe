import type { Config } from '../../../base/config.ts'
import { FatalError, RetryableError, UsageError } from '../../../base/errors.ts'
import { NothingThere } from '../../../db/connect.ts'
import { sqlState } from '../../../db/sql-errors.ts'

/** What to do about a database in which nothing can be written. */
export const readOnlyAdvice =
  'queries work; to sync, set DATABASE_URL to the primary, or unset default_transaction_read_only for this user'

/** The same where the views of another version are installed, and where the history is of another API. */
export const VIEWS_ADVICE =
  '`wynnsync migrate` installs them, or says what is in the way; until then some questions fail'
export const ORIGIN_ADVICE = 'nothing is synced into it as it is configured now'

const FULL_DISK = 'make room on the disk that the database is on; nothing can be synced until then'

/** What to do about each SQLSTATE (PostgreSQL manual, appendix A). */
const byState: Readonly<Record<string, string>> = {
  '53100': FULL_DISK,
  '53200': 'the server is out of memory: look at its shared_buffers and work_mem, and at what else runs there',
  '53300': 'the server has no free connection: end some, or raise its max_connections',
  '25006': readOnlyAdvice,
  '42501': 'this user lacks a right: grant what the line above shows, or use the user who owns the tables',
  '28P01':
    'check user and password in DATABASE_URL, or PGPASSWORD; special characters in a URL must be percent-encoded',
  '28000': 'check the user in DATABASE_URL, pg_hba.conf of the server, and whether it requires ?sslmode=require',
  '3D000': 'create the database first: createdb NAME',
  '57P03': 'the server is starting up or shutting down: wait, then look into its log',
}

/** The same for connection errors, by the names of errno(3) and of the driver. */
const byReason: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'is the server running, and are host and port of DATABASE_URL right? pg_isready checks',
  ENOTFOUND: 'is the host name in DATABASE_URL right, and does this machine resolve it?',
  EAI_AGAIN: 'this machine cannot resolve host names now: look at its network and DNS',
  EHOSTUNREACH: 'look at the network between this machine and the host in DATABASE_URL',
  ENETUNREACH: 'look at the network between this machine and the host in DATABASE_URL',
  ETIMEDOUT: 'a firewall may be in the way, or the host in DATABASE_URL is down',
  CONNECT_TIMEOUT: 'a firewall may be in the way, or the host in DATABASE_URL is down',
  ENOENT: 'the socket that DATABASE_URL names does not exist: is the server running?',
}

/** Whether a server says in an internal error that its disk is full: it fails to write the files of a new session (PostgreSQL, relcache.c). */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && /could not write init file|no space left on device/i.test(error.message)
}

/** What to do about a database that cannot be used. */
export function databaseAdvice(
  error: unknown,
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
): string {
  const state = sqlState(error)
  const known = state === undefined ? undefined : byState[state]
  if (known !== undefined) return known
  if (isDiskFull(error)) return FULL_DISK
  const isOurs = error instanceof FatalError || error instanceof RetryableError
  const reason = isOurs ? byReason[String(error.context.reason)] : undefined
  if (reason !== undefined) return reason
  if (error instanceof NothingThere) return 'nothing, where this is to be its place: the first `wynnsync sync` makes it'
  if (error instanceof UsageError) return 'correct the setting as the line above shows'
  if (databaseUrl !== undefined) return 'look into the log of the server'
  if (error instanceof RetryableError)
    return 'another process has the embedded database open: wait for its end, or end it'
  return `look at the folder ${dataDir}: is it yours, and is there room?`
}
