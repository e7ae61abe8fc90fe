import { pino } from 'pino'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'

export type Log = ReturnType<typeof createLog>

/** Fields that every line has and that its text already shows. */
const shown = new Set(['level', 'time', 'msg', 'resource', 'err'])

/**
 * A pino logger that writes plain lines to stderr: `2026-05-01 08:16:56Z warn items: message key=value`.
 * stdout is kept for answers, so that output can be piped.
 */
export function createLog(
  level: Config['logLevel'],
  clock: Clock,
  write = (text: string) => process.stderr.write(text),
) {
  return pino(
    { level, base: null, timestamp: () => `,"time":${clock.now()}`, errorKey: 'err' },
    { write: (line) => write(toText(JSON.parse(line))) },
  )
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
  const stack = level === 'debug' && entry.err?.stack ? `\n${entry.err.stack}` : ''
  return `${time} ${level} ${entry.resource ? `${entry.resource}: ` : ''}${entry.msg ?? ''}${fields.join('')}${stack}\n`
}
