import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { exportLake } from '../../src/lake/export.ts'
import { fillYear } from '../bench/year/fill.ts'
import { startCommand } from '../support/cli.ts'
import { effort } from '../support/effort.ts'
import { answersOf, linesOf } from '../support/lake-answers.ts'
import { readIndex } from '../support/lake-folder.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'

const PACKAGES = ['duckdb==1.5.5', 'duckdb-extension-ducklake==1.5.5', 'pytz']
/** Enough for tables that have a file for each month. */
const extent = { until: new Date('2026-06-03T00:00Z'), days: 40, guilds: 4, territories: 20, items: 60, seed: 1 }
const script = fileURLToPath(new URL('ducklake.py', import.meta.url))
const options = { clock: systemClock, program: 'test', keepMs: 0, onProgress: () => {} }

interface Found {
  readonly views: Record<string, unknown[][]>
  readonly tables: Record<string, number>
  readonly filesOfLastDay: number
  readonly types: Record<string, string>
}

const canRun = effort.everyAnswer && spawnSync('python3', ['-m', 'venv', '--help']).status === 0
const reason = effort.everyAnswer ? 'python3 with venv is not here' : 'WYNNSYNC_TEST_FULL=1 runs it'
const title = "DuckDB's own extension answers from the catalogue as Postgres does"

if (!canRun) test.skip(`${title} (skipped: ${reason})`)
else
  test(title, { timeout: 600_000 }, async () => {
    const folder = await temporaryFolder()
    const python = join(folder, 'venv/bin/python')
    const run = async (command: string, ...args: string[]) => {
      const { code, err } = await startCommand(command, args, { HOME: folder, TZ: 'UTC' }, folder).finished
      expect([code, code === 0 ? '' : err.slice(-2000)]).toEqual([0, ''])
    }
    await run('python3', '-m', 'venv', join(folder, 'venv'))
    await run(python, '-m', 'pip', 'install', '--quiet', ...PACKAGES)
    const db = await testDatabase('server')
    await fillYear(db, extent)
    const expected = await answersOf(db)
    for (const people of [true, false]) {
      const lake = join(folder, `lake-${people}`)
      await exportLake(db, lake, { ...options, people })
      const out = join(folder, 'found.json')
      await run(python, script, lake, out)
      const found: Found = JSON.parse(readFileSync(out, 'utf8'))

      const views = Object.keys(expected).filter((name) => people || name !== 'members-rises')
      expect(Object.keys(found.views).sort()).toEqual(views.map((name) => name.replaceAll('-', '_')).sort())
      for (const [name, rows] of Object.entries(found.views))
        expect([name, linesOf(rows)]).toEqual([name, expected[name.replaceAll('_', '-')]])

      const files = (await readIndex(lake))?.files ?? []
      const rows: Record<string, number> = {}
      for (const file of files) rows[file.table.slice(5)] = (rows[file.table.slice(5)] ?? 0) + file.rows
      expect(found.tables).toEqual(rows)
      expect(files.filter(({ table }) => table === 'game.world_sample').length).toBeGreaterThan(found.filesOfLastDay)
      expect(found.types).toMatchObject({
        'territory_hold.guild_uuid': 'VARCHAR',
        'territory_hold.valid_from': 'TIMESTAMP WITH TIME ZONE',
        'territory_hold.is_current': 'BOOLEAN',
        'item.document': 'JSON',
        'item.hash': 'BLOB',
        'run.inserted': 'INTEGER',
      })
      await rm(out)
    }
  })
