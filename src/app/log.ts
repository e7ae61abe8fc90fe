import { pino } from 'pino'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { visibleLine, visibleText } from './terminal-text.ts'

export type Log = ReturnType<typeof createLog>

/** Fields that every line has and that its text already shows. */
const shown = new Set(['level', 'time', 'msg', 'resource', 'err'])

export interface LogOptions {
  /** Default text. */
  readonly format?: Config['logFormat']
  /** Texts that are replaced by `[hidden]`. */
  readonly secrets?: readonly string[]
  /** Default: to stderr. */
  readonly write?: (text: string) => void
}

/**
 * A pino logger that writes plain lines to stderr: `2026-05-01 08:16:56Z warn items: message key=value`, or JSON.
 * stdout is for results, so that output can be piped.
 */
export function createLog(
  level: Config['logLevel'],
  clock: Clock,
  { format = 'text', secrets = [], write = (text) => void process.stderr.write(text) }: LogOptions = {},
) {
  const hide = hiding(secrets)
  return pino(
    { level, base: null, timestamp: () => `,"time":${clock.now()}`, errorKey: 'err' },
    { write: (line) => write(format === 'json' ? visibleText(hide(line)) : toText(JSON.parse(hide(line)))) },
  )
}

/** Shorter texts are words, which must stay readable. */
const shortestSecret = 6

/** Replaces secrets in a line of JSON, plain or percent-encoded. */
function hiding(secrets: readonly string[]): (line: string) => string {
  const forms = secrets
    .filter((secret) => secret.length >= shortestSecret)
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .map((form) => JSON.stringify(form).slice(1, -1))
  return (line) => forms.reduce((rest, form) => rest.replaceAll(form, '[hidden]'), line)
}

function toText(entry: {
  level: number
  time: number
  msg?: string
  resource?: string
  err?: { stack?: string }
}): string {
  const level = pino.levels.labels[entry.level] ?? String(entry.level)
  const time = new Date(entry.time).toISOString().replace('T', ' ').replace(/\.\d+/, '')
  const fields = Object.entries(entry)
    .filter(([name, value]) => !shown.has(name) && value !== undefined && value !== null)
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  // Indented: a message of several lines inside it could pass for lines of the log.
  const stack = level === 'debug' && entry.err?.stack ? `\n${visibleText(entry.err.stack).replace(/^/gm, '  ')}` : ''
  const subject = entry.resource ? `${entry.resource}: ` : ''
  return `${visibleLine(`${time} ${level} ${subject}${entry.msg ?? ''}${fields.join('')}`)}${stack}\n`
}
