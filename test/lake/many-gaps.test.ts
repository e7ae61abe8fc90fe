import { describe, expect, test } from 'vitest'
import { mergeRows } from '../../src/lake/import/merge-rows.ts'
import { takenTables } from '../../src/lake/import/taken-tables.ts'
import { growingTables } from '../../src/resources/index.ts'
import { stagedName } from '../../src/sync/refold/refold.ts'
import { maintain } from '../../src/sync/retention/maintain.ts'
import { testDatabase } from '../support/postgres.ts'

const table = 'game.territory_resource'
const of = takenTables.find((one) => one.table === table)
const [gaps, territories] = [200, 100]
const begin = Date.parse('2026-06-01T00:00:00Z')

describe('a month of samples with hundreds of gaps', () => {
  test.each([
    ['an empty database', false],
    ['one with gaps at the same times', true],
  ])('is taken in by %s within seconds, and what was true when a gap ended is true again', async (_, isBlind) => {
    if (of?.kind !== 'rows') throw new Error(`${table} has no rows to take in`)
    const db = await testDatabase('server')
    await maintain(db, { now: new Date(begin), tables: growingTables, retention: new Map() })
    const staged = stagedName(table)
    const found = await db.transaction(async (sql) => {
      // Each row of one with each of another would take minutes.
      await sql.query(`set local statement_timeout = '20s'`)
      await sql.query(`create temp table ${staged} on commit drop as select * from ${table} limit 0`)
      // A sample in the tenth minute of each third hour; in the hour after it nothing was observed.
      await sql.query(
        `insert into ${staged} (territory, resource, observed_at, stored)
         select 'T' || place, resource, to_timestamp($1) + (n * 3) * interval '1 hour' + interval '10 minutes', n
           from generate_series(1, $2) place, unnest(array['emeralds', 'ore', 'wood', 'fish', 'crops']) resource, generate_series(0, $3 - 1) n`,
        [begin / 1000, territories, gaps],
      )
      await sql.query(
        'create temp table lake_seen (resource text, began timestamptz, ended timestamptz) on commit drop',
      )
      await sql.query(
        `insert into lake_seen select 'territories', to_timestamp($1) + (n * 3 + 2) * interval '1 hour', to_timestamp($1) + (n * 3 + 4) * interval '1 hour'
           from generate_series(0, $2 - 1) n`,
        [begin / 1000, gaps],
      )
      await sql.query(
        'create temp table lake_blind (resource text, scope text, began timestamptz, ended timestamptz) on commit drop',
      )
      const blind = isBlind
        ? `to_timestamp($1) + (n * 3 + 1.5) * interval '1 hour', to_timestamp($1) + (n * 3 + 2.5) * interval '1 hour' from generate_series(0, $2 - 1) n`
        : `'-infinity', 'infinity' where $1::float8 is not null and $2::int is not null`
      await sql.query(`insert into lake_blind select 'territories', null, ${blind}`, [begin / 1000, gaps])
      const merged = await mergeRows(sql, of, { staged, since: null })
      const [row] = await sql.values(
        `select count(*)::int, count(distinct observed_at)::int,
                count(*) filter (where extract(minute from observed_at) = 0
                                   and stored = floor(extract(epoch from observed_at - to_timestamp($1)) / 10800))::int from ${table}`,
        [begin / 1000],
      )
      return [merged, ...(row ?? [])]
    })
    const rows = gaps * territories * 5
    // What lies in no interval of its own blindness is not taken; what was true then is, where the lake observes again.
    expect(found).toEqual(isBlind ? [0, rows, gaps, rows] : [rows, rows, gaps, 0])
  })
})
