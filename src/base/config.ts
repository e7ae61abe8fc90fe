import { join, resolve } from 'node:path'
import { inspect } from 'node:util'
import type { z } from 'zod'
import { passwordsIn, readConnection, type ServerTarget, withoutPasswords, withPassword } from './connection-string.ts'
import { readEnvFile } from './env-file.ts'
import { UsageError } from './errors.ts'
import { type ProxySettings, proxyNames, userOfProxy, withoutUser } from './proxies.ts'
import { defaultOf, flagNames, secretSettings, settingNames, settings } from './settings.ts'
import { didYouMean, isMisspelt, nearest } from './text/nearest.ts'

export { settingNames }

/** Further checks by setting: each returns what is wrong with the text, one entry per part. */
export type SettingChecks = Partial<Record<keyof typeof settings.shape, (text: string) => readonly string[]>>

type Variables = Partial<Record<keyof typeof settings.shape, string | undefined>>

/** Everything that can be set from outside, checked; `settings.ts` describes each. */
export type Config = Readonly<ReturnType<typeof configOf>> & {
  readonly libpq: ReturnType<typeof libpqOf>
  /** What the URL of the database says and this program does not do. */
  readonly databaseWarnings: readonly string[]
}

/** The environment for a child process, without the variables that `names` matches. */
export function environmentWithout(names: RegExp, environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !names.test(name)))
}

/** Command line flags that set what a variable sets too. */
export interface ConfigFlags {
  readonly databaseUrl?: string
  readonly baseUrl?: string
  readonly dataDir?: string
  readonly logLevel?: string
  readonly concurrency?: string
}

/**
 * Flags override the environment, the environment overrides `.env` in the working directory. Empty values count as
 * absent. The only reader of the process environment.
 * @throws UsageError that lists every wrong value at once, and never shows a credential; when flags name two databases
 */
export function readConfig(
  flags: ConfigFlags = {},
  environment: Variables = process.env,
  folder = process.cwd(),
  checks: SettingChecks = {},
): Config {
  const given = givenSettings(flags, environment, folder)
  const parsed = settings.safeParse(given)
  const issues = (parsed.error?.issues ?? []).map(({ path, message }) => [nameOf(path[0]), message] as const)
  const libpq = libpqOf(environment)
  const server = given.DATABASE_URL === undefined ? undefined : serverIn(given.DATABASE_URL, libpq)
  if (server instanceof UsageError) issues.unshift(['DATABASE_URL', server.message])
  const misformed = new Set(issues.map(([name]) => name))
  for (const [key, check] of Object.entries(checks)) {
    const name = nameOf(key)
    const text = given[nameOf(key)]
    if (text !== undefined && !misformed.has(name))
      issues.push(...check(text).map((problem) => [name, problem] as const))
  }
  if (issues.length > 0 || !parsed.success) {
    const lines = issues.map(([name, message]) => {
      return `  ${name}${flagNames[name] ? ` (${flagNames[name]})` : ''}: ${message}`
    })
    throw new UsageError(`the configuration is wrong:\n${lines.join('\n')}`)
  }
  const { warnings = [] } = server instanceof UsageError ? {} : (server ?? {})
  return withHiddenSecrets({ ...configOf(parsed.data, folder), libpq, databaseWarnings: warnings })
}

/** The variables of libpq, for what the URL of the database leaves out. */
function libpqOf(environment: Variables): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(withoutEmpty(environment)).filter(([name]) => /^PG[A-Z]+$/.test(name)))
}

function serverIn(text: string, libpq: ReturnType<typeof libpqOf>): ServerTarget | UsageError {
  try {
    return readConnection(text, libpq)
  } catch (error) {
    if (error instanceof UsageError) return error
    throw error
  }
}

const isUrl = (text: string) => /^[a-z][a-z0-9+.-]+:\/\//i.test(text)

function nameOf(key: PropertyKey | undefined): keyof typeof settings.shape {
  return String(key) as keyof typeof settings.shape
}

