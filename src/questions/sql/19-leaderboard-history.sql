create or replace function analytics.leaderboard_history(type text, entity text, from_time timestamptz, to_time timestamptz)
returns table (at timestamptz, place int, score double precision, delta double precision, coverage real,
               entity_uuid uuid, name text, character_uuid uuid)
language sql stable parallel safe set jit = off
begin atomic
  with who as materialized (
    select case when lower(entity collate "C") ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then entity::uuid end as uuid
     union
    select coalesce(called.guild_uuid, called.player_uuid) from game.leaderboard_place called
     where called.name = leaderboard_history.entity and called.type = leaderboard_history.type
  ), own as materialized (
    select ranked.entity_uuid, ranked.character_uuid, ranked.place, ranked.score, ranked.name, ranked.observed_at as began,
           -- Until another row of the same place.
           coalesce((select min(next.observed_at) from game.leaderboard_place next
                      where next.type = leaderboard_history.type and next.place = ranked.place
                        and next.observed_at > ranked.observed_at), 'infinity') as ended
      from (select sample.guild_uuid as entity_uuid, null::uuid as character_uuid, sample.place, sample.score, sample.name,
                   sample.observed_at
              from who join game.leaderboard_place sample on sample.guild_uuid = who.uuid
             where sample.type = leaderboard_history.type and sample.observed_at < to_time
             union all
            select sample.player_uuid, case when not hides.character then sample.character_uuid end, sample.place, sample.score,
                   sample.name, sample.observed_at
              from who join game.leaderboard_place sample on sample.player_uuid = who.uuid
             -- What is to be removed: the player began to hide it since.
             cross join lateral (select coalesce(bool_or(rule.field_group = 'mainAccess'), false) as player,
                                        coalesce(bool_or(rule.field_group = 'characterListAccess'), false) as character
                                   from sync.privacy_restriction rule where rule.player_uuid = who.uuid) hides
             where sample.type = leaderboard_history.type and sample.observed_at < to_time and not hides.player) ranked
  ), step as (
    select own.entity_uuid, own.character_uuid, own.name, own.began as at, own.place, own.score from own
     union all
    -- Off the board, or there without a name.
    select distinct left_it.entity_uuid, left_it.character_uuid, left_it.name, left_it.ended, null::int, null::double precision
      from own left_it
     where left_it.ended < to_time
       and not exists (select from own still
                        where still.entity_uuid = left_it.entity_uuid
                          and still.character_uuid is not distinct from left_it.character_uuid
                          and still.began <= left_it.ended and left_it.ended < still.ended)
  ), numbered as (
    select step.*, count(step.score) over so_far as scores, lag(step.at) over so_far as previous_at,
           lag(step.place) over so_far as previous_place, lag(step.score) over so_far as previous_score
      from step
    window so_far as (partition by step.entity_uuid, step.character_uuid order by step.at, step.place)
  ), compared as (
    select numbered.*,
           -- The last score before, also from before it left the board.
           first_value(numbered.score) over (partition by numbered.entity_uuid, numbered.character_uuid, numbered.scores
                                             order by numbered.at, numbered.place) as known_score
      from numbered
  ), gained as (
    select compared.*, compared.score - lag(compared.known_score) over (partition by compared.entity_uuid, compared.character_uuid
                                                                        order by compared.at, compared.place) as delta
      from compared
  ), hour as materialized (
    select cell.hour, cell.coverage
      from analytics.coverage('leaderboards', from_time, least(to_time, now())) cell where from_time < to_time
  )
  select gained.at, gained.place, gained.score, gained.delta, known.coverage, gained.entity_uuid, gained.name,
         gained.character_uuid
    from gained
    left join lateral (select avg(hour.coverage)::real as coverage from hour
                        where hour.hour >= date_trunc('hour', greatest(gained.previous_at, from_time), 'UTC')
                          and hour.hour <= gained.at) known on true
   where gained.at >= from_time
     and (gained.previous_at is null
          or (gained.previous_place, gained.previous_score) is distinct from (gained.place, gained.score))
   order by gained.at, gained.place nulls last, gained.entity_uuid, gained.character_uuid;
end;
comment on function analytics.leaderboard_history(text, text, timestamptz, timestamptz) is
'How the place and the score of a guild or player on a leaderboard changed in [from_time, to_time), a row per change; of a board that ranks characters, for each of them. place NULL: not on the board from then on, or there without a name (the player hides). delta: by how much the score differs from the one before, also from one before from_time; NULL for the first. coverage: the share (0..1) of the expected responses about leaderboards since the row before, or since from_time; NULL where none were expected. Arguments: type, such as guildLevel; entity, a uuid or an exact name; from_time; to_time.';
