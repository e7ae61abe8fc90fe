-- Ranks from the highest to the lowest; an unknown one counts as lying between the known ones.
create or replace function analytics.rank_order(rank text) returns real
language sql immutable parallel safe
return coalesce(array_position(array['owner', 'chief', 'strategist', 'captain', 'recruiter', 'recruit'], rank)::real, 4.5);
comment on function analytics.rank_order(text) is 'Place of a guild rank: 1 owner .. 6 recruit; 4.5 for a rank that is not known.';

create or replace view analytics.membership_event as
with version as (
  select member.guild_uuid, member.player_uuid, member.username, member.rank, member.joined, member.valid_from,
         member.valid_until,
         -- The first response about a guild shows who is in it, not who joined.
         member.valid_from > first.valid_from as is_news,
         lag(member.valid_until) over key as before_until, lag(member.rank) over key as before_rank,
         lag(member.joined) over key as before_joined,
         lead(member.valid_from) over key as next_from, lead(member.joined) over key as next_joined
    from analytics.membership member
   -- Joined, so that it is looked up once for a guild, not for each of its members.
   cross join lateral (select begun.valid_from from game.guild_member begun where begun.guild_uuid = member.guild_uuid
                        order by begun.valid_from limit 1) first
  window key as (partition by member.guild_uuid, member.player_uuid order by member.valid_from)
), spelled as (
  -- A member who is missing for a while and comes back with the same `joined` was there all along.
  select version.*,
         -- A `joined` that one response leaves out means nothing: then only an absence separates one spell from the next.
         before_until is null or coalesce(before_joined <> joined, before_until < valid_from) as begins,
         valid_until < 'infinity' and (next_from is null or coalesce(next_joined <> joined, next_from > valid_until)) as ends
    from version
), event as (
  select happened.at, happened.observed_at, happened.event, coalesce(spelled.joined, spelled.valid_from) as began,
         spelled.guild_uuid, spelled.player_uuid, spelled.username,
         happened.from_rank, happened.to_rank, case when happened.event = 'left' then spelled.valid_from end as still_at
    from spelled
   -- A list of values would be made ready anew for each version.
   cross join lateral (
     -- The clock of the game may be ahead of the response's: nothing happened after it was seen.
     select least(spelled.joined, spelled.valid_from) as at, spelled.valid_from as observed_at, 'joined' as event,
            null::text as from_rank, spelled.rank as to_rank
      where spelled.begins and spelled.is_news
      union all
     -- A member who left and came back between two responses left before joining again.
     select case when spelled.next_joined > spelled.joined then least(spelled.valid_until, spelled.next_joined)
                 else spelled.valid_until end, spelled.valid_until, 'left', spelled.rank, null
      where spelled.ends
      union all
     select spelled.valid_from, spelled.valid_from,
            case when analytics.rank_order(spelled.rank) < analytics.rank_order(spelled.before_rank) then 'promoted' else 'demoted' end,
            spelled.before_rank, spelled.rank
      where not spelled.begins and spelled.before_rank is distinct from spelled.rank) happened
), named as (
  select event.*, other.guild_uuid as other_guild_uuid, other.rank as other_rank, other.shown_from, other.lacked_at
    from event
    left join lateral (
      -- The guild of the membership that began last before this one, or first after it.
      (select earlier.guild_uuid, earlier.rank, earlier.valid_from as shown_from, earlier.valid_until as lacked_at
         from analytics.membership earlier
        where event.event = 'joined' and earlier.player_uuid = event.player_uuid
          and earlier.guild_uuid <> event.guild_uuid and coalesce(earlier.joined, earlier.valid_from) < event.began
        order by coalesce(earlier.joined, earlier.valid_from) desc, earlier.valid_from desc limit 1)
      union all
      (select later.guild_uuid, null, null, null from analytics.membership later
        where event.event = 'left' and later.player_uuid = event.player_uuid and later.guild_uuid <> event.guild_uuid
          and coalesce(later.joined, later.valid_from) > event.began
        order by coalesce(later.joined, later.valid_from) limit 1)) other on true
)
select named.at, named.observed_at, each.event, named.guild_uuid,
       -- In the list of columns, where it is not looked up for who does not ask for it.
       (select profile.name from game.guild profile where profile.guild_uuid = named.guild_uuid and profile.valid_from <= named.observed_at
         order by profile.valid_from desc limit 1) as guild_name, named.player_uuid,
       named.username, case each.event when 'transferred' then named.other_rank else named.from_rank end as from_rank,
       named.to_rank, named.other_guild_uuid,
       greatest((select one.observed_at from sync.observation one
                  where one.resource = 'guilds' and one.key = named.guild_uuid::text and one.status in ('ok', 'unchanged', 'partial')
                    -- Responses in which the record of the member could not be read show nothing of it.
                    and one.observed_at < coalesce((select min(unread.from_at) from sync.unread
                                                     where unread.resource = 'guilds/members'
                                                       and unread.key = named.guild_uuid::text || '/' || named.player_uuid::text
                                                       and unread.from_at < named.observed_at
                                                       and coalesce(unread.until_at, 'infinity') >= named.observed_at), named.observed_at)
                    -- Nor do those of which something was not believed before another one said it, too: they may have shown it. Hashed once.
                    and (one.run_id, one.key) not in (select doubted.run_id, doubted.key from sync.guard_action doubted
                                                       where doubted.resource = 'guilds' and doubted.guard = 'plausibility'
                                                         and doubted.action = 'pending' and doubted.key is not null)
                  order by one.observed_at desc limit 1), named.still_at) as not_before
  from named
 cross join lateral (
   select named.event
    union all
   -- A response of the day before still showed them in the other guild. Where the ledger of that
   -- time is gone, the membership that had not ended a day before is used instead.
   select 'transferred'
    where named.event = 'joined' and named.other_guild_uuid is not null
      -- The other membership has ended, and with this one: a response that shows a
      -- player in a wrong guild ends none.
      and named.lacked_at < 'infinity'
      and named.at < named.lacked_at + interval '24 hours'
      and not exists (select from sync.observation one
                       where one.resource = 'guilds' and one.key = named.other_guild_uuid::text
                         and one.status in ('ok', 'unchanged', 'partial')
                         and one.observed_at > named.observed_at + interval '1 hour'
                         and one.observed_at < named.lacked_at)
      and (named.at < (select coarse_since from sync.tier where sample_table = 'ledger/guilds')
           or exists (select from sync.observation one
                       where one.resource = 'guilds' and one.key = named.other_guild_uuid::text
                         and one.status in ('ok', 'unchanged', 'partial')
                         and one.observed_at >= greatest(named.shown_from, named.at - interval '24 hours')
                         and one.observed_at < named.lacked_at
                         and one.observed_at <= named.observed_at))) each;
