import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A bucket in memory, with what a lake or a backup asks of one. */
export interface Bucket {
  /** By their keys. */
  readonly objects: Map<string, Buffer>
  readonly endpoint: string
  /**
   * Called before each request is done; the key of a list is ''. A number is the status that it is answered with instead, a text the body of
   * status 200, and `cut` ends the connection in the middle of the body.
   */
  before: (method: string, key: string, request: IncomingMessage) => number | string | undefined
  /** What is sent for the tag of an object. */
  tagAs: (tag: string) => string
}

const tagOf = (object: Buffer) => `"${createHash('sha256').update(object).digest('hex').slice(0, 32)}"`

/** Whether what a PUT asks for is so: the object has the tag that it names, or there is none. */
function isAllowed({ headers }: IncomingMessage, object: Buffer | undefined): boolean {
  if (headers['if-none-match'] !== undefined) return object === undefined
  const tag = headers['if-match']
  return tag === undefined || (object !== undefined && tagOf(object) === tag)
}

/** What a service says of some objects. */
export function listOf(objects: Iterable<readonly [key: string, content: Buffer]>): string {
  const contents = [...objects].map(
    ([key, { length }]) => `<Contents><Key>${key}</Key><Size>${length}</Size></Contents>`,
  )
  return `<ListBucketResult>${contents.join('')}</ListBucketResult>`
}

/** Serves it until the test has ended. */
export async function openBucket(): Promise<Bucket> {
  const objects = new Map<string, Buffer>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const url = new URL(String(request.url), 'http://x')
    const key = decodeURIComponent(url.pathname.replace('/bucket/', ''))
    const instead = bucket.before(String(request.method), key, request)
    const prefix = url.searchParams.get('prefix')
    const object = objects.get(key)
    if (typeof instead === 'number') response.writeHead(instead).end()
    else if (instead === 'cut') {
      response.writeHead(200, { 'content-length': 1 + (object?.length ?? 0) })
      response.write(object ?? '', () => request.socket.destroy())
    } else if (instead !== undefined)
      response.writeHead(200, { 'content-type': /^<html/.test(instead) ? 'text/html' : 'application/xml' }).end(instead)
    else if (request.method === 'PUT') {
      const allowed = isAllowed(request, object)
      if (allowed) objects.set(key, Buffer.concat(chunks))
      response.writeHead(allowed ? 200 : 412).end()
    } else if (request.method === 'DELETE') {
      objects.delete(key)
      response.end()
    } else if (prefix !== null) {
      const found = [...objects].filter(([name]) => name.startsWith(prefix))
      response.end(listOf(found))
    } else if (object) response.writeHead(200, { etag: bucket.tagAs(tagOf(object)) }).end(object)
    else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const bucket: Bucket = { objects, endpoint, before: () => undefined, tagAs: (tag) => tag }
  return bucket
}
