import { once } from 'node:events'
import { openForReaders } from '../../../app/app.ts'
import { UsageError } from '../../../base/errors.ts'
import { wholeNumber } from '../../../base/settings.ts'
import { serveWire } from '../../../db/pgwire/pgwire-server.ts'
import { READER } from '../../../db/reader.ts'
import { isLoopback } from '../../../monitoring/host-names.ts'
import { type Context, untilAborted, writeResult } from '../../context.ts'

interface ServeFlags {
  readonly port?: string
  readonly host?: string
  readonly password?: string
}

/** `serve-db`: serves the embedded database over the Postgres protocol until SIGTERM or Ctrl-C. */
export async function serveDbCommand(context: Context, flags: ServeFlags): Promise<void> {
  const { app } = context
  if (app.config.databaseUrl) {
    throw new UsageError('a PostgreSQL server (DATABASE_URL) speaks the protocol itself: connect to it, as a reader')
  }
  const { host = '127.0.0.1', password } = flags
  if (password === '') throw new UsageError('--password must not be empty')
  if (password === undefined && !isLoopback(host)) {
    throw new UsageError(`--host ${host} lets other machines connect: give a --password too, which clients then need`)
  }
  const port = flags.port === undefined ? 5433 : wholeNumber('--port', flags.port, 65_535)
  context.progress.during('serve-db')
  const db = await openForReaders(app, ['serve-db'])
  try {
    const server = await serveWire(db, { host, port, clock: app.clock, random: app.random, password })
    const url = `postgres://${READER}@${host.includes(':') ? `[${host}]` : host}:${server.port}/wynnsync`
    writeResult(context, { url }, welcome(url, db.place))
    await Promise.race([untilAborted(context), once(db.failure, 'abort')])
    await server.close()
    // A supervisor may start it again.
    db.failure.throwIfAborted()
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
