create or replace function analytics.leaderboard_at(type text, at timestamptz default now())
returns table (place int, entity uuid, name text, score double precision, observed_at timestamptz, character_uuid uuid,
               reason text, kind text)
language sql stable parallel safe set jit = off
begin atomic
  select numbered.place, coalesce(latest.guild_uuid, latest.player_uuid), latest.name, latest.score, latest.observed_at,
         latest.character_uuid,
         case when latest.guild_uuid is null and latest.player_uuid is null
              then coalesce(latest.reason, 'removed for privacy') end,
         board.kind
    from generate_series(1, (select max(known.place) from game.leaderboard_place known
                              where known.type = leaderboard_at.type)) as numbered(place)
   -- An index entry per place, however many samples it has.
   cross join lateral (select * from game.leaderboard_place sample
                        where sample.type = leaderboard_at.type and sample.place = numbered.place
                          and sample.observed_at <= leaderboard_at.at
                        order by sample.observed_at desc limit 1) latest
    left join game.leaderboard board
           on board.type = leaderboard_at.type and board.valid_from <= leaderboard_at.at and leaderboard_at.at < board.valid_until
   where latest.reason is distinct from 'empty'
   order by numbered.place;
end;
comment on function analytics.leaderboard_at(text, timestamptz) is
'Who was on which place of a leaderboard at an instant (now when left out). entity: uuid of the guild or player, NULL where the place has no name; reason says why: redacted (the player hides), unreadable (see sync.quarantine), removed for privacy. observed_at: of the first response that had the place so. Of a board that ranks characters, a player can have several places; character_uuid tells them apart. Arguments: type, such as guildLevel; at.';
