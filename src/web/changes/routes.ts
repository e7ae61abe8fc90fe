import type { Hono } from 'hono'
import { type Entity, entityOf, keptBytes, sendEntity } from '../http/etag.ts'
import { createPageCache, shared } from '../http/page-cache.ts'
import { Problem } from '../http/problems.ts'
import type { Site } from '../pages/routes.ts'
import { changeText, createSharedRead, readAfter, readNumbers } from './read-outbox.ts'
import { streamChanges } from './stream.ts'

/** A number that a bigint column and JSON have room for. */
const numeral = /^\d{1,15}$/
/** Clients that read streams at a time. */
const mostStreams = 500

/** Adds `/changes/sequence.json`, `/changes/N.json` and `/changes/stream`. */
export function addChanges(app: Hono, site: Pick<Site, 'reader' | 'finders' | 'clock' | 'count' | 'build'>): void {
  const { reader } = site
  const read = createSharedRead(reader, site.clock)
  const made = createPageCache<Entity>(site.clock, { sizeOf: keptBytes, ...shared })
  let streams = 0
  app.get('/changes/sequence.json', async (context) => {
    site.count(context)
    const make = () => site.build(async () => entityOf(JSON.stringify(await readNumbers(reader)), 'application/json'))
    return await sendEntity(context, await made('', make))
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
    const name = String(context.req.param('file')).replace('.json', '')
    const change = await made(name, () => site.build(() => changeFile(reader, name)))
    return await sendEntity(context, change, 'public, max-age=86400, immutable')
  })
  app.get('/changes/*', () => {
    throw new Problem('not-found')
  })
}

async function changeFile(reader: Site['reader'], name: string): Promise<Entity> {
  const number = numeral.test(name) && !/^0\d/.test(name) ? Number(name) : Number.NaN
  const [found] = Number.isNaN(number) ? [] : await readAfter(reader, number - 1)
  if (found?.number !== number)
    throw new Problem('not-found', { detail: `there is no change ${name}, or not any more` })
  return entityOf(changeText(found), 'application/json')
}
