/** Who held what: 3.3 million captures in a year of 400 territories, some of them fought for thirty times as much as others. */
const holds = `
  insert into game.territory_hold (territory, guild_uuid, guild_name, guild_prefix, acquired, observed_at, valid_from, valid_until, previous_until, hash, document)
  with place as (
    select number, 'Territory ' || number as territory,
           greatest(2, round(22.6 * year.days() * (0.1 + 1.8 * year.draw(number, 1))))::int as times
      from generate_series(1, year.territories()) as number
  ), capture as (
    select place.territory, place.times, nth, year.holder(place.number * 1000000::bigint + nth, 2) as guild,
           case when nth = 0 then year.first()
                else date_trunc('milliseconds', year.first() + year.days() * interval '1 day'
                       * ((nth + 0.9 * year.draw(place.number * 1000000::bigint + nth, 3)) / (place.times + 1))) end as at
      from place cross join lateral generate_series(0, place.times) as nth
  )
  select territory, year.id('guild', guild), 'Guild ' || guild, 'G' || guild, at,
         least(date_bin('10 seconds', at, 'epoch') + interval '10 seconds', year.until()), at, coalesce(lead(at) over own, 'infinity'),
         case when nth > 0 then at end,
         year.fingerprint(guild || ' ' || at), jsonb_build_object('guild', year.id('guild', guild), 'acquired', at)
    from capture window own as (partition by territory order by nth)
   order by at`

/** What begins each hold but the first of a place, beside what was there before. */
const captures = `
  insert into game.territory_capture (territory, captured_at, held_from, observed_at, from_guild_uuid, from_guild_name, to_guild_uuid, to_guild_name)
  select territory, acquired, valid_from, observed_at, from_uuid, from_name, guild_uuid, guild_name
    from (select hold.*, lag(guild_uuid) over own as from_uuid, lag(guild_name) over own as from_name
            from game.territory_hold hold window own as (partition by territory order by valid_from)) hold
   where previous_until is not null
   order by acquired`

/** What a place is worth rises with the time held: a version of it twice a day. */
const places = `
  insert into game.territory (territory, min_x, min_z, max_x, max_z, is_hq, treasury, defences, valid_from, valid_until, previous_until, hash)
  select 'Territory ' || number, number * 10, 0, number * 10 + 9, 9, nth % 40 = 0,
         (array['VERY_LOW', 'LOW', 'MEDIUM', 'HIGH'])[1 + nth % 4], (array['LOW', 'MEDIUM', 'HIGH'])[1 + nth % 3],
         at, coalesce(lead(at) over own, 'infinity'), case when nth > 0 then at end,
         year.fingerprint('place ' || nth)
    from (select number, nth, date_bin('10 seconds', year.first() + interval '12 hours'
                   * (nth + case when nth > 0 then 0.8 * year.draw(number * 100000::bigint + nth, 4) else 0 end), year.first()) as at
            from generate_series(1, year.territories()) as number
           cross join generate_series(0, floor(year.days() * 2)::int - 1) as nth) version
  window own as (partition by number order by nth)
   order by at`

const links = `
  insert into game.territory_link (territory, valid_from, position, links_to)
  select territory, valid_from, position, 'Territory ' || (1 + (min_x / 10 + position) % year.territories())
    from game.territory cross join generate_series(0, 1) as position`

/** A sample a minute of the last days (three of a year); of the time before, the last of each hour, as a short retention leaves it. */
const resources = `
  insert into game.territory_resource (territory, resource, observed_at, generation, base_generation, stored, storage_limit)
  select 'Territory ' || number, resource, at, 3600 + 10 * (number % 40), 3600, floor(6000 * year.draw(number + extract(epoch from at)::bigint, 5))::bigint, 6000
    from (select generate_series(year.first(), year.until() - year.fine() - interval '1 second', interval '1 hour') as at
           union all
          select generate_series(date_bin('1 minute', year.until() - year.fine(), year.first()), year.until() - interval '1 second', interval '1 minute')) moment
   cross join generate_series(1, year.territories()) as number
   cross join unnest(array['EMERALD', (array['ORE', 'WOOD', 'FISH', 'CROP'])[1 + number % 4]]) as resource
   order by at`

const polls = `
  insert into sync.run (run_id, resource, program, started_at, finished_at, status, observed_from, observed_at, complete, requests, pages, records, changed, unchanged, living, content_hash)
  select md5('territories' || at)::uuid, 'territories', 'bench', at + interval '1 second', at + interval '1200 milliseconds',
         case when year.draw(extract(epoch from at)::bigint, 6) < 0.6 then 'ok' else 'unchanged' end, at, at, true, 1, 1,
         year.territories(), 1, year.territories() - 1, year.territories(), '\\x00'
    from generate_series(year.first(), year.until() - interval '1 second', interval '10 seconds') as at
   where year.watched(at)`

/** In this order. */
export const mapStatements = [holds, captures, places, links, resources, polls]
