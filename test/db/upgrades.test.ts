import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { migrate } from '../../src/db/migrations/migrate.ts'
import { openServer } from '../../src/db/server/server.ts'
import { effort } from '../support/effort.ts'
import { migrateAll, temporaryFolder, testDatabase, testDatabaseUrl } from '../support/postgres.ts'
import { repeatableOf } from './releases/dump.ts'
import { describeSchema } from './releases/schema.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const git = (...args: string[]) =>
  execFileSync('git', ['-C', root, ...args], { maxBuffer: 100_000_000, stdio: ['ignore', 'pipe', 'ignore'] })

/** The SQL of a commit: paths and blobs of what it installs. */
function sqlOf(commit: string): (readonly [path: string, blob: string])[] {
  const lines = git('ls-tree', '-r', commit, '--', 'migrations', 'src/analytics', 'src/questions')
    .toString()
    .split('\n')
  return lines.flatMap((line) => {
    const [, blob = '', path = ''] = /^\d+ blob (\w+)\t(.*)$/.exec(line) ?? []
    return /^migrations\/|\.sql$/.test(path) ? [[path, blob] as const] : []
  })
}

/** The oldest commit with each edition of the SQL, the newest first; none where there is no history to take them from. */
function editions(): { readonly commit: string; readonly files: ReturnType<typeof sqlOf> }[] {
  if (!existsSync(join(root, '.git')) || git('rev-parse', '--is-shallow-repository').toString().trim() === 'true')
    return []
  const commits = git(
    'log',
    '--format=%h',
    '--',
    'migrations',
    ':(glob)src/analytics/**/*.sql',
    ':(glob)src/questions/sql/*.sql',
  )
    .toString()
    .trim()
    .split('\n')
  return commits
    .map((commit) => ({ commit, files: sqlOf(commit) }))
    .filter(({ files }) => files.some(([path]) => path === 'migrations/meta/_journal.json'))
}

const all = editions()
/** A few of all; on request each. */
const chosen = effort.everyAnswer ? all : all.filter((_, nth) => nth % Math.ceil(all.length / 8) === 1)

describe('a database of each commit that changed the SQL', () => {
  let present: string[]
  beforeAll(async () => {
    present = await describeSchema(await testDatabase('server'))
  })

  test.skipIf(all.length > 0)('is not tried: there is no history of this repository here', () => {})

  test.for(chosen)('$commit gets what a new one has', async ({ files }, { skip }) => {
    const checkout = await temporaryFolder()
    for (const [path, blob] of files) {
      await mkdir(dirname(join(checkout, path)), { recursive: true })
      await writeFile(join(checkout, path), git('cat-file', 'blob', blob))
    }
    const db = await openServer(await testDatabaseUrl({ migrated: false }))
    try {
      const own = { folder: join(checkout, 'migrations'), repeatable: repeatableOf(checkout), clock: systemClock }
      // One commit could not install its own SQL, so no database is of it.
      const isInstalled = await migrate(db, own).then(
        () => true,
        () => false,
      )
      skip(!isInstalled, 'this commit could not install its own SQL')
      await migrateAll(db)
      const migrated = await describeSchema(db)
      expect(migrated.filter((line) => !line.startsWith('installed ') || present.includes(line))).toEqual(present)
    } finally {
      await db.close()
    }
  })
})
