import { isIPv4 } from 'node:net'
import { openForReaders } from '../../../app/app.ts'
import { UsageError } from '../../../app/errors.ts'
import { wholeNumber } from '../../../app/whole-number.ts'
import { serveWire } from '../../../db/pgwire/pgwire-server.ts'
import { READER } from '../../../db/reader.ts'
import { type Context, exitCode } from '../../context.ts'

export interface ServeFlags {
  readonly port?: string
  readonly host?: string
  readonly password?: string
}

/** `serve-db`: lets others ask the embedded database until it is told to stop. Returns the exit code. */
export async function serveDatabaseCommand(options: ServeFlags, context: Context): Promise<number> {
  const { app, out, flags, signal } = context
  if (app.config.databaseUrl) {
    throw new UsageError('a PostgreSQL server (DATABASE_URL) speaks the protocol itself: connect to it, as a reader')
  }
  const { host = '127.0.0.1', password } = options
  if (password === '') throw new UsageError('--password must not be empty')
  if (password === undefined && !isLoopback(host)) {
    throw new UsageError(`--host ${host} lets other machines connect: give a --password too, which clients then need`)
  }
  const wanted = options.port === undefined ? 5433 : wholeNumber('--port', options.port, 65_535)
  const db = await openForReaders(app, ['serve-db'])
  try {
    const server = await serveWire(db, { host, port: wanted, clock: app.clock, random: app.random, password })
    const url = `postgres://${READER}@${host.includes(':') ? `[${host}]` : host}:${server.port}/wynnsync`
    out.write(flags.json ? `${JSON.stringify({ url })}\n` : welcome(url, db.place))
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    await server.close()
    return exitCode.done
  } finally {
    await db.close()
  }
}

function welcome(url: string, place: string): string {
  return `the database in ${place}, for reading, at ${url}
try:  psql ${url} -c 'select * from analytics.freshness'
stop: Ctrl-C; nothing can be synced into it until then
`
}

/** Whether only this machine reaches an address. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}
