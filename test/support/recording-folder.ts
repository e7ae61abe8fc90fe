import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { temporaryFolder } from './postgres.ts'
import { instantOf } from './world.ts'

/** One answer on its way into a folder of recordings; GET when no method is given. */
export interface Line {
  /** In the form of `instantOf`. */
  readonly at: string
  /** With its query. */
  readonly path: string
  readonly method?: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, or bytes that are written as they are. */
  readonly body: unknown
}

/** Writes made-up answers into a folder, as recordings are kept; gone after the test. */
export async function recordingFolder(lines: readonly Line[]): Promise<string> {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'bodies'))
  const index: object[] = []
  for (const [nth, { at, path: target, method = 'GET', body, ...rest }] of lines.entries()) {
    const file = `bodies/${nth + 1}.json.gz`
    if (body !== undefined) {
      await writeFile(join(folder, file), body instanceof Uint8Array ? body : gzipSync(JSON.stringify(body)))
    }
    const [path, query = ''] = target.split('?')
    index.push({ at: new Date(instantOf(at)).toISOString(), method, path, query, status: 200, ...rest, body: file })
  }
  await writeIndex(folder, index)
  return folder
}

/** The lines of an index as a folder of their own, beside the bodies of another. */
export async function partOfFolder(folder: string, lines: readonly { readonly body: string }[]): Promise<string> {
  const part = await temporaryFolder()
  // Copies: a symbolic link would lead out of the folder.
  for (const body of new Set(lines.map((line) => line.body))) {
    await mkdir(dirname(join(part, body)), { recursive: true })
    await copyFile(join(folder, body), join(part, body))
  }
  await writeIndex(part, lines)
  return part
}

async function writeIndex(folder: string, lines: readonly object[]): Promise<void> {
  await writeFile(join(folder, 'index.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}