comment on view analytics.membership_event is 'Joins, leaves and rank changes between consecutive responses about a guild. A player whom a response of the day before showed in another synced guild, and no response an hour after, has a row joined and a row transferred.';
comment on column analytics.membership_event.at is 'When it happened: joining by the API''s own time, everything else when it was first seen; a member who left and came back between two responses left when joining again, at the latest.';
comment on column analytics.membership_event.observed_at is 'observed_at of the first response that showed it.';
comment on column analytics.membership_event.event is 'joined, left, promoted, demoted or transferred.';
comment on column analytics.membership_event.guild_uuid is 'The guild; of a transfer, the new one.';
comment on column analytics.membership_event.guild_name is 'Its name then.';
comment on column analytics.membership_event.player_uuid is 'The player.';
comment on column analytics.membership_event.username is 'The player''s name then.';
comment on column analytics.membership_event.from_rank is 'Rank before; of a transfer, the one in the guild left. NULL when joining.';
comment on column analytics.membership_event.to_rank is 'Rank after; NULL when leaving.';
comment on column analytics.membership_event.not_before is 'The last response about the guild that did not show it yet: it happened after that. NULL: the ledger of that time is gone.';
comment on column analytics.membership_event.other_guild_uuid is 'Where a joiner came from or a leaver went, when we watch that guild too.';
