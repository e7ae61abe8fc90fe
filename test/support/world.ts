import { afterEach, beforeAll, beforeEach } from 'vitest'
import { type Api, createClient } from '../../src/api/client.ts'
import { seededRandom, type VirtualClock, virtualClock } from '../../src/base/clock.ts'
import { FOREVER } from '../../src/db/bulk/values.ts'
import type { Database } from '../../src/db/database.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts'
import type { ExtractOptions, Resource, Worklist } from '../../src/sync/declare/resource.ts'
import type { ClockSetting, Guards } from '../../src/sync/evidence/policies.ts'
import type { PreparedBefore } from '../../src/sync/normalize/prepared-before.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import type { RunResult } from '../../src/sync/run/run-result.ts'
import { giveBack, lendDatabase } from './lent-database.ts'

/** What may differ from one sync of a diary to the next. */
export interface SyncOptions extends Partial<Guards>, ExtractOptions {
  /** Keep what the API sends as it came. */
  readonly raw?: boolean
  /** Send notifications, and number what changed. */
  readonly notifies?: boolean
  /** Version of the program. */
  readonly program?: string
  /** Where what was made of the response before is remembered. */
  readonly before?: PreparedBefore
}

/** A simulated API, a real database and a clock, and the words that a diary is written in. */
export interface World {
  readonly db: Database
  readonly api: Api
  readonly clock: VirtualClock
  readonly sandbox: Sandbox
  /** What the engine logged, as `level: message`. */
  readonly log: string[]
  /** Keep what the API sends about people as it came. */
  readonly raw?: boolean
  /** Whose clock dates responses; default: the API's. An old response of a diary has an old `Date`, too, and its clock only goes on. */
  readonly trusts?: ClockSetting
  /** The API answers with `body` (JSON), which speaks for `at`; the resource is synced once. */
  sync(resource: Resource, body: unknown, at: string, options?: SyncOptions): Promise<RunResult>
  /** Syncs whatever the sandbox answers by itself. */
  syncNow(resource: Resource | Worklist, options?: SyncOptions): Promise<RunResult>
  /** Rows of a statement as arrays, instants in the form of `sync`. */
  rows(sql: string): Promise<unknown[][]>
  /** Key, start, end of every version in a table, in order of key and time. */
  versions(table?: string, key?: string): Promise<unknown[][]>
  /** How many rows each table of schemas `game` and `sync` has; empty tables are left out. */
  rowCounts(): Promise<Record<string, number>>
}

/**
 * A world for every test of the calling `describe`, on one database whose tables are emptied before each.
 * @param options.sandbox of the simulated API; by default nothing is served but what `sync` is given
 */
export function worldOf(kind: Database['kind'], options: { sandbox?: Partial<SandboxOptions> } = {}): World {
  let world: World
  let db: Database
  beforeAll(async () => {
    const lent = await lendDatabase(kind)
    db = lent.db
    return () => giveBack(lent)
  })
  beforeEach(async () => {
    await emptyTables(db)
    world = await openWorld(db, options.sandbox)
  })
  afterEach(async () => {
    await world.api.close()
    await world.sandbox.close()
  })
  return {
    get db() {
      return world.db
    },
    get api() {
      return world.api
    },
    get clock() {
      return world.clock
    },
    get sandbox() {
      return world.sandbox
    },
    get log() {
      return world.log
    },
    sync: (...given) => world.sync(...given),
    syncNow: (...given) => world.syncNow(...given),
    rows: (sql) => world.rows(sql),
    versions: (...given) => world.versions(...given),
    rowCounts: () => world.rowCounts(),
  }
}

/** Opens a world over a database that is at hand; its clock begins at `start` (ms since the epoch). Without a `token` its client is a guest. */
export async function openWorld(
  db: Database,
  sandboxOptions: Partial<SandboxOptions> = {},
  start = instantOf('00:00'),
  token?: string,
  trusts: ClockSetting = 'api',
): Promise<World> {
  const clock = virtualClock(start, { auto: true })
  const limits = { guest: 100_000, token: 100_000 }
  const sandbox = await startSandbox({ clock, items: { items: [], recipes: [], sets: {} }, limits, ...sandboxOptions })
  const api = createClient({ baseUrl: sandbox.url, clock, random: seededRandom(1), token })
  const log: string[] = []
  const lines = (level: string) => (_fields: object, message: string) => void log.push(`${level}: ${message}`)
  const runLog = { debug: lines('debug'), info: lines('info'), warn: lines('warn'), error: lines('error') }

  async function syncNow(resource: Resource | Worklist, options: SyncOptions = {}): Promise<RunResult> {
    const {
      plausibleShare = 0.5,
      plausibleShares = {},
      absences = 2,
      shrunkenHours = 6,
      zeroShare = 0.25,
      clock: trusted = trusts,
      ...others
    } = options
    const { accept = false, raw = false, notifies = false, program = 'test', before, ...extract } = others
    const guards = { plausibleShare, plausibleShares, absences, shrunkenHours, zeroShare, clock: trusted, accept }
    const engine = { db, api, clock, program, guards, log: runLog, raw, notifies, ...(before ? { before } : {}) }
    return await runResource(resource, engine, extract)
  }

  async function rows(sql: string): Promise<unknown[][]> {
    return (await db.values(sql)).map((row) => row.map((value) => (value instanceof Date ? timeOf(value) : value)))
  }

  return {
    db,
    api,
    clock,
    sandbox,
    log,
    trusts,
    syncNow,
    rows,
    sync: async (resource, body, at, options) => {
      const instant = instantOf(at)
      if (instant > clock.now()) await clock.advanceTo(instant)
      const headers = headersOf(instant, 60)
      sandbox.setAnswer(resource.route, ({ query }) => ({
        headers,
        // The ids of metadata are a request of their own; diaries about it hold the named lists only.
        body: query.has('static') ? {} : body,
      }))
      return await syncNow(resource, options)
    },
    versions: (table = 'item', key = 'internal_name') =>
      rows(`select ${key}, valid_from, valid_until from game.${table} order by ${key}, valid_from`),
    rowCounts: async () => {
      const counts: Record<string, number> = {}
      for (const table of await filledTables(db)) {
        const [row] = await db.query<{ n: number }>(`select count(*) as n from ${table}`)
        if (row && row.n > 0) counts[table] = row.n
      }
      return counts
    },
  }
}

