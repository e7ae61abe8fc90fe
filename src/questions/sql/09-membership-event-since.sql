create or replace function analytics.membership_event_since(since timestamptz)
returns setof analytics.membership_event
language sql stable parallel safe set jit = off
begin atomic
  -- The view reads the whole history of every member: here of those alone of whom something changed. With `offset 0`, or the planner
  -- would read all and join.
  select event.*
    from (select member.guild_uuid, member.player_uuid from game.guild_member member where member.valid_from >= since
           union
          select member.guild_uuid, member.player_uuid from game.guild_member member
           where member.valid_until >= since and member.valid_until < 'infinity') changed
   cross join lateral (select * from analytics.membership_event one
                        where one.guild_uuid = changed.guild_uuid and one.player_uuid = changed.player_uuid offset 0) event
   where event.observed_at >= since;
end;
comment on function analytics.membership_event_since(timestamptz) is
'The rows of membership_event that were first seen at `since` or later, without reading the history of all members.';

create or replace function analytics.membership_event_latest(changes int)
returns setof analytics.membership_event
language sql stable parallel safe set jit = off
begin atomic
  select event.*
    from analytics.membership_event_since(
           (select min(latest.at)
              from (select changed.at
                      from ((select member.valid_from as at from game.guild_member member order by member.valid_from desc limit changes)
                            union all
                            (select member.valid_until from game.guild_member member
                              where member.valid_until < 'infinity' order by member.valid_until desc limit changes)) changed
                     order by changed.at desc limit changes) latest)) event;
end;
comment on function analytics.membership_event_latest(int) is
'The rows of membership_event that the latest so many changes of members show, however long ago they were; a change of something else than the rank shows none.';
