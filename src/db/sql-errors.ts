import { certificateFault, codeOf, FatalError, RetryableError } from '../base/errors.ts'

/** Reasons of connections that were refused or lost; see errno(3) and the errors of postgres.js. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the host',
  ETIMEDOUT: 'no response in time',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  ENOENT: 'the socket does not exist',
  CONNECT_TIMEOUT: 'no response in time',
  CONNECTION_CLOSED: 'the connection was cut',
  CONNECTION_DESTROYED: 'the connection was cut',
}

/** SQLSTATEs (PostgreSQL manual, appendix A) after which the same work may succeed later. */
const RETRYABLE = new Set([
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '53300', // too_many_connections
  '55P03', // lock_not_available
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now: starting up or shutting down
  '57P05', // idle_session_timeout
])

/** SQLSTATEs of a refused connection, with what to do. */
const REFUSED: Readonly<Record<string, string>> = {
  '28P01': 'check the user and the password in the database URL',
  '28000': 'check the user in the database URL, and whether the server requires ?sslmode=require',
  '3D000': 'create it first: createdb NAME',
}

/** SQLSTATEs whose message may leave out the cause, "wrote only 4096 of 8192 bytes", and what to do. */
const CAUSES: Readonly<Record<string, { readonly cause: string; readonly advice: string }>> = {
  '25006': {
    cause: 'read-only database',
    advice: 'set DATABASE_URL to the primary, or unset default_transaction_read_only for this user',
  },
  '53100': { cause: 'no space left on the disk of database', advice: 'make room on that disk' },
}

/** Postgres has no SQLSTATE for that. */
const LIMITED = {
  cause: 'the size of files is limited for database',
  advice: 'raise the limit of the process that has it open: ulimit -f',
}

const FIELDS = {
  constraint: ['constraint_name', 'constraint'],
  table: ['table_name', 'table'],
  column: ['column_name', 'column'],
  detail: ['detail'],
  where: ['where'],
} as const

/** The SQLSTATE of a failed statement, from an app error or the driver's; undefined for other errors. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof FatalError || error instanceof RetryableError) {
    const state = error.context.sqlState
    return typeof state === 'string' ? state : undefined
  }
  return isFromPostgres(error) ? error.code : undefined
}

/**
 * A driver's error as an app error: RetryableError when the database is unreachable or the statement may be retried, FatalError (with
 * `sqlState`, `constraint`, `table`, `column`, `detail`) when it refuses the statement. Every other error comes back
 * as it is. The driver's own is not kept as cause: it holds the parameters, which must not reach a log.
 *
 * @param place the database without password, for the message
 */
export function toAppError(error: unknown, place: string): unknown {
  if (isFromPostgres(error)) return fromPostgres(error, place)
  const code = String(codeOf(error))
  const fault = certificateFault(error, 'sslrootcert, or NODE_EXTRA_CA_CERTS in the environment,')
  if (fault)
    return new FatalError(`database ${place} cannot be trusted: ${fault.text}`, { context: { place, reason: code } })
  if (!isConnectionLoss(error)) return error
  const reason = UNREACHABLE[code]
  return new RetryableError(`database ${place} cannot be reached: ${reason}`, { context: { place, reason: code } })
}

/** PostgreSQL manual, appendix A: system_error. What an engine fails with that has no SQLSTATE: no statement and no value is at fault. */
export const SYSTEM_ERROR = '58000'

/** Whether an error says that a connection could not be opened, or is gone, and no more. */
export function isConnectionLoss(error: unknown): boolean {
  // A missing file has a code too, and a path; a socket or the driver has none.
  return UNREACHABLE[String(codeOf(error))] !== undefined && !(error instanceof Error && 'path' in error)
}

/** The error of a transaction whose work resolved although one of its statements had failed. */
export function swallowedStatementError(): FatalError {
  return new FatalError('a statement of the transaction failed and its error was swallowed; all of it was rolled back')
}

type PostgresFailure = Error & { readonly code: string; readonly severity?: unknown }

function isFromPostgres(error: unknown): error is PostgresFailure {
  // A pooler has the word in one spelling alone.
  const isNamed = error instanceof Error && ('severity' in error || 'severity_local' in error)
  return isNamed && 'code' in error && typeof error.code === 'string'
}

function fromPostgres(error: PostgresFailure, place: string): Error {
  const fields = new Map<string, unknown>(Object.entries(error))
  const context: Record<string, string> = { place, sqlState: error.code }
  for (const [name, spellings] of Object.entries(FIELDS)) {
    const value = spellings.map((spelling) => fields.get(spelling)).find((text) => typeof text === 'string')
    if (typeof value === 'string') context[name] = value
  }
  if (RETRYABLE.has(error.code) || error.code.startsWith('08'))
    return new RetryableError(`database ${place} is not ready: ${error.message}; try again later`, { context })
  const advice = REFUSED[error.code]
  if (advice)
    return new FatalError(`database ${place} refuses the connection: ${error.message}; ${advice}`, { context })
  const known = /: File too large$/.test(error.message) ? LIMITED : CAUSES[error.code]
  if (known !== undefined)
    return new FatalError(`${known.cause} ${place}: ${error.message}; ${known.advice}`, { context })
  return new FatalError(error.message, { context })
}
