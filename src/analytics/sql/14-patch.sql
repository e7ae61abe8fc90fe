create or replace view analytics.patch as
select instant.patch,
       min(change.changed_at) as started_at,
       count(distinct change.key) filter (where change.resource = 'items' and change.path = '' and change.old_value is null)::int
         as items_added,
       count(distinct change.key) filter (where change.resource = 'items' and change.path <> '')::int as items_changed,
       count(distinct change.key) filter (where change.resource = 'items' and change.path = '' and change.new_value is null)::int
         as items_removed,
       count(distinct change.key) filter (where change.resource = 'recipes')::int as recipes_changed,
       max(change.changed_at) as ended_at
  from game.field_change change
  join analytics.change_instant instant on instant.changed_at = change.changed_at
 where change.resource in ('items', 'recipes')
 group by instant.patch;

comment on view analytics.patch is 'Updates of the game, as far as they show in items and recipes: changes first seen less than six hours apart.';
comment on column analytics.patch.patch is 'Number of the patch, counting from 1 in order of time.';
comment on column analytics.patch.started_at is 'When its first change was seen.';
comment on column analytics.patch.items_added is 'Items that appeared.';
comment on column analytics.patch.items_changed is 'Items that changed in any field.';
comment on column analytics.patch.items_removed is 'Items that disappeared.';
comment on column analytics.patch.recipes_changed is 'Recipes that changed, appeared or disappeared.';
comment on column analytics.patch.ended_at is 'When its last change was seen.';
