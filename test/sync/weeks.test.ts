import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type HttpExchange, lineOf, tellingHeaders, textOf } from '../../src/api/http/http-exchange.ts'
import { openRecordedResponses } from '../../src/api/recordings/recorded.ts'
import type { Database } from '../../src/db/database.ts'
import { resources } from '../../src/resources/index.ts'
import { loadRecorded } from '../../src/sync/backfill/backfill-recorded.ts'
import { replay } from '../../src/sync/replay/replay.ts'
import { engineOn, syncOn } from '../support/archive.ts'
import { smallItemWorld } from '../support/item-world.ts'
import { kindsOfPart, testDatabase } from '../support/postgres.ts'
import { recordingFolder } from '../support/recording-folder.ts'
import { wrongRows } from '../support/verified.ts'
import { openWorld } from '../support/world.ts'

/*
 * A week of the simulated game for each release, and what that release recorded of it. Later programs record the same, column by column; what a
 * release is to record otherwise is said here, and in its changelog. `WYNNSYNC_RECORD_WEEK=1.2.3` before the command of this test adds one.
 *
 * Since 1.0.0: the lists of players of that week are six hours apart. Who is missing from one of them was away (`player_listing`, `player_hop`).
 */

interface Week {
  readonly lines: readonly {
    readonly at: string
    readonly path: string
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: unknown
  }[]
  readonly loaded: Recorded
  /** What a replay of the archive makes of it: people who hid something later are hidden from the start. */
  readonly replayed: Recorded
}
/** By table of `game`: its columns, how many rows it has, and a fingerprint of these columns in all rows. */
type Recorded = Readonly<Record<string, RecordedTable>>
interface RecordedTable {
  readonly columns: readonly string[]
  readonly rows: number
  readonly digest: string
}

const folder = join(import.meta.dirname, 'weeks')
const start = Date.parse('2026-06-01T12:00:00Z')
const HOUR = 3_600_000
const GAME = { game: { guilds: 5, players: 60, territories: 24, patches: true }, seed: 11, items: smallItemWorld() }

/** How often each resource is asked for, hours; all others once a day. */
const pace: Readonly<Record<string, number>> = { territories: 3, 'online-players': 6, guilds: 12, players: 12 }

async function responsesOfAWeek(): Promise<Week['lines']> {
  const world = await openWorld(await testDatabase('server'), GAME, start)
  const lines: Week['lines'][number][] = []
  const note = (exchange: HttpExchange) => {
    const { status, headers, receivedAt } = exchange.outcome
    const at = new Date(receivedAt).toISOString()
    lines.push({
      // As `instantOf` reads it.
      at: `${at.slice(8, 10)} ${at.slice(11, 23)}`,
      path: lineOf(exchange).replace(/^GET /, ''),
      status: status ?? 0,
      headers: tellingHeaders(headers),
      body: JSON.parse(Buffer.from(textOf(exchange)).toString()),
    })
  }
  const engine = { ...engineOn(world, world.db, false), api: world.api.withRecorder(note) }
  for (let hour = 0; hour <= 7 * 24; hour++) {
    await world.clock.advanceTo(Math.max(world.clock.now(), start + hour * HOUR))
    for (const resource of resources) {
      if (hour % (pace[resource.name] ?? 24) !== 0) continue
      const { status, error } = await syncOn(engine, resource, 4)
      expect([resource.name, status, error]).not.toContain('failed')
    }
  }
  await world.api.close()
  await world.sandbox.close()
  return lines
}

/** What differs from load to load. */
const ofTheLoad = /(^|_)run_id$/

async function recordedIn(db: Database, of?: Recorded): Promise<Recorded> {
  const known = await db.query<{ name: string; columns: string[] }>(
    `select table_name as name, array_agg(column_name::text order by column_name::text collate "C") as columns
       from information_schema.columns join pg_class on relname = table_name and relnamespace = 'game'::regnamespace
      where table_schema = 'game' and not relispartition and is_identity = 'NO' group by 1 order by 1`,
  )
  const found: Record<string, RecordedTable> = {}
  for (const { name, columns } of known) {
    const wanted = of ? of[name]?.columns : columns.filter((column) => !ofTheLoad.test(column))
    if (!wanted) continue
    const list = wanted.map((column) => `"${column}"`).join(', ')
    const [row] = await db.query<{ rows: number; digest: string }>(
      `select count(*)::int as rows, coalesce(md5(string_agg(line, chr(10) order by line collate "C")), '') as digest
         from (select to_jsonb(each)::text as line from (select ${list} from game."${name}") each) all_of_it`,
    )
    if (row && row.rows > 0) found[name] = { columns: wanted, ...row }
  }
  return found
}

/** Loads the responses of a week as recordings of others, with an archive. */
async function load(db: Database, { lines }: Pick<Week, 'lines'>) {
  const world = await openWorld(db, {}, start + 8 * 24 * HOUR)
  const responses = openRecordedResponses(await recordingFolder(lines))
  const engine = engineOn(world, db, true)
  const { unknown } = await loadRecorded(responses, engine, { resources })
  const close = async () => {
    await world.api.close()
    await world.sandbox.close()
  }
  return { engine, unknown, close }
}

const { WYNNSYNC_RECORD_WEEK: release } = process.env
if (release)
  test('records a week', async () => {
    const lines = await responsesOfAWeek()
    const db = await testDatabase('server')
    const { engine, close } = await load(db, { lines })
    const loaded = await recordedIn(db)
    await replay(engine, { resources, swap: true })
    const week: Week = { lines, loaded, replayed: await recordedIn(db) }
    await close()
    writeFileSync(join(folder, `${release}.json.br`), brotliCompressSync(JSON.stringify(week)))
  })

const releases = readdirSync(folder).map((name) => name.replace(/\.json\.br$/, ''))

describe.each(kindsOfPart)('on the %s database,', (kind) => {
  test.each(releases)('a week of release %s is recorded as that release did, and replayed alike', async (name) => {
    const week: Week = JSON.parse(brotliDecompressSync(readFileSync(join(folder, `${name}.json.br`))).toString())
    const db = await testDatabase(kind)
    const { engine, unknown, close } = await load(db, week)
    // It names the boards, and is none.
    expect([...unknown.keys()]).toContain('GET /leaderboards/types')
    expect(Object.keys(week.loaded).length).toBeGreaterThan(30)
    expect(await recordedIn(db, week.loaded)).toEqual(week.loaded)
    const strange = () =>
      db.values(
        'select resource, kind, path from sync.drift union all select resource, path, reason from sync.quarantine',
      )
    expect(await strange()).toEqual([])
    const { lost } = await replay(engine, { resources, swap: true })
    expect(lost).toEqual([])
    expect(await recordedIn(db, week.replayed)).toEqual(week.replayed)
    // What was removed from the archive for privacy, the API did send.
    expect([await strange(), await db.values('select * from sync.unsent')]).toEqual([[], []])
    expect(await wrongRows(db)).toEqual([])
    await close()
  })
})
