import { createReadStream } from 'node:fs'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { pipeline } from 'node:stream/promises'
import { AwsV4Signer } from 'aws4fetch'
import type { Clock } from '../../app/clock.ts'
import { FatalError, messageOf, RetryableError, UsageError } from '../../app/errors.ts'

/** The settings `AWS_...`. */
export interface S3Settings {
  readonly keyId: string | undefined
  readonly secret: string | undefined
  readonly sessionToken: string | undefined
  readonly region: string
  /** Undefined: that of AWS. */
  readonly endpoint: string | undefined
}

export interface Upload {
  /** Path on this machine. */
  readonly file: string
  readonly bytes: number
  /** In hex; the service refuses what arrives otherwise. */
  readonly sha256: string
}

/** One bucket of a service that speaks the protocol of S3. */
export interface S3Bucket {
  /** @returns undefined when there is no such key @throws FatalError when it is refused; RetryableError when the service is away */
  get(key: string, signal?: AbortSignal): Promise<IncomingMessage | undefined>
  put(key: string, upload: Upload): Promise<void>
  /** All keys that begin with a prefix. */
  /** Sizes in bytes by key. */
  list(prefix: string): Promise<ReadonlyMap<string, number>>
  remove(key: string): Promise<void>
}

/** How often a request is sent at most, the first time after how many ms again, and how long a service may be silent, ms. */
const ATTEMPTS = 5
const FIRST_WAIT = 500
const SILENCE = 60_000
/** SHA-256 of nothing. */
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** @throws UsageError when the key or its secret is missing */
export function openBucket(bucket: string, settings: S3Settings, clock: Clock): S3Bucket {
  const { keyId, secret, sessionToken, region, endpoint } = settings
  if (keyId === undefined || secret === undefined)
    throw new UsageError('a lake in a bucket needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  const base = endpoint ? `${endpoint.replace(/\/+$/, '')}/${bucket}/` : `https://${bucket}.s3.${region}.amazonaws.com/`

  /** As it is signed, with `=` as %3D: services sign what was sent, or what it means. */
  const at = (key: string) => base + key.split('/').map(encodeURIComponent).join('/')

  async function once(method: string, url: string, upload: Upload | undefined, signal: AbortSignal | undefined) {
    const headers = { 'x-amz-content-sha256': upload?.sha256 ?? EMPTY }
    const datetime = new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '')
    const identity = {
      accessKeyId: String(keyId),
      secretAccessKey: String(secret),
      ...(sessionToken && { sessionToken }),
    }
    const signer = new AwsV4Signer({ method, url, headers, ...identity, service: 's3', region, datetime })
    const signed = await signer.sign()
    return await send(
      method,
      url,
      { ...Object.fromEntries(signed.headers), 'content-length': upload?.bytes ?? 0 },
      upload?.file,
      signal,
    )
  }

  /** Sends it again where the service was away or busy. @returns undefined when there is no such key */
  async function ask(
    method: string,
    url: string,
    upload?: Upload,
    signal?: AbortSignal,
  ): Promise<IncomingMessage | undefined> {
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted()
      const response = await once(method, url, upload, signal).catch((error: unknown) => {
        signal?.throwIfAborted()
        return messageOf(error)
      })
      const status = typeof response === 'string' ? 0 : (response.statusCode ?? 0)
      if (typeof response !== 'string' && status >= 200 && status < 300) return response
      const reason = typeof response === 'string' ? response : `status ${status} ${await codeIn(response)}`.trim()
      if (status === 404 && !reason.includes('NoSuchBucket')) return undefined
      const said = `${new URL(url).host}, bucket ${bucket}: ${reason}`
      if (status !== 0 && status !== 429 && status < 500) throw new FatalError(said)
      if (attempt === ATTEMPTS) throw new RetryableError(said)
      await clock.sleep(FIRST_WAIT * 2 ** (attempt - 1), signal)
    }
  }

  return {
    get: (key, signal) => ask('GET', at(key), undefined, signal),
    put: async (key, upload) => void (await textOf(await ask('PUT', at(key), upload))),
    remove: async (key) => void (await textOf(await ask('DELETE', at(key)))),
    list: async (prefix) => {
      const sizes = new Map<string, number>()
      for (let after: string | undefined, isMore = true; isMore; ) {
        const query = new URLSearchParams({ 'list-type': '2', prefix, ...(after && { 'continuation-token': after }) })
        const xml = await textOf(await ask('GET', `${base}?${query}`))
        for (const [, contents = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
          const key = /<Key>([^<]*)<\/Key>/.exec(contents)?.[1]
          if (key !== undefined) sizes.set(key, Number(/<Size>(\d+)<\/Size>/.exec(contents)?.[1]))
        }
        after = /<NextContinuationToken>([^<]*)</.exec(xml)?.[1]
        isMore = after !== undefined && /<IsTruncated>true</.test(xml)
      }
      return sizes
    },
  }
}

/** Through `node:http`: `fetch` sends a stream in chunks, whose length S3 has to know before. */
async function send(
  method: string,
  url: string,
  headers: Readonly<Record<string, string | number>>,
  file: string | undefined,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  const request = (url.startsWith('https:') ? requestHttps : requestHttp)(url, {
    method,
    headers,
    ...(signal && { signal }),
  })
  request.setTimeout(SILENCE, () => request.destroy(new Error('the service is silent')))
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    request.once('error', reject)
  })
  if (file === undefined) request.end()
  // Its failure is that of the request, unless the service responded before it had everything.
  else pipeline(createReadStream(file), request).catch(() => {})
  return await response
}

/** What S3 calls the error of a response. */
async function codeIn(response: IncomingMessage): Promise<string> {
  return /<Code>([\w.]{1,60})<\/Code>/.exec(await textOf(response).catch(() => ''))?.[1] ?? ''
}

/** The body of a response that is not long. */
export async function textOf(response: IncomingMessage | undefined, most = 64_000_000): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response ?? []) {
    size += chunk.length
    if (size > most) throw new FatalError('the response is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
