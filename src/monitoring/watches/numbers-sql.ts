/** What shows in the numbers of guilds and players. @param changed the changes, as SQL that others follow */
export function numbersSql(changed: string, isNotRemoved: (player: string) => string) {
  /** The numbers of a guild at a response, and those of the response before that had others. */
  const levels = `${changed}
select changed.number, changed."writtenAt", now.observed_at as at, now.guild_uuid::text as guild, now.level,
       (select name from game.guild profile where profile.guild_uuid = now.guild_uuid order by profile.valid_from desc limit 1) as name
  from changed
  join game.guild_sample now on now.guild_uuid = changed.key::uuid and now.observed_at = changed.observed
 cross join lateral (select sample.level from game.guild_sample sample
                      where sample.guild_uuid = now.guild_uuid and sample.observed_at < now.observed_at and sample.level is not null
                      order by sample.observed_at desc limit 1) before
 where changed.resource = 'numbers' and ($2::text[] is null or changed.key = any($2)) and now.level > before.level`

  /**
   * A counter that a response shows at or above a number, or risen by so much within a day, when the number before was not. $2: guilds,
   * $3: players, $4: kind, $5: counter, $6: above, $7: gains.
   */
  const counters = `${changed}, counted as (
  select changed.*, changed.key::uuid as owner, null::uuid as part from changed
   where $4 = 'guild' and changed.resource = 'numbers' and changed.key = any($2::text[])
   union all
  select changed.*, player.uuid::uuid, null from changed
   cross join unnest($3::text[]) as player(uuid)
   where $4 = 'player' and changed.resource = 'numbers' and change->>'resource' = 'players' and player.uuid ~ '^[0-9a-f-]{36}$'
     and ${isNotRemoved('player.uuid::uuid')}
   union all
  select changed.*, changed.key::uuid, sample.player_uuid
    from changed
    join analytics.member_counter_sample sample on sample.guild_uuid = changed.key::uuid and sample.observed_at = changed.observed and sample.counter = $5
   where $4 = 'member' and changed.resource = 'numbers' and changed.key = any($2::text[])
     and ($3::text[] is null or sample.player_uuid::text = any($3))
     and ${isNotRemoved('sample.player_uuid')}
), valued as (
  select counted.*, now.value, before.value as before_value, before.observed_at as before_at
    from counted
   cross join lateral (select one.value from analytics.counter_series($4, counted.owner, counted.part, $5,
                                counted.observed - interval '1 microsecond', counted.observed) one
                        where one.observed_at = counted.observed and one.value is not null) now
   cross join lateral (select one.observed_at, one.value from analytics.counter_series($4, counted.owner, counted.part, $5,
                                counted.observed - interval '1 microsecond', counted.observed - interval '1 microsecond') one
                        where one.value is not null) before
)
select valued.number, valued."writtenAt", valued.observed as at, $4 as kind, $5 as counter, $7::double precision as gains, named.name, named.entity, valued.owner::text as owner,
       valued.part::text as part, valued.value, risen.gained
  from valued
 cross join lateral analytics.gained($4, $5, concat_ws('/', valued.owner, valued.part), valued.observed - interval '24 hours',
                                     valued.observed + interval '1 microsecond') risen
 cross join lateral (select coalesce(risen.name, risen.entity) as name, risen.entity) named
 where ($6::double precision is not null and valued.value >= $6 and valued.before_value < $6)
    or ($7::double precision is not null and risen.gained >= $7
        and coalesce((select earlier.gained from analytics.gained($4, $5, concat_ws('/', valued.owner, valued.part),
                                                 valued.before_at - interval '24 hours', valued.before_at + interval '1 microsecond') earlier), 0) < $7)`

  /** Guilds next to one in the ranking of its latest season that came within $3, as of a response about it with another rating. */
  const gaps = `${changed}, rated as (
  select changed.*, own.season, own.guild_uuid, own.rating,
         (select sample.rating from game.guild_season sample where sample.guild_uuid = own.guild_uuid and sample.season = own.season
             and sample.observed_at < own.observed_at and sample.rating is not null order by sample.observed_at desc limit 1) as before_rating
    from changed
    join game.guild_season own on own.guild_uuid = changed.key::uuid and own.observed_at = changed.observed and own.rating is not null
   where changed.resource = 'numbers' and changed.key = any($2::text[])
     and own.season = (select max(latest.season) from game.guild_season latest where latest.guild_uuid = own.guild_uuid)
), rival as (
  select rated.*, other.guild_uuid as other, other.name, latest.rating as other_rating,
         row_number() over (partition by rated.number, latest.rating >= rated.rating order by abs(latest.rating - rated.rating), other.guild_uuid) as nth
    from rated
    join game.guild other on other.valid_until = 'infinity' and other.guild_uuid <> rated.guild_uuid
   cross join lateral (select sample.rating from game.guild_season sample
                        where sample.guild_uuid = other.guild_uuid and sample.season = rated.season and sample.observed_at <= rated.observed
                          and sample.rating is not null order by sample.observed_at desc limit 1) latest
)
select rival.number, rival."writtenAt", rival.observed as at, rival.guild_uuid::text as guild, own.name as "ofName", rival.name,
       rival.other_rating - rival.rating as ahead,
       (select max(one.observed_at) from sync.observation one where one.resource = 'guilds' and one.key = rival.other::text
           and one.status in ('ok', 'unchanged', 'partial') and one.observed_at <= rival.observed) as seen
  from rival
  left join game.guild own on own.guild_uuid = rival.guild_uuid and own.valid_until = 'infinity'
 where rival.nth = 1 and abs(rival.other_rating - rival.rating) <= $3::bigint
   and coalesce(abs(rival.other_rating - rival.before_rating) > $3::bigint, true)`

  return { levels, counters, gaps }
}
