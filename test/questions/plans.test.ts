import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Database, Sql } from '../../src/db/database.ts'
import { KEYS, pageStatements } from '../../src/questions/asking/ask.ts'
import { readQuestions } from '../../src/questions/questions.ts'
import { nameFinders } from '../../src/resources/key-names.ts'
import type { Visit } from '../../src/web/html/page.ts'
import { searchPage } from '../../src/web/pages/search.ts'
import { guildId, playerId } from '../support/guild-answers.ts'
import { rowsRead, scansBegun } from '../support/plan.ts'
import { testDatabase } from '../support/postgres.ts'
import { serve } from '../support/web-world.ts'
import type { World } from '../support/world.ts'

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

  test('a page of captures calls no function with the rights of its owner for each', async () => {
    const db = await testDatabase('server')
    const plan = await db.values('explain (verbose) select * from analytics.territory_capture')
    expect(plan.flat().join('\n')).not.toMatch(/analytics\.\w+\(/)
  })
})

describe('a name among many is found without reading the others:', () => {
  const names = async () => {
    const db = await testDatabase('server')
    await db.query(
      `insert into game.guild_member (guild_uuid, player_uuid, username, rank, valid_from, hash)
       select $1::uuid, md5('player ' || one)::uuid, case when one % 100 = 0 then 'Ivy' else 'Zoe' end || one, 'recruit', '2026-06-01Z', '\\x00'
         from generate_series(1, 5000) one`,
      [guildId('a')],
    )
    await db.query(
      `insert into game.player (player_uuid, username, valid_from, hash) select player_uuid, username, valid_from, hash from game.guild_member`,
    )
    await db.query(
      `insert into game.guild_listing (guild_uuid, name, prefix, valid_from, hash)
       select md5('guild ' || one)::uuid, 'Guild ' || one, 'G' || one, '2026-06-01Z', '\\x00' from generate_series(1, 5000) one`,
    )
    await db.query('analyze game.guild_member, game.player, game.guild_listing')
    let read = 0
    const query: Sql['query'] = async (text, values) => {
      read += await rowsRead(db, /^(guild_member|player|guild_listing|player_listing)$/, text, values)
      return await db.query(text, values)
    }
    const sql: Sql = { ...db, query, values: db.values.bind(db) }
    const search = async (q: string) =>
      await searchPage({
        query: new URLSearchParams({ q }),
        sql,
        people: true,
        finders: nameFinders,
      } as unknown as Visit)
    return { sql, search, read: () => read }
  }

  test('who is called so, in any case or by uuid', async () => {
    const { sql, read } = await names()
    const holders = async (kind: 'guild' | 'player', name: string) =>
      (await nameFinders.keys[kind].holders(sql, name)).length
    expect(await holders('player', 'iVY700')).toBe(1)
    expect(await holders('player', playerId(1))).toBe(0)
    expect([await holders('guild', 'Guild 7'), await holders('guild', 'G8')]).toEqual([1, 1])
    expect(await holders('guild', guildId('b'))).toBe(0)
    expect(read()).toBeLessThan(100)
  })

  test('whose names begin so', async () => {
    const { search, read } = await names()
    const page = await search('ivy')
    expect(page).toMatchObject({ title: 'More than 30 names like ivy' })
    // All 5,000 members and players would be twice as many.
    expect(read()).toBeLessThan(5000)
  })
})

/** A world whose pages say of each statement what it is before it runs. */
function watched(db: Database, told: (sql: Sql, ...statement: Parameters<Sql['query']>) => Promise<void>): World {
  const transaction: typeof db.transaction = (work, options) =>
    db.transaction((sql) => {
      const query: Sql['query'] = async (text, values) => {
        await told(sql, text, values)
        return await sql.query(text, values)
      }
      return work({ ...sql, query })
    }, options)
  return { db: Object.assign(Object.create(db), { transaction }), clock: systemClock } as World
}

