create or replace view analytics.recipe as
select recipe.internal_name, case when 'type' = any (lacking.columns) then null else recipe.type end as type,
       case when 'skill' = any (lacking.columns) then null else recipe.skill end as skill,
       case when 'level_min' = any (lacking.columns) then null else recipe.level_min end as level_min,
       case when 'level_max' = any (lacking.columns) then null else recipe.level_max end as level_max,
       case when material_lacking.columns && array['*', 'item'] then null else first.item end as material_1,
       case when material_lacking.columns && array['*', 'amount'] then null else first.amount end as amount_1,
       case when material_lacking.columns && array['*', 'item'] then null else second.item end as material_2,
       case when material_lacking.columns && array['*', 'amount'] then null else second.amount end as amount_2,
       case when 'xp' = any (lacking.columns) then null else recipe.xp end as xp,
       case when 'health_or_damage_min' = any (lacking.columns) then null else recipe.health_or_damage_min end as health_or_damage_min,
       case when 'health_or_damage_max' = any (lacking.columns) then null else recipe.health_or_damage_max end as health_or_damage_max,
       case when 'durability_min' = any (lacking.columns) then null else recipe.durability_min end as durability_min,
       case when 'durability_max' = any (lacking.columns) then null else recipe.durability_max end as durability_max,
       case when 'duration_min' = any (lacking.columns) then null else recipe.duration_min end as duration_min,
       case when 'duration_max' = any (lacking.columns) then null else recipe.duration_max end as duration_max, recipe.valid_from as since,
       case when unread.since is null then (select max(observed_at) from sync.run
         where resource = 'recipes' and status in ('ok', 'unchanged', 'partial'))
            else greatest(recipe.valid_from, (select max(observed_at) from sync.run
         where resource = 'recipes' and status in ('ok', 'unchanged', 'partial') and observed_at < unread.since)) end as observed_at
  from game.recipe
 cross join analytics.not_sent('recipe') lacking
 cross join analytics.not_sent('recipe_material') material_lacking
  left join game.recipe_material first
    on first.internal_name = recipe.internal_name and first.valid_from = recipe.valid_from and first.position = 1
  left join game.recipe_material second
    on second.internal_name = recipe.internal_name and second.valid_from = recipe.valid_from and second.position = 2
  left join (select one.key, min(one.at) as since
               from (select key, from_at as at from sync.unread where resource = 'recipes' and until_at is null
                      union all
                     select subject, first_at from sync.claim where resource = 'recipes' and kind in ('missing', 'unread')) one
              group by one.key) unread on unread.key = recipe.internal_name
 where recipe.valid_until = 'infinity';

comment on view analytics.recipe is 'Every crafting recipe as of the latest response, one row each.';
comment on column analytics.recipe.internal_name is 'The natural key, such as Boots1-3.';
comment on column analytics.recipe.type is 'What is crafted: helmet, ring, potion ...';
comment on column analytics.recipe.skill is 'Crafting profession.';
comment on column analytics.recipe.level_min is 'Lowest profession level of the band.';
comment on column analytics.recipe.level_max is 'Highest profession level of the band.';
comment on column analytics.recipe.material_1 is 'Internal name of the first material.';
comment on column analytics.recipe.amount_1 is 'How many of the first material.';
comment on column analytics.recipe.material_2 is 'Internal name of the second material.';
comment on column analytics.recipe.amount_2 is 'How many of the second material.';
comment on column analytics.recipe.xp is 'Profession experience gained.';
comment on column analytics.recipe.health_or_damage_min is 'Least health or damage of what is crafted; NULL for jewelry.';
comment on column analytics.recipe.health_or_damage_max is 'Most health or damage of what is crafted; NULL for jewelry.';
comment on column analytics.recipe.durability_min is 'Least durability in thousandths; NULL for consumables.';
comment on column analytics.recipe.durability_max is 'Most durability in thousandths; NULL for consumables.';
comment on column analytics.recipe.duration_min is 'Least duration in seconds; consumables only.';
comment on column analytics.recipe.duration_max is 'Most duration in seconds; consumables only.';
comment on column analytics.recipe.since is 'When this version was first seen.';
comment on column analytics.recipe.observed_at is 'When the API last confirmed it.';
