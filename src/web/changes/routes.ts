import type { Context, Hono } from 'hono'
import { withEtag } from '../http/etag.ts'
import { Problem } from '../http/problems.ts'
import type { Site } from '../pages/routes.ts'
import { changeText, createSharedRead, readAfter, readNumbers } from './read-outbox.ts'
import { streamChanges } from './stream.ts'

/** A number that a bigint column and JSON have room for. */
const numeral = /^\d{1,15}$/
/** Clients that read streams at a time. */
const mostStreams = 500

/** Adds `/changes/sequence.json`, `/changes/N.json` and `/changes/stream`. */
export function addChanges(app: Hono, site: Pick<Site, 'reader' | 'finders' | 'clock' | 'count'>): void {
  const { reader } = site
  const read = createSharedRead(reader, site.clock)
  let streams = 0
  app.get('/changes/sequence.json', async (context) => {
    site.count(context)
    return withEtag(context, JSON.stringify(await readNumbers(reader)), 'application/json')
  })
  app.get('/changes/stream', async (context) => {
    site.count(context)
    if (streams >= mostStreams) throw new Problem('too-many-requests', { detail: `${mostStreams} streams are open` })
    const lastId = context.req.header('last-event-id')
    if (lastId !== undefined && !numeral.test(lastId))
      throw new Problem('bad-argument', { detail: 'Last-Event-ID must be a number', argument: 'Last-Event-ID' })
    // Nothing follows the headers.
    if (context.req.method === 'HEAD') return context.body(null, 200, { 'content-type': 'text/event-stream' })
    streams++
    try {
      const onEnd = () => streams--
      return await streamChanges(context, site, {
        lastId: lastId === undefined ? undefined : Number(lastId),
        read,
        onEnd,
      })
    } catch (error) {
      streams--
      throw error
    }
  })
  app.get('/changes/:file{\\d+\\.json}', async (context) => {
    site.count(context)
    return await changeFile(context, site)
  })
  app.get('/changes/*', () => {
    throw new Problem('not-found')
  })
}

async function changeFile(context: Context, { reader }: Pick<Site, 'reader'>): Promise<Response> {
  const name = String(context.req.param('file')).replace('.json', '')
  const number = numeral.test(name) && !/^0\d/.test(name) ? Number(name) : Number.NaN
  const [found] = Number.isNaN(number) ? [] : await readAfter(reader, number - 1)
  if (found?.number !== number)
    throw new Problem('not-found', { detail: `there is no change ${name}, or not any more` })
  return withEtag(context, changeText(found), 'application/json', 'public, max-age=86400, immutable')
}
