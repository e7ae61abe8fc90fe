import { withRoom } from '../../../base/errors.ts'
import type { Database } from '../../../db/database.ts'
import { type Context, untilAborted, withDatabase, writeResult } from '../../context.ts'
import { openWeb, type WebFlags, webOptionsOf, writePages } from './open-web.ts'

interface ServeFlags extends WebFlags {
  readonly port?: string
  readonly host?: string
  readonly export?: string
}

/** `serve --export`: writes all pages as files. */
async function exportCommand(context: Context, dir: string, flags: WebFlags): Promise<void> {
  const { progress } = context
  const onPage = (records: number, count: number) => progress.seen('export', { records, count }, 'pages')
  const work = async (db: Database) => {
    progress.begin('export')
    const done = await writePages(context, db, { dir, people: flags.people !== false, onPage })
      .catch((error: unknown) => {
        throw withRoom(error, dir)
      })
      .finally(() => progress.end())
    writeResult(context, done, `${exportText(done)}\n`)
  }
  return await withDatabase(context, 'serve', work, { isInterruptible: true, isLong: true })
}

function exportText({ dir, pages, bytes, failed, leftOut }: Awaited<ReturnType<typeof writePages>>): string {
  const rest = [failed > 0 && `${failed} could not be made`, leftOut > 0 && `${leftOut} are left out`].filter(Boolean)
  return `${pages} pages (${(bytes / 1e6).toFixed(1)} MB) in ${dir}${rest.length > 0 ? `; ${rest.join(', ')}` : ''}`
}

/** `serve`: serves pages and the read API until SIGTERM or Ctrl-C. */
export async function serveCommand(context: Context, { port = '8080', host, ...flags }: ServeFlags): Promise<void> {
  if (flags.export !== undefined) return await exportCommand(context, flags.export, flags)
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
