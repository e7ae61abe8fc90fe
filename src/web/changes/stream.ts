import type { Context } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import { resolveName } from '../../questions/asking/names.ts'
import { Problem } from '../http/problems.ts'
import type { Site } from '../pages/routes.ts'
import { changeText, type NumberedChange, readNumbers } from './read-outbox.ts'

/** How often the database is read, and how long a stream is silent at most, ms. */
const [READ_EVERY, SILENT] = [1000, 15_000]

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
export async function streamChanges(
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
      await follow(stream, { read, wanted, clock, gone: gone.signal }, after)
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
    if (after > told || Math.abs(clock.now() - saidAt) >= SILENT) {
      await stream.write(after > told ? `id: ${after}\n\n` : ': idle\n\n')
      told = after
      saidAt = clock.now()
    }
    if (changes.length === 0) await clock.sleep(READ_EVERY, gone).catch(() => undefined)
  }
}

/** What `?resource=&guild=` lets through. */
async function filterOf(context: Context, { reader, finders }: Pick<Site, 'reader' | 'finders'>): Promise<Wanted> {
  const query = new URL(context.req.url).searchParams
  for (const name of query.keys())
    if (name !== 'resource' && name !== 'guild')
      throw new Problem('bad-argument', { detail: `there are: resource, guild`, argument: name })
  const [resource, name] = [query.get('resource'), query.get('guild')]
  if (`${resource}${name}`.includes('\0')) throw new Problem('not-found')
  const guild =
    name === null
      ? null
      : (await reader.read((sql) => resolveName(sql, { name: 'guild', type: 'uuid', value: name }, finders))).value
  return (change) =>
    (resource === null || change.resource === resource) &&
    (guild === null || change.key === guild || (Array.isArray(change.concerns) && change.concerns.includes(guild)))
}
