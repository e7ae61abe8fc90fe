import { describe, expect, test } from 'vitest'
import type { Sql } from '../../src/db/database.ts'
import { resources } from '../../src/resources/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { materializeCoverage } from '../../src/sync/coverage/coverage.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { findWrong } from '../../src/sync/verify/check.ts'
import { repairable, repairDatabase } from '../../src/sync/verify/repair.ts'
import { checksOf, verifyDatabase } from '../../src/sync/verify/verify.ts'
import { capturesIn, changesIn } from '../support/following.ts'
import { place } from '../support/guild-answers.ts'
import { kindsAtNight, testDatabase } from '../support/postgres.ts'
import { wrongRows } from '../support/verified.ts'
import { liveWholeWorld } from '../support/whole-world.ts'
import { openWorld, type World, worldOf } from '../support/world.ts'

/** Checks that find something, as `check table: rows`. */
async function failing(sql: Sql): Promise<string[]> {
  const found: string[] = []
  for (const check of await checksOf(resources)) {
    const { wrong } =
      typeof check.find === 'string' ? await findWrong(sql, check.find) : await check.find(sql, undefined)
    if (wrong > 0) found.push(`${check.name} ${check.table}: ${wrong}`)
  }
  return found
}

/** What fails once these statements have changed a database behind its constraints; nothing of that stays. */
async function failingAfter({ db }: World, ...statements: readonly string[]): Promise<string[]> {
  let found: string[] = []
  const rollback = new Error('rolled back')
  await db
    .transaction(async (sql) => {
      await sql.query('set local session_replication_role = replica')
      for (const statement of statements) await sql.query(statement)
      found = await failing(sql)
      throw rollback
    })
    .catch((error: unknown) => {
      if (error !== rollback) throw error
    })
  return found
}

/** The whole world, and some responses with their bodies, numbered. */
async function liveArchived(world: World): Promise<void> {
  await liveWholeWorld(world)
  for (const [guild, at] of [
    ['a', '22:00'],
    ['b', '22:10'],
    ['c', '22:20'],
    ['d', '22:30'],
  ] as const)
    await world.sync(territories, { Lutho: place(guild, at) }, at, { raw: true, notifies: true, accept: true })
  const now = new Date(world.clock.now())
  for (const { name } of resources)
    await setExpectedInterval(world.db, { resource: name, everySeconds: 600, setBy: 'start', at: now })
  expect(await materializeCoverage(world.db, { now, resources })).toBeGreaterThan(20)
}

/** The constraints that would not let it be. */
const unchained = ['order', 'after', 'end', 'start', 'chain'].map(
  (name) => `alter table game.item drop constraint if exists item_${name} cascade`,
)
const first = `internal_name = 'axe' and previous_until is null`
const second = `internal_name = 'axe' and previous_until is not null and valid_until < 'infinity'`
const oneOf = (table: string) => `ctid = (select ctid from ${table} limit 1)`

const latest = (table: string, time: string) =>
  `${time} = (select max(${time}) from sync.${table} other where other.resource = ${table}.resource)`

const claimed = (kind: string, subject: string, times: number) =>
  `insert into sync.claim (resource, kind, subject, value, first_at, last_at, first_received_at, last_received_at, times, run_id)
   select 'items', '${kind}', '${subject}', '', at - interval '2 h', at, at - interval '2 h', at, ${times}, gen_random_uuid()
     from (select timestamptz '2026-06-01' as at) now`

