import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

/** Recorded answers of the real API live beside the repository, never in it. */
const dataFolder = fileURLToPath(new URL('../../../shared/data/', import.meta.url))

/** A folder of recorded answers, or undefined when it is absent; says so once per file that asks. */
export function recordedFolder(name: 'recordings' | 'recordings-2025' | 'recordings-2026'): string | undefined {
  const folder = join(dataFolder, name)
  if (existsSync(join(folder, 'index.jsonl'))) return folder
  process.stderr.write(`recorded data absent: no ${folder}; the tests against real answers did not run\n`)
  return undefined
}

/** One recorded answer. */
export interface RecordedAnswer {
  readonly at: Date
  readonly body: unknown
}

/** The recorded answers to one request, oldest first. */
export function recordedAnswers(folder: string, path: string, query = ''): RecordedAnswer[] {
  return recordedLines(folder)
    .filter((line) => line.path === path && line.query === query)
    .map((line) => ({
      at: new Date(line.at),
      body: JSON.parse(gunzipSync(readFileSync(join(folder, line.body))).toString()),
    }))
}

/** The paths that were asked for, each once, in the order of their first answers. */
export function recordedPaths(folder: string): string[] {
  return [...new Set(recordedLines(folder).map(({ path }) => path))]
}

function recordedLines(folder: string): { at: string; method: string; path: string; query: string; body: string }[] {
  const lines = readFileSync(join(folder, 'index.jsonl'), 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line)).filter((line) => line.method === 'GET')
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
