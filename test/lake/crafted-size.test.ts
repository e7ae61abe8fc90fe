import { readFileSync } from 'node:fs'
import { cp, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { type DuckDb, openDuckDb } from '../../src/lake/duckdb.ts'
import { exportLake } from '../../src/lake/export.ts'
import { sha256Of } from '../../src/lake/file-hash.ts'
import { buildProgram, startProgram } from '../support/cli.ts'
import { changeIndex, readIndex } from '../support/lake-folder.ts'
import { ofPart } from '../support/parts.ts'
import { temporaryFolder, testDatabase, testDatabaseUrl } from '../support/postgres.ts'

const table = 'game.quest_count'
/** What an import takes, in MB, whatever a file holds; and what ends it before the machine suffers. */
const [most, deadly] = [300, 1000]

interface Crafted {
  readonly sql: (from: string) => string
  /** What the index says of it. */
  readonly rows: number
  /** Flags of the import. */
  readonly more?: readonly string[]
}

const text = (value: string, rows: number) => (from: string) =>
  `select * exclude (n) replace (counted || n as counted, valid_from + to_seconds(n) as valid_from,
                                ('"' || ${value} || '"')::json as document) from ${from}, range(${rows}) each(n)`

describe('files of a crafted lake that are larger than they seem', () => {
  let lake: string
  let database: string
  let duck: DuckDb
  beforeAll(async () => {
    await buildProgram()
    const db = await testDatabase('server')
    await db.query(
      `insert into game.quest_count (counted, quests, document, valid_from, hash)
       values ('Oak', 1, '{}', '2026-06-01T10:00Z', sha256('1'))`,
    )
    lake = join(await temporaryFolder(), 'lake')
    const options = { clock: virtualClock(Date.parse('2026-06-02Z')), program: 'test', people: true, keepMs: 0 }
    await exportLake(db, lake, { ...options, onProgress: () => {} })
    database = await testDatabaseUrl()
    duck = await openDuckDb()
    // Each thread holds a group of rows.
    await duck.run('set threads = 1')
  })

  /** Imports the lake with another file in place of the table's. */
  async function imported({ sql, rows, more = [] }: Crafted) {
    const folder = join(await temporaryFolder(), 'lake')
    await cp(lake, folder, { recursive: true })
    const file = (await readIndex(folder))?.files.find((one) => one.table === table)
    const path = join(folder, String(file?.path))
    await duck.run(`copy (${sql(`read_parquet('${path}')`)}) to '${path}.new' (format parquet, compression zstd)`)
    await cp(`${path}.new`, path)
    await rm(`${path}.new`)
    const made = { rows, sha256: await sha256Of(path), bytes: (await stat(path)).size }
    await changeIndex(folder, ({ files }) => Object.assign(files.find((one) => one.table === table) ?? {}, made))
    const environment = { DATABASE_URL: database, NODE_OPTIONS: '--max-old-space-size=200' }
    const { child, finished } = startProgram(['backfill', '--from-lake', folder, '--json', ...more], environment)
    let peak = 0
    const look = setInterval(() => {
      peak = Math.max(peak, peakOf(child.pid ?? 0))
      if (peak > deadly) child.kill('SIGKILL')
    }, 20)
    const { code, out, err } = await finished.finally(() => clearInterval(look))
    const done = out === '' ? undefined : JSON.parse(out)
    const own = done?.tables.find((one: { table: string }) => one.table === table)
    return { code, err, peak, reasons: done?.refused.map((one: { reason: string }) => one.reason), own }
  }

  const cases = ofPart<[string, Crafted, object]>({
    quick: [
      [
        'more rows than the index says are refused before they are read',
        { sql: (from) => `select one.* from ${from} one, range(5000000)`, rows: 755 },
        { code: 3, reasons: ['it has 5000000 rows; the index says 755'] },
      ],
      [
        'more text than --max-bytes allows is refused before it is read',
        { sql: text(`repeat('a', 900000)`, 2000), rows: 2000, more: ['--max-bytes', '1000000'] },
        { code: 3, reasons: [expect.stringMatching('bytes of text: more than --max-bytes')] },
      ],
      [
        'pages that take more memory than there is are refused',
        { sql: text(`repeat(md5(n::text), 28000)`, 400), rows: 400 },
        { code: 3, reasons: ['reading it takes more memory than is allowed'] },
      ],
    ],
    rest: [
      [
        'rows with values of ten megabytes are refused one by one, in little memory',
        { sql: text(`repeat('a', 9900000)`, 300), rows: 300 },
        { code: 3, reasons: [], own: { rows: 300, refused: 300, taken: 0 } },
      ],
      [
        'equal values of nearly a megabyte are imported in little memory',
        { sql: text(`repeat('a', 900000)`, 300), rows: 300 },
        { code: 0, reasons: [], own: { rows: 300, refused: 0 } },
      ],
      [
        'rows of 30 kB each, as a database can have them, are imported',
        { sql: text('repeat(md5(n::text), 940)', 3000), rows: 3000 },
        { code: 0, reasons: [], own: { rows: 3000, refused: 0 } },
      ],
    ],
  })

  test.each(cases)('%s', async (_, crafted, expected) => {
    const done = await imported(crafted)
    expect(done).toMatchObject(expected)
    expect(done.peak).toBeLessThan(most)
  })
})

/** The most memory that a process had so far, in MB. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
