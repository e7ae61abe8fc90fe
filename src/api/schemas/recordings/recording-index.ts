import { readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { gunzipSync } from 'node:zlib'
import * as z from 'zod'
import { FatalError, RecordError } from '../../../base/errors.ts'
import { textOfFile } from '../../../base/text/decode.ts'
import { isUuid, uuidText } from '../form/limits.ts'
import { MAX_BODY_BYTES } from './body-limit.ts'

/** Why a file was not read, as the end of a sentence about it. */
type Unread = { readonly problem: string }

/**
 * Reads a file of a folder of any origin: only a regular file, and only inside the folder, wherever
 * absolute paths, `..` and symbolic links lead.
 */
function readFileInside(
  folder: string,
  name: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Buffer<ArrayBuffer> | Unread {
  if (isAbsolute(name) || name.split(/[\\/]/).includes('..')) return outside
  try {
    const file = realpathSync(join(folder, name))
    const way = relative(realpathSync(folder), file)
    if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return outside
    const status = statSync(file)
    if (!status.isFile()) return { problem: 'is not a file' }
    if (status.size > maxBytes) return { problem: `is larger than ${megabytes(maxBytes)}` }
    return readFileSync(file)
  } catch {
    return { problem: 'cannot be read' }
  }
}

const outside: Unread = { problem: 'is outside of the folder of recordings' }

/** A limit in words. */
function megabytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MB`
}

const lineForm = z.object({
  at: z.iso.datetime(),
  method: z.string(),
  path: z.string(),
  query: z.string().default(''),
  requestBody: z.unknown().optional(),
  status: z.number().int().default(200),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string(),
})

/** One line of a recordings index. */
export interface Recorded {
  /** The instant the answer speaks for, ms since the epoch. */
  readonly at: number
  readonly method: string
  readonly path: string
  /** Without `?`. */
  readonly query: string
  /** The JSON that was sent with it, if any. */
  readonly requestBody?: unknown
  readonly status: number
  /** As they came; empty when they were not kept. */
  readonly headers: Readonly<Record<string, string>>
  /** Path of the gzipped body inside the folder. */
  readonly body: string
  /** Which line of the index it is, counting from 1. */
  readonly line: number
  /** Whether it has only part of what the response had: nothing follows from what it lacks. */
  readonly isPart?: boolean
}

/**
 * Reads `index.jsonl` of a recordings folder, oldest answer first.
 * @throws FatalError when the file is missing or a line is not understood; the message names the line
 */
export function readIndex(folder: string): Recorded[] {
  const file = join(folder, 'index.jsonl')
  const read = readFileInside(folder, 'index.jsonl')
  if ('problem' in read)
    throw new FatalError(`recordings cannot be read: ${file} ${read.problem}`, { context: { folder } })
  const lines = textOfFile(read, file)
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [parseLine(line, index + 1, file)]))
  return lines.sort((a, b) => a.at - b.at)
}

/**
 * One name for all spellings of a request: parameters sorted, `flag=` the same as `flag`, uuids as Postgres prints them.
 * @param body what was sent with it, if any
 */
export function requestName(method: string, path: string, query: URLSearchParams, body?: unknown): string {
  const parameters = [...query].map(([name, value]) => `${name}=${value}`)
  const spelled = path.replaceAll(/[^/]+/g, (step) => (isUuid(step) ? uuidText(step) : step))
  return `${method} ${spelled}?${parameters.sort().join('&')} ${JSON.stringify(body) ?? ''}`
}

/** A path without its percent encoding, or as it is when that is broken. */
export function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function parseLine(line: string, number: number, file: string): Recorded {
  try {
    const parsed = lineForm.parse(JSON.parse(line))
    return { ...parsed, at: Date.parse(parsed.at), line: number }
  } catch (cause) {
    throw new FatalError(`recordings index not understood: ${file} line ${number}`, {
      cause,
      context: { file, number },
    })
  }
}

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
