-- Access: the group role wynnsync_reader sees this schema and nothing else. This comes last, because a function that is
-- replaced loses the grants made here.
do $$
declare
  made constant text[] := array(select unnest(makes) from sync.installed_sql);
  -- What these scripts made. The schema may have views and functions of users too, and who may use those is for their owners to say. A
  -- function of theirs may have the name of one of these; it has no comment.
  own_views constant oid[] := array(
    select oid from pg_class
     where relnamespace = 'analytics'::regnamespace and relkind = 'v' and pg_has_role(relowner, 'USAGE')
       and 'view analytics.' || relname = any (made));
  own_functions constant oid[] := array(
    select oid
      from (select oid, proname, proowner,
                   count(*) over (partition by proname) = 1 or obj_description(oid, 'pg_proc') is not null as is_certain
              from pg_proc where pronamespace = 'analytics'::regnamespace and prokind = 'f') each
     where is_certain and pg_has_role(proowner, 'USAGE') and 'function analytics.' || proname = any (made));
  -- Parts of the functions below. They have no rights of their own, so that Postgres can inline them: a function with the
  -- rights of its owner is planned by itself, before version 18 without looking at its arguments.
  parts constant oid[] := array(
    select oid from pg_proc
     where oid = any (own_functions)
       and proname in ('watch', 'expected_every', 'unobserved', 'watched', 'watched_share', 'online_known',
                       'members_between', 'member_rise', 'members_gained', 'counter_border', 'counter_unsent', 'counter_steps',
                       'counter_source', 'counter_series', 'counter_lacking', 'counter_risen', 'counter_covered', 'counter_cells', 'counter_likely',
                       'counter_first', 'counter_soonest'));
  one record;
begin
  -- Views read with the rights of their owner, functions with those of their caller. So a function that reads tables
  -- runs with the owner's rights; one that reads only views does not need to.
  for one in
    select asked.oid::regprocedure as name
      from pg_proc asked
     where asked.oid = any (own_functions) and asked.oid <> all (parts)
       and (asked.prosqlbody is null or exists (
             select from pg_depend
               left join pg_class relation on relation.oid = refobjid and refclassid = 'pg_class'::regclass
              where classid = 'pg_proc'::regclass and objid = asked.oid
                and (relation.relnamespace <> 'analytics'::regnamespace
                     or refclassid = 'pg_proc'::regclass and refobjid = any (parts))))
  loop
    execute format('alter function %s security definer set search_path = pg_catalog, pg_temp', one.name);
  end loop;

  if to_regrole('wynnsync_reader') is null then
    begin
      create role wynnsync_reader nologin;
      comment on role wynnsync_reader is 'May ask the analytics schema of wynnsync, and nothing else.';
    exception
      -- Roles belong to the whole server: another database may be migrated at the same time.
      when duplicate_object or unique_violation then null;
      -- `wynnsync migrate` does the rest once a privileged user has created the role.
      when insufficient_privilege then return;
    end;
  end if;
  grant usage on schema analytics to wynnsync_reader;
  for one in
    select view.oid::regclass as name from pg_class view where view.oid = any (own_views)
  loop
    execute format('grant select on %s to wynnsync_reader', one.name);
  end loop;
  for one in
    select asked.oid::regprocedure as name, asked.oid = any (parts) as is_part from pg_proc asked
     where asked.oid = any (own_functions)
  loop
    -- By default everybody may call a new function, also one that runs with its owner's rights.
    execute format('revoke execute on function %s from public', one.name);
    if not one.is_part then
      execute format('grant execute on function %s to wynnsync_reader', one.name);
    end if;
  end loop;
end
$$;