/** The texts of all settings that are given, before any is checked. */
export function givenSettings(
  flags: ConfigFlags = {},
  environment: Variables = process.env,
  folder = process.cwd(),
): Variables {
  const { flag, environment: variables, '.env': file } = layersOf(flags, environment, folder)
  const { DATABASE_URL, ...given } = { ...file, ...variables, ...flag }
  return DATABASE_URL === undefined || DATABASE_URL === EMBEDDED ? given : { ...given, DATABASE_URL }
}

/** Instead of a URL: the embedded database. */
const EMBEDDED = 'embedded'

/** What is given where; the first goes before the others. */
function layersOf(flags: ConfigFlags, environment: Variables, folder: string) {
  const flag = withoutEmpty({
    DATABASE_URL: flags.databaseUrl,
    WYNNSYNC_BASE_URL: flags.baseUrl,
    WYNNSYNC_DATA_DIR: flags.dataDir,
    WYNNSYNC_LOG_LEVEL: flags.logLevel,
    WYNNSYNC_CONCURRENCY: flags.concurrency,
  })
  if (flag.WYNNSYNC_DATA_DIR !== undefined && ![undefined, EMBEDDED].includes(flag.DATABASE_URL))
    throw new UsageError('--database-url and --data-dir name two databases: leave one out')
  const variables = withProxies(withoutEmpty(environment))
  const file = withProxies(withoutEmpty(envFileIn(folder).values))
  return {
    flag,
    environment: withoutOverruled(variables, [flag]),
    '.env': withoutOverruled(file, [flag, variables]),
  }
}

/** A layer with its proxies in upper case; the name in lower case goes first, as in undici and curl. */
function withProxies(layer: Variables): Variables {
  const given: Readonly<Record<string, string | undefined>> = layer
  const proxies = proxyNames.flatMap((name) => {
    const value = given[name.toLowerCase()] ?? given[name]
    return value === undefined ? [] : [[name, value]]
  })
  return { ...layer, ...Object.fromEntries(proxies) }
}

/** What a setting decides that is given alone: the others say the same in another way, and must not decide from a layer below. */
const overrules = [
  ['WYNNSYNC_DATA_DIR', 'DATABASE_URL'],
  ['AWS_ACCESS_KEY_ID', 'AWS_SESSION_TOKEN'],
] as const

/** A layer without what a setting of a layer above decides. */
function withoutOverruled(layer: Variables, above: readonly Variables[]): Variables {
  const overruled = overrules.flatMap(([decides, other]) =>
    above.some((one) => one[decides] !== undefined && one[other] === undefined) ? [other as string] : [],
  )
  return Object.fromEntries(Object.entries(layer).filter(([name]) => !overruled.includes(name)))
}

export interface SettingInUse {
  readonly name: string
  /** Null: it is not set; `[hidden]`: a secret that is. */
  readonly value: string | null
  /** Null: it is not set. */
  readonly source: keyof ReturnType<typeof layersOf> | 'default' | null
}

/** Every setting with its value and where that comes from. */
export function settingsInUse(flags: ConfigFlags): SettingInUse[] {
  const layers = Object.entries(layersOf(flags, process.env, process.cwd()))
  return Object.keys(settings.shape).map((key) => {
    const name = nameOf(key)
    const [source, values] = layers.find(([, given]) => given[name] !== undefined) ?? ['default', undefined]
    const value = values?.[name] ?? defaultOf(name)
    if (value === undefined) return { name, value: null, source: null }
    return { name, value: shownValue(name, value), source: source as SettingInUse['source'] }
  })
}

/** The value without what is secret of it. */
function shownValue(name: string, value: string): string {
  if (secretSettings.includes(name)) return '[hidden]'
  if (proxyNames.includes(name)) return withoutUser(value)
  return name === 'DATABASE_URL' && value !== EMBEDDED ? withoutPasswords(value) : value
}

