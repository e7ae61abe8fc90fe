import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { inspect, parseEnv } from 'node:util'
import envPaths from 'env-paths'
import { z } from 'zod'
import { readHostNames, readRawDays, readShares, share, withPassword } from './config-values.ts'
import { codeOf, messageOf, UsageError } from './errors.ts'

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })
const postgresUrl = z.url({
  protocol: /^postgres(ql)?$/,
  error: 'must look like postgres://user:password@host:5432/database',
})
const folders = envPaths('wynnsync', { suffix: '' })

const schema = z.object({
  DATABASE_URL: postgresUrl.optional(),
  PGPASSWORD: z.string().min(1).optional(),
  WYNNSYNC_BASE_URL: httpUrl.default('https://api.wynncraft.com/v3'),
  WYNNSYNC_TOKEN: z.string().min(1).optional(),
  WYNNSYNC_CREDENTIALS: z.string().min(1).default(join(folders.config, 'credentials.json')),
  WYNNSYNC_CLIENT_SECRET: z.string().min(1).optional(),
  WYNNSYNC_DATA_DIR: z.string().min(1).default(folders.data),
  WYNNSYNC_LOG_LEVEL: z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }).default('info'),
  WYNNSYNC_LOG_FORMAT: z.enum(['text', 'json'], { error: 'must be text or json' }).default('text'),
  WYNNSYNC_USER_AGENT: z
    .string()
    .regex(/^[\x20-\x7e]+$/, { error: 'must be printable ASCII' })
    .optional(),
  WYNNSYNC_WEBHOOK_URL: httpUrl
    .refine(hasNoUser, { error: 'must be a URL without user and password: put the secret into its path' })
    .optional(),
  WYNNSYNC_METRICS_HOSTS: z.string().default('').transform(readHostNames),
  WYNNSYNC_SCHEDULE: z.string().optional(),
  WYNNSYNC_RAW: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
  WYNNSYNC_RAW_DAYS: z.string().default('').transform(readRawDays),
  WYNNSYNC_RETENTION: z.string().optional(),
  WYNNSYNC_PLAUSIBLE_SHARE: z.string().default('0.9').transform(readShares),
  WYNNSYNC_ZERO_SHARE: share.default(0.25),
  WYNNSYNC_ABSENCES: z.coerce.number().int().min(1, { error: 'must be a whole number from 1 up' }).default(2),
  WYNNSYNC_PRIVACY: z.enum(['anonymize', 'delete'], { error: 'must be anonymize or delete' }).default('anonymize'),
  WYNNSYNC_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(64, { error: 'must be a whole number from 1 to 64' })
    .default(4),
})

/** The name of every setting. */
export const settingNames: readonly string[] = Object.keys(schema.shape)

/** Further checks by setting: each returns what is wrong with the text, one entry per part. */
export type SettingChecks = Partial<Record<keyof typeof schema.shape, (text: string) => readonly string[]>>

type Variables = Partial<Record<keyof typeof schema.shape, string | undefined>>

/** Everything that can be set from outside, checked. */
export interface Config {
  /** Absent: the embedded database in `dataDir`. */
  readonly databaseUrl: string | undefined
  readonly baseUrl: string
  readonly token: string | undefined
  /** Where `auth login` keeps what it obtained; absolute. */
  readonly credentialsFile: string
  /** Of a private OAuth application. */
  readonly clientSecret: string | undefined
  readonly dataDir: string
  readonly logLevel: (typeof logLevels)[number]
  /** Plain lines for people, or pino's own JSON. */
  readonly logFormat: 'text' | 'json'
  readonly userAgent: string | undefined
  /** Where failures, recoveries and guard actions are sent. Secret: the URL is the credential. */
  readonly webhookUrl: string | undefined
  /** Host names, besides addresses and `localhost`, under which metrics and health are served. */
  readonly metricsHosts: readonly string[]
  /** Schedules that differ from the resources' own: `territories=0 * * * *; players=off`. */
  readonly schedule: string | undefined
  /** How long samples and the ledger are kept: `all=1y; territory_resource=30d/2y`. Absent: for ever. */
  readonly retention: string | undefined
  /** Whether responses are archived. */
  readonly raw: boolean
  /** For how many days, by resource, where that differs from the defaults; Infinity for ever. */
  readonly rawDays: Readonly<Record<string, number>>
  /** Requests in flight per bucket. */
  readonly concurrency: number
  /** A response smaller than this share (0..1) of the last accepted one is rejected. */
  readonly plausibleShare: number
  /** The same for single resources, by name. */
  readonly plausibleShares: Readonly<Record<string, number>>
  /** Share (0..1) of counters that fall to zero at once from which on they are taken for a glitch. */
  readonly zeroShare: number
  /** In how many consecutive complete responses a key must be missing before its tombstone. */
  readonly absences: number
  /** What is removed when a player restricts something: that field group, or everything kept of the player so far. */
  readonly privacy: 'anonymize' | 'delete'
}

/** Command line flags that set what a variable sets too. */
export interface ConfigFlags {
  readonly databaseUrl?: string
  readonly baseUrl?: string
  readonly dataDir?: string
  readonly logLevel?: string
  readonly concurrency?: string
}

