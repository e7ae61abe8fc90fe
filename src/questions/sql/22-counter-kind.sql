create or replace function analytics.counter_kind()
returns table (kind text, resource text, sample_table text)
language sql immutable parallel safe
begin atomic
  values ('guild', 'guilds', 'game.guild_sample'), ('member', 'guilds', 'game.member_counter'), ('player', 'players', 'game.player_counter'),
         ('character', 'players', 'game.character_counter'), ('profession', 'players', 'game.character_profession'),
         ('leaderboard', 'leaderboards', 'game.leaderboard_place');
end;
comment on function analytics.counter_kind() is
'The kinds of counters, the resource whose responses have them, and the table where they are.';

create or replace function analytics.counter_key(kind text, owner uuid, counter text) returns text
language sql immutable parallel safe
return case when kind = 'leaderboard' then counter else owner::text end;
comment on function analytics.counter_key(text, uuid, text) is
'The key of the responses that have a counter: the guild or player, or the leaderboard. Arguments: kind; owner; counter.';

create or replace function analytics.is_level_only(kind text, counter text) returns boolean
language sql immutable parallel safe
return case kind when 'guild' then counter not in ('level', 'wars', 'raids') and not starts_with(counter, 'seasonRanks.')
                 when 'player' then false
                 when 'leaderboard' then counter ~* 'territories'
                 else counter ~ '(^|\.)(xpPercent|streak|weekly\.completed|skillPoints\..*)$' end;
comment on function analytics.is_level_only(text, text) is
'Whether a number goes up and down, as how many are online: it has no rises, only differences. Arguments: kind; counter.';
