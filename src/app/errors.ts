/**
 * Errors are sorted by what the caller does with them: try again later, quarantine one record, stop, or show the user what
 * to correct.
 */

/** Where it happened: resource, key, JSON path, URL, attempt ... Never a credential. */
export type ErrorContext = Readonly<Record<string, string | number | boolean | null | undefined>>

class ContextError extends Error {
  readonly context: ErrorContext

  constructor(message: string, options: { readonly context?: ErrorContext; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.context = options.context ?? {}
  }
}

/** The service or the database is unavailable; the same call may succeed later. Exit code 75. */
export class RetryableError extends ContextError {}

/** A signal ended the process, as is usual: nothing is wrong, and the same call goes on later. Exit code 75. */
export class InterruptedError extends RetryableError {}

/** One record cannot be normalized. It is quarantined with its raw value; the rest of its page is not. Exit code 3. */
export class RecordError extends ContextError {}

/** Continuing would lose or invent data, or cannot work. Exit code 1. */
export class FatalError extends ContextError {}

/** The command line or the configuration is wrong; the message has the correction. Exit code 2. */
export class UsageError extends ContextError {}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The `code` of a system error, such as `ENOENT`; undefined for other errors. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** What is said where a port cannot be listened on. @param place with the flag that sets the port */
export function cannotListen(
  error: unknown,
  { host, port, flag }: { readonly host: string; readonly port: number; readonly flag: string },
): UsageError {
  const isTaken = codeOf(error) === 'EADDRINUSE'
  const why = isTaken
    ? 'another program listens on it; choose another, or 0 for a free one'
    : `cannot listen on ${host} (${codeOf(error) ?? String(error)})`
  return new UsageError(`${flag} ${port}: ${why}`, { cause: error })
}
