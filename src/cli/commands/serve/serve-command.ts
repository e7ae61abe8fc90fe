import type { Database } from '../../../db/database.ts'
import { type Context, untilAborted, withDatabase, writeResult } from '../../context.ts'
import { openWeb, type WebFlags, webOptionsOf } from './open-web.ts'

export interface ServeFlags extends WebFlags {
  readonly port?: string
  readonly host?: string
}

/** `serve`: serves pages and the read API until SIGTERM or Ctrl-C. */
export async function serveCommand(context: Context, { port = '8080', host, ...flags }: ServeFlags): Promise<void> {
  const options = webOptionsOf('--', port, host, flags)
  const work = async (db: Database) => {
    const server = await openWeb(context, db, options)
    try {
      writeResult(context, { url: server.url }, welcome(server.url, db.place))
      await untilAborted(context)
    } finally {
      await server.close()
    }
  }
  return await withDatabase(context, 'serve', work, { stays: true })
}

function welcome(url: string, place: string): string {
  return `the database ${place}, for reading, at ${url}
try:  curl ${url}/api/v1/freshness; ${url}/openapi.json describes all
stop: Ctrl-C
`
}
