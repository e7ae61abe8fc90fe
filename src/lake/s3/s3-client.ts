import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { AwsV4Signer } from 'aws4fetch'
import type { Clock } from '../../base/clock.ts'
import { FatalError, messageOf, RetryableError, UsageError } from '../../base/errors.ts'
import { type HttpResponse, openHttp, redirectTarget, sendTo } from '../../base/http.ts'
import type { ProxySettings } from '../../base/proxies.ts'

/** The settings `AWS_...`. */
export interface S3Settings {
  readonly keyId: string | undefined
  readonly secret: string | undefined
  readonly sessionToken: string | undefined
  readonly region: string
  /** Undefined: that of AWS. */
  readonly endpoint: string | undefined
}

interface Upload {
  /** Path on this machine. */
  readonly file: string
  readonly bytes: number
  /** In hex; the service refuses what arrives otherwise. */
  readonly sha256: string
  /** The tag of the one object that it may replace; null: there must be none; undefined: whatever there is. */
  readonly replaces?: string | null | undefined
}

interface S3Object {
  readonly text: string
  /** Tells one content of a key from another. */
  readonly tag: string | undefined
}

/** The key or the bucket is refused: that says nothing of what lies there. */
class Refused extends FatalError {}

/** One bucket of a service that speaks the protocol of S3. */
export interface S3Bucket {
  /** @returns undefined when there is no such key @throws FatalError when it is refused; RetryableError when the service is away */
  get(key: string, signal?: AbortSignal): Promise<S3Object | undefined>
  /** The same for what may be long: it is read once. */
  stream(key: string, signal?: AbortSignal): Promise<AsyncIterable<Buffer> | undefined>
  /** @returns false when there is another object than the one that it may replace */
  put(key: string, upload: Upload): Promise<boolean>
  /** All keys that begin with a prefix, with their sizes in bytes. */
  list(prefix: string): Promise<ReadonlyMap<string, number>>
  remove(key: string): Promise<void>
}

type Method = 'GET' | 'PUT' | 'DELETE'

/** How often a request is sent at most, the first time after how many ms again, and how long a service may be silent, ms. */
const ATTEMPTS = 5
const FIRST_WAIT_MS = 500
const LONGEST_SILENCE_MS = 60_000
/** A service that is busy is waited for no longer, ms. */
const LONGEST_PAUSE_MS = 120_000
/** SHA-256 of nothing. */
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** @throws UsageError when the key or its secret is missing */
export function openBucket(
  bucket: string,
  settings: S3Settings,
  { clock, proxy }: { readonly clock: Clock; readonly proxy: ProxySettings | undefined },
): S3Bucket {
  const { keyId, secret, sessionToken, region, endpoint } = settings
  if (keyId === undefined || secret === undefined)
    throw new UsageError('a lake in a bucket needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  const base = endpoint ? `${endpoint.replace(/\/+$/, '')}/${bucket}/` : `https://${bucket}.s3.${region}.amazonaws.com/`

  const http = openHttp({ proxy, timeouts: { headers: LONGEST_SILENCE_MS, body: LONGEST_SILENCE_MS } })

  /** As it is signed, with `=` as %3D: services sign what was sent, or what it means. */
  const at = (key: string) => base + key.split('/').map(encodeURIComponent).join('/')

  async function once(method: Method, url: string, upload: Upload | undefined, signal: AbortSignal | undefined) {
    // A browser shows a page only where the bucket says that it is one.
    const type = upload && url.endsWith('.html') ? { 'content-type': 'text/html; charset=utf-8' } : {}
    const headers = { 'x-amz-content-sha256': upload?.sha256 ?? EMPTY, ...conditionOf(upload), ...type }
    const datetime = new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '')
    const identity = {
      accessKeyId: String(keyId),
      secretAccessKey: String(secret),
      ...(sessionToken && { sessionToken }),
    }
    const signer = new AwsV4Signer({ method, url, headers, ...identity, service: 's3', region, datetime })
    const signed = await signer.sign()
    // The service has to know the length before, so that the stream must not go in chunks.
    const length = upload ? { 'content-length': String(upload.bytes) } : {}
    const body = upload && Readable.from(http.paced(createReadStream(upload.file), clock), { objectMode: false })
    return await sendTo(http, url, {
      method,
      headers: { ...Object.fromEntries(signed.headers), ...length },
      body,
      signal,
    })
  }

  /** Sends it again where the service was away or busy. @returns undefined when there is no such key */
  async function ask(
    method: Method,
    url: string,
    {
      upload,
      signal,
      isStream = false,
    }: { upload?: Upload; signal?: AbortSignal | undefined; isStream?: boolean } = {},
  ): Promise<(S3Object & { readonly body: AsyncIterable<Buffer> }) | undefined> {
    const isList = url.includes('?')
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted()
      const answer = await once(method, url, upload, signal)
        .then((response) =>
          answerOf(response, { url, isStream, body: http.piecesOf(response.body, clock), now: clock.now() }),
        )
        .catch((error: unknown) => {
          signal?.throwIfAborted()
          if (error instanceof FatalError || error instanceof UsageError) throw error
          return { status: 0, reason: messageOf(error), pause: 0 }
        })
      if (!('status' in answer)) return answer
      const { status, reason, pause = 0 } = answer
      if (status === 404 && !reason.includes('NoSuchBucket') && !isList) return undefined
      // Another was put there, or is being put there.
      if (upload?.replaces !== undefined && (status === 412 || status === 409)) return undefined
      if (upload?.replaces !== undefined && status === 501)
        return await ask(method, url, { upload: { ...upload, replaces: undefined } })
      const said = `${new URL(url).host}, bucket ${bucket}: ${reason}`
      if (status !== 0 && status !== 429 && status < 500) throw new Refused(said)
      await clock.sleep(waitAfter(attempt, pause, said), signal)
    }
  }

  return {
    get: (key, signal) => ask('GET', at(key), { signal }),
    stream: async (key, signal) => (await ask('GET', at(key), { signal, isStream: true }))?.body,
    put: async (key, upload) => {
      const response = await ask('PUT', at(key), { upload })
      if (!response && upload.replaces === undefined) throw new FatalError(`${key} cannot be put there: status 404`)
      return response !== undefined
    },
    remove: async (key) => void (await ask('DELETE', at(key))),
    list: (prefix) => listKeys(prefix, async (query) => (await ask('GET', `${base}?${query}`))?.text ?? ''),
  }
}

