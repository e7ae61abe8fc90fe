import { codeOf, UsageError } from '../errors.ts'

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
