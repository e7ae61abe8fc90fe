create or replace function analytics.item_at(internal_name text, at timestamptz default now()) returns jsonb
language sql stable parallel safe
return (select analytics.as_sent(item.document, 'items', item_at.at) from game.item
         where item.internal_name = item_at.internal_name and item.valid_from <= item_at.at and item_at.at < item.valid_until
           and analytics.checked_at(item_at.at) is not null
           and analytics.was_observed('items', item_at.at, item.valid_until)
           and analytics.was_read('items', item.internal_name, item_at.at, item.valid_until));

comment on function analytics.item_at(text, timestamptz) is
'The whole item as it was at an instant, in the API''s own shape without the volatile model numbers. NULL when it was not known then, also where no response came for long and the next one showed something else, or none has come; null within it: the API did not send it. Arguments: internal_name, the item; at, the instant (now when left out).';
