import { join } from 'node:path'
import * as z from 'zod'
import { UsageError } from './errors.ts'
import { userFolders } from './user-folders.ts'

const share = z.coerce.number().min(0).max(1, { error: 'must lie between 0 and 1' })

/** `wynnsync,metrics.example`: host names. */
function readHostNames(text: string, context: z.RefinementCtx) {
  const names = text.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  if (names.every((name) => /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(name))) return names
  context.addIssue('must be host names without port, such as wynnsync,metrics.example')
  return z.NEVER
}

/** `106,80`: combat levels, each once. */
function readLevels(text: string, context: z.RefinementCtx) {
  const parts = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
  const levels = [...new Set(parts.map(Number))]
  if (parts.every((part) => /^[1-9]\d{0,2}$/.test(part)) && levels.length <= 5) return levels
  context.addIssue('must be at most five combat levels, such as 106')
  return z.NEVER
}

/** `territories=7,guilds=forever`: days by resource. */
function readRawDays(text: string, context: z.RefinementCtx) {
  const days: Record<string, number> = {}
  for (const part of text.split(/[,;]/).map((piece) => piece.trim())) {
    if (part === '') continue
    const [, resource, value] = /^([a-z-]+)\s*=\s*(\d{1,5}|forever)$/.exec(part) ?? []
    if (resource === undefined) {
      context.addIssue('must give days by resource, such as territories=7,guilds=forever')
      return z.NEVER
    }
    days[resource] = value === 'forever' ? Number.POSITIVE_INFINITY : Number(value)
  }
  return days
}

/** `0.9,online-players=0.5`: a share for all, and others for single resources. */
function readShares(text: string, context: z.RefinementCtx) {
  let plausibleShare = 0.9
  const plausibleShares: Record<string, number> = {}
  for (const [, resource, value] of text.split(',').map((part) => /^\s*(?:([a-z-]+)=)?(.*)$/.exec(part) ?? [])) {
    const { success, data = 0 } = share.safeParse(value?.trim() || undefined)
    if (!success) {
      context.addIssue('must lie between 0 and 1, such as 0.9 or 0.9,online-players=0.5')
      return z.NEVER
    }
    if (resource === undefined) plausibleShare = data
    else plausibleShares[resource] = data
  }
  return { plausibleShare, plausibleShares }
}

/** @throws UsageError when the text of a flag is no whole number from 0 to `max` */
export function wholeNumber(flag: string, text: string, max = 999_999_999): number {
  const value = Number(text)
  if (!/^\d{1,15}$/.test(text) || value > max)
    throw new UsageError(`${flag} must be a whole number up to ${max}, got ${text}`)
  return value
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })
// Empty values count as absent, so no text is empty.
const text = z.string()
const optionalText = text.optional()
const hostNames = text.default('').transform(readHostNames)
const either = <const Values extends readonly [string, string]>(...values: Values) =>
  z.enum(values, { error: `must be ${values.join(' or ')}` })

