import type { Database } from '../../src/db/database.ts'

/** Made-up ids of the year's guild and its members. */
export const guild = 'aaaaaaaa-0000-4000-8000-000000000000'
const member = (number: string) => `('00000000-0000-4000-8000-00000000000' || ${number})::uuid`

/** The instants at which somebody looks at who is online: ten minutes a day, from one hour into the next. */
const looks = `(select minute as at, extract(epoch from minute)::bigint / 60 as n
  from generate_series($1::timestamptz, $2::timestamptz - interval '1 minute', interval '1 day') as day(at)
 cross join lateral generate_series(day.at + interval '10:55', day.at + interval '11:05', interval '1 minute') as minute)`

/** The instants of answers about the guild: twice in an hour, four hours a day. */
const answers = `(select day.at + time as at, extract(epoch from day.at + time)::bigint / 60 as n
  from generate_series($1::timestamptz, $2::timestamptz - interval '1 minute', interval '1 day') as day(at)
 cross join unnest(array['03:10', '03:50', '09:10', '09:30', '15:00', '15:40', '23:20', '23:50']::interval[]) as time)`

/** What was true before the year begins. */
export async function begin(db: Database, at: Date): Promise<void> {
  await db.query(
    `insert into game.world (world, valid_from, hash) select world, $1, '\\x00' from unnest(array['EU1', 'NA2']) as world`,
    [at],
  )
  await db.query(
    `insert into game.territory_hold (territory, guild_uuid, observed_at, valid_from, hash, document)
     values ('Oak', '${guild}', $1, $1, '\\x00', '{}')`,
    [at],
  )
  await db.query(
    `insert into game.guild_member (guild_uuid, player_uuid, username, rank, joined, valid_from, hash)
     select '${guild}', ${member('number')}, 'Player' || number, 'recruit', $1::timestamptz - interval '1 day', $1, '\\x00'
       from generate_series(1, 3) as number`,
    [at],
  )
}

/** Inserts what answers of `[from, to)` say: samples that go up and down, and counters that rise. */
export async function live(db: Database, from: Date, to: Date): Promise<void> {
  const during = [from, to]
  for (const statement of [
    `insert into sync.run (run_id, resource, program, started_at, finished_at, status, observed_at)
     select gen_random_uuid(), 'online-players', 'test', look.at, look.at, 'ok', look.at from ${looks} look`,
    `insert into game.online_sample (observed_at, total, listed, hidden)
     select look.at, 100 + look.n % 37, 90 + look.n % 5, case when look.n % 29 = 0 then 0 else 1 + look.n % 7 end from ${looks} look`,
    `insert into game.world_sample (world, observed_at, online)
     select world, look.at, 10 + (look.n * length(world) + ascii(world)) % 23 from ${looks} look cross join unnest(array['EU1', 'NA2']) as world
      where (look.n + ascii(world)) % 3 > 0`,
    `insert into game.territory_resource (territory, resource, observed_at, stored)
     select 'Oak', 'wood', look.at, look.n % 1000 from ${looks} look`,
    `insert into sync.observation (resource, key, observed_at, received_at, status, run_id)
     select 'guilds', '${guild}', answer.at, answer.at, 'ok', gen_random_uuid() from ${answers} answer`,
    `insert into game.guild_sample (guild_uuid, observed_at, online, wars)
     select '${guild}', answer.at, answer.n / 10 % 13, case when answer.n % 3 > 0 then answer.n / 10000 end from ${answers} answer
      where answer.n / 10 % 4 > 0`,
    `insert into game.member_counter (guild_uuid, player_uuid, counter, observed_at, value)
     select '${guild}', ${member('number')}, 'contributed', answer.at, answer.n / 10 - 2800000 + 1000 * number from ${answers} answer
      cross join generate_series(1, 3) as number where answer.n / 10 % 5 = number`,
    `insert into game.member_presence (guild_uuid, player_uuid, observed_at, online, last_join)
     select '${guild}', ${member('number')}, answer.at, (answer.n / 10 + number) % 3 = 0, answer.at - interval '3 minutes'
       from ${answers} answer cross join generate_series(1, 2) as number`,
  ]) {
    await db.query(statement, during)
  }
}

/** Questions of which averages by the hour know the exact answer. */
const exact = [
  `select world, hour, round(online_avg::numeric, 6), online_max, coverage from analytics.world_peak($1, $2)`,
  `select at, round(total_avg::numeric, 6), total_max, round(hidden_avg::numeric, 6), coverage from analytics.online_total($1, $2, interval '1 hour')`,
  `select at, round(total_avg::numeric, 6), total_max, round(hidden_avg::numeric, 6), coverage from analytics.online_total($1, $2, interval '1 day')`,
  `select dow, hour, round(online_avg::numeric, 6), online_max, coverage from analytics.guild_online_heatmap('${guild}', $1, $2)`,
  // Nobody hidden: what logins and logouts rest on.
  `select observed_at from game.online_sample where hidden = 0 and observed_at >= $1 and observed_at < $2 order by 1`,
]

