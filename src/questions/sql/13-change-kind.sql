-- A function of its own: Postgres inlines none with a subquery, and most changes are of numbers.
create or replace function analytics.is_reordered(old_value jsonb, new_value jsonb) returns boolean
language sql immutable parallel safe
return case
  when jsonb_typeof(old_value) = 'array' and jsonb_typeof(new_value) = 'array' and jsonb_array_length(old_value) = jsonb_array_length(new_value)
  then (select jsonb_agg(one order by one) from jsonb_array_elements(old_value) one)
     = (select jsonb_agg(one order by one) from jsonb_array_elements(new_value) one)
  else false end;
comment on function analytics.is_reordered(jsonb, jsonb) is
'Whether two lists have the same in another order. Arguments: old_value; new_value.';

create or replace function analytics.is_technical(path text, old_value jsonb, new_value jsonb) returns boolean
language sql immutable parallel safe
return case
  when path ~ '/(icon|coordinates|radius|slot|page|x|y|z)(/|$)' then true
  -- Of a range, whether the value before the roll is sent beside both ends.
  when (old_value is null or new_value is null) and path ~ '^/(identifications|base)/[^/]+/raw$' then true
  when old_value is null or new_value is null or jsonb_typeof(old_value) <> jsonb_typeof(new_value)
    or jsonb_typeof(old_value) not in ('string', 'array') then false
  -- Glyphs of private use, HTML, colour codes and spaces say nothing of the game.
  when regexp_replace(old_value::text, '[\uE000-\uF8FF\U000F0000-\U0010FFFD]|<[^>]*>|[\u00A7&][0-9a-fk-or]|\\n|\s+', '', 'g')
     = regexp_replace(new_value::text, '[\uE000-\uF8FF\U000F0000-\U0010FFFD]|<[^>]*>|[\u00A7&][0-9a-fk-or]|\\n|\s+', '', 'g') then true
  when jsonb_typeof(old_value) = 'array' then analytics.is_reordered(old_value, new_value)
  else false end;
comment on function analytics.is_technical(text, jsonb, jsonb) is
'Whether a change says nothing of the game: icons, coordinates, whether a range has its value before the roll, the place in a tree or list, glyphs, HTML, colour codes, spaces, the order of a list. Arguments: path; old_value; new_value.';

create or replace function analytics.form_of(old_value jsonb, new_value jsonb) returns text
language sql immutable parallel safe
return case
  when old_value is null then 'added'
  when new_value is null then 'removed'
  when jsonb_typeof(old_value) <> jsonb_typeof(new_value) then jsonb_typeof(old_value) || ' to ' || jsonb_typeof(new_value)
  when jsonb_typeof(old_value) = 'string'
       and regexp_replace(lower(old_value::text collate "C"), '[^a-z0-9]', '', 'g')
         = regexp_replace(lower(new_value::text collate "C"), '[^a-z0-9]', '', 'g') then 'spelled otherwise' end;
comment on function analytics.form_of(jsonb, jsonb) is
'How a change is one of form: added, removed, another type, spelled otherwise; NULL: another value of the same form. Arguments: old_value; new_value.';

-- Where most records of a response change in the same path in the same way, the form of the responses has changed, not the game. Of items, of
-- which each kind has fields of its own, also where a field comes that none had, goes from all that had it, or has another type or spelling in most
-- that have another value.
create or replace view analytics.format_change as
select one.resource, one.changed_at, changed.path, changed.form, changed.records, living.records as living
  from (select found.resource, found.changed_at, array_agg(found.path) as paths, array_agg(found.form) as forms,
               array_agg(found.records) as records, array_agg(found.there) as there, array_agg(found.is_prose) as prose
          from (select each.*, sum(each.records) filter (where each.form is distinct from 'added' and each.form is distinct from 'removed')
                                   over (partition by each.resource, each.changed_at, each.path) as there
                  from (select change.resource, change.changed_at, change.path,
                               analytics.form_of(change.old_value, change.new_value) as form, count(*)::int as records,
                               -- Most changes are of numbers, which have no spaces.
                               bool_or(jsonb_typeof(change.old_value) <> 'number' and change.old_value::text ~ '\s') as is_prose
                          from game.field_change change
                         where change.path <> '' and change.resource in ('items', 'recipes', 'ability-trees', 'aspects')
                         group by 1, 2, 3, 4) each) found
         where found.form is not null and found.records >= 20
         group by found.resource, found.changed_at) one
 -- Counted once for each response, however many of its paths changed.
 cross join lateral (
   select case one.resource
            when 'items' then (select count(*) from game.item version
                                where version.valid_from <= one.changed_at and version.valid_until > one.changed_at)
            when 'recipes' then (select count(*) from game.recipe version
                                  where version.valid_from <= one.changed_at and version.valid_until > one.changed_at)
            when 'ability-trees' then (select count(*) from game.ability version
                                        where version.valid_from <= one.changed_at and version.valid_until > one.changed_at)
            else (select count(*) from game.aspect version
                   where version.valid_from <= one.changed_at and version.valid_until > one.changed_at) end::int as records
   offset 0) living
 cross join lateral unnest(one.paths, one.forms, one.records, one.there, one.prose) as changed(path, form, records, there, is_prose)
 where changed.records * 2 > living.records
    or one.resource = 'items' and changed.path ~ '^/(requirements/)?[^/]+$'
       and case changed.form
             when 'added' then not exists (select from game.item version
                                            where version.valid_from < one.changed_at and version.valid_until >= one.changed_at
                                              and version.document #> string_to_array(substr(changed.path, 2), '/') is not null)
             when 'removed' then not exists (select from game.item version
                                              where version.valid_from <= one.changed_at and version.valid_until > one.changed_at
                                                and version.document #> string_to_array(substr(changed.path, 2), '/') is not null)
             -- Of a text, another spelling is another text.
             else changed.records * 2 > changed.there and not changed.is_prose end;
comment on view analytics.format_change is 'Changes of the form of responses: paths that changed in the same way in most records at once.';
comment on column analytics.format_change.resource is 'The resource.';
comment on column analytics.format_change.changed_at is 'observed_at of the first response in the new form.';
comment on column analytics.format_change.path is 'JSON pointer into the shape of the API.';
comment on column analytics.format_change.form is 'added, removed, another type such as number to object, or spelled otherwise.';
comment on column analytics.format_change.records is 'How many records changed so.';
comment on column analytics.format_change.living is 'How many records there were.';
