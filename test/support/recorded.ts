import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

/** Recorded responses of the real API live beside the repository, never in it. */
const dataFolder = fileURLToPath(new URL('../../../shared/data/', import.meta.url))
const ofNow = ['recordings', 'recordings-2025', 'recordings-2026'] as const
/** With the forms of earlier years, which the engine reads and the typed client need not. */
const folderNames = [...ofNow, 'recordings-abilities'] as const

/** A folder of recorded responses, or undefined when it is absent; writes that once per call. */
export function recordedFolder(name: (typeof folderNames)[number]): string | undefined {
  const folder = join(dataFolder, name)
  if (existsSync(join(folder, 'index.jsonl'))) return folder
  process.stderr.write(`recorded data absent: no ${folder}; the tests against real responses did not run\n`)
  return undefined
}

/** False where one of the folders is absent. */
export const hasRecordings: boolean = folderNames.every((name) => existsSync(join(dataFolder, name)))

/** One recorded response. */
export interface RecordedResponse {
  readonly at: Date
  readonly body: unknown
}

/** The recorded responses to one GET request, oldest first. */
export function recordedResponses(folder: string, path: string, query = ''): RecordedResponse[] {
  return recordedLines(folder)
    .filter((line) => line.method === 'GET' && line.path === path && line.query === query)
    .map((line) => ({ at: new Date(line.at), body: parsedBody(folder, line) }))
}

/** The recorded responses in forms of now, of any method, whose path begins so, folder by folder, oldest first; `body()` parses one. */
export function recordedBelow(
  prefix: string,
): { readonly at: string; readonly path: string; readonly query: string; body(): unknown }[] {
  return ofNow.flatMap((name) => {
    const folder = join(dataFolder, name)
    return recordedLines(folder)
      .filter(({ path }) => path.startsWith(prefix))
      .map((line) => ({ at: line.at, path: line.path, query: line.query, body: () => parsedBody(folder, line) }))
  })
}

/** One example of the API's documentation, by its file name. */
export function documentedExample(name: string): unknown {
  return JSON.parse(readFileSync(join(dataFolder, 'examples', name), 'utf8'))
}

/** The paths of a folder that were requested by GET, each once, in the order of their first responses. */
export function recordedPaths(folder: string): string[] {
  return [...new Set(recordedLines(folder).flatMap(({ method, path }) => (method === 'GET' ? path : [])))]
}

interface Line {
  readonly at: string
  readonly method: string
  readonly path: string
  readonly query: string
  /** The file of the body. */
  readonly body: string
}

function recordedLines(folder: string): Line[] {
  const lines = readFileSync(join(folder, 'index.jsonl'), 'utf8').trim().split('\n')
  return lines.map((line): Line => JSON.parse(line))
}

function parsedBody(folder: string, { body }: Line): unknown {
  return JSON.parse(gunzipSync(readFileSync(join(folder, body))).toString())
}

/** A JSON object. */
export type Fields = Record<string, unknown>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The items of an answer by internal name, without model numbers, whichever form the answer has. */
export function itemsOf(body: unknown): Map<string, Fields> {
  const records = Array.isArray(body)
    ? body
    : Object.entries(isFields(body) ? body : {}).map(([displayName, one]) => ({
        ...(isFields(one) ? one : {}),
        displayName,
      }))
  return new Map(records.map((record) => [String(record.internalName), withoutModelNumbers(record)]))
}

function withoutModelNumbers(value: unknown): Fields {
  return JSON.parse(JSON.stringify(value, (name, inner) => (name === 'customModelData' ? undefined : inner)))
}
