import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

interface Line {
  readonly path: string
  readonly query: string
  readonly at: string
  readonly body: string
}

/** A recorded answer, its body parsed when it is read. */
export interface Recorded {
  readonly at: string
  readonly path: string
  readonly query: string
  body(): unknown
}

const root = join(import.meta.dirname, '../../../shared/data')
const folders = ['recordings', 'recordings-2025', 'recordings-2026'].map((name) => join(root, name))

/** False where the recordings, which are no part of the repository, do not lie beside it. */
export const hasRecordings: boolean = folders.every((folder) => existsSync(folder))

/** All recorded answers whose path begins so, folder by folder, oldest first. */
export function recorded(prefix: string): Recorded[] {
  return folders.flatMap((folder) =>
    readFileSync(join(folder, 'index.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line): Line => JSON.parse(line))
      .filter(({ path }) => path.startsWith(prefix))
      .map(({ at, path, query, body }) => ({
        at,
        path,
        query,
        body: (): unknown => JSON.parse(gunzipSync(readFileSync(join(folder, body))).toString()),
      })),
  )
}

/** One example of the documentation, by its file name. */
export function example(name: string): unknown {
  return JSON.parse(readFileSync(join(root, 'examples', name), 'utf8'))
}
