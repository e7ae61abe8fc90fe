import { join } from 'node:path'
import * as z from 'zod'
import { FatalError } from '../../../base/errors.ts'
import { textOfFile } from '../../../base/text/decode.ts'
import { isUuid, uuidText } from '../form/limits.ts'
import { readFileInside } from './recording-files.ts'

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
