import { migrateDatabase, openEmbeddedDatabase } from '../app.ts'
import { READER } from '../db/reader.ts'
import { serveWire } from '../db/wire-server.ts'
import { UsageError } from '../errors.ts'
import { type Context, exitCode } from './context.ts'
import { wholeNumber } from './numbers.ts'

export interface ServeFlags {
  readonly port?: string
  readonly host?: string
}

/** `serve-db`: lets others ask the embedded database until it is told to stop. Returns the exit code. */
export async function serveDatabaseCommand(options: ServeFlags, context: Context): Promise<number> {
  const { app, out, flags, signal } = context
  if (app.config.databaseUrl) {
    throw new UsageError('a PostgreSQL server (DATABASE_URL) speaks the protocol itself: connect to it, as a reader')
  }
  const { host = '127.0.0.1' } = options
  const wanted = options.port === undefined ? 5433 : wholeNumber('--port', options.port, 65_535)
  const db = await openEmbeddedDatabase(app, ['serve-db'])
  try {
    await migrateDatabase(db, app)
    const server = await serveWire(db, { host, port: wanted, clock: app.clock, random: app.random })
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
