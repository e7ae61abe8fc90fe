-- The instants at which the content of the game changed, each with the number of its patch. A loose index scan: it reads one
-- index entry per instant, however many changes an instant has.
create or replace view analytics.change_instant as
with recursive instant (resource, changed_at) as (
  select first.resource, first.changed_at
    from (values ('items'), ('recipes'), ('ability-trees'), ('aspects'), ('quests')) as wanted(resource)
   cross join lateral (select change.resource, change.changed_at from game.field_change change
                        where change.resource = wanted.resource order by change.changed_at limit 1) first
  union all
  select next.resource, next.changed_at
    from instant
   cross join lateral (select change.resource, change.changed_at from game.field_change change
                        where change.resource = instant.resource and change.changed_at > instant.changed_at
                        order by change.changed_at limit 1) next
), once as (
  select distinct changed_at from instant
), marked as (
  select changed_at,
         coalesce(changed_at - lag(changed_at) over (order by changed_at) >= interval '6 hours', true) as starts
    from once
)
select changed_at,
       count(*) filter (where starts) over (order by changed_at)::int as patch
  from marked;

comment on view analytics.change_instant is 'When items, recipes, abilities, aspects or the number of quests changed, and in which patch: changes seen less than six hours apart belong together.';
comment on column analytics.change_instant.changed_at is 'observed_at of the first response that showed the change.';
comment on column analytics.change_instant.patch is 'Number of the patch, counting from 1 in order of time.';
