-- Compiling a plan costs Postgres more here than it ever saves: queries take milliseconds, but those of views are priced as if
-- they took seconds. Functions set it themselves; for views the database does, unless it is set already.
do $$
begin
  if not exists (select from pg_db_role_setting setting join pg_database on pg_database.oid = setting.setdatabase
                  cross join unnest(setting.setconfig) as chosen(name)
                  where datname = current_database() and setting.setrole = 0 and chosen.name like 'jit=%') then
    execute format('alter database %I set jit = off', current_database());
  end if;
exception
  -- Only the owner of the database may set it.
  when insufficient_privilege then null;
end
$$;
