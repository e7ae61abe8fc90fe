import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import { maintainDatabase } from '../../src/cli/maintenance.ts'
import type { Database } from '../../src/db/database.ts'
import { openServer } from '../../src/db/server/server.ts'
import { buildProgram, runProgram } from '../support/cli.ts'
import { contentOf } from '../support/database-content.ts'
import { playerId } from '../support/guild-answers.ts'
import { profile } from '../support/player-answers.ts'
import { migrateAll, temporaryFolder } from '../support/postgres.ts'
import { startBinaries } from '../support/postgres-binaries.ts'
import { servedApi } from '../support/served.ts'
import { fill, tablesOf } from './releases/fill.ts'

beforeAll(buildProgram)

/** An empty migrated database on a server of its own. */
async function serverWith(...more: string[]): Promise<{ db: Database; url: string }> {
  const workers = [
    'max_sync_workers_per_subscription=8',
    'max_logical_replication_workers=12',
    'max_worker_processes=16',
  ]
  const server = await startBinaries({
    keeps: true,
    more: [...workers, 'max_replication_slots=20', 'max_wal_senders=20', ...more],
  })
  onTestFinished(() => server.stop())
  const db = await openServer(server.url)
  onTestFinished(() => db.close())
  await migrateAll(db)
  return { db, url: server.url }
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await delay(200)
}

/** As docs/how-to/replication.md says. */
async function subscribe(publisher: { db: Database; url: string }, subscriber: Database): Promise<void> {
  await publisher.db.query(
    'create publication wynnsync for tables in schema game, sync with (publish_via_partition_root = true)',
  )
  await subscriber.query('truncate sync.installed_sql, sync.installed_program')
  const { hostname, port, username, password } = new URL(publisher.url)
  const connection = `host=${hostname} port=${port} dbname=postgres user=${username} password='${decodeURIComponent(password)}'`
  await subscriber.query(
    `create subscription wynnsync connection '${connection.replaceAll("'", "''")}' publication wynnsync`,
  )
  onTestFinished(async () => void (await subscriber.query('drop subscription wynnsync')))
  await until(async () => {
    const [row] = await subscriber.query<{ ready: boolean }>(
      `select bool_and(srsubstate = 'r') as ready from pg_subscription_rel`,
    )
    return row?.ready === true
  })
}

/** Waits until the subscriber has all that is written. */
async function caughtUp(publisher: Database): Promise<void> {
  const [now] = await publisher.query<{ lsn: string }>('select pg_current_wal_lsn()::text as lsn')
  await until(async () => {
    const [slot] = await publisher.query<{ done: boolean }>(
      `select confirmed_flush_lsn >= $1::text::pg_lsn as done from pg_replication_slots where slot_name = 'wynnsync'`,
      [now?.lsn ?? '0/0'],
    )
    return slot?.done === true
  })
}

/** Content of the tables that retention does not touch by partitions. */
async function wholeTables(db: Database): Promise<Record<string, unknown>> {
  const rows = await db.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind = 'p' and relnamespace = 'game'::regnamespace`,
  )
  const partitioned = new Set(rows.map(({ name }) => name))
  return Object.fromEntries(Object.entries(await contentOf(db)).filter(([name]) => !partitioned.has(name)))
}

test('a subscriber follows a sync, a purge, retention and the deletion of every row', {
  timeout: 600_000,
}, async () => {
  const publisher = await serverWith('wal_level=logical')
  const { db: copy } = await serverWith()
  const { db } = publisher
  await db.query(`select pg_create_logical_replication_slot('decoded', 'test_decoding')`)
  await subscribe(publisher, copy)
  const environment = { DATABASE_URL: publisher.url, WYNNSYNC_DATA_DIR: await temporaryFolder() }
  const api = await servedApi()
  const keys = [1, 2].flatMap((number) => {
    const body = profile(number, { username: `Copied${number}`, playtime: number })
    api.setAnswer(`/player/${body.uuid}`, () => ({ body }))
    return ['--player', playerId(number)]
  })
  const run = async (...args: string[]) => expect(await runProgram(args, environment)).toMatchObject({ code: 0 })
  await run('sync', 'players', ...keys, '--base-url', api.url)
  await run('privacy', 'purge', playerId(2), '--yes')
  await caughtUp(db)
  expect(await contentOf(copy)).toEqual(await contentOf(db))
  expect((await copy.values('select count(*) from game.player'))[0]).toEqual([1])

  await fill(db)
  const log = createLog('silent', systemClock)
  const config = { retention: 'all=30d; ledger=1d/30d', rawDays: {} }
  await maintainDatabase(db, { clock: systemClock, log, config })
  await caughtUp(db)
  expect(await wholeTables(copy)).toEqual(await wholeTables(db))

  for (const table of (await tablesOf(db)).reverse()) await db.query(`delete from ${table}`)
  await caughtUp(db)
  expect(await wholeTables(copy)).toEqual(await wholeTables(db))
  expect(Object.values(await wholeTables(copy))).toEqual(
    Object.values(await wholeTables(copy)).map(() => ({ rows: 0, digest: null })),
  )

  const changes = await db.values(`select data from pg_logical_slot_get_changes('decoded', null, null)`)
  const text = changes.map(([line]) => String(line))
  for (const table of [
    'sync.claim',
    'sync.observation',
    'sync.guard_action',
    'sync.privacy_action',
    'game.field_change',
  ])
    expect(text.filter((line) => line.startsWith(`table ${table}: DELETE: `)).length).toBeGreaterThan(0)
  expect(text.filter((line) => line.includes('(no-tuple-data)'))).toEqual([])

  await expectDoctor(publisher)
})

/** It says what the server can do, and names a slot that has lost its reader, and a table without identity. */
async function expectDoctor({ db, url }: { db: Database; url: string }): Promise<void> {
  const doctor = async () => {
    const api = await servedApi()
    const { out } = await runProgram(['doctor', '--json', '--base-url', api.url], { DATABASE_URL: url })
    const { findings } = JSON.parse(out) as { findings: { check: string; seen: string }[] }
    return findings.find(({ check }) => check === 'replication')
  }
  expect(await doctor()).toMatchObject({
    verdict: 'fine',
    seen: expect.stringMatching(/^wal_level is logical; slot decoded is inactive and keeps .*, slot wynnsync keeps /),
  })
  await db.query('create table game.own (number int)')
  expect(await doctor()).toMatchObject({ verdict: 'warning', seen: expect.stringMatching(/identity: game\.own$/) })
  await db.query('drop table game.own')
}
