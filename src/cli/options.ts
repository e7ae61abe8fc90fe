import { Option } from 'commander'
import type { App } from '../app/app.ts'
import { UsageError } from '../base/errors.ts'
import { DURATION, durationOf, INSTANT, instantOf } from '../base/text/instants.ts'

/** A flag, such as `--limit <keys>`. */
export function option(flags: string, description: string): Option {
  return new Option(flags, description)
}

/** A flag that may be given several times; its value is the list. */
export function repeatable(flags: string, description: string): Option {
  return option(flags, description).argParser((value: string, before: readonly string[] = []) => [...before, value])
}

/** The flags of every command. */
export const commonOptions: readonly Option[] = [
  option('--database-url <url>', 'PostgreSQL server, or embedded, which is the default (DATABASE_URL)'),
  option('--data-dir <folder>', 'folder of the embedded database, which is used then (WYNNSYNC_DATA_DIR)'),
  option('--base-url <url>', 'URL of the API (WYNNSYNC_BASE_URL)'),
  option('--log-level <level>', 'trace, debug, info, warn, error or silent (WYNNSYNC_LOG_LEVEL)'),
  option('--json', 'the result as one JSON document on stdout'),
  option('--quiet', 'only errors'),
]

/** The flag of the commands whose tables may be wider than a terminal. */
export const wide = option('--wide', 'tables as wide as they are, instead of cut to the terminal')

/** The flag of the commands whose tables may have any number of rows. */
export const rowsLimit = option(
  '--limit <rows>',
  'at most that many rows, 0 for all (default: 50 in a table on a terminal)',
)

/** The flags of every command that destroys something. @param what the dry run tells */
export const consentFlags = (what: string) => [
  option('--yes', 'do it without asking; without a terminal it takes this or --dry-run'),
  option('--dry-run', `only print ${what}`),
]

/** The flag of every command that sends requests to the API. */
export const concurrency = option('--concurrency <number>', 'requests in flight per rate-limit bucket (default: 4)')

/** The flag of every command that writes what the API responds. */
export const acceptBaseUrl = option(
  '--accept-base-url',
  'take responses from this base URL too, which is the same API under another address',
)

/** The flags of every command that serves over HTTP. */
export const webOptions = [
  option('--public', 'let other machines connect; says what they can read of people'),
  option('--no-people', 'leave out every answer about a single player'),
  option(
    '--rate-limit <requests>',
    'requests a minute and address, ten times as many with a key, 0 for no limit (default: 60)',
  ),
  option('--cors <origin>', 'let pages of this origin read the API, feeds and changes; * for all'),
  option('--mcp', 'answer assistants at /mcp (Model Context Protocol), too'),
]

/** The instant that a flag names; undefined without the flag. @throws UsageError when its text is none */
export function instantFlag(flag: string, text: string | undefined, { clock }: Pick<App, 'clock'>): Date | undefined {
  if (text === undefined) return undefined
  const instant = instantOf(text, clock.now())
  if (instant === undefined) throw new UsageError(`${flag} must be ${INSTANT}, got ${text}`)
  return instant
}

/** The length of time that a flag names, ms; 0 is none. @throws UsageError when its text is none */
export function durationFlag(flag: string, text: string): number {
  const duration = text === '0' ? 0 : durationOf(text)
  if (duration === undefined) throw new UsageError(`${flag} must be ${DURATION}, got ${text}`)
  return duration
}

type Flags = Readonly<Record<string, unknown>>

/** Whether a flag, such as `--web-host` or `--no-people`, is on the command line. */
function isGiven(flags: Flags, flag: string): boolean {
  const known = new Option(flag)
  const value = flags[known.attributeName()]
  return known.negate ? value === false : value !== undefined && value !== false
}

/** @throws UsageError when one of these flags is given without the one that gives them something to do */
export function refuseWithout(flags: object, needed: string, idle: readonly string[]): void {
  if (isGiven(flags as Flags, needed)) return
  const flag = idle.find((one) => isGiven(flags as Flags, one))
  if (flag !== undefined) throw new UsageError(`${flag} does nothing without ${needed}`)
}

/** @throws UsageError when this flag and one that it leaves nothing to do are given */
export function refuseWith(flags: object, first: string, idle: readonly string[]): void {
  if (!isGiven(flags as Flags, first)) return
  const flag = idle.find((one) => isGiven(flags as Flags, one))
  if (flag !== undefined) throw new UsageError(`${flag} does nothing with ${first}`)
}

/** @throws UsageError when one of these flags is given, which all commands have but which this one has no use for */
export function refuseIn(command: string, flags: object, idle: readonly string[]): void {
  const flag = idle.find((one) => isGiven(flags as Flags, one))
  if (flag !== undefined) throw new UsageError(`${flag} does nothing in ${command}`)
}
