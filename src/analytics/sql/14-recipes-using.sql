create or replace function analytics.recipes_using(material text)
returns table (internal_name text, type text, skill text, level_min int, level_max int, amount int)
language sql stable parallel safe set jit = off
begin atomic
  select recipe.internal_name, recipe.type, recipe.skill, recipe.level_min, recipe.level_max, part.amount
    from game.recipe_material part
    join game.recipe on recipe.internal_name = part.internal_name and recipe.valid_from = part.valid_from
   where recipe.valid_until = 'infinity'
     and (part.item = recipes_using.material
          or part.item in (select item.internal_name from game.item
                            where item.display_name = recipes_using.material and item.valid_until = 'infinity'))
   order by recipe.level_min, recipe.type collate "C", recipe.internal_name collate "C";
end;

comment on function analytics.recipes_using(text) is
'The recipes that need a material. Argument: material, its internal name (Refined Ash Plank) or the name players see (Ash Plank).';
