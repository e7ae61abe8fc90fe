/**
 * Errors are sorted by what the caller does with them, not by where they arose:
 * try again later, put one record aside, stop, or tell the user what to type.
 */

/** What a person needs to find the place: resource, key, JSON path, URL, attempt ... Never a credential. */
export type ErrorContext = Readonly<Record<string, string | number | boolean | null | undefined>>

interface ErrorOptionsWithContext {
  readonly context?: ErrorContext
  readonly cause?: unknown
}

class ContextError extends Error {
  readonly context: ErrorContext

  constructor(message: string, options: ErrorOptionsWithContext = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.context = options.context ?? {}
  }
}

/** The service or the database could not answer now; the same call may succeed later. Exit code 75. */
export class RetryableError extends ContextError {}

/** One record cannot be understood. It goes to quarantine with its raw value; the rest of its page goes on. Exit code 3. */
export class RecordError extends ContextError {}

/** Going on would lose or invent something, or cannot work at all. Exit code 1. */
export class FatalError extends ContextError {}

/** The command line or the configuration is wrong; the message says what to write instead. Exit code 2. */
export class UsageError extends ContextError {}
