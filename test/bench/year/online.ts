/** How many are online: fewer at night, and hardly ever nobody hidden. */
const totals = `
  insert into game.online_sample (observed_at, total, listed, hidden)
  select at, listed + hidden, listed, hidden
    from generate_series(year.first(), year.until() - interval '1 second', interval '30 seconds') as at
   cross join lateral (select floor(450 + 250 * sin(extract(epoch from at) / 13751) + 9 * year.draw(extract(epoch from at)::bigint, 10))::int as listed,
                              case when year.draw(extract(epoch from at)::bigint / 600, 11) < 0.001 then 0
                                   else 15 + floor(20 * year.draw(extract(epoch from at)::bigint, 12))::int end as hidden) numbers
   where year.watched(at)`

/** Worlds are down for five minutes every five days, each at its own time. */
const worlds = `
  insert into game.world (world, valid_from, valid_until, previous_until, hash)
  select 'WC' || world, began, coalesce(lead(began) over own - interval '5 minutes', 'infinity'), case when nth > 0 then began - interval '5 minutes' end,
         year.fingerprint('world')
    from (select world, nth, case when nth = 0 then year.first()
                                  else year.first() + interval '5 days' * (nth - 1) + interval '4 hours' * (world + 1) end as began
            from generate_series(1, 27) as world
           cross join generate_series(0, greatest(1, floor(year.days() / 5)::int)) as nth) up
   where began < year.until()
  window own as (partition by world order by nth)`

const worldSamples = `
  insert into game.world_sample (world, observed_at, online)
  select 'WC' || number, at, floor(1 + 45 * year.draw(extract(epoch from at)::bigint * 64 + number, 13))::int
    from generate_series(year.first(), year.until() - interval '1 second', interval '30 seconds') as at
   cross join generate_series(1, 27) as number
   where year.watched(at) and (at = year.first() or year.draw(extract(epoch from at)::bigint * 64 + number, 14) < 0.5)
     and extract(epoch from at - year.first())::bigint % 432000 not between 14400 * (number + 1) - 300 and 14400 * (number + 1) - 1`

const polls = `
  insert into sync.run (run_id, resource, program, started_at, finished_at, status, observed_from, observed_at, complete, requests, pages, records, changed, living, content_hash)
  select md5('online-players' || at)::uuid, 'online-players', 'bench', at + interval '1 second', at + interval '1200 milliseconds', 'ok',
         at, at, true, 1, 1, 450, 3, 27, '\\x00'
    from generate_series(year.first(), year.until() - interval '1 second', interval '30 seconds') as at
   where year.watched(at)`

/**
 * Players come in the order of members (see guilds.ts): one in 25 plays three times a day, one in eight every third day, the
 * others now and then.
 */
const listings = `
  insert into game.player_listing (player_uuid, first_listed_at, last_unlisted_at, last_listed_at, first_unlisted_at, world, last_world)
  with player as (
    select number, case when year.draw(number, 15) < 0.04 then 3 when year.draw(number, 15) < 0.165 then 0.35 else 0.02 end as a_day
      from generate_series(0, 3 * (select sum(year.members(guild)) from generate_series(0, year.guilds() - 1) as guild) - 1) as number
  ), visit as (
    select player.number, player.number * 10000 + nth as draw,
           date_bin('30 seconds', year.first() + interval '1 day' * ((nth + 0.5 * year.draw(player.number * 10000 + nth, 16)) / player.a_day)
             + interval '90 seconds', year.first()) as began,
           least(interval '0.4 days' / player.a_day::double precision, interval '10 minutes' + interval '3 hours' * year.draw(player.number * 10000 + nth, 17) ^ 2) as lasts
      from player cross join lateral generate_series(0, ceil(player.a_day * year.days())::int - 1) as nth
  ), placed as (
    select visit.number, visit.began, date_bin('30 seconds', visit.began + visit.lasts, year.first()) as ended,
           'WC' || 1 + floor(27 * year.draw(visit.draw, 18)) as world,
           'WC' || 1 + floor(27 * year.draw(visit.draw + (year.draw(visit.draw, 20) < 0.2)::int, 18)) as last_world
      from visit where visit.began < year.until() - interval '1 minute'
  )
  select year.id('player', number), began, began - interval '30 seconds',
         case when ended < year.until() - interval '1 minute' then ended end,
         case when ended < year.until() - interval '1 minute' then ended + interval '30 seconds' end, world, last_world
    from placed order by began`

const hops = `
  insert into game.player_hop (player_uuid, from_world, to_world, earliest, latest)
  select player_uuid, world, last_world, first_listed_at + interval '3 minutes', first_listed_at + interval '210 seconds'
    from game.player_listing where world <> last_world`

/** In this order. */
export const onlineStatements = [totals, worlds, worldSamples, polls, listings, hops]