/** What a response says. @throws what reading its body does: it ends early */
async function answerOf(
  response: HttpResponse,
  { url, isStream, body, now }: { url: string; isStream: boolean; body: AsyncIterable<Buffer>; now: number },
) {
  const { statusCode: status, headers } = response
  if (status < 200 || status >= 300)
    return { status, reason: await reasonOf(response, url, body), pause: pauseOf(headers, now) }
  // What stands between answers for a bucket that is away, and has stored nothing.
  const isPage = String(headers['content-type']).startsWith('text/html') && !url.endsWith('.html')
  const text = isStream && !isPage ? '' : await textOf(body)
  if (isPage || (url.includes('?') && !text.includes('<ListBucketResult')))
    return { status: 0, reason: `status ${status} with what no bucket sends`, pause: 0 }
  // A proxy that packs bodies marks the tag as weak; no condition takes that, and the service knows the tag without it.
  return { body, text, tag: headers.etag?.toString().replace(/^W\//, '') }
}

/** How long to wait before a request is sent again, ms. @throws RetryableError after the last time, and where the service wants to be left alone for long */
function waitAfter(attempt: number, pause: number, said: string): number {
  const busy = pause > 0 ? `, and that it is busy for ${Math.ceil(pause / 1000)} s more: call again after that` : ''
  if (attempt === ATTEMPTS || pause > LONGEST_PAUSE_MS) throw new RetryableError(said + busy)
  return Math.max(pause, FIRST_WAIT_MS * 2 ** (attempt - 1))
}

/** How long a service that is busy wants to be left alone: `Retry-After` in seconds or as a date by its clock; ms, 0 where it does not say. */
function pauseOf({ 'retry-after': after, date }: HttpResponse['headers'], now: number): number {
  const seconds = Number(after ?? Number.NaN)
  const ms = Number.isNaN(seconds) ? Date.parse(String(after)) - (Date.parse(String(date)) || now) : 1000 * seconds
  return Math.max(0, ms || 0)
}

/** Sizes in bytes by key. @param answer the XML of a query */
async function listKeys(
  prefix: string,
  answer: (query: URLSearchParams) => Promise<string>,
): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>()
  for (let after: string | undefined, isMore = true; isMore; ) {
    const xml = await answer(
      new URLSearchParams({ 'list-type': '2', prefix, ...(after && { 'continuation-token': after }) }),
    )
    for (const [, contents = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
      const key = /<Key>([^<]*)<\/Key>/.exec(contents)?.[1]
      if (key !== undefined) sizes.set(key, Number(/<Size>(\d+)<\/Size>/.exec(contents)?.[1]))
    }
    after = /<NextContinuationToken>([^<]*)</.exec(xml)?.[1]
    isMore = after !== undefined && /<IsTruncated>true</.test(xml)
  }
  return sizes
}

/** A service that does not know conditions says so (501), or leaves them out. */
function conditionOf(upload: Upload | undefined): Record<string, string> {
  if (upload?.replaces === undefined) return {}
  return upload.replaces === null ? { 'if-none-match': '*' } : { 'if-match': upload.replaces }
}

/** Status, what S3 calls the error, and where it says that the bucket is. */
async function reasonOf(
  { statusCode, headers }: HttpResponse,
  url: string,
  body: AsyncIterable<Buffer>,
): Promise<string> {
  const code = /<Code>([\w.]{1,60})<\/Code>/.exec(await textOf(body).catch(() => ''))?.[1]
  const elsewhere = redirectTarget(statusCode, headers.location, url)
  const redirect = elsewhere ? `, a redirect to ${elsewhere}, which is not followed` : ''
  return `status ${statusCode}${code ? ` ${code}` : ''}${redirect}`
}

/** The body of a response that is not long. */
async function textOf(response: AsyncIterable<Buffer>, most = 64_000_000): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    size += chunk.length
    if (size > most) throw new FatalError('the response is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
