create or replace view analytics.quest_change as
select change.changed_at, instant.patch, null::text as class, change.key as name, change.path, change.old_value, change.new_value,
       change.is_revert, change.key,
       analytics.whole_response_before('quests', change.changed_at) as not_before
  from game.field_change change
  join analytics.change_instant instant on instant.changed_at = change.changed_at
 where change.resource = 'quests';

comment on view analytics.quest_change is 'How the number of quests changed: the API says no more of them. The first response is where history begins, not a change.';
comment on column analytics.quest_change.changed_at is 'observed_at of the first response that showed the change.';
comment on column analytics.quest_change.patch is 'The patch it belongs to.';
comment on column analytics.quest_change.class is 'The class in lower case. NULL: it belongs to none.';
comment on column analytics.quest_change.name is 'What players called it after the change, or before it disappeared.';
comment on column analytics.quest_change.path is 'JSON pointer into the shape of the API; empty for what appeared or disappeared.';
comment on column analytics.quest_change.old_value is 'What it was; SQL NULL when it was not there.';
comment on column analytics.quest_change.new_value is 'What it is; SQL NULL when it is gone.';
comment on column analytics.quest_change.is_revert is 'True when the new value is the one before the previous change of this path.';
comment on column analytics.quest_change.key is 'Natural key of what changed.';
comment on column analytics.quest_change.not_before is 'The last whole response that did not show it yet: it happened after that. NULL: the ledger of that time is gone.';
