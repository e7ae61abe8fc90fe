import { createHash } from 'node:crypto'
import { open, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import { codeOf, FatalError, messageOf, RetryableError, UsageError } from '../../base/errors.ts'
import { openHttp, redirectTarget, sendTo } from '../../base/http.ts'
import { INDEX, type LakeFile, type LakeIndex, parseIndex } from '../index-file.ts'
import type { StoreSettings } from '../lake-store.ts'
import { indexText, openFile } from './index-text.ts'

/**
 * The real path of a file of a lake. Its path is of the form that an export makes (`parseIndex`); what is left to refuse are
 * symbolic links that lead out.
 * @throws FatalError when it is missing or outside
 */
async function pathIn(folder: string, path: string): Promise<string> {
  const real = await realpath(folder).catch(() => {
    throw new UsageError(`there is no folder ${folder}`)
  })
  const found = await realpath(join(real, path)).catch((error: unknown) => {
    if (!/^E(NOENT|NOTDIR|LOOP|IO)$/.test(String(codeOf(error)))) throw error
    if (path === INDEX) throw new UsageError(`${folder} has no ${INDEX}: no lake was exported into it`)
    throw new FatalError('it is missing')
  })
  if (!found.startsWith(real + sep)) throw new FatalError('it is a link that leads out of the lake')
  return found
}

/** For --max-bytes, unless another number is given, so that a place that is not what one thought fills no disk. */
export const MOST_BYTES = '20000000000'

/** How long a web server may be silent, ms. */
const LONGEST_SILENCE_MS = 60_000

type Fetched = Pick<LakeFile, 'path' | 'bytes' | 'sha256'>

/** A published lake: a folder, or a web server without listing. */
export interface LakePlace {
  readonly place: string
  /** An index as it is. @throws UsageError when there is none of the lake, FatalError when there is none of a table */
  text(path: string, signal?: AbortSignal): Promise<string>
  /** @throws UsageError when there is no index, or it is none */
  index(signal?: AbortSignal): Promise<LakeIndex>
  /**
   * Copies a file of an index or list to a path of this machine. @param to null: it is only read, and held against what is listed
   * @throws FatalError when it is not what is listed: another size or SHA-256, or not below the place
   */
  fetch(file: Fetched, to: string | null, signal?: AbortSignal): Promise<void>
  /** Of a folder of this machine: where a file of the index lies. @throws FatalError when it is not below the place */
  readonly pathOf?: (file: LakeFile) => Promise<string>
}

/** @param settings for a bucket @throws UsageError when it is neither a folder nor http(s) nor a bucket */
export function openPlace(place: string, settings?: StoreSettings): LakePlace {
  const read = readerOf(place, settings)
  const text = async (path: string, signal?: AbortSignal) =>
    await read(path, signal)
      .then(indexText)
      .catch((error: unknown) => {
        // Of what a server or proxy refuses, the error itself says more.
        const isOfFile = error instanceof FatalError && error.constructor === FatalError
        if (path !== INDEX || !isOfFile) throw error
        throw new UsageError(`the ${path} of ${place} cannot be read: ${messageOf(error)}`)
      })
  return {
    place,
    ...(isFolder(place) ? { pathOf: ({ path }) => pathIn(place, path) } : {}),
    text,
    index: async (signal) => parseIndex(await text(INDEX, signal), place),
    fetch: async (file, to, signal) => {
      const hash = createHash('sha256')
      const out = to === null ? undefined : await open(to, 'w', 0o600)
      let size = 0
      try {
        for await (const chunk of whole(await read(file.path, signal), file, signal)) {
          signal?.throwIfAborted()
          size += chunk.length
          if (size > file.bytes) throw new FatalError('it is longer than is listed')
          hash.update(chunk)
          // A single write may write less without an error: on a full disk all before the end of it.
          await out?.writeFile(chunk)
        }
      } finally {
        await out?.close()
      }
      if (size !== file.bytes) throw new FatalError('it is shorter than is listed')
      if (hash.digest('hex') !== file.sha256) throw new FatalError('its SHA-256 is not the one that is listed')
    },
  }
}

/** What a server or bucket sends of a file. @throws RetryableError where it ends early */
async function* whole(chunks: AsyncIterable<Buffer>, { path }: Fetched, signal: AbortSignal | undefined) {
  try {
    yield* chunks
  } catch (error) {
    signal?.throwIfAborted()
    if (!/^(UND_|ECONN|EPIPE|ETIMEDOUT)/.test(String(codeOf(error)))) throw error
    throw new RetryableError(`${path} came only in part: ${messageOf(error)}`, { cause: error })
  }
}

function readerOf(place: string, settings: StoreSettings | undefined): Read {
  if (isFolder(place)) return readFolder(place)
  if (/^https?:\/\/[^/]*@/i.test(place)) throw new UsageError('the URL of a lake must have no user and password')
  if (/^https?:\/\//i.test(place)) return readUrl(place.replace(/\/*$/, '/'), settings)
  if (/^s3:\/\//i.test(place) && settings) return readBucket(place, settings)
  throw new UsageError('the place of a lake must be a folder, or begin with https://, http:// or s3://')
}

type Read = (path: string, signal?: AbortSignal) => Promise<AsyncIterable<Buffer>>

const isFolder = (place: string) => !/^[a-z][a-z0-9+.-]+:\/\//i.test(place)

function readFolder(folder: string): Read {
  return async (path, signal) => {
    const file = await openFile(await pathIn(folder, path))
    return file.createReadStream(signal ? { signal } : {}) as AsyncIterable<Buffer>
  }
}

function readBucket(place: string, settings: StoreSettings): Read {
  return async (path, signal) => {
    const { bucketOf } = await import('../s3/s3-store.ts')
    const { bucket, prefix } = bucketOf(place, settings)
    const body = await bucket.stream(prefix + path, signal)
    if (body) return body
    if (path === INDEX) throw new UsageError(`${place} has no ${INDEX}: no lake was exported into it`)
    throw new FatalError('it is missing')
  }
}

function readUrl(base: string, settings: StoreSettings | undefined): Read {
  const http = openHttp({ proxy: settings?.proxy, timeouts: { headers: LONGEST_SILENCE_MS, body: LONGEST_SILENCE_MS } })
  return async (path, signal) => {
    const url = new URL(path, base)
    const { statusCode, headers, body } = await sendTo(http, url, { signal }).catch((error: unknown) => {
      signal?.throwIfAborted()
      if (error instanceof FatalError || error instanceof RetryableError || error instanceof UsageError) throw error
      throw new RetryableError(`${base} does not answer`, { cause: error })
    })
    if (statusCode >= 200 && statusCode < 300) return http.piecesOf(body, settings?.clock ?? systemClock)
    body.on('error', () => {}).destroy()
    // It could lead anywhere.
    const elsewhere = redirectTarget(statusCode, headers.location, url.href)
    const status = `status ${statusCode}${elsewhere ? `, a redirect to ${elsewhere}, which is not followed` : ''}`
    if (statusCode >= 500 || statusCode === 429) throw new RetryableError(`${base} answers with ${status}`)
    if (path === INDEX) throw new UsageError(`${base}${INDEX} answers with ${status}`)
    throw new FatalError(`its request was answered with ${status}`)
  }
}
