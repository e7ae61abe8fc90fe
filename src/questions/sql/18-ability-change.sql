create or replace view analytics.ability_change as
select change.changed_at, instant.patch, split_part(change.key, '/', 1) as class, coalesce(version.name, version.id) as name, change.path, change.old_value, change.new_value,
       change.is_revert, change.key,
       analytics.whole_response_before('ability-trees', change.changed_at) as not_before
  from game.field_change change
  join analytics.change_instant instant on instant.changed_at = change.changed_at
  left join lateral (select ability.name, ability.id from game.ability
                      where ability.class = split_part(change.key, '/', 1) and ability.kind = split_part(change.key, '/', 2)
                        and ability.id = split_part(change.key, '/', 3) and ability.valid_from <= change.changed_at
                      order by ability.valid_from desc limit 1) version on true
 where change.resource = 'ability-trees';

comment on view analytics.ability_change is 'What changed in abilities, archetypes and their connectors, one row per changed path. The first response is where history begins, not a change.';
comment on column analytics.ability_change.changed_at is 'observed_at of the first response that showed the change.';
comment on column analytics.ability_change.patch is 'The patch it belongs to.';
comment on column analytics.ability_change.class is 'The class in lower case. NULL: it belongs to none.';
comment on column analytics.ability_change.name is 'What players called it after the change, or before it disappeared.';
comment on column analytics.ability_change.path is 'JSON pointer into the shape of the API; empty for what appeared or disappeared.';
comment on column analytics.ability_change.old_value is 'What it was; SQL NULL when it was not there.';
comment on column analytics.ability_change.new_value is 'What it is; SQL NULL when it is gone.';
comment on column analytics.ability_change.is_revert is 'True when the new value is the one before the previous change of this path.';
comment on column analytics.ability_change.key is 'Natural key of what changed.';
comment on column analytics.ability_change.not_before is 'The last whole response that did not show it yet: it happened after that. NULL: the ledger of that time is gone.';
