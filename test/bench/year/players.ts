/** Profiles of one player in twelve, each asked for about once a week. */
const profiles = `
  insert into game.player (player_uuid, username, rank, first_join, guild_uuid, guild_name, guild_rank, restricted, valid_from, valid_until, previous_until, hash)
  select player_uuid, username, 'PLAYER', year.first() - interval '500 days', member.guild_uuid, member.guild_name, member.guild_rank, '{}',
         version.valid_from, version.valid_until, case when version.guild_rank is not null then version.valid_from end, year.fingerprint('player')
    from (select distinct on (player_uuid) * from year.tenancy where place % 4 = 0 order by player_uuid, tenancy) tenancy
   cross join lateral (values (began, began + interval '1 hour', null), (began + interval '1 hour', timestamptz 'infinity', 'RECRUIT')) as version(valid_from, valid_until, guild_rank)
   cross join lateral (select case when version.guild_rank is not null then tenancy.guild_uuid end as guild_uuid,
                              case when version.guild_rank is not null then 'Guild ' || guild end as guild_name, version.guild_rank) member`

const asked = `
  create table year.asked as
  select player_uuid, at, extract(epoch from at)::bigint * 8192 + place as draw
    from (select distinct on (player_uuid) * from year.tenancy where place % 4 = 0 order by player_uuid, tenancy) tenancy
   cross join lateral (select generate_series(began, year.until() - interval '1 second', interval '7 days')
                       union all select began + interval '1 hour') as every(at)
   where at < year.until()`

const statuses = `
  insert into game.player_status (player_uuid, observed_at, online, world, last_join)
  select player_uuid, at, online, case when online then 'WC1' end, at - case when online then interval '1 hour' else interval '3 days' end * year.draw(draw, 61)
    from year.asked cross join lateral (select year.draw(draw, 60) < 0.2 as online) told order by at`

const counters = `
  insert into game.player_counter (player_uuid, counter, observed_at, value)
  select player_uuid, counter, at, floor(extract(epoch from at - year.first()) / 36000)
    from year.asked cross join unnest(array['playtime', 'wars', 'raids.total']) as counter order by at`

const observations = `
  insert into sync.observation (resource, key, received_at, observed_at, status, run_id)
  select 'players', player_uuid::text, at + interval '2 seconds', at, 'ok', md5('players' || at)::uuid from year.asked order by at`

const runs = `
  insert into sync.run (run_id, resource, program, started_at, finished_at, status, requests, records)
  select md5('players' || at)::uuid, 'players', 'bench', at + interval '1 second', at + interval '30 seconds', 'ok', count(*), count(*) from year.asked group by at`

const workItems = `
  insert into sync.work_item (resource, key, weight, first_observed_at, observed_at, records, checked_at, content_hash)
  select 'players', player_uuid::text, 1, min(at), max(at), 1, max(at), '\\x00' from year.asked group by player_uuid`

const expectations = `
  insert into sync.expectation (resource, valid_from, every_seconds, told_by)
  select resource, year.first(), every_seconds, 'start'
    from (values ('territories', 10), ('online-players', 30), ('guilds', 120), ('players', 120), ('items', 3600), ('recipes', 3600)) as told(resource, every_seconds)`

/** Twenty minutes in which nobody looked, as the next answer of each resource finds them. */
const gaps = `
  insert into sync.gap (resource, began_at, ended_at, missed, reason)
  select resource, observed_at, next_at, round(extract(epoch from next_at - observed_at) / every_seconds)::int - 1, 'not running'
    from (select run.resource, observed_at, lead(observed_at) over (partition by run.resource order by observed_at) as next_at
            from sync.run where run.resource in ('territories', 'online-players')
           union all
          select resource, at, lead(at) over (partition by resource order by at)
            from (select distinct resource, received_at as at from sync.observation where resource = 'guilds') answer) seen
    join sync.expectation using (resource)
   where extract(epoch from next_at - observed_at) > greatest(1.5 * every_seconds, 600)`

/** In this order, after the statements about guilds. */
export const playerStatements = [profiles, asked, statuses, counters, observations, runs, workItems]

/** When all else is there. */
export const lastStatements = [expectations, gaps]
