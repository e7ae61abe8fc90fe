import { createReadStream, existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Database } from '../../src/db/database.ts'
import { afterwards } from './afterwards.ts'

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

/** Some of the lines that only one of them has. */
export function different(one: string[], other: string[]): string[][] {
  const [ones, others] = [new Set(one), new Set(other)]
  return [one.filter((line) => !others.has(line)).slice(0, 2), other.filter((line) => !ones.has(line)).slice(0, 2)]
}

/** Rows as text, without what names the program or is left out of a lake. */
export async function linesOf(db: Database, table: string): Promise<string[]> {
  const rows = await db.query<{ line: string }>(
    `select (to_jsonb(row) - 'program' - 'error' - 'reason' - 'content_hash' - 'body_hash' - 'normalized')::text as line from ${table} row order by 1`,
  )
  return rows.map(({ line }) => line)
}
