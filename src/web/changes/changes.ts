import type { Context, Hono } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import type { Clock } from '../../base/clock.ts'
import { resolveName } from '../../questions/asking/names.ts'
import { type Entity, entityOf, keptBytes, sendEntity } from '../http/etag.ts'
import { createPageCache, shared } from '../http/page-cache.ts'
import { Problem } from '../http/problems.ts'
import type { Site } from '../pages/routes.ts'
import type { Reader } from '../reading.ts'

/** One numbered change; `change` as it was written. */
interface NumberedChange {
  readonly number: number
  readonly at: Date
  readonly change: Readonly<Record<string, unknown>>
}

/** The numbers that can be read; `first` is above `last` when there is none. */
interface Numbers {
  readonly first: number
  readonly last: number
}

/** Changes of one read. */
const batch = 500

/** The first and the last number. */
async function readNumbers(reader: Reader): Promise<Numbers> {
  const [row] = await reader.read((sql) =>
    sql.query<Numbers>(
      `select coalesce((select min(number) from sync.outbox), head.last + 1) as first, head.last
         from (select coalesce(max(last), 0) as last from sync.outbox_head) head`,
    ),
  )
  return row ?? { first: 1, last: 0 }
}

/** Changes above a number, in order; not all when there are many. */
async function readAfter(reader: Reader, after: number): Promise<NumberedChange[]> {
  return await reader.read((sql) =>
    sql.query<NumberedChange>(
      `select number, at, change from sync.outbox where number > $1 order by number limit ${batch}`,
      [after],
    ),
  )
}

/**
 * `readAfter` for many who follow: those who ask for the same within a second share one read, as all do who have seen the last
 * number. One read is kept.
 */
function createSharedRead(reader: Reader, clock: Clock): (after: number) => Promise<NumberedChange[]> {
  let kept: { readonly after: number; readonly at: number; readonly changes: Promise<NumberedChange[]> } | undefined
  return (after) => {
    const at = clock.now()
    if (kept?.after !== after || Math.abs(at - kept.at) >= 900) kept = { after, at, changes: readAfter(reader, after) }
    return kept.changes
  }
}

/** The change as one document: the same text whenever it is asked for. */
function changeText({ number, at, change }: NumberedChange): string {
  return JSON.stringify({ number, writtenAt: at.toISOString(), ...change })
}

/** How often the database is read, ms. */
const READ_EVERY_MS = 1000
/** How long a stream is silent at most, ms. */
const LONGEST_SILENCE_MS = 15_000

type Wanted = (change: NumberedChange['change']) => boolean

interface Streaming {
  /** The last number that the client has seen. */
  readonly lastId: number | undefined
  readonly read: Following['read']
  onEnd(): void
}

/**
 * Streams changes as server-sent events, from those after `lastId` or from now on, until the client goes. What is late is
 * left out. A client whose `lastId` is past what is kept gets the event `gap` first.
 * @throws Problem when a filter cannot be read
 */
async function streamChanges(
  context: Context,
  site: Pick<Site, 'reader' | 'finders' | 'clock' | 'build'>,
  { lastId, read, onEnd }: Streaming,
): Promise<Response> {
  const { reader, clock } = site
  const { wanted, first, last } = await site.build(async () => {
    const wanted = await filterOf(context, site)
    return { wanted, ...(await readNumbers(reader)) }
  })
  // A number that was never given is one of another database.
  const isLost = lastId !== undefined && (lastId < first - 1 || lastId > last)
  const after = lastId === undefined ? last : isLost ? first - 1 : lastId
  context.header('X-Accel-Buffering', 'no')
  context.header('Cache-Control', 'no-store')
  const send = async (stream: SSEStreamingApi) => {
    const gone = new AbortController()
    stream.onAbort(() => gone.abort())
    try {
      if (isLost) await stream.writeSSE({ event: 'gap', data: JSON.stringify({ after: lastId, first, last }) })
      else await stream.write(': open\n\n')
      await reader.beyond(() => follow(stream, { read, wanted, clock, gone: gone.signal }, after))
    } catch {
      // The database is away, or the client: the stream ends, and the client resumes by itself.
    } finally {
      onEnd()
    }
  }
  return streamSSE(context, send)
}

interface Following {
  readonly read: (after: number) => Promise<NumberedChange[]>
  readonly wanted: Wanted
  readonly clock: Site['clock']
  readonly gone: AbortSignal
}

async function follow(stream: SSEStreamingApi, { read, wanted, clock, gone }: Following, start: number): Promise<void> {
  let after = start
  let told = start
  let saidAt = clock.now()
  while (!gone.aborted) {
    const changes = await read(after)
    for (const one of changes) {
      after = one.number
      if (one.change.late === true || !wanted(one.change)) continue
      await stream.writeSSE({ id: String(one.number), event: String(one.change.event), data: changeText(one) })
      told = one.number
      saidAt = clock.now()
    }
    // An id alone is no event, and lets the client resume after what it did not want.
    if (after > told || Math.abs(clock.now() - saidAt) >= LONGEST_SILENCE_MS) {
      await stream.write(after > told ? `id: ${after}\n\n` : ': idle\n\n')
      told = after
      saidAt = clock.now()
    }
    if (changes.length === 0) await clock.sleep(READ_EVERY_MS, gone).catch(() => undefined)
  }
}

/** What `?resource=&guild=` lets through. */
async function filterOf(context: Context, { reader, finders }: Pick<Site, 'reader' | 'finders'>): Promise<Wanted> {
  const query = new URL(context.req.url).searchParams
  for (const name of query.keys())
    if (name !== 'resource' && name !== 'guild')
      throw new Problem('bad-argument', { detail: `there are: resource, guild`, argument: name })
  const resource = query.get('resource')
  const name = query.get('guild')
  if (`${resource}${name}`.includes('\0')) throw new Problem('not-found')
  const guild =
    name === null
      ? null
      : (await reader.read((sql) => resolveName(sql, { name: 'guild', type: 'uuid', value: name }, finders))).value
  return (change) =>
    (resource === null || change.resource === resource) &&
    (guild === null || change.key === guild || (Array.isArray(change.concerns) && change.concerns.includes(guild)))
}

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
