import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { RetryableError, UsageError } from '../../base/errors.ts'
import { sha256Of } from '../file-hash.ts'
import type { LakeStore, StoreSettings } from '../lake-store.ts'
import { openBucket, type S3Bucket } from './s3-client.ts'

/** Names that need no escapes, in a URL or in XML. */
const PLACE = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w.=/-]*))?$/i

/** @throws UsageError when the place has another form, or a setting is missing */
export function bucketOf(place: string, { s3, proxy, clock }: StoreSettings): { bucket: S3Bucket; prefix: string } {
  const [, bucket, path = ''] = PLACE.exec(place) ?? []
  // A URL would take the parts `.` and `..` as ways elsewhere.
  if (bucket === undefined || path.split('/').some((part) => /^\.{1,2}$/.test(part)))
    throw new UsageError(`${place} must look like s3://bucket/prefix`)
  const prefix = path.replace(/\/*$/, path === '' ? '' : '/')
  return { bucket: openBucket(bucket, s3, { clock, proxy }), prefix }
}

/** A lake in a bucket. What an interrupted export had written is remembered in the data folder. */
export function s3Store(place: string, settings: StoreSettings): LakeStore {
  const { bucket, prefix } = bucketOf(place, settings)
  const name = createHash('sha256').update(place).digest('hex').slice(0, 20)
  const readText = async (path: string, signal?: AbortSignal) => (await bucket.get(prefix + path, signal))?.text
  const uploadOf = async (file: string, sha256?: string) => {
    const { size: bytes } = await stat(file)
    return { file, bytes, sha256: sha256 ?? (await sha256Of(file)) }
  }
  return {
    place,
    work: join(settings.dataDir, 'lakes', name),
    readText,
    put: async (file, path, sha256) => {
      await bucket.put(prefix + path, await uploadOf(file, sha256))
    },
    replace: async (file, path, was) => {
      const object = await bucket.get(prefix + path)
      if (object?.text !== was) return false
      const upload = { ...(await uploadOf(file)), replaces: object ? object.tag : null }
      if (await bucket.put(prefix + path, upload)) return true
      // Sent twice where the response to the first was lost, it is refused for what it is itself.
      const now = await readText(path)
      if (object && now === was)
        throw new RetryableError(
          `${place}: ${path} is as it was, but the tag that was sent for it is refused: another is being put there now, or something before the bucket changes the header ETag`,
        )
      return now === (await readFile(file, 'utf8'))
    },
    list: async (ending) => {
      const files = [...(await bucket.list(prefix))].filter(([key]) => key.endsWith(ending))
      return new Map(files.map(([key, bytes]) => [key.slice(prefix.length), bytes]))
    },
    remove: (path) => bucket.remove(prefix + path),
  }
}
