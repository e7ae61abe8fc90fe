import { describe, expect, test } from 'vitest'
import type { Sql } from '../../src/db/database.ts'
import { resources } from '../../src/resources/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { findWrong } from '../../src/sync/verify/check.ts'
import { checksOf, verifyDatabase } from '../../src/sync/verify/verify.ts'
import { place } from '../support/guild-answers.ts'
import { liveWholeWorld } from '../support/whole-world.ts'
import { type World, worldOf } from '../support/world.ts'

/** Checks that find something, as `check table: rows`. */
async function failing(sql: Sql): Promise<string[]> {
  const found: string[] = []
  for (const check of checksOf(resources)) {
    const { wrong } = await findWrong(sql, check, {})
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
}

/** The constraints that would not let it be. */
const unchained = ['order', 'after', 'end', 'start', 'chain'].map(
  (name) => `alter table game.item drop constraint if exists item_${name} cascade`,
)
const first = `internal_name = 'axe' and previous_until is null`
const second = `internal_name = 'axe' and previous_until is not null and valid_until < 'infinity'`
const oneOf = (table: string) => `ctid = (select ctid from ${table} limit 1)`

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
  ['chain game.item: 1', 'a beginning that is gone', ...unchained, `delete from game.item where ${first}`],
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

describe.each(['embedded', 'server'] as const)('verify (%s)', (kind) => {
  const world = worldOf(kind)

  test('finds nothing in a database that is whole, and in an empty one', async () => {
    expect(await failing(world.db)).toEqual([])
    await liveArchived(world)
    const checks = await verifyDatabase(world.db, resources)
    expect(checks.filter(({ wrong }) => wrong > 0)).toEqual([])
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
