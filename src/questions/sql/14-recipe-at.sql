create or replace function analytics.recipe_at(internal_name text, at timestamptz default now()) returns jsonb
language sql stable parallel safe
return (select analytics.as_sent(recipe.document, 'recipes', recipe_at.at) from game.recipe
         where recipe.internal_name = recipe_at.internal_name and recipe.valid_from <= recipe_at.at and recipe_at.at < recipe.valid_until
           and analytics.checked_at(recipe_at.at) is not null
           and analytics.was_observed('recipes', recipe_at.at, recipe.valid_until)
           and analytics.was_read('recipes', recipe.internal_name, recipe_at.at, recipe.valid_until));

comment on function analytics.recipe_at(text, timestamptz) is
'The whole recipe as it was at an instant, in the API''s own shape without the volatile model numbers. NULL when it was not known then, also where no response came for long and the next one showed something else, or none has come; null within it: the API did not send it. Arguments: internal_name, the recipe; at, the instant (now when left out).';
