import { pino } from 'pino'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { visibleLine, visibleText } from './terminal-text.ts'

export type Log = ReturnType<typeof createLog>

/** Fields that every line has and that its text already shows. */
const shown = new Set(['level', 'time', 'msg', 'resource', 'err'])

interface LogOptions {
  /** Default text. */
  readonly format?: Config['logFormat']
  /** Texts that are replaced by `[hidden]`. */
  readonly secrets?: readonly string[]
  /** Default: to stderr. */
  readonly write?: (text: string) => void
}

type Format = Config['logFormat']

/**
 * A pino logger that writes plain lines to stderr: `2026-05-01 08:16:56Z warn items: message key=value`, or JSON.
 * stdout is for results, so that output can be piped.
 */
export function createLog(
  level: Config['logLevel'],
  clock: Clock,
  { format = 'text', secrets = [], write = writerTo(process.stderr, clock, format) }: LogOptions = {},
) {
  const hide = hiding(secrets)
  const options: LineOptions = { withStack: level === 'debug' || level === 'trace' }
  const shownLine = (line: string) => {
    if (format === 'json') return visibleText(line)
    try {
      return toText(JSON.parse(line), options)
    } catch {
      // A secret that looks like a part of the line was hidden in it.
      return `${visibleLine(line)}\n`
    }
  }
  return pino(
    { level, base: null, timestamp: () => `,"time":${clock.now()}`, errorKey: 'err' },
    { write: (line) => write(shownLine(hide(line))) },
  )
}

/** What waits for a reader of the log that has stopped reading, bytes: further lines are dropped. */
const PENDING_BYTES = 1_000_000

/** A stream as far as a log needs it. */
type LogStream = Pick<NodeJS.WriteStream, 'writableLength' | 'write'>

/**
 * Writes lines to a stream that may fail, as stderr does on a full disk or when its reader has gone: what cannot be written is
 * dropped, and its number is in the log as soon as that works again. Whatever is logged goes on meanwhile.
 */
export function writerTo(stream: LogStream, clock: Clock, format: Format): (text: string) => void {
  let dropped = 0
  const note = () => {
    const entry = {
      level: pino.levels.values.warn ?? 40,
      time: clock.now(),
      msg: `the log lacks ${dropped} lines: they could not be written`,
    }
    return format === 'json' ? `${JSON.stringify(entry)}\n` : toText(entry)
  }
  return (text) => {
    if (stream.writableLength > PENDING_BYTES) {
      dropped++
      return
    }
    const noted = dropped
    const shown = noted > 0 ? note() + text : text
    dropped = 0
    stream.write(shown, (error) => {
      if (error) dropped += noted + 1
    })
  }
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

interface LineOptions {
  /** Whether errors have their stack below the line. */
  readonly withStack?: boolean
}

interface Entry {
  readonly level: number
  readonly time: number
  readonly msg?: string
  readonly resource?: string
  /** What was thrown: an error, or anything else. */
  readonly err?: { readonly message?: string; readonly stack?: string } | string
}

function toText(entry: Entry, { withStack = false }: LineOptions = {}): string {
  const level = pino.levels.labels[entry.level] ?? String(entry.level)
  const time = new Date(entry.time).toISOString().replace(/\.\d+/, '')
  const fields = Object.entries(entry)
    .filter(([name, value]) => !shown.has(name) && value !== undefined && value !== null)
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  // Indented: a message of several lines inside it could pass for lines of the log.
  const stack =
    withStack && typeof entry.err === 'object' && entry.err.stack
      ? `\n${visibleText(entry.err.stack).replace(/^/gm, '  ')}`
      : ''
  const subject = entry.resource ? `${entry.resource}: ` : ''
  return `${visibleLine(`${time} ${level} ${subject}${withReason(entry)}${fields.join('')}`)}${stack}\n`
}

/** The message, and that of the error as far as it does not say it. */
function withReason({ msg = '', err }: Entry): string {
  const reason = typeof err === 'string' ? err : (err?.message ?? '')
  if (msg.includes(reason)) return msg
  if (msg === '') return reason
  // The error's message goes on with those of its causes.
  const parts = reason.split(': ')
  const said = parts.findLastIndex((_, n) => msg.endsWith(parts.slice(0, n + 1).join(': ')))
  return [msg, ...parts.slice(said + 1)].join(': ')
}
