import { beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { mapSql } from '../../src/drawing/map/holds.ts'
import { KNOWN_FIELDS } from '../../src/sync/respond/unsent-fields.ts'
import { rowsRead } from '../support/plan.ts'
import { testDatabase } from '../support/postgres.ts'

const [from, to] = [`timestamptz '2026-06-01 06:00Z'`, `timestamptz '2026-06-06 00:00Z'`] as const
const HOLDS = 40 * 120

describe('with many times in which keys could not be read', () => {
  let db: Database
  beforeEach(async () => {
    db = await testDatabase('server')
    await db.query(
      `insert into game.territory_hold (territory, guild_uuid, guild_name, guild_prefix, valid_from, valid_until, previous_until, observed_at, hash, document)
       select 'place ' || place, md5('guild ' || (place + hour) % 7)::uuid, 'Guild ' || (place + hour) % 7, 'G', at,
              case when hour < 119 then at + interval '1 hour' else 'infinity' end, case when hour > 0 then at end, at, '\\x00', '{}'
         from generate_series(1, 40) place, generate_series(0, 119) hour
        cross join lateral (select timestamptz '2026-06-01Z' + hour * interval '1 hour' as at) began`,
    )
    // Of two databases: they overlap, lie within each other, are of one response, and last.
    await db.query(
      `insert into sync.unread (resource, key, from_at, until_at, run_id)
       select 'territories/holds', 'place ' || place, began.at, case when abs(hashint4(-nth)) % 50 > 0 then began.at + abs(hashint4(nth * 7 + place)) % 4 * interval '1 hour' end,
              gen_random_uuid()
         from generate_series(1, 30) place, generate_series(1, 60) nth
        cross join lateral (select timestamptz '2026-06-01Z' + abs(hashint4(nth * 31 + place)) % 240 * interval '30 minutes' as at) began
       on conflict do nothing`,
    )
    await db.query(
      `insert into sync.run (run_id, resource, status, started_at, finished_at, observed_at, program)
       select gen_random_uuid(), 'territories', 'ok', at, at, at, 'test' from generate_series(timestamptz '2026-06-01Z', '2026-06-06Z', '1 hour') at`,
    )
    await db.query('analyze game.territory_hold, sync.unread, sync.run')
  })

  test('each hold is known until the first in which it ended, which is found without the others', async () => {
    const naive = `select hold.territory, hold.guild_uuid, hold.held_from,
                          least(hold.held_until, (select min(span.from_at) from sync.unread span
                                 where span.resource = 'territories/holds' and span.key = hold.territory and span.from_at < hold.held_until
                                   and coalesce(span.until_at, 'infinity') >= hold.held_until)) as held_until
                     from analytics.territory_held_between(${from}, ${to}) hold`
    const held = `select * from ${mapSql.held(from, to)} known`
    const rows = await db.values(`${held} order by 1, 3`)
    expect(rows).toEqual(await db.values(`${naive} order by 1, 3`))
    expect(
      rows.filter(([, , , until]) => until instanceof Date && until.getUTCMinutes() === 30).length,
    ).toBeGreaterThan(200)
    expect(await rowsRead(db, /Join|Loop/, held)).toBeLessThan(3 * HOLDS)
  })

  test('territories of guilds are counted the same over short and over long steps', async () => {
    const count = (step: string) =>
      `select at, guild_uuid, territories, at_most from analytics.guild_territory_count(${from}, ${to}, '${step}')`
    const long = await db.values(`${count('6 hours')} order by 1, 2`)
    expect(long.length).toBeGreaterThan(100)
    const short = `select * from (${count('3 hours')}) one where extract(hour from at at time zone 'UTC') % 6 = 0`
    expect(await db.values(`${short} order by 1, 2`)).toEqual(long)
  })

  test('a response reads those alone that last', async () => {
    await db.query(
      `insert into sync.unread (resource, key, from_at, until_at, run_id)
       select 'items', 'item ' || one, '2026-06-01Z', case when one > 3 then timestamptz '2026-06-02Z' end, gen_random_uuid() from generate_series(1, 5000) one`,
    )
    await db.query('analyze sync.unread')
    const open = `select key from sync.unread where resource = 'items' and until_at is null`
    expect(await rowsRead(db, /^unread$/, open)).toBe(3)
    const nothing = `select ${KNOWN_FIELDS}`
    expect(await rowsRead(db, /^unread$/, nothing, ['sets', ['sets', 'items/none'], new Date()])).toBe(0)
  })
})