/** One corrupted row each, and the check that must find it, alone. */
const corruptions: readonly (readonly [finds: string, what: string, ...statements: string[]])[] = [
  ['chain game.item: 1', 'two current', ...unchained, `update game.item set valid_until = 'infinity' where ${second}`],
  [
    'chain game.item: 1',
    'an overlap',
    ...unchained,
    `update game.item set valid_until = valid_until + interval '1 s' where ${first}`,
  ],
  [
    'chain game.item: 1',
    'a hole',
    ...unchained,
    `update game.item set valid_until = valid_until - interval '1 s' where ${first}`,
  ],
  ['chain game.item: 1', 'a version that is gone', ...unchained, `delete from game.item where ${second}`],
  [
    'chain game.item: 1',
    'a beginning that is gone',
    ...unchained,
    `delete from game.item where ${first}`,
    `delete from game.field_change where key = 'axe' and path = ''`,
  ],
  [
    'chain game.item: 1',
    'an end before its beginning',
    ...unchained,
    `update game.item set valid_until = valid_from - interval '1 h' where internal_name = 'cap'`,
  ],
  [
    'part game.item_identification: 1',
    'parts of no version',
    `update game.item_identification set valid_from = valid_from - interval '1 s' where ${oneOf('game.item_identification')}`,
  ],
  [
    'capture game.territory_capture: 1',
    'a capture by another guild',
    `update game.territory_capture set to_guild_uuid = gen_random_uuid() where ${oneOf('game.territory_capture')}`,
  ],
  [
    'capture game.territory_capture: 1',
    'a capture from another guild',
    `update game.territory_capture set from_guild_uuid = gen_random_uuid() where ${oneOf('game.territory_capture')}`,
  ],
  [
    'hold without capture game.territory_hold: 1',
    'a capture that is gone',
    `delete from game.territory_capture where ${oneOf('game.territory_capture')}`,
  ],
  [
    'source game.quest_count: 1',
    'a response that is gone',
    `delete from sync.run where resource = 'quests' and ${latest('run', 'observed_at')}`,
  ],
  [
    'worklist sync.work_item: 1',
    'a key that is ahead of the ledger',
    `update sync.work_item set observed_at = observed_at + interval '1 s'
      where ctid = (select ctid from sync.work_item where resource = 'guilds' and observed_at is not null limit 1)`,
  ],
  [
    'change game.field_change: 1',
    'a change that no version has',
    `insert into game.field_change (resource, key, changed_at, path, is_revert)
     select resource, key, changed_at + interval '1 s', path, false from game.field_change where resource = 'items' limit 1`,
  ],
  [
    'version without change game.item: 1',
    'a change that is gone',
    `delete from game.field_change where key = 'axe' and changed_at = (select max(valid_from) from game.item where internal_name = 'axe')`,
  ],
  [
    'import sync.source_version: 1',
    'a version of no import',
    `insert into sync.source_version (source_id, table_name, key, valid_from) values ('nothing', 'game.item', 'axe', '2026-06-01')`,
  ],
  [
    'gap sync.gap: 1',
    'gaps that overlap',
    `insert into sync.gap (resource, began_at, ended_at, missed, reason)
     values ('items', '2026-01-01', '2026-01-03', 1, ''), ('items', '2026-01-02', '2026-01-04', 1, '')`,
  ],
  [
    'coverage sync.coverage_hour: 1',
    'another number',
    `update sync.coverage_hour set observed = observed + 1 where ${oneOf('sync.coverage_hour')}`,
  ],
  [
    'coverage sync.coverage_hour: 1',
    'an hour that is not counted',
    `delete from sync.coverage_hour where resource = 'items' and hour = (select min(hour) + interval '1 h' from sync.coverage_hour where resource = 'items')`,
  ],
  [
    'coverage sync.coverage_hour: 1',
    'an hour that is counted too early',
    `insert into sync.coverage_hour (resource, hour, expected, observed, unchanged, partial, stale, rejected, missed)
     select resource, hour + interval '1 year', 1, 1, 0, 0, 0, 0, 0 from sync.coverage_hour limit 1`,
  ],
  ['claim sync.claim: 1', 'a key that is missing, and never was', claimed('missing', 'nothing', 1)],
  ['claim count sync.claim: 1', 'a claim that no response made', claimed('shrunken', '', 0)],
  ['claim count sync.claim: 1', 'a claim that must be concluded', claimed('shown', 'axe', 2)],
  [
    'archive body sync.raw_body: 1',
    'what is no brotli',
    `update sync.raw_body set body = '\\x00' where ${oneOf('sync.raw_body')}`,
  ],
  [
    'archive body sync.raw_body: 1',
    'the text of another body',
    `update sync.raw_body set (body, bytes) = (select body, bytes from sync.raw_body other order by hash desc limit 1)
      where hash = (select min(hash::text)::bytea from sync.raw_body)`,
  ],
  [
    'archive body sync.raw_body: 1',
    'another length',
    `update sync.raw_body set bytes = 1 where ${oneOf('sync.raw_body')}`,
  ],
  [
    'archive response sync.raw_answer: 1',
    'a body that is gone',
    `delete from sync.raw_body where ${oneOf('sync.raw_body')}`,
  ],
  [
    'archive unused sync.raw_body: 1',
    'a response that is gone',
    `delete from sync.raw_answer where ${oneOf('sync.raw_answer')}`,
  ],
  ['outbox sync.outbox: 1', 'a hole', 'delete from sync.outbox where number = 2'],
  [
    'outbox sync.outbox: 1',
    'a last one that is gone',
    'delete from sync.outbox where number = (select max(number) from sync.outbox)',
  ],
  ['outbox sync.outbox: 1', 'a head that is behind', 'update sync.outbox_head set last = last - 1'],
]