test('the list of guilds looks up numbers of those alone that were asked for', async () => {
  const db = await testDatabase('server')
  await db.query(
    `insert into game.guild_listing (guild_uuid, name, prefix, valid_from, hash)
     select md5('guild ' || one)::uuid, 'Guild ' || one, 'G' || one, '2026-06-01Z', '\\x00' from generate_series(1, 3000) one`,
  )
  await db.query(
    `insert into game.guild (guild_uuid, name, prefix, valid_from, hash)
     select guild_uuid, name, prefix, valid_from, hash from game.guild_listing where name like 'Guild 100%'`,
  )
  await db.query(
    `insert into game.guild_sample (guild_uuid, observed_at, level) select guild_uuid, valid_from, 7 from game.guild`,
  )
  await db.query('analyze game.guild_listing, game.guild, game.guild_sample')
  let begun = 0
  const { ask } = await serve(
    watched(db, async (sql, text, values) => {
      if (/guild_listing/.test(text)) begun += await scansBegun(sql, /^guild_sample/, text, values)
    }),
  )
  expect((await ask('/guilds')).text).toContain('Guild 1000')
  expect(begun).toBeGreaterThan(10)
  expect(begun).toBeLessThan(200)
})

test('the page of gains of guilds finds no counters of members, and works out no coverage', async () => {
  const db = await testDatabase('server')
  await db.query(
    `insert into game.guild (guild_uuid, name, prefix, valid_from, hash)
     select md5('guild ' || one)::uuid, 'Guild ' || one, 'G' || one, '2026-06-01Z', '\\x00' from generate_series(1, 30) one`,
  )
  await db.query(
    `insert into game.member_counter (guild_uuid, player_uuid, counter, observed_at, value)
     select guild_uuid, guild_uuid, 'counter ' || one, valid_from, 1 from game.guild, generate_series(1, 5) one`,
  )
  let begun = 0
  let hasCoverage = false
  const { ask } = await serve(
    watched(db, async (sql, text, values) => {
      if (/^\s*select/.test(text)) begun += await scansBegun(sql, /^member_counter/, text, values)
      hasCoverage ||= /analytics\.(top_gained|counter_covered)/.test(text)
    }),
  )
  expect((await ask('/gained')).text).toContain('Members')
  expect(begun).toBeGreaterThan(0)
  expect(begun).toBeLessThan(20)
  expect(hasCoverage).toBe(false)
})

describe('of the members of a guild', () => {
  const members = async () => {
    const db = await testDatabase('server')
    await db.query(
      `insert into game.guild_member (guild_uuid, player_uuid, rank, joined, valid_from, hash)
       select md5('guild')::uuid, md5('player ' || one)::uuid, 'recruit', '2026-06-01Z',
              timestamptz '2026-06-01Z' + case when one < 50 then interval '0' else interval '1 day' end, '\\x00'
         from generate_series(1, 200) one`,
    )
    await db.query(
      `insert into sync.observation (run_id, resource, key, status, observed_at, received_at)
       select gen_random_uuid(), 'guilds', md5('guild')::uuid::text, 'ok', at, at
         from generate_series(timestamptz '2026-06-01Z', '2026-06-06Z', '20 minutes') at`,
    )
    await db.query(
      `insert into game.member_counter (guild_uuid, player_uuid, counter, observed_at, value)
       select guild_uuid, player_uuid, 'wars', timestamptz '2026-06-02Z' + day * interval '1 day', day
         from game.guild_member cross join generate_series(0, 3) day order by 4`,
    )
    await db.query('analyze game.guild_member, game.member_counter, sync.observation')
    return db
  }

  test('who joined is read without the name of the guild for each, and without a list of values for each', async () => {
    const db = await members()
    const text = `select player_uuid, at, event from analytics.membership_event where guild_uuid = md5('guild')::uuid`
    expect(await db.values(text)).toHaveLength(151)
    expect(await scansBegun(db, /^guild$|^Values Scan/, text)).toBe(0)
    // The name is there all the same.
    expect(await scansBegun(db, /^guild$/, text.replace('event from', 'event, guild_name from'))).toBeGreaterThan(0)
  })

  test('what each gained takes as few looks at samples as it needs', async () => {
    const db = await members()
    await db.transaction(async (sql) => {
      const gained = await sql.values(
        `select delta, quality from analytics.member_counter(md5('guild')::uuid, 'wars', '2026-06-03 12:00Z', '2026-06-04 12:00Z')`,
      )
      expect(gained).toEqual(Array(200).fill([1, 'exact']))
      const [scans] = await sql.values(
        `select sum(idx_scan)::int from pg_stat_xact_user_tables where relname like 'member_counter%' and relname not like '%dip'`,
      )
      // The last before each border, whether it fell and from what, and whether there is any.
      expect(Number(scans?.[0])).toBeLessThanOrEqual(5 * 200)
    })
  })
})

