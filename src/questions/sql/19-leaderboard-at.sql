create or replace function analytics.leaderboard_at(type text, at timestamptz default now())
returns table (place int, entity uuid, name text, score double precision, observed_at timestamptz, character_uuid uuid,
               reason text, kind text)
language sql stable parallel safe set jit = off
begin atomic
  with gap as materialized (
    select gap.ends from analytics.gap_at('leaderboards', leaderboard_at.at) gap
  ), thinned as materialized (
    select coalesce(max(one.fine_since), '-infinity') as until from sync.tier one where one.sample_table = 'game.leaderboard_place'
  )
  select numbered.place, case when not hides.player and unknown.why is null then coalesce(latest.guild_uuid, latest.player_uuid) end,
         case when not hides.player and unknown.why is null then latest.name end, case when unknown.why is null then latest.score end, latest.observed_at,
         case when not hides.player and not hides.character and unknown.why is null then latest.character_uuid end,
         case when unknown.why is not null then unknown.why
              when hides.player then 'redacted'
              when latest.guild_uuid is null and latest.player_uuid is null
              then coalesce(latest.reason, 'removed for privacy') end,
         board.kind
    from generate_series(1, (select max(known.place) from game.leaderboard_place known
                              where known.type = leaderboard_at.type)) as numbered(place)
   -- An index entry per place, however many samples it has.
   cross join lateral (select * from game.leaderboard_place sample
                        where sample.type = leaderboard_at.type and sample.place = numbered.place
                          and sample.observed_at <= leaderboard_at.at
                        order by sample.observed_at desc limit 1) latest
   -- What is to be removed: who is on the place began to hide it since.
   cross join lateral (select coalesce(bool_or(rule.field_group = 'mainAccess'), false) as player,
                              coalesce(bool_or(rule.field_group = 'characterListAccess'), false) as character
                         from sync.privacy_restriction rule where rule.player_uuid = latest.player_uuid) hides
   -- Until another row of the same place. Of a day of long ago the last is left: what was before that in the day is not known.
   cross join lateral (select case when exists (select from gap where next.at <= gap.ends) then 'not observed'
                                   when leaderboard_at.at < (select thinned.until from thinned) and leaderboard_at.at <> date_trunc('day', leaderboard_at.at, 'UTC')
                                        and next.at < date_trunc('day', leaderboard_at.at, 'UTC') + interval '24 hours'
                                   then 'only the end of the day is kept' end as why
                         from (select coalesce(min(one.observed_at), 'infinity') as at from game.leaderboard_place one
                                where one.type = leaderboard_at.type and one.place = numbered.place
                                  and one.observed_at > leaderboard_at.at) next) unknown
    left join game.leaderboard board
           on board.type = leaderboard_at.type and board.valid_from <= leaderboard_at.at and leaderboard_at.at < board.valid_until
   where latest.reason is distinct from 'empty' and analytics.checked_at(leaderboard_at.at) is not null
   order by numbered.place;
end;
comment on function analytics.leaderboard_at(text, timestamptz) is
'Who was on which place of a leaderboard at an instant (now when left out). entity: uuid of the guild or player, NULL where the place has no name; reason says why: redacted (the player hides), unreadable (see sync.quarantine), removed for privacy, not observed (no response came for long, and the next one showed another, or none has come), only the end of the day is kept (by the retention). observed_at: of the first response that had the place so. Of a board that ranks characters, a player can have several places; character_uuid tells them apart. Arguments: type, such as guildLevel; at.';
