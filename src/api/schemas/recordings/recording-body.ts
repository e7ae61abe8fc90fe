import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { RecordError } from '../../../base/errors.ts'
import { MAX_BODY_BYTES } from './body-limit.ts'
import { megabytes, readFileInside } from './recording-files.ts'
import type { Recorded } from './recording-index.ts'

/** A recorded answer is missing or cannot be read; the message names file and line. The others can be. */
export class BrokenRecording extends RecordError {}

type Place = Pick<Recorded, 'body' | 'line'>

/**
 * The gzipped body that a line names.
 * @throws BrokenRecording
 */
export function readGzippedBody(folder: string, place: Place): Buffer<ArrayBuffer> {
  const read = readFileInside(folder, place.body, MAX_BODY_BYTES)
  if ('problem' in read) throw brokenRecording(folder, place, read.problem)
  return read
}

/**
 * The same, unpacked: no further than a body may be long, however much the file would unpack to.
 * @throws BrokenRecording
 */
export function readBody(folder: string, place: Place): Buffer<ArrayBuffer> {
  const gzipped = readGzippedBody(folder, place)
  try {
    return gunzipSync(gzipped, { maxOutputLength: MAX_BODY_BYTES })
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    const problem = isTooLarge
      ? `unpacks to more than ${megabytes(MAX_BODY_BYTES)}`
      : 'is not gzip, or gzip that ended early'
    throw brokenRecording(folder, place, problem)
  }
}

/** Where a body is to be found, for messages. */
export function placeIn(folder: string, { body, line }: Place): string {
  return `${join(folder, body)} (index.jsonl line ${line})`
}

/** The error about a body. @param problem as the end of a sentence about the file */
function brokenRecording(folder: string, place: Place, problem: string): BrokenRecording {
  const { body, line } = place
  return new BrokenRecording(`${placeIn(folder, place)} ${problem}`, { context: { file: join(folder, body), line } })
}