const flagNames: Partial<Record<keyof typeof schema.shape, string>> = {
  DATABASE_URL: '--database-url',
  WYNNSYNC_BASE_URL: '--base-url',
  WYNNSYNC_DATA_DIR: '--data-dir',
  WYNNSYNC_LOG_LEVEL: '--log-level',
  WYNNSYNC_CONCURRENCY: '--concurrency',
}

/**
 * Flags override the environment, the environment overrides `.env` in the working directory. Empty values count as
 * absent. The only reader of the process environment.
 * @throws UsageError that lists every wrong value at once, and never shows a credential
 */
export function readConfig(
  flags: ConfigFlags = {},
  environment: Variables = process.env,
  folder = process.cwd(),
  checks: SettingChecks = {},
): Config {
  const given = givenSettings(flags, environment, folder)
  const parsed = schema.safeParse(given)
  const issues = (parsed.error?.issues ?? []).map(({ path, message }) => [nameOf(path[0]), message] as const)
  const misformed = new Set(issues.map(([name]) => name))
  for (const [key, check] of Object.entries(checks)) {
    const [name, text] = [nameOf(key), given[nameOf(key)]]
    if (text !== undefined && !misformed.has(name)) issues.push(...check(text).map((one) => [name, one] as const))
  }
  if (issues.length > 0 || !parsed.success) {
    const lines = issues.map(([name, message]) => {
      return `  ${name}${flagNames[name] ? ` (${flagNames[name]})` : ''}: ${message}`
    })
    throw new UsageError(`the configuration is wrong:\n${lines.join('\n')}`)
  }
  return configOf(parsed.data, folder)
}

function nameOf(key: PropertyKey | undefined): keyof typeof schema.shape {
  return String(key) as keyof typeof schema.shape
}

/** The texts of all settings that are given, before any is checked. */
export function givenSettings(
  flags: ConfigFlags = {},
  environment: Variables = process.env,
  folder = process.cwd(),
): Variables {
  return {
    ...withoutEmpty(readDotEnv(folder)),
    ...withoutEmpty(environment),
    ...withoutEmpty({
      DATABASE_URL: flags.databaseUrl,
      WYNNSYNC_BASE_URL: flags.baseUrl,
      WYNNSYNC_DATA_DIR: flags.dataDir,
      WYNNSYNC_LOG_LEVEL: flags.logLevel,
      WYNNSYNC_CONCURRENCY: flags.concurrency,
    }),
  }
}

function configOf(values: z.infer<typeof schema>, folder: string): Config {
  return withHiddenSecrets({
    databaseUrl: values.DATABASE_URL && withPassword(values.DATABASE_URL, values.PGPASSWORD),
    baseUrl: values.WYNNSYNC_BASE_URL,
    token: values.WYNNSYNC_TOKEN,
    credentialsFile: resolve(folder, values.WYNNSYNC_CREDENTIALS),
    clientSecret: values.WYNNSYNC_CLIENT_SECRET,
    dataDir: values.WYNNSYNC_DATA_DIR,
    logLevel: values.WYNNSYNC_LOG_LEVEL,
    logFormat: values.WYNNSYNC_LOG_FORMAT,
    userAgent: values.WYNNSYNC_USER_AGENT,
    webhookUrl: values.WYNNSYNC_WEBHOOK_URL,
    metricsHosts: values.WYNNSYNC_METRICS_HOSTS,
    schedule: values.WYNNSYNC_SCHEDULE,
    raw: values.WYNNSYNC_RAW === 'on',
    rawDays: values.WYNNSYNC_RAW_DAYS,
    retention: values.WYNNSYNC_RETENTION,
    concurrency: values.WYNNSYNC_CONCURRENCY,
    ...values.WYNNSYNC_PLAUSIBLE_SHARE,
    zeroShare: values.WYNNSYNC_ZERO_SHARE,
    absences: values.WYNNSYNC_ABSENCES,
    privacy: values.WYNNSYNC_PRIVACY,
  })
}

/** Texts that no log line may hold. */
export function secretsIn({ databaseUrl, token, clientSecret, webhookUrl }: Config): string[] {
  // The bare password may be a word such as the program's own name, which would then vanish from every line.
  const password = databaseUrl === undefined ? '' : new URL(databaseUrl).password
  return [token ?? [], clientSecret ?? [], webhookUrl ?? [], password ? `:${password}@` : []].flat()
}

function hasNoUser(url: string): boolean {
  return !URL.canParse(url) || (new URL(url).username === '' && new URL(url).password === '')
}

/** Hides the secrets when the configuration is printed, in a log line or while debugging. */
function withHiddenSecrets(config: Config): Config {
  const hidden = (secret: string | undefined) => secret && '[hidden]'
  const show = () => ({
    ...config,
    databaseUrl: hidden(config.databaseUrl),
    token: hidden(config.token),
    clientSecret: hidden(config.clientSecret),
    webhookUrl: hidden(config.webhookUrl),
  })
  return Object.defineProperty(config, inspect.custom, { value: show })
}

function readDotEnv(folder: string): Variables {
  let text: string
  try {
    text = readFileSync(`${folder}/.env`, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {}
    throw new UsageError(`${folder}/.env cannot be read: ${messageOf(error)}`)
  }
  return parseEnv(text)
}

function withoutEmpty(variables: Variables): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''))
}