function configOf(values: z.infer<typeof settings>, folder: string) {
  return {
    /** Absent: the embedded database in `dataDir`. */
    databaseUrl: values.DATABASE_URL && withPassword(values.DATABASE_URL, values.PGPASSWORD),
    baseUrl: values.WYNNSYNC_BASE_URL,
    token: values.WYNNSYNC_TOKEN,
    /** Absolute. */
    credentialsFile: resolve(folder, values.WYNNSYNC_CREDENTIALS),
    clientSecret: values.WYNNSYNC_CLIENT_SECRET,
    dataDir: values.WYNNSYNC_DATA_DIR,
    logLevel: values.WYNNSYNC_LOG_LEVEL,
    logFormat: values.WYNNSYNC_LOG_FORMAT,
    userAgent: values.WYNNSYNC_USER_AGENT,
    /** Secret: the URL is the credential. */
    webhookUrl: values.WYNNSYNC_WEBHOOK_URL,
    metricsHosts: values.WYNNSYNC_METRICS_HOSTS,
    webHosts: values.WYNNSYNC_WEB_HOSTS,
    schedule: values.WYNNSYNC_SCHEDULE,
    /** Whether responses are archived. */
    raw: values.WYNNSYNC_RAW === 'on',
    /** By resource; Infinity for ever. */
    rawDays: values.WYNNSYNC_RAW_DAYS,
    retention: values.WYNNSYNC_RETENTION,
    /** Absolute, or `s3://`; undefined: none. */
    lake:
      values.WYNNSYNC_LAKE &&
      (isUrl(values.WYNNSYNC_LAKE) ? values.WYNNSYNC_LAKE : resolve(folder, values.WYNNSYNC_LAKE)),
    /** Of the bucket of a lake. */
    s3: {
      keyId: values.AWS_ACCESS_KEY_ID,
      secret: values.AWS_SECRET_ACCESS_KEY,
      sessionToken: values.AWS_SESSION_TOKEN,
      region: values.AWS_REGION,
      /** Undefined: that of AWS. */
      endpoint: values.AWS_ENDPOINT_URL_S3,
    },
    proxy: { http: values.HTTP_PROXY, https: values.HTTPS_PROXY, no: values.NO_PROXY } as ProxySettings,
    lakeSchedule: values.WYNNSYNC_LAKE_SCHEDULE,
    concurrency: values.WYNNSYNC_CONCURRENCY,
    /** `plausibleShare` of all resources and `plausibleShares` by resource; 0..1. */
    ...values.WYNNSYNC_PLAUSIBLE_SHARE,
    /** 0..1. */
    zeroShare: values.WYNNSYNC_ZERO_SHARE,
    absences: values.WYNNSYNC_ABSENCES,
    shrunkenHours: values.WYNNSYNC_SHRUNKEN_HOURS,
    /** Whose clock dates responses. */
    trustedClock: values.WYNNSYNC_CLOCK,
    /** Combat levels for which rewards are asked for, too. */
    levels: values.WYNNSYNC_LEVELS,
    privacy: values.WYNNSYNC_PRIVACY,
  }
}

/** Texts that no log line may hold. */
export function secretsIn({ databaseUrl, token, clientSecret, webhookUrl, proxy, s3 }: Config): string[] {
  // The bare password may be a word such as the program's own name, which would then vanish from every line.
  const passwords = databaseUrl === undefined ? [] : passwordsIn(databaseUrl)
  const users = [proxy.http, proxy.https].map((text = '') => userOfProxy(text))
  const secrets = [...users, token, clientSecret, webhookUrl, s3.secret, s3.sessionToken, ...passwords]
  return secrets.flatMap((secret) => secret || [])
}