test('which members were first to a number is known without looking up each of them', async () => {
  const db = await testDatabase('server')
  await db.query(
    `insert into game.guild_member (guild_uuid, player_uuid, rank, valid_from, hash)
     select md5('guild ' || one % 50)::uuid, md5('player ' || one)::uuid, 'recruit', '2026-06-01Z', '\\x00' from generate_series(1, 3000) one`,
  )
  await db.query(
    `insert into game.member_counter (guild_uuid, player_uuid, counter, observed_at, value)
     select guild_uuid, player_uuid, 'wars', valid_from + hour * interval '1 hour', 100 * hour + get_byte(uuid_send(player_uuid), 0)
       from game.guild_member cross join generate_series(0, 3) hour order by 4`,
  )
  await db.query('analyze game.guild_member, game.member_counter')
  await db.transaction(async (sql) => {
    const first = await sql.values(`select place, at from analytics.first_to('member', 'wars', 250, 5)`)
    expect(first.map(([place]) => place)).toEqual([1, 1, 1, 1, 1])
    const [reached] = await sql.values(
      `select min(observed_at) from game.member_counter where counter = 'wars' and value >= 250`,
    )
    expect(first.map(([, at]) => at)).toEqual(Array(5).fill(reached?.[0]))
    const [scans] = await sql.values(
      `select sum(idx_scan)::int from pg_stat_xact_user_tables where schemaname = 'partitions' and relname like 'member_counter%'`,
    )
    expect(Number(scans?.[0])).toBeLessThan(500)
  })
})

test('members of a young history who were first are all found in the hours that are read together', async () => {
  const db = await testDatabase('server')
  const found = async (hours: number, value: number) =>
    await db.transaction(async (sql) => {
      await sql.query(
        `insert into game.guild_member (guild_uuid, player_uuid, username, rank, valid_from, hash)
         select $1::uuid, md5('player ' || one)::uuid, 'Player ' || one, 'recruit', now() - make_interval(hours => $2), '\\x00'
           from generate_series(1, 3) one`,
        [guildId('a'), hours],
      )
      await sql.query(
        `insert into game.member_counter (guild_uuid, player_uuid, counter, observed_at, value)
         select guild_uuid, player_uuid, 'wars', now() - interval '1 hour', row_number() over (order by username) from game.guild_member`,
      )
      await sql.query(
        `create or replace function analytics.counter_first(kind text, counter text, value double precision)
         returns table (owner uuid, part uuid, at timestamptz) language plpgsql stable parallel safe
         as $$ begin raise exception 'looked up one by one'; end $$`,
      )
      const rows = await sql.values(`select name from analytics.first_to('member', 'wars', $1) order by name`, [value])
      await sql.query('delete from game.member_counter')
      await sql.query('delete from game.guild_member')
      return rows.flat()
    })
  expect([await found(3, 2), await found(500, 4)]).toEqual([['Player 2', 'Player 3'], []])
  await expect(found(600, 4)).rejects.toThrow('looked up one by one')
})

test('a page of a long history reads what it shows, wherever it begins', async () => {
  const db = await testDatabase('server')
  const guild = guildId('a')
  await db.query(
    `insert into game.territory_hold (territory, guild_uuid, guild_name, previous_until, valid_from, valid_until, observed_at, document, hash)
     select 'place ' || lpad(place::text, 3, '0'), '${guild}', 'Guild', case when day > 1 then at end, at, case when day < 60 then at + interval '1 day' else 'infinity' end, at, '{}', '\\x00'
       from generate_series(1, 200) place, generate_series(1, 60) day, lateral (select timestamptz '2026-01-01Z' + day * interval '1 day' as at) begun`,
  )
  await db.query('analyze game.territory_hold')
  const question = (await readQuestions(db)).find(({ name }) => name === 'territory_hold')
  if (!question) throw new Error('there is no territory_hold')
  const asked = { args: [], filters: [], select: [], order: [] }
  const pages: string[] = []
  let after: { readonly keys: readonly (string | null)[] } | undefined
  for (let page = 0; page < 3; page++) {
    const [statement] = pageStatements(question, asked, { limit: 10, after })
    const { text = '', values } = statement ?? {}
    expect([page, await rowsRead(db, /^territory_hold$/, text, values)]).toEqual([
      page,
      expect.toSatisfy((rows) => rows < 1000),
    ])
    const [row] = await db.query<Record<string, unknown>>(text, values)
    pages.push(String(row?.territory))
    after = { keys: ['place 150', ...((row?.[KEYS] as (string | null)[] | undefined) ?? []).slice(1)] }
  }
  expect(pages).toEqual(['place 001', 'place 150', 'place 150'])
})

