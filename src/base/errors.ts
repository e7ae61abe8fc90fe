import { channel } from 'node:diagnostics_channel'

/**
 * Errors are sorted by what the caller does with them: try again later, quarantine one record, stop, or show the user what
 * to correct.
 */

/** Where it happened: resource, key, JSON path, URL, attempt ... Never a credential. */
type ErrorContext = Readonly<Record<string, string | number | boolean | null | undefined>>

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

/** The certificate of a host cannot be trusted: a repeat would bring the same. */
export class CertificateFault extends FatalError {}

/** The proxy refuses the request: a repeat would bring the same. */
export class ProxyRefusal extends FatalError {}

/** The proxy cannot be reached, or does not reach the host now. */
export class ProxyAway extends RetryableError {}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The `code` of a system error, such as `ENOENT`; undefined for other errors. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** OpenSSL's and Node's names of what is wrong with a certificate. */
const CERTIFICATE =
  /^(?:CERT_|CRL_|ERR_TLS_CERT_|UNABLE_TO_|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT|ERROR_IN_(?:CERT|CRL)_|(?:INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|UNSPECIFIED)$)/

/**
 * What is wrong with the certificate of a host, and what helps; undefined for another error.
 * @param authorities what names the file of an authority to trust
 */
export function certificateFault(
  error: unknown,
  authorities = 'NODE_EXTRA_CA_CERTS, in the environment of the program,',
): { readonly reason: string; readonly text: string } | undefined {
  const reason = String(codeOf(error))
  if (!CERTIFICATE.test(reason)) return undefined
  // A list of names may follow, or advice about flags of Node.js.
  const what = messageOf(error).split('; if ')[0]?.slice(0, 200)
  return { reason, text: `${what} (${reason}); ${certificateAdvice(reason, authorities)}` }
}

/** The error for a certificate that cannot be trusted; undefined for another error. */
export function trustFault(error: unknown, host: string): CertificateFault | undefined {
  const fault = certificateFault(error)
  return fault && new CertificateFault(`${host} cannot be trusted: ${fault.text}`, { context: { host, ...fault } })
}

function certificateAdvice(reason: string, authorities: string): string {
  if (/EXPIRED|NOT_YET_VALID|_FIELD$/.test(reason))
    return "its certificate must be renewed there, unless this machine's clock is wrong"
  if (/ALTNAME|HOSTNAME/.test(reason))
    return 'its certificate is that of another host: is the address right, or does something in between answer?'
  if (/REVOKED|REJECTED|CRL|PURPOSE/.test(reason)) return 'its certificate must be replaced there'
  return `${authorities} names the file of who signed its certificate, where that is an authority of your own`
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

/** What lacks where a file cannot be written, by the error's code or by what DuckDB or git says. */
const LACKS = [
  [
    /^(ENOSPC|EDQUOT)$/,
    /(^(Error: )?\w+ Error|: (fatal|error)): .*No space left on device/,
    'make room on the disk of',
  ],
  [
    /^EFBIG$/,
    /(^(Error: )?\w+ Error: .*File too large|died of signal 25$)/,
    'raise the limit of the size of files (ulimit -f) for',
  ],
  [/^E[MN]FILE$/, /^(Error: )?\w+ Error: .*Too many open files/, 'raise the limit of open files (ulimit -n) for'],
] as const

/** Says of a full disk where it is, and what to do, and of a limit likewise; every other error comes back as it is. @param place what is written to */
export function withRoom(error: unknown, place: string): unknown {
  const code = String(codeOf(error))
  const text = messageOf(error)
  const [, , advice] = LACKS.find(([ofCode, ofText]) => ofCode.test(code) || ofText.test(text)) ?? []
  if (advice === undefined) return error
  const message = `${text}; ${advice} ${place}, and run the same command again`
  return new FatalError(message, { cause: error })
}

const reached = channel('wynnsync:reached')

/**
 * Says that a way was taken which few runs take: a guard, a claim, a repeated request, a recovery. Tests listen, and fail where none of them
 * takes one of these ways; a program on which nothing listens pays a comparison.
 */
export function reach(way: string): void {
  if (reached.hasSubscribers) reached.publish(way)
}