/** Hides the secrets when the configuration is printed, in a log line or while debugging. */
function withHiddenSecrets(config: Config): Config {
  const hidden = (secret: string | undefined) => secret && '[hidden]'
  const show = () => ({
    ...config,
    databaseUrl: hidden(config.databaseUrl),
    libpq: hidden(config.libpq.PGPASSWORD),
    token: hidden(config.token),
    clientSecret: hidden(config.clientSecret),
    webhookUrl: hidden(config.webhookUrl),
    proxy: {
      ...config.proxy,
      http: config.proxy.http && withoutUser(config.proxy.http),
      https: config.proxy.https && withoutUser(config.proxy.https),
    },
    s3: { ...config.s3, secret: hidden(config.s3.secret), sessionToken: hidden(config.s3.sessionToken) },
  })
  return Object.defineProperty(config, inspect.custom, { value: show })
}

const envFileIn = (folder: string) => readEnvFile(`${folder}/.env`, (name) => isSetting(name) || ownName.test(name))

/** A line feed at the end comes from a file with the line ends of Windows, and is part of no value. Blanks alone are none: as a number they were 0. */
function withoutEmpty(variables: Variables): Variables {
  const values = Object.entries(variables).map(([name, value = '']) => [name, value.replace(/[\r\n]+$/, '')] as const)
  return Object.fromEntries(values.filter(([, value]) => value.trim() !== ''))
}

const ownName = /^WYNNSYNC_/i

const isSetting = (name: string) =>
  settingNames.includes(name) || proxyNames.some((proxy) => proxy.toLowerCase() === name)

/** What other programs read, as compose and the script of `examples` do, and looks like a setting of this one. */
const ofOthers = /^(?:FTP_PROXY|ALL_PROXY|WYNNSYNC_BACKUP)$/i

/**
 * What may be a mistake: names that begin like a setting of this program and are none, misspelt ones in `.env`, and those
 * that `.env` has twice; a folder in the environment that goes before a server in `.env`.
 */
export function settingWarnings(
  environment: Variables = process.env,
  folder = process.cwd(),
  flags: ConfigFlags = {},
): string[] {
  const { values, repeated } = envFileIn(folder)
  // In the environment there is much of others: there only the prefix tells.
  const own = Object.entries(withoutEmpty(environment)).flatMap(([name]) => (ownName.test(name) ? [name] : []))
  const inFile = Object.keys(withoutEmpty(values)).filter(
    (name) => ownName.test(name) || isMisspelt(name, settingNames),
  )
  const unknown = (name: string) => !isSetting(name) && !ofOthers.test(name)
  const text = (where: string) => (name: string) =>
    `${where} sets ${name}, which is no setting of wynnsync and has no effect${didYouMean(nearest(name, settingNames).slice(0, 1))}`
  return [
    ...own.filter(unknown).map(text('the environment')),
    ...inFile.filter(unknown).map(text('.env')),
    ...repeated.flatMap((name) => (unknown(name) ? [] : [`.env sets ${name} more than once: the last line counts`])),
    ...overruledServer(flags, withoutEmpty(environment), withoutEmpty(values)),
  ]
}

function overruledServer(flags: ConfigFlags, environment: Variables, file: Variables): string[] {
  const { WYNNSYNC_DATA_DIR: dataDir, DATABASE_URL: server } = environment
  const isDecidedAbove = [flags.databaseUrl, flags.dataDir, server].some((text) => text)
  if (isDecidedAbove || dataDir === undefined || [undefined, EMBEDDED].includes(file.DATABASE_URL)) return []
  return [
    `the embedded database in ${dataDir} is used: WYNNSYNC_DATA_DIR of the environment goes before DATABASE_URL of .env`,
  ]
}

/** The environment for a program of the user: without the settings of this one, which may be secret. */
export function environmentOfOthers(): NodeJS.ProcessEnv {
  const isOwn = (name: string) => /^(WYNNSYNC_|DATABASE_URL$|PG)/.test(name)
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOwn(name)))
}

/** Where earlier versions kept watches; a database takes them over. */
export function watchFileOf({ dataDir }: { readonly dataDir: string }): string {
  return join(dataDir, 'watches.json')
}
