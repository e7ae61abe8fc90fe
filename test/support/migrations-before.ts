import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from './postgres.ts'

/** A folder with the migrations before one. @param tag its name, such as `0029_claim`; default: the newest */
export async function migrationsBefore(tag?: string): Promise<string> {
  const folder = join(await temporaryFolder(), 'migrations')
  await cp(join(import.meta.dirname, '../../migrations'), folder, { recursive: true })
  const list = join(folder, 'meta', '_journal.json')
  const journal = JSON.parse(await readFile(list, 'utf8')) as { readonly entries: readonly { readonly tag: string }[] }
  const end = tag === undefined ? -1 : journal.entries.findIndex((entry) => entry.tag === tag)
  await writeFile(list, JSON.stringify({ ...journal, entries: journal.entries.slice(0, end) }))
  return folder
}
