create or replace view analytics.recipe as
select recipe.internal_name, recipe.type, recipe.skill, recipe.level_min, recipe.level_max,
       first.item as material_1, first.amount as amount_1, second.item as material_2, second.amount as amount_2,
       recipe.xp, recipe.health_or_damage_min, recipe.health_or_damage_max, recipe.durability_min, recipe.durability_max,
       recipe.duration_min, recipe.duration_max, recipe.valid_from as since,
       (select max(observed_at) from sync.run
         where resource = 'recipes' and status in ('ok', 'unchanged', 'partial')) as observed_at
  from game.recipe
  left join game.recipe_material first
    on first.internal_name = recipe.internal_name and first.valid_from = recipe.valid_from and first.position = 1
  left join game.recipe_material second
    on second.internal_name = recipe.internal_name and second.valid_from = recipe.valid_from and second.position = 2
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
