import { createReadStream, existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { indexOf, type LakeIndex } from '../../src/lake/index-file.ts'
import { sealed } from '../../src/lake/read/index-form.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { openStore } from '../../src/lake/store.ts'
import { afterwards } from './afterwards.ts'
import { temporaryFolder } from './postgres.ts'
import { wrongRows } from './verified.ts'
import type { World } from './world.ts'

/** A web server for files, without listing. */
export async function serve(folder: string): Promise<string> {
  const server = createServer((request, response) => {
    const path = join(folder, new URL(request.url ?? '/', 'http://localhost').pathname)
    if (!existsSync(path) || path.endsWith('/')) response.writeHead(404).end()
    else createReadStream(path).pipe(response)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  afterwards(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/lake`
}

/** The index of the lake in a folder. */
export const readIndex = async (folder: string) => await indexOf(await openStore(folder))

/** Changes the index of a lake; its hash of itself is that of the change, which every writer can compute. */
export async function changeIndex(
  folder: string,
  change: (index: { -readonly [Key in keyof LakeIndex]: LakeIndex[Key] }) => unknown,
): Promise<void> {
  const path = join(folder, 'index.json')
  const { sha256: _, ...index } = JSON.parse(await readFile(path, 'utf8'))
  await change(index)
  await writeFile(path, JSON.stringify(sealed(index)))
}

/** Some of the lines that only one of them has. */
export function different(one: string[], other: string[]): string[][] {
  const [ones, others] = [new Set(one), new Set(other)]
  return [one.filter((line) => !others.has(line)).slice(0, 2), other.filter((line) => !ones.has(line)).slice(0, 2)]
}

/** Rows as text, without what names the program or the source, or is left out of a lake. */
export async function linesOf(db: Database, table: string): Promise<string[]> {
  const rows = await db.query<{ line: string }>(
    `select (to_jsonb(row) - 'program' - 'source_id' - 'error' - 'reason' - 'content_hash' - 'reload' - 'body_hash' - 'normalized')::text as line from ${table} row order by 1`,
  )
  return rows.map(({ line }) => line)
}

interface Dated extends Pick<World, 'db'> {
  readonly clock: Clock
}

/** Exports a database, with people, and imports that into another one, which is verified then, each at the time of its clock. */
export function lakeBetween(from: Dated, to: Dated) {
  const folder = temporaryFolder().then((parent) => join(parent, 'lake'))
  const onProgress = () => {}
  return {
    exported: async () => {
      const options = { clock: from.clock, program: 'test', people: true, keepMs: 0, onProgress }
      return await exportLake(from.db, await folder, options)
    },
    imported: async () => {
      const done = await importLake(to.db, openPlace(await folder), { clock: to.clock, maxBytes: 1e9, onProgress })
      if (done.refused.length > 0) throw new Error(`refused: ${JSON.stringify(done.refused)}`)
      const wrong = await wrongRows(to.db)
      if (wrong.length > 0) throw new Error(`verify finds: ${JSON.stringify(wrong)}`)
      return done
    },
  }
}

/** Waits until no transaction runs, of other databases too, that began before now: what it could have written is read again. */
export async function transactionsOver(db: Database): Promise<void> {
  const [[own] = []] = await db.values('select pg_current_xact_id()::text')
  const isOver = async () =>
    (await db.values('select pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8', [String(own)]))[0]?.[0] === true
  while (!(await isOver())) await systemClock.sleep(50)
}
