create or replace view analytics.item_change as
select change.changed_at, instant.patch, change.key as internal_name, version.display_name, change.path,
       change.old_value, change.new_value, change.is_revert,
       analytics.whole_response_before('items', change.changed_at) as not_before
  from game.field_change change
  join analytics.change_instant instant on instant.changed_at = change.changed_at
  left join lateral (select item.display_name from game.item
                      where item.internal_name = change.key and item.valid_from <= change.changed_at
                      order by item.valid_from desc limit 1) version on true
 where change.resource = 'items';

comment on view analytics.item_change is 'What changed in items, one row per changed path. The first response is where history begins, not a change.';
comment on column analytics.item_change.changed_at is 'observed_at of the first response that showed the change.';
comment on column analytics.item_change.patch is 'The patch it belongs to.';
comment on column analytics.item_change.internal_name is 'The item.';
comment on column analytics.item_change.display_name is 'What players called it after the change, or before it disappeared.';
comment on column analytics.item_change.path is 'JSON pointer into the API''s shape; empty for an item that appeared or disappeared.';
comment on column analytics.item_change.old_value is 'What it was; SQL NULL when it was not there.';
comment on column analytics.item_change.new_value is 'What it is; SQL NULL when it is gone.';
comment on column analytics.item_change.is_revert is 'True when the new value is the one before the previous change of this path.';
comment on column analytics.item_change.not_before is 'The last whole response that did not show it yet: it happened after that. NULL: the ledger of that time is gone.';
