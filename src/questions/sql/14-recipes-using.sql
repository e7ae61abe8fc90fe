create or replace function analytics.recipes_using(material text)
returns table (internal_name text, type text, skill text, level_min int, level_max int, amount int)
language sql stable parallel safe set jit = off
begin atomic
  select recipe.internal_name, case when 'type' = any (lacking.columns) then null else recipe.type end,
         case when 'skill' = any (lacking.columns) then null else recipe.skill end,
         case when 'level_min' = any (lacking.columns) then null else recipe.level_min end,
         case when 'level_max' = any (lacking.columns) then null else recipe.level_max end,
         case when 'amount' = any (part_lacking.columns) then null else part.amount end
    from game.recipe_material part
   cross join analytics.not_sent('recipe') lacking
   cross join analytics.not_sent('recipe_material') part_lacking
    join game.recipe on recipe.internal_name = part.internal_name and recipe.valid_from = part.valid_from
   where recipe.valid_until = 'infinity' and not part_lacking.columns && array['*', 'item']
     and (part.item = recipes_using.material
          or part.item in (select item.internal_name from game.item
                            where item.display_name = recipes_using.material and item.valid_until = 'infinity'))
   order by recipe.level_min, recipe.type collate "C", recipe.internal_name collate "C";
end;

comment on function analytics.recipes_using(text) is
'The recipes that need a material. Argument: material, its internal name (Refined Ash Plank) or the name players see (Ash Plank).';
