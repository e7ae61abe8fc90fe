import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { systemClock } from '../../../src/base/clock.ts'
import { migrate } from '../../../src/db/migrations/migrate.ts'
import { openServer } from '../../../src/db/server/server.ts'
import { testDatabaseUrl } from '../../support/postgres.ts'
import { fill } from './fill.ts'

/** All dumps in one file: they are alike, so that together they take little more than one of them. */
const file = new URL('dumps.json.br', import.meta.url)

/** The dumps as SQL text, by name: the newest migration, with the edition where it had several. */
export function readDumps(): Record<string, string> {
  return existsSync(file) ? JSON.parse(brotliDecompressSync(readFileSync(file)).toString()) : {}
}

/**
 * Adds the dump of a database that the program in `checkout` has migrated, with a few rows in every table. It needs
 * pg_dump, and a server that is not newer than it (TEST_DATABASE_URL).
 */
export async function dumpRelease(checkout: string, name: string): Promise<void> {
  const url = await testDatabaseUrl({ migrated: false })
  const db = await openServer(url)
  try {
    await migrate(db, {
      folder: join(checkout, 'migrations'),
      repeatable: repeatableOf(checkout),
      clock: systemClock,
    })
    await fill(db)
  } finally {
    await db.close()
  }
  const { stdout } = await promisify(execFile)(
    'pg_dump',
    ['--inserts', '--rows-per-insert=100', '--no-owner', '--no-privileges', '--dbname', url],
    { maxBuffer: 50_000_000 },
  )
  const text = stdout.replace(/^(--.*|\\(un)?restrict .*|)\n/gm, '')
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24 }
  writeFileSync(file, brotliCompressSync(JSON.stringify({ ...readDumps(), [name]: text }), { params }))
}

/** The views and comments of that program: the same folders as today's, as far as it had them. */
export function repeatableOf(checkout: string) {
  return ['migrations/comments', 'src/analytics', 'src/analytics/sql', 'src/questions/sql'].flatMap((folder) => {
    const path = join(checkout, folder)
    const scripts = existsSync(path) ? readdirSync(path).filter((script) => script.endsWith('.sql')) : []
    const names = scripts.map((script) => script.slice(0, -'.sql'.length)).sort()
    return names.map((script) => ({ name: `${folder}/${script}`, path: join(path, `${script}.sql`) }))
  })
}
