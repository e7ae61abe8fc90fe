create or replace view analytics.territory_holder as
-- A loose index scan: one entry per guild, however much it held.
with recursive holder (guild_uuid) as (
  (select hold.guild_uuid from game.territory_hold hold where hold.guild_uuid is not null order by hold.guild_uuid limit 1)
  union all
  select (select hold.guild_uuid from game.territory_hold hold
           where hold.guild_uuid > holder.guild_uuid order by hold.guild_uuid limit 1)
    from holder where holder.guild_uuid is not null
)
select holder.guild_uuid, latest.guild_name, latest.guild_prefix, latest.valid_from as held_from
  from holder
 cross join lateral (select * from game.territory_hold hold
                      where hold.guild_uuid = holder.guild_uuid
                      order by hold.valid_from desc, hold.valid_until desc limit 1) latest;
comment on view analytics.territory_holder is 'Every guild that ever held a territory.';
comment on column analytics.territory_holder.guild_uuid is 'The guild.';
comment on column analytics.territory_holder.guild_name is 'Its name when its latest hold was first seen.';
comment on column analytics.territory_holder.guild_prefix is 'Its prefix when its latest hold was first seen.';
comment on column analytics.territory_holder.held_from is 'When its latest hold began.';
