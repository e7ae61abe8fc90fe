-- While the API does not send a field, what it said is unknown: neither as before nor nothing. Its versions go on, so that its return is no
-- change; what answers leave out of them follows from here alone.
create or replace function analytics.not_sent(relation text, at timestamptz default 'infinity')
returns table (columns text[])
language sql stable parallel safe rows 1
begin atomic
  select coalesce(array_agg(distinct split_part(one.name, '.', 2)), '{}')
    from sync.unsent span
   cross join lateral unnest(span.columns) as one(name)
   where split_part(one.name, '.', 1) = not_sent.relation
     and span.from_at <= not_sent.at and (span.until_at is null or span.until_at > not_sent.at);
end;
comment on function analytics.not_sent(text, timestamptz) is
'The columns of a table of schema game that the API does not send, * for all its rows; one row, empty without any. Arguments: relation, the table; at, the instant (the latest response when left out).';

create or replace function analytics.times_not_sent(relation text) returns tstzmultirange
language sql stable parallel safe
return (select coalesce(range_agg(tstzrange(span.from_at, span.until_at)), '{}') from sync.unsent span
         where exists (select from unnest(span.columns) as one(name) where split_part(one.name, '.', 1) = times_not_sent.relation));
comment on function analytics.times_not_sent(text) is
'When the API did not send all of a table of schema game; empty: it always has. Argument: relation, the table.';

-- null: the value is not known; a record that never had the field is as it was.
create or replace function analytics.with_null(document jsonb, steps text[]) returns jsonb
language plpgsql immutable parallel safe as $$
declare
  step constant text := replace(replace(steps[1], '~1', '/'), '~0', '~');
begin
  if cardinality(steps) = 0 then return 'null'; end if;
  if jsonb_typeof(document) = 'array' and step = '*' then
    return (select coalesce(jsonb_agg(analytics.with_null(one.value, steps[2:]) order by one.nth), '[]')
              from jsonb_array_elements(document) with ordinality as one(value, nth));
  end if;
  if jsonb_typeof(document) <> 'object' then return document; end if;
  if step = '*' then
    return (select coalesce(jsonb_object_agg(one.key, analytics.with_null(one.value, steps[2:])), '{}') from jsonb_each(document) one);
  end if;
  return case when document ? step then document || jsonb_build_object(step, analytics.with_null(document -> step, steps[2:])) else document end;
end
$$;
comment on function analytics.with_null(jsonb, text[]) is
'JSON with null in a place, where it has that. Arguments: document; steps, those of a JSON pointer to it, * for any.';

create or replace function analytics.as_sent(document jsonb, resource text, at timestamptz default 'infinity') returns jsonb
language plpgsql stable parallel safe as $$
declare
  lacking text;
begin
  for lacking in
    select span.field from sync.unsent span
     where span.resource = as_sent.resource
       and span.from_at <= as_sent.at and (span.until_at is null or span.until_at > as_sent.at)
  loop
    document := analytics.with_null(document, (string_to_array(lacking, '/'))[2:]);
  end loop;
  return document;
end
$$;
comment on function analytics.as_sent(jsonb, text, timestamptz) is
'A whole record, with null where the API does not send a field. Arguments: document; resource; at, the instant (the latest response when left out).';
