import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import envPaths from 'env-paths'
import { z } from 'zod'
import { UsageError } from './errors.ts'

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })
const postgresUrl = z.url({
  protocol: /^postgres(ql)?$/,
  error: 'must look like postgres://user:password@host:5432/database',
})
const share = z.coerce.number().min(0).max(1, { error: 'must lie between 0 and 1' })

const schema = z.object({
  DATABASE_URL: postgresUrl.optional(),
  WYNNSYNC_BASE_URL: httpUrl.default('https://api.wynncraft.com/v3'),
  WYNNSYNC_TOKEN: z.string().min(1).optional(),
  WYNNSYNC_DATA_DIR: z
    .string()
    .min(1)
    .default(envPaths('wynnsync', { suffix: '' }).data),
  WYNNSYNC_LOG_LEVEL: z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }).default('info'),
  WYNNSYNC_USER_AGENT: z.string().min(1).optional(),
  WYNNSYNC_PLAUSIBLE_SHARE: share.default(0.9),
  WYNNSYNC_ABSENCES: z.coerce.number().int().min(1, { error: 'must be a whole number from 1 up' }).default(2),
  WYNNSYNC_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(64, { error: 'must be a whole number from 1 to 64' })
    .default(4),
})

type Variables = Partial<Record<keyof typeof schema.shape, string | undefined>>

/** Everything that can be set from outside, checked. */
export interface Config {
  /** Absent: the embedded database in `dataDir`. */
  readonly databaseUrl: string | undefined
  readonly baseUrl: string
  readonly token: string | undefined
  readonly dataDir: string
  readonly logLevel: (typeof logLevels)[number]
  readonly userAgent: string | undefined
  /** Requests in flight per bucket. */
  readonly concurrency: number
  /** An answer smaller than this share (0..1) of the last good one is rejected. */
  readonly plausibleShare: number
  /** In how many consecutive complete answers a key must be missing before its version ends. */
  readonly absences: number
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
): Config {
  const given: Variables = {
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
  const parsed = schema.safeParse(given)
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path, message }) => {
      const name = String(path[0]) as keyof typeof schema.shape
      return `  ${name}${flagNames[name] ? ` (${flagNames[name]})` : ''}: ${message}`
    })
    throw new UsageError(`the configuration is wrong:\n${lines.join('\n')}`)
  }
  const values = parsed.data
  return {
    databaseUrl: values.DATABASE_URL,
    baseUrl: values.WYNNSYNC_BASE_URL,
    token: values.WYNNSYNC_TOKEN,
    dataDir: values.WYNNSYNC_DATA_DIR,
    logLevel: values.WYNNSYNC_LOG_LEVEL,
    userAgent: values.WYNNSYNC_USER_AGENT,
    concurrency: values.WYNNSYNC_CONCURRENCY,
    plausibleShare: values.WYNNSYNC_PLAUSIBLE_SHARE,
    absences: values.WYNNSYNC_ABSENCES,
  }
}

function readDotEnv(folder: string): Variables {
  let text: string
  try {
    text = readFileSync(`${folder}/.env`, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new UsageError(`${folder}/.env cannot be read: ${(error as Error).message}`)
  }
  return parseEnv(text)
}

function withoutEmpty(variables: Variables): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''))
}