describe.each(kindsAtNight)('verify (%s)', (kind) => {
  const world = worldOf(kind)

  test('finds nothing in a database that is whole, and in an empty one', async () => {
    expect(await failing(world.db)).toEqual([])
    await liveArchived(world)
    const checks = await verifyDatabase(world.db, resources)
    expect(await wrongRows(world.db)).toEqual([])
    expect(checks.length).toBeGreaterThan(50)
    expect(checks.map(({ table }) => table)).toEqual(expect.arrayContaining(['game.item', 'game.camp', 'sync.outbox']))
  })

  test('finds one corrupted row, by the check that is for it and by no other', async () => {
    await liveArchived(world)
    const found: string[] = []
    for (const [, what, ...statements] of corruptions)
      found.push(`${what}: ${(await failingAfter(world, ...statements)).join(', ')}`)
    expect(found).toEqual(corruptions.map(([finds, what]) => `${what}: ${finds}`))
  })
})

test.each(kindsAtNight)('a repair puts right what follows from the rest, and no more (%s)', async (kind) => {
  const world = await openWorld(await testDatabase(kind))
  const { db } = world
  await liveArchived(world)
  const items = () => db.query('select * from game.item order by internal_name, valid_from')
  const parts = () =>
    db.query('select * from game.item_identification order by internal_name, valid_from, identification')
  const following = async () => [await capturesIn(db), await changesIn(db, 'items')]
  const [before, partsBefore, followingBefore] = [await items(), await parts(), await following()]
  for (const statement of [
    ...unchained,
    `update game.item set valid_until = valid_until + interval '1 s' where ${first}`,
    `update game.item set previous_until = null where internal_name = 'bow' and previous_until is not null`,
    `delete from game.territory_capture where captured_at = (select min(captured_at) from game.territory_capture)`,
    `update game.territory_capture set from_guild_uuid = gen_random_uuid() where captured_at = (select max(captured_at) from game.territory_capture)`,
    `delete from game.field_change where key = 'axe' and changed_at = (select max(valid_from) from game.item where internal_name = 'axe')`,
    `insert into game.field_change (resource, key, changed_at, path, is_revert)
     select resource, key, changed_at + interval '1 s', path, false from game.field_change where resource = 'items' and key = 'axe' limit 1`,
    `delete from sync.coverage_hour where ${oneOf('sync.coverage_hour')}`,
    `insert into sync.raw_body (hash, body, bytes, first_at) select decode(repeat('00', 32), 'hex'), body, bytes, first_at from sync.raw_body limit 1`,
    'delete from sync.outbox where number = 2',
  ])
    await db.query(statement)
  const checks = await verifyDatabase(db, resources)
  const names = repairable(checks).map(({ check, table }) => `${check} ${table}`)
  expect(names).toEqual([
    'chain game.item',
    'change game.field_change',
    'version without change game.item',
    'capture game.territory_capture',
    'hold without capture game.territory_hold',
    'coverage sync.coverage_hour',
    'archive unused sync.raw_body',
  ])
  await repairDatabase(db, resources, checks, new Date(world.clock.now()))
  expect(await wrongRows(db)).toEqual([['outbox sync.outbox', 1, { from_number: 2, to_number: 2, problem: 'missing' }]])
  expect(await items()).toEqual(before)
  expect(await parts()).toEqual(partsBefore)
  expect(await following()).toEqual(followingBefore)
})
