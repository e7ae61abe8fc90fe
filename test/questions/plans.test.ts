import { describe, expect, test } from 'vitest'
import { rowsRead } from '../support/plan.ts'
import { testDatabase } from '../support/postgres.ts'

describe('what is asked of many samples reads few of them:', () => {
  const samples = {
    territory_resource: `(territory, resource, observed_at) select 'place ' || one, kind, at from at, unnest('{ORE,WOOD}'::text[]) kind`,
    world_sample: `(world, observed_at, online) select 'WC' || one, at, 1 from at`,
    leaderboard_place: `(type, place, observed_at) select 'board', one, at from at`,
  }

  test.each(Object.entries(samples))('the latest rows of each series of %s', async (table, into) => {
    const db = await testDatabase('server')
    const [columns, rows] = into.split(') select')
    await db.query(
      `with at as (select one, timestamptz '2026-06-01Z' - minute * interval '1 minute' as at
                     from generate_series(1, 5) one, generate_series(1, 400) minute)
       insert into game.${table} ${columns}) select${rows}`,
    )
    await db.query(`analyze game.${table}`)
    const count = async (text: string) => Number((await db.values(`select count(*) from (${text}) one`))[0]?.[0])
    const series = await count(`select from analytics.${table}`)
    expect(series).toBe(table === 'territory_resource' ? 10 : 5)
    expect(await count(`select from analytics.${table} where observed_at = '2026-05-31 23:59Z'`)).toBe(series)
    expect(await rowsRead(db, new RegExp(`^${table}`), `select * from analytics.${table}`)).toBeLessThan(5 * series)
  })

  test('a function of one expression is written out where it stands, and not called for each row', async () => {
    const db = await testDatabase('server')
    const functions = await db.query<{ name: string; nulls: string; names: string }>(
      `select proname as name, string_agg(format('null::%s as c%s', type::regtype, nth), ', ' order by nth) as nulls,
              string_agg('c' || nth, ', ' order by nth) as names
         from pg_proc cross join lateral unnest(proargtypes) with ordinality given(type, nth)
        where pronamespace = 'analytics'::regnamespace and not proretset and pg_get_function_sqlbody(oid) like 'RETURN %'
          and pg_get_function_sqlbody(oid) not ilike '%select%' group by oid, proname order by 1`,
    )
    const called: string[] = []
    for (const { name, nulls, names } of functions) {
      const plan = await db.values(
        `explain (verbose) select analytics.${name}(${names}) from (select ${nulls} offset 0) given`,
      )
      if (plan.flat().join('\n').includes(`${name}(`)) called.push(name)
    }
    expect(functions.map(({ name }) => name)).toContain('territory_unknown_from')
    expect(called).toEqual([])
  })
})
