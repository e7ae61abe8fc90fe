import { resolve } from 'node:path'
import { UsageError } from '../../../base/errors.ts'

/** @throws UsageError when the place of a backup is neither a folder nor a bucket */
export function placeOf(given: string): string {
  if (/^s3:\/\//i.test(given)) return given
  if (given.trim() === '' || /^[a-z][a-z0-9+.-]+:\/\//i.test(given))
    throw new UsageError('the place of a backup must be a folder or s3://bucket/prefix')
  return resolve(given)
}