test('a page of sessions makes those of the players alone whom it shows', async () => {
  const db = await testDatabase('server')
  await db.query(
    `insert into game.player_listing (player_uuid, first_listed_at, last_listed_at, login_earliest, logout_latest, world, last_world)
     select md5(player::text)::uuid, at, at + interval '1 hour', at - interval '5 min', at + interval '65 min', 'EU1', 'EU1'
       from generate_series(1, 200) player, generate_series(1, 20) day, lateral (select timestamptz '2026-01-01Z' + day * interval '1 day' as at) begun`,
  )
  await db.query('analyze game.player_listing')
  const question = (await readQuestions(db)).find(({ name }) => name === 'player_session')
  if (!question) throw new Error('there is no player_session')
  const [statement] = pageStatements(
    question,
    { args: [], filters: [], select: [], order: [] },
    { limit: 30, after: undefined },
  )
  const { text = '', values } = statement ?? {}
  expect((await db.query(text, values)).length).toBeGreaterThanOrEqual(30)
  expect(await scansBegun(db, /^player_listing$/, text, values)).toBeLessThan(20)
})

test('the last whole response is found without reading those of a month that are not whole', async () => {
  const db = await testDatabase('server')
  await db.query(
    `insert into sync.run (run_id, resource, status, complete, observed_at, started_at, finished_at, program)
     select gen_random_uuid(), 'territories', status, not is_part, at, at, at, 'test'
       from (select timestamptz '2026-06-01Z' + minute * interval '1 minute' as at, minute > 5 as is_part,
                    case when minute <= 5 then 'ok' when minute % 2 = 0 then 'partial' else 'unchanged' end as status
               from generate_series(1, 20000) minute) one`,
  )
  await db.query('analyze sync.run')
  await db.transaction(async (sql) => {
    const [found] = await sql.values(`select analytics.whole_response_before('territories', '2026-06-20Z')`)
    expect(found).toEqual([new Date('2026-06-01T00:05:00Z')])
    const [[read] = []] = await sql.values(
      `select idx_tup_fetch::int + seq_tup_read::int from pg_stat_xact_user_tables where schemaname = 'sync' and relname = 'run'`,
    )
    expect(read).toBeLessThanOrEqual(1)
  })
})

test('guilds that were first are those of all numbers, however many months are read', async () => {
  const db = await testDatabase('server')
  await db.query(
    `insert into game.guild (guild_uuid, name, prefix, valid_from, hash)
     select md5('guild ' || one)::uuid, 'Guild ' || one, 'G' || one, '2026-01-01Z', '\\x00' from generate_series(1, 40) one`,
  )
  // Each rises at its own pace, falls now and then, and has times without a number.
  await db.query(
    `insert into game.guild_sample (guild_uuid, observed_at, wars)
     select guild_uuid, timestamptz '2026-01-01Z' + day * interval '1 day' + pace * interval '1 minute',
            case when (day + pace) % 17 <> 0 then case when (day * pace) % 23 = 0 then 0 else day * pace / 8 end end
       from (select guild_uuid, row_number() over (order by name)::int as pace from game.guild) one cross join generate_series(0, 300) day`,
  )
  await db.query(
    `insert into sync.run (run_id, resource, status, observed_at, started_at, finished_at, program)
     select gen_random_uuid(), 'guilds', 'ok', at, at, at, 'test' from unnest('{2026-01-01Z,2026-10-28Z}'::timestamptz[]) at`,
  )
  await db.query('analyze game.guild_sample')
  for (const value of [0, 1, 10, 100, 700, 1400, 2000])
    for (const n of [1, 7, 40]) {
      const expected = await db.values(
        `select rank() over (order by at)::int, name, at from (
           select guild_uuid, min(observed_at) as at from game.guild_sample where wars >= $1 group by 1) reached
         join game.guild using (guild_uuid) order by at, guild_uuid limit $2`,
        [value, n],
      )
      const found = await db.values(`select place, name, at from analytics.first_to('guild', 'wars', $1, $2)`, [
        value,
        n,
      ])
      expect([value, n, found]).toEqual([value, n, expected])
    }
})