/** Every setting: its type, its default, and what it means. */
export const settings = z.object({
  DATABASE_URL: optionalText.describe(
    'PostgreSQL server; without it, and with `embedded`, the embedded database is used',
  ),
  PGPASSWORD: optionalText.describe(
    'its password, where the URL has none (there, special characters must be percent-encoded)',
  ),
  WYNNSYNC_BASE_URL: httpUrl.default('https://api.wynncraft.com/v3').describe('the API'),
  WYNNSYNC_TOKEN: optionalText.describe(
    'API token, for 120 requests a minute instead of 50; sent in the Authorization header, shown nowhere. Without it, the token that `auth login` stored for this API is used',
  ),
  WYNNSYNC_CREDENTIALS: text
    .default(join(userFolders.config, 'credentials.json'))
    .describe(
      'the file that `auth login` keeps its token in, for your eyes only (default `credentials.json` in your user configuration folder)',
    ),
  WYNNSYNC_CLIENT_SECRET: optionalText.describe(
    'secret of a private OAuth application; also `--client-secret` of `auth login`, but every user of the machine can read a command line',
  ),
  WYNNSYNC_DATA_DIR: text
    .default(userFolders.data)
    .describe(
      'folder of the embedded database (default: your user data folder); it goes before a `DATABASE_URL` of a layer below',
    ),
  WYNNSYNC_LOG_LEVEL: z
    .enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` })
    .default('info')
    .describe('trace, debug, info, warn, error, silent; on a terminal the default is warn'),
  WYNNSYNC_LOG_FORMAT: either('text', 'json').default('text').describe('`json` for a JSON object per line'),
  WYNNSYNC_USER_AGENT: text
    .regex(/^[\x20-\x7e]+$/, { error: 'must be printable ASCII' })
    .optional()
    .describe("who you are, for the API's operators"),
  WYNNSYNC_WEBHOOK_URL: httpUrl
    .refine(hasNoUser, { error: 'must be a URL without user and password: put the secret into its path' })
    .optional()
    .describe('receives failures, recoveries and guard actions by POST; secret'),
  WYNNSYNC_METRICS_HOSTS: hostNames.describe(
    'host names, besides addresses and `localhost`, under which metrics and health are served',
  ),
  WYNNSYNC_WEB_HOSTS: hostNames.describe(
    'host names, besides addresses and `localhost`, under which pages and the read API are served',
  ),
  WYNNSYNC_SCHEDULE: optionalText.describe(
    "schedules that differ from the resources' own: `territories=*/5 * * * *; players=off`",
  ),
  WYNNSYNC_RAW: either('on', 'off').default('on').describe('`off` archives no raw responses'),
  WYNNSYNC_RAW_DAYS: text
    .default('')
    .transform(readRawDays)
    .describe(
      'for how many days raw responses are kept, where that differs from the defaults: `territories=7,guilds=forever`',
    ),
  WYNNSYNC_RETENTION: optionalText.describe(
    'how long samples are kept, such as `all=1y; territory_resource=30d/2y; ledger=90d/2y` (default: for ever); see [retention](retention.md)',
  ),
  WYNNSYNC_PLAUSIBLE_SHARE: text
    .default('0.9')
    .transform(readShares)
    .describe(
      'a response with fewer records than this share of the last accepted one is rejected (of worlds online 0.25); `0.9,territories=0.5` sets another for one resource',
    ),
  WYNNSYNC_ZERO_SHARE: share
    .default(0.25)
    .describe(
      "when at least this share of a response's counters falls to zero at once, `sync.guard_action` records it",
    ),
  WYNNSYNC_ABSENCES: z.coerce
    .number()
    .int()
    .min(1, { error: 'must be a whole number from 1 up' })
    .default(2)
    .describe('in how many complete responses in a row a key must be missing before it gets a tombstone'),
  WYNNSYNC_SHRUNKEN_HOURS: z.coerce
    .number()
    .min(0, { error: 'must be a number from 0 up' })
    .default(6)
    .describe('for how many hours responses that are shrunken, but agree, must lack a key before it gets a tombstone'),
  WYNNSYNC_CLOCK: z
    .enum(['both', 'machine', 'api'], { error: 'must be both, machine or api' })
    .default('both')
    .describe(
      "whose clock dates responses: `both` must agree (see [clocks](../explanation/clocks.md)); `api` trusts the API's `Date` alone, as for a sandbox in another time; `machine` trusts this machine alone",
    ),
  WYNNSYNC_LEVELS: text
    .default('')
    .transform(readLevels)
    .describe(
      'combat levels for which the rewards of loot pools, raids and camps are asked for, besides the own level of each: `106`; each is one more request',
    ),
  WYNNSYNC_PRIVACY: either('anonymize', 'delete')
    .default('anonymize')
    .describe(
      'what is removed when a player restricts something: `anonymize` that, `delete` everything kept of the player so far',
    ),
  WYNNSYNC_LAKE: text
    .regex(/^(?:s3:\/\/|(?![a-z][a-z0-9+.-]+:\/\/))/i, { error: 'must be a folder or s3://bucket/prefix' })
    .optional()
    .describe(
      'a folder, or `s3://bucket/prefix`, that `start` keeps up to date as a [lake](../how-to/lake.md) of Parquet files',
    ),
  WYNNSYNC_LAKE_SCHEDULE: text
    .default('17 * * * *')
    .describe('when `start` exports into that lake, besides at its start: a cron expression in UTC'),
  AWS_ACCESS_KEY_ID: optionalText.describe('key of the bucket of a lake, where that is `s3://`'),
  AWS_SECRET_ACCESS_KEY: optionalText.describe('the secret of that key'),
  AWS_SESSION_TOKEN: optionalText.describe('its token, where the key is for a time only'),
  AWS_REGION: text
    .regex(/^[a-z0-9-]+$/, { error: 'must be a region such as eu-central-1' })
    .default('us-east-1')
    .describe('region of the bucket'),
  AWS_ENDPOINT_URL_S3: httpUrl
    .refine(hasNoUser, { error: 'must be a URL without user and password' })
    .optional()
    .describe('the S3 service where it is not that of AWS: MinIO, R2, Garage'),
  HTTPS_PROXY: optionalText.describe(
    'the [proxy](#proxies-and-certificates) for requests to `https://` addresses, `http://host:port`, perhaps with user and password; without it that of `HTTP_PROXY`. In lower case, too',
  ),
  HTTP_PROXY: optionalText.describe('the same for `http://` addresses. In lower case, too'),
  NO_PROXY: optionalText.describe(
    'hosts that are reached without a proxy: `localhost,127.0.0.1,.example.org`; `*` for all. In lower case, too',
  ),
  WYNNSYNC_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(64, { error: 'must be a whole number from 1 to 64' })
    .default(4)
    .describe('requests in flight per rate-limit bucket'),
})

export const settingNames: readonly string[] = Object.keys(settings.shape)

/** Settings that are shown nowhere. */
export const secretSettings: readonly string[] = [
  'PGPASSWORD',
  'WYNNSYNC_TOKEN',
  'WYNNSYNC_CLIENT_SECRET',
  'WYNNSYNC_WEBHOOK_URL',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
]

/** The default of a setting as it would be written, or undefined. */
export function defaultOf(name: keyof typeof settings.shape): string | undefined {
  let schema: unknown = settings.shape[name]
  // A default lies below what makes it optional and what transforms it.
  while (schema instanceof z.ZodType) {
    const { def } = schema
    if (def.type === 'default') return String(Reflect.get(def, 'defaultValue')) || undefined
    schema = Reflect.get(def, 'innerType') ?? Reflect.get(def, 'in')
  }
  return undefined
}

/** Flags of every command that set the same. */
export const flagNames: Partial<Record<keyof typeof settings.shape, string>> = {
  DATABASE_URL: '--database-url',
  WYNNSYNC_BASE_URL: '--base-url',
  WYNNSYNC_DATA_DIR: '--data-dir',
  WYNNSYNC_LOG_LEVEL: '--log-level',
  WYNNSYNC_CONCURRENCY: '--concurrency',
}

function hasNoUser(url: string): boolean {
  return !URL.canParse(url) || (new URL(url).username === '' && new URL(url).password === '')
}
