import { Session } from 'node:inspector/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createApp, migrateDatabase, openDatabase } from '../../src/app/app.ts'
import { admissionOf, engineOf, openSharedApi } from '../../src/app/app-api.ts'
import { seededRandom, virtualClock } from '../../src/base/clock.ts'
import { readConfig } from '../../src/base/config.ts'
import { prepareTables } from '../../src/cli/maintenance.ts'
import type { Database, Sql } from '../../src/db/database.ts'
import { resourcesNamed } from '../../src/resources/index.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { temporaryFolder } from '../support/postgres.ts'

/*
 * What one response takes on its way through the program, traced while it runs: a bound is what is reached, and goes down only. Files and
 * statements are always the same ones. Of functions (479 and 558), up to ten more are called by timing: who waits for a budget, what is due.
 */

test('a changed response of territories takes few files, functions and statements', async () => {
  const path = await pathOf('territories')
  expect(path.files).toBeLessThanOrEqual(102)
  expect(path.functions).toBeLessThanOrEqual(490)
  expect(path.statements.length).toBeLessThanOrEqual(18)
})

test('a guild that is seen for the first time takes few files, functions and statements', async () => {
  const path = await pathOf('guilds')
  expect(path.files).toBeLessThanOrEqual(118)
  expect(path.functions).toBeLessThanOrEqual(570)
  expect(path.statements.length).toBeLessThanOrEqual(27)
})

/**
 * Prints and returns what the last of three responses of a resource takes, after one that was like it. The first of them differs:
 * earlier ones left nothing that it has to agree with.
 */
async function pathOf(name: 'territories' | 'guilds') {
  const clock = virtualClock(Date.parse('2026-06-01T10:00:00Z'), { auto: true })
  const game = { guilds: 12, players: 40, territories: 60 }
  const sandbox = await startSandbox({ clock, limits: { guest: 1e5, token: 1e5 }, game, seed: 1 })
  const settings = { baseUrl: sandbox.url, logLevel: 'error', databaseUrl: 'embedded' } as const
  const config = readConfig(settings, { WYNNSYNC_DATA_DIR: await temporaryFolder() })
  const app = createApp(config, { clock, random: seededRandom(1) })
  const db = await openDatabase(app, [], {})
  const api = openSharedApi(app, db)
  try {
    await migrateDatabase(db, app)
    const engine = engineOf(app, db, api, { admission: await admissionOf(app, db, {}) })
    await prepareTables(db, app, resourcesNamed([name, 'guild-list']))
    const run = async (one: string) => {
      for (const resource of resourcesNamed([one]))
        expect(await runResource(resource, engine, { concurrency: 4, limit: 1 })).toMatchObject({ status: 'ok' })
    }
    await run('guild-list')
    if (name === 'territories') {
      await run(name)
      await clock.advance(60_000)
      await run(name)
    }
    const statements = collectStatements(db)
    const paths: Path[] = []
    for (let nth = 0; nth < 3; nth++) {
      if (name === 'territories') await clock.advance(3 * 3_600_000)
      statements.length = 0
      const functions = await functionsCalled(() => run(name))
      paths.push({ functions, statements: [...statements] })
    }
    const last = paths.at(-1)
    if (!last) throw new Error('no response was traced')
    print(name, last.functions, last.statements)
    return {
      files: last.functions.size,
      functions: [...last.functions.values()].flat().length,
      statements: last.statements,
    }
  } finally {
    await api.close()
    await db.close()
    await sandbox.close()
  }
}

interface Path {
  readonly functions: ReadonlyMap<string, readonly string[]>
  readonly statements: readonly string[]
}

/** Collects the statements that are sent from now on, without those that begin and end transactions. */
function collectStatements(db: Database): string[] {
  const statements: string[] = []
  const noted = (text: string) => {
    statements.push(text.replace(/\s+/g, ' ').trim().slice(0, 100))
    return text
  }
  const collecting = <S extends Sql>(sql: S): S => {
    const { query, values, copy, copyCsv } = sql
    return Object.assign<S, Sql>(sql, {
      query: (text, params) => query(noted(text), params),
      values: (text, params) => values(noted(text), params),
      copy: (table, columns, rows) => {
        noted(`copy ${table}`)
        return copy(table, columns, rows)
      },
      copyCsv,
    })
  }
  const { transaction } = collecting(db)
  db.transaction = (work, limits) => Reflect.apply(transaction, db, [(sql: Sql) => work(collecting(sql)), limits])
  return statements
}

/** The named functions of the program that some work calls, by file. */
async function functionsCalled(work: () => Promise<void>): Promise<Map<string, string[]>> {
  const source = fileURLToPath(new URL('../../src/', import.meta.url))
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  session.disconnect()
  const called = new Map<string, string[]>()
  for (const { url, functions } of result) {
    const path = url.startsWith('file:') ? fileURLToPath(url) : url
    if (!path.startsWith(source) || path.startsWith(`${source}sandbox/`)) continue
    const names = functions.flatMap((one) => (one.functionName && one.ranges[0]?.count ? [one.functionName] : []))
    if (names.length > 0) called.set(path.slice(source.length), names)
  }
  return called
}

function print(name: string, functions: ReadonlyMap<string, readonly string[]>, statements: readonly string[]): void {
  const folders = new Map<string, { files: number; functions: number }>()
  for (const [file, { length }] of functions)
    for (const folder of ['all', dirname(file)]) {
      const known = folders.get(folder) ?? { files: 0, functions: 0 }
      folders.set(folder, { files: known.files + 1, functions: known.functions + length })
    }
  const lines = [...folders].map(
    ([folder, { files, functions: count }]) => `${files} files, ${count} functions: ${folder}`,
  )
  process.stdout.write([`\n${name}, ${statements.length} statements`, ...lines, ...statements, ''].join('\n'))
}