const notSynced = `'installed_sql', 'installed_program', 'lock'`

/** Every table of schemas `game` and `sync` that holds what was synced. */
export async function tableNames(db: Database): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `select schemaname || '.' || tablename as name from pg_tables
      where schemaname in ('game', 'sync') and tablename not in (${notSynced}, 'restored_from') order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** Those of them that may hold a row: what never had any has no file to read, and there are dozens of these. */
async function filledTables(db: Database): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `select relnamespace::regnamespace || '.' || relname as name from pg_class
      where relkind = 'p' and relnamespace in ('game'::regnamespace, 'sync'::regnamespace) or relkind = 'r' and pg_relation_size(oid) > 0`,
  )
  const filled = new Set(rows.map(({ name }) => name))
  return (await tableNames(db)).filter((name) => filled.has(name))
}

/** Empties everything that was synced. */
export async function emptyTables(db: Database): Promise<void> {
  // Truncating makes new files for the table and each of its indexes, which takes longer than to delete a page of rows. And to
  // ask each of so many tables for a row takes a plan.
  const filled = await db.query<{ name: string; isSmall: boolean }>(
    `select relnamespace::regnamespace || '.' || relname as name, pg_relation_size(oid) <= 65536 as "isSmall" from pg_class
      where (relispartition or relnamespace in ('game'::regnamespace, 'sync'::regnamespace)) and relkind = 'r'
        and pg_relation_size(oid) > 0 and relname not in (${notSynced})`,
  )
  const large = filled.filter(({ isSmall }) => !isSmall).map(({ name }) => name)
  const deletes = filled.filter(({ isSmall }) => isSmall).map(({ name }) => `delete from ${name};`)
  if (large.length > 0) await db.query(`truncate ${large.join(', ')} cascade`)
  // Without the triggers of foreign keys, in any order.
  await db.query(`do $$ begin set local session_replication_role = replica; ${deletes.join(' ')} end $$`)
}

/** What the program says of its own work, by its own clock. */
const ledger = new Set([
  'sync.run',
  'sync.guard_action',
  'sync.budget',
  'sync.route_bucket',
  'sync.expectation',
  'sync.gap',
  'sync.origin',
  'sync.tier',
  'sync.raw_answer',
  'sync.raw_body',
  'sync.outbox',
  'sync.outbox_head',
  'sync.watch_delivery',
  'sync.web_key',
])

/** Every row of every table, without what differs from run to run by nature: the ledger, its ids, running numbers, the clock. */
export async function contentOf(db: Database): Promise<Record<string, unknown[]>> {
  const content: Record<string, unknown[]> = {}
  for (const table of await filledTables(db)) {
    if (ledger.has(table)) continue
    const own = `to_jsonb(each) - '{run_id,id,first_received_at,last_received_at}'::text[]`
    const rows = await db.query<{ row: object }>(`select ${own} as row from ${table} each order by (${own})::text`)
    if (rows.length > 0) content[table] = rows.map(({ row }) => row)
  }
  return content
}

/** `10:00` is an hour of 1 June 2026, `02 10:00` of the day after, `71 10:00` of 10 August; UTC, ms since the epoch. */
export function instantOf(text: string): number {
  const [time = '', day = '01'] = text.split(' ').reverse()
  return Date.parse(`2026-06-01T${time.length === 5 ? `${time}:00` : time}Z`) + (Number(day) - 1) * 86_400_000
}

/** The headers of a response that is sent when it is made (ms since the epoch), and lives for so many seconds. */
export function headersOf(instant: number, maxAge: number): Record<string, string> {
  const text = (at: number) => new Date(at).toUTCString()
  return { 'Cache-Control': `max-age=${maxAge}`, Expires: text(instant + 1000 * maxAge), Date: text(instant) }
}

/** The way back: `infinity` while a version is current. */
export function timeOf(at: Date): string {
  if (at.getTime() === FOREVER.getTime()) return 'infinity'
  const [day = '', time = ''] = at
    .toISOString()
    .replace(/(:00)?\.000Z$/, '')
    .split('T')
  return day === '2026-06-01' ? time : `${day.replace('2026-06-', '')} ${time}`
}

/** A whole item with as little as one can have. */
export function item(internalName: string, fields: object = {}): object {
  return { internalName, type: 'material', ...fields }
}

/** A walk over pages that saw fewer records than the API counts. */
export function incomplete(records: readonly unknown[]): object {
  const controller = { count: records.length + 1, pages: 1, current_count: records.length, prev: null, current: 1 }
  return { controller: { ...controller, next: null }, results: records }
}
