-- One plan serves all calls: making one takes longer than a call.
create or replace function analytics.counted_name(kind text, owner uuid, part uuid) returns text
language sql stable parallel safe set plan_cache_mode = force_generic_plan
begin atomic
  select case when kind = 'guild' or kind = 'leaderboard' and exists (select from game.leaderboard_place one where one.guild_uuid = owner)
    then coalesce((select one.name from game.guild_listing one where one.guild_uuid = owner order by one.valid_from desc limit 1),
                  (select one.name from game.guild one where one.guild_uuid = owner order by one.valid_from desc limit 1),
                  (select one.name from game.leaderboard_place one where one.guild_uuid = owner and one.name is not null
                    order by one.observed_at desc limit 1))
    else concat_ws('/',
           coalesce((select one.username from game.player one where one.player_uuid = case kind when 'member' then part else owner end and one.username is not null
                      order by one.valid_from desc limit 1),
                    (select one.username from game.guild_member one where one.player_uuid = case kind when 'member' then part else owner end and one.username is not null
                      order by one.valid_from desc limit 1),
                    (select one.name from analytics.leaderboard_place_sample one
                      where kind = 'leaderboard' and one.player_uuid = owner and one.name is not null order by one.observed_at desc limit 1)),
           case when kind in ('character', 'profession') or kind = 'leaderboard' and part is not null then
             coalesce((select coalesce(one.nickname, lower(one.type)) from analytics.player_character_history one
                        where one.player_uuid = owner and one.character_uuid = part order by one.valid_from desc limit 1), part::text) end) end;
end;
comment on function analytics.counted_name(text, uuid, uuid) is
'How something that is counted is called: the latest name of a guild or player, with the nickname or class of a character. Arguments: kind; owner, the guild or player; part, the character.';
