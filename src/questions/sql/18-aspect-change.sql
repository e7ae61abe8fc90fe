create or replace view analytics.aspect_change as
select change.changed_at, instant.patch, version.required_class as class, version.name as name, change.path, change.old_value, change.new_value,
       change.is_revert, change.key,
       analytics.whole_response_before('aspects', change.changed_at) as not_before
  from game.field_change change
  join analytics.change_instant instant on instant.changed_at = change.changed_at
  left join lateral (select aspect.name, aspect.required_class from game.aspect
                      where aspect.internal_name = change.key and aspect.valid_from <= change.changed_at
                      order by aspect.valid_from desc limit 1) version on true
 where change.resource = 'aspects';

comment on view analytics.aspect_change is 'What changed in aspects, one row per changed path. The first response is where history begins, not a change.';
comment on column analytics.aspect_change.changed_at is 'observed_at of the first response that showed the change.';
comment on column analytics.aspect_change.patch is 'The patch it belongs to.';
comment on column analytics.aspect_change.class is 'The class in lower case. NULL: it belongs to none.';
comment on column analytics.aspect_change.name is 'What players called it after the change, or before it disappeared.';
comment on column analytics.aspect_change.path is 'JSON pointer into the shape of the API; empty for what appeared or disappeared.';
comment on column analytics.aspect_change.old_value is 'What it was; SQL NULL when it was not there.';
comment on column analytics.aspect_change.new_value is 'What it is; SQL NULL when it is gone.';
comment on column analytics.aspect_change.is_revert is 'True when the new value is the one before the previous change of this path.';
comment on column analytics.aspect_change.key is 'Natural key of what changed.';
comment on column analytics.aspect_change.not_before is 'The last whole response that did not show it yet: it happened after that. NULL: the ledger of that time is gone.';
