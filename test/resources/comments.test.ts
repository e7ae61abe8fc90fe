import { describe, expect, test } from 'vitest'
import { kindsOfPart, testDatabase } from '../support/postgres.ts'

describe.each(kindsOfPart)('the %s database', (kind) => {
  test('explains every table and column of game, sync and analytics', async () => {
    const db = await testDatabase(kind)
    const silent = await db.values(
      `select relnamespace::regnamespace || '.' || relname || coalesce('.' || attname, '')
         from pg_class
        cross join lateral (select null::name as attname, 0 as attnum
                            union all
                            select attname, attnum from pg_attribute
                             where attrelid = pg_class.oid and attnum > 0 and not attisdropped) columns
        where relnamespace::regnamespace::text in ('game', 'sync', 'analytics') and relkind in ('r', 'p', 'v', 'm')
          and coalesce(case when attnum = 0 then obj_description(pg_class.oid, 'pg_class')
                            else col_description(pg_class.oid, attnum) end, '') = ''
        order by 1`,
    )
    expect(silent.flat()).toEqual([])
  })

  test('explains every function of analytics', async () => {
    const db = await testDatabase(kind)
    const silent = await db.values(
      `select proname from pg_proc where pronamespace = 'analytics'::regnamespace and obj_description(oid, 'pg_proc') is null`,
    )
    expect(silent.flat()).toEqual([])
  })
})