/** Questions of which the end of each hour or day knows the exact answer. */
const atTheEnd = [
  `select player_uuid, date_trunc('day', last_seen, 'UTC'), status from analytics.member_activity('${guild}', $2) where $1 < $2 order by 1`,
  `select distinct on (date_trunc('day', observed_at, 'UTC')) observed_at, wars from game.guild_sample
    where observed_at >= $1 and observed_at < $2 order by date_trunc('day', observed_at, 'UTC'), observed_at desc`,
  `select distinct on (date_trunc('hour', at, 'UTC')) at, stored from analytics.territory_economy('${guild}', $1, $2) order by date_trunc('hour', at, 'UTC'), at desc`,
  `select distinct on (player_uuid, date_trunc('day', observed_at, 'UTC')) player_uuid, observed_at, value from game.member_counter
    where observed_at >= $1 and observed_at < $2 order by player_uuid, date_trunc('day', observed_at, 'UTC'), observed_at desc`,
]

/** Whose days have one sample left are bounds. */
export const contributions = `select contributed::float8, at_most::float8 from analytics.member_contribution('${guild}', $1, $2) order by player_uuid`

/** All of them, with `$1` and `$2` for the ends of an interval. */
export const questions = [...exact, ...atTheEnd]

/** The answers about `[from, to)`, by question. */
export async function asked(db: Database, from: Date, to: Date): Promise<Record<string, unknown[][]>> {
  const told: Record<string, unknown[][]> = {}
  for (const question of questions) told[question] = await db.values(question, [from, to])
  return told
}

/** Inserts what the program notes of its own work in `[from, to)`: runs that came to nothing, gaps, guards, what was unread; and who came and went. */
export async function work(db: Database, from: Date, to: Date): Promise<void> {
  const hours = `generate_series($1::timestamptz, $2::timestamptz - interval '1 minute', interval '4 hours') with ordinality as hour(at, n)`
  for (const statement of [
    `insert into sync.run (run_id, resource, program, started_at, finished_at, status, observed_at)
     select gen_random_uuid(), resource, 'test', hour.at, hour.at, status, case when status <> 'failed' then hour.at end
       from ${hours} cross join unnest(array['territories', 'online-players', 'players', 'items'],
                                       array['ok', 'rejected', 'ok', 'failed']) as kind(resource, status)`,
    `insert into sync.run (run_id, resource, program, started_at, finished_at, status, observed_at, complete, records, living, content_hash)
     select gen_random_uuid(), 'items', 'test', $1::timestamptz, $1::timestamptz, 'ok', $1::timestamptz, true, 1, 1, '\\x00' where $2::timestamptz > $1`,
    `insert into sync.guard_action (at, resource, guard, reason, run_id)
     select one.started_at, one.resource, 'plausibility', 'too few', one.run_id from sync.run one
      where one.status = 'rejected' and one.started_at >= $1 and one.started_at < $2`,
    `insert into sync.quarantine (resource, path, reason, raw, raw_hash, first_seen_at, run_id)
     select 'territories', '', 'not understood', '{}', sha256(hour.at::text::bytea), hour.at, gen_random_uuid() from ${hours}`,
    `insert into sync.gap (resource, began_at, ended_at, missed, reason)
     select 'territories', hour.at, hour.at + interval '4 hours', 3, 'no request was sent' from ${hours}`,
    `insert into sync.unread (resource, key, from_at, until_at, run_id)
     select 'territories/holds', 'Place', hour.at, hour.at + interval '4 hours', gen_random_uuid() from ${hours}`,
    `insert into sync.observation (resource, key, observed_at, received_at, status, run_id)
     select 'players', gen_random_uuid(), hour.at, hour.at, 'ok', gen_random_uuid() from ${hours}`,
    `insert into game.player_listing (player_uuid, first_listed_at, last_listed_at, first_unlisted_at)
     select ${member('(1 + hour.n % 3)')}, hour.at, hour.at + interval '1 hour', hour.at + interval '61 minutes' from ${hours}`,
    `insert into game.player_hop (player_uuid, from_world, to_world, earliest, latest)
     select ${member('(1 + hour.n % 3)')}, 'EU1', 'NA2', hour.at, hour.at + interval '1 minute' from ${hours}`,
    `insert into sync.raw_body (hash, body, bytes, first_at) select sha256(hour.at::text::bytea), '', 0, hour.at from ${hours}`,
    `insert into sync.raw_answer (answer_id, position, resource, request, http_status, headers, credential, received_at, observed_at,
                                  taken_at, status, hash, run_id)
     select nextval('sync.raw_answer_number'), 0, 'territories', 'GET /', 200, '{}', 'guest', hour.at, hour.at, hour.at, 'ok',
            sha256(hour.at::text::bytea), gen_random_uuid() from ${hours}`,
  ]) {
    await db.query(statement, [from, to])
  }
}
