import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Database as Sqlite } from 'node-sqlite3-wasm'
import { beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { openServer } from '../../src/db/server/server.ts'
import { type DuckDb, literal, openDuckDb } from '../../src/lake/duckdb.ts'
import { fillYear } from '../bench/year/fill.ts'
import { afterwards } from '../support/afterwards.ts'
import { buildProgram, startProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'

const extent = { until: new Date('2026-06-01T12:00Z'), days: 1, guilds: 4, territories: 20, items: 60, seed: 1 }
const OWN = ['lake_coverage', 'lake_export', 'lake_gap']

/** Something of every type, with an end that is open, and texts that end lines and quotes. */
const sums = {
  item: `count(*)::int as rows, sum(level)::int as levels, count(*) filter (where valid_until IS_OPEN)::int as current`,
  territory_hold: `count(*)::int as rows, count(distinct territory)::int as places, min(acquired AS_TEXT) as first, max(acquired AS_TEXT) as last`,
  world_sample: `count(*)::int as rows, sum(online)::int as levels`,
  run: `count(*)::int as rows, count(error)::int as levels, max(length(error))::int as longest`,
}

describe('an export into one file', () => {
  let db: Database
  let environment: { DATABASE_URL: string }
  beforeAll(async () => {
    await buildProgram()
    environment = { DATABASE_URL: await testDatabaseUrl() }
    db = await openServer(environment.DATABASE_URL)
    afterwards(() => db.close())
    await fillYear(db, extent)
    await db.query(`update sync.run set error = $1 where run_id = (select min(run_id::text)::uuid from sync.run)`, [
      `a "quoted", text\n\\N of three 'lines'\n`,
    ])
  })

  const place = async (name: string) => join(await temporaryFolder(), name)
  const run = async (...args: string[]) => await runInside(['lake', 'export', ...args, '--json'], environment)

  test('of DuckDB has the tables of a lake, with their rows, their comments and the questions', async () => {
    const file = await place('history.duckdb')
    const { code, out } = await run(file, '--people')
    expect(code).toBe(0)
    const done = JSON.parse(out)
    expect(done).toMatchObject({
      place: file,
      people: true,
      files: 1,
      written: 1,
      dropped: 0,
      bytes: (await stat(file)).size,
    })
    const duck = await openFile(file)
    const tables = await duck.rows(
      `select table_name as name, comment from duckdb_tables() where database_name = 'there'`,
    )
    const counted = await countsOf(
      tables.map(({ name }) => String(name)),
      (sql) => duck.rows(sql),
    )
    expect(counted.rows).toBe(done.rows)
    expect(counted.wrong).toEqual([])
    for (const [table, text] of Object.entries(sums))
      expect([table, await duck.rows(`select ${duckSql(text)} from ${table}`)]).toEqual([
        table,
        await ofPostgres(table, text),
      ])
    expect(tables.find(({ name }) => name === 'territory_hold')?.comment).toMatch(/\w+ \w+/)
    expect(await duck.rows(`select program, people from lake_export`)).toEqual([
      { program: expect.stringMatching(/^\d/), people: true },
    ])
    expect((await duck.rows('from who_takes_from_whom')).length).toBeGreaterThan(0)
    duck.close()
    expect(await readdir(dirname(file))).toEqual(['history.duckdb'])
  })

  test('of SQLite has the same', async () => {
    const file = await place('history.sqlite')
    const { code, out } = await run(file, '--people')
    expect(code).toBe(0)
    const sqlite = new Sqlite(file, { readOnly: true })
    const all = async (sql: string) => sqlite.all(sql)
    const tables = await all(`select name from sqlite_schema where type = 'table'`)
    const counted = await countsOf(
      tables.map(({ name }) => String(name)),
      all,
    )
    expect([counted.rows, counted.wrong]).toEqual([JSON.parse(out).rows, []])
    for (const [table, text] of Object.entries(sums))
      expect([table, await all(`select ${sqliteSql(text)} from ${table}`)]).toEqual([
        table,
        await ofPostgres(table, text),
      ])
    const [kinds] = await all(
      `select typeof(hash) as hash, typeof(is_current) as flag, typeof(valid_from) as instant from item limit 1`,
    )
    expect(kinds).toEqual({ hash: 'blob', flag: 'integer', instant: 'text' })
    expect(await all('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
    sqlite.close()
    expect(await readdir(dirname(file))).toEqual(['history.sqlite'])
  })

  test('names no player unless it is asked to', async () => {
    const [named] = await db.query<{ uuid: string }>('select player_uuid::text as uuid from game.guild_member limit 1')
    for (const name of ['history.duckdb', 'history.sqlite']) {
      const file = await place(name)
      const has = async () => await isIn(file, String(named?.uuid))
      expect((await run(file, '--people')).code).toBe(0)
      expect([name, await has()]).toEqual([name, true])
      expect((await run(file)).code).toBe(0)
      expect([name, await has()]).toEqual([name, false])
    }
  })

  test('replaces its own file as a whole, also when it is killed at any instant', async () => {
    for (const name of ['history.duckdb', 'history.sqlite']) {
      const file = await place(name)
      expect((await run(file)).code).toBe(0)
      const whole = await readFile(file)
      let kills = 0
      for (const wait of [0, 30, 80, 160, 320]) {
        const { child, finished } = startProgram(['lake', 'export', file], environment)
        while (child.exitCode === null && !existsSync(`${file}.wynnsync/writing`)) await systemClock.sleep(2)
        await systemClock.sleep(wait)
        child.kill('SIGKILL')
        if ((await finished).code !== null) break
        kills++
        expect((await readFile(file)).equals(whole)).toBe(true)
      }
      expect(kills).toBeGreaterThan(1)
      expect((await run(file)).code).toBe(0)
      expect(await readdir(dirname(file))).toEqual([name])
    }
  })

  test('of SQLite is read beside the lock that a program which was killed left, and locks no path of the user', async () => {
    const file = await place('history.sqlite')
    expect((await run(file)).code).toBe(0)
    await mkdir(`${file}.lock`)
    expect((await run(file)).code).toBe(0)
    expect((await readdir(dirname(file))).sort()).toEqual(['history.sqlite', 'history.sqlite.lock'])
  })

  test('refuses what something else made, is open, or is of another database, and leaves it', async () => {
    const other = { DATABASE_URL: await testDatabaseUrl() }
    await runInside(['migrate'], other)
    for (const name of ['history.duckdb', 'history.sqlite']) {
      const file = await place(name)
      const refused = async (text: RegExp, ...args: string[]) => {
        const before = await readFile(file)
        const { code, err } = await run(file, ...args)
        expect([name, code, err]).toEqual([name, 2, expect.stringMatching(text)])
        expect((await readFile(file)).equals(before)).toBe(true)
      }
      await writeFile(file, 'my notes')
      await refused(/is there, and is not a file that lake export wrote/)
      await refused(/is there, and is not a file that lake export wrote/, '--yes')
      await makeForeign(file)
      await refused(/is there, and is not a file that lake export wrote/)
      const own = await place(name)
      expect((await run(own)).code).toBe(0)
      await writeFile(file, await readFile(own))
      const open = `${file}${name.endsWith('sqlite') ? '-journal' : '.wal'}`
      await writeFile(open, '')
      await refused(/has .* open for writing/)
      const elsewhere = await runInside(['lake', 'export', own], other)
      expect([elsewhere.code, elsewhere.err]).toEqual([
        2,
        expect.stringMatching(/is the lake of another database.*--yes replaces it/),
      ])
      expect((await runInside(['lake', 'export', own, '--yes'], other)).code).toBe(0)
    }
  })

  test('is none where a folder or bucket is meant, and a dry run leaves nothing', async () => {
    const file = await place('history.duckdb')
    expect(JSON.parse((await run(file, '--dry-run')).out)).toMatchObject({ dryRun: true, files: 1, bytes: 0 })
    expect(await readdir(dirname(file))).toEqual([])
    const says = async (args: string[]) => {
      const { code, err } = await runInside(args, environment)
      return [code, err]
    }
    expect(await says(['lake', 'export', file, '--keep-replaced', '1h'])).toEqual([
      2,
      expect.stringContaining('--keep-replaced does nothing'),
    ])
    expect(await says(['lake', 'export', 's3://bucket/history.duckdb'])).toEqual([
      2,
      expect.stringContaining('not into a bucket'),
    ])
    expect(await says(['backup', file])).toEqual([2, expect.stringContaining('is one file')])
  })

  /** Tables whose numbers of rows differ from those of the database, and all rows. */
  async function countsOf(names: string[], ask: (sql: string) => Promise<Record<string, unknown>[]>) {
    const wrong: unknown[] = []
    let rows = 0
    const game = await db.query<{ name: string }>(
      `select relname::text as name from pg_class where relnamespace = 'game'::regnamespace and relkind in ('r', 'p') and not relispartition`,
    )
    for (const { name } of game) if (!names.includes(name)) wrong.push([name, 'is missing'])
    for (const name of names.filter((one) => !OWN.includes(one))) {
      const [there] = await ask(`select cast(count(*) as integer) as rows from "${name}"`)
      const schema = game.some((one) => one.name === name) ? 'game' : 'sync'
      const [here] = await db.query<{ rows: number }>(`select count(*)::int as rows from ${schema}."${name}"`)
      if (there?.rows !== here?.rows) wrong.push([name, there?.rows, here?.rows])
      rows += Number(there?.rows)
    }
    return { wrong, rows }
  }

  async function ofPostgres(table: string, text: string): Promise<Record<string, unknown>[]> {
    const sql = text
      .replaceAll(/(\w+) AS_TEXT/g, `to_char($1 at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`)
      .replaceAll('IS_OPEN', `= 'infinity'`)
    return await db.query(`select ${sql} from ${table === 'run' ? 'sync' : 'game'}.${table}`)
  }
})

const duckSql = (text: string) =>
  text.replaceAll(/(\w+) AS_TEXT/g, `strftime($1::timestamp, '%Y-%m-%dT%H:%M:%S.%fZ')`).replaceAll('IS_OPEN', 'is null')

const sqliteSql = (text: string) =>
  text.replaceAll(' AS_TEXT', '').replaceAll('IS_OPEN', 'is null').replaceAll('::int', '')

async function openFile(file: string): Promise<DuckDb> {
  const duck = await openDuckDb()
  await duck.run(`attach ${literal(file)} as there (read_only); use there`)
  return duck
}

/** Whether a text is anywhere in the rows of a file. */
async function isIn(file: string, text: string): Promise<boolean> {
  // Its pages are not compressed.
  if (file.endsWith('.sqlite')) return (await readFile(file)).includes(text)
  const duck = await openFile(file)
  const tables = await duck.rows(`select table_name as name from duckdb_tables() where database_name = 'there'`)
  const found: unknown[] = []
  for (const { name } of tables)
    found.push(...(await duck.rows(`select 1 as one from "${name}" row where row::varchar like '%${text}%' limit 1`)))
  duck.close()
  return found.length > 0
}

/** A file of the same kind, whose tables are others. */
async function makeForeign(file: string): Promise<void> {
  await writeFile(file, '')
  const statement = 'create table mine (source text, last_run text)'
  if (file.endsWith('.sqlite')) {
    const sqlite = new Sqlite(file)
    sqlite.exec(statement)
    sqlite.close()
    return
  }
  await rm(file)
  const duck = await openDuckDb()
  await duck.run(`attach ${literal(file)} as made; use made; ${statement}; use memory; detach made`)
  duck.close()
}
