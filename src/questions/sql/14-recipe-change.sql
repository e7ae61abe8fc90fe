create or replace view analytics.recipe_change as
select change.changed_at, instant.patch, change.key as internal_name, change.key as display_name, change.path,
       change.old_value, change.new_value, change.is_revert,
       analytics.whole_response_before('recipes', change.changed_at) as not_before
  from game.field_change change
  join analytics.change_instant instant on instant.changed_at = change.changed_at
 where change.resource = 'recipes';

comment on view analytics.recipe_change is 'What changed in recipes, one row per changed path. The first response is where history begins, not a change.';
comment on column analytics.recipe_change.changed_at is 'observed_at of the first response that showed the change.';
comment on column analytics.recipe_change.patch is 'The patch it belongs to.';
comment on column analytics.recipe_change.internal_name is 'The recipe.';
comment on column analytics.recipe_change.display_name is 'Recipes have no other name: the same as internal_name.';
comment on column analytics.recipe_change.path is 'JSON pointer into the API''s shape; empty for a recipe that appeared or disappeared.';
comment on column analytics.recipe_change.old_value is 'What it was; SQL NULL when it was not there.';
comment on column analytics.recipe_change.new_value is 'What it is; SQL NULL when it is gone.';
comment on column analytics.recipe_change.is_revert is 'True when the new value is the one before the previous change of this path.';
comment on column analytics.recipe_change.not_before is 'The last whole response that did not show it yet: it happened after that. NULL: the ledger of that time is gone.';
