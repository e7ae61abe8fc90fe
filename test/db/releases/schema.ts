import type { Sql } from '../../../src/db/database.ts'

/**
 * What makes up the schema, one line per column, constraint, index, function and comment. The bodies of views and
 * functions count by the hash of their file, because Postgres writes them differently after a dump. Partitions count
 * without comments and the names of their indexes.
 */
const DESCRIBED = `
with own as (
  select oid, oid::regclass::text as name, relkind, reloptions from pg_class
   where relnamespace::regnamespace::text in ('game', 'sync', 'partitions', 'analytics') and relkind in ('r', 'p', 'v', 'm', 'S'))
select 'relation ' || name || ' ' || relkind::text || coalesce(' ' || array_to_string(reloptions, ','), '')
       || case when name like 'partitions.%' then '' else coalesce(' -- ' || obj_description(oid, 'pg_class'), '') end from own
union all
select 'column ' || own.name || '.' || attname || ' ' || format_type(atttypid, atttypmod) || case when attnotnull then ' not null' else '' end
       || ' ' || attidentity::text || attgenerated::text || coalesce(' default ' || pg_get_expr(adbin, adrelid), '')
       || case when own.name like 'partitions.%' then '' else coalesce(' -- ' || col_description(attrelid, attnum), '') end
  from own join pg_attribute on attrelid = own.oid and attnum > 0 and not attisdropped and relkind <> 'S'
  left join pg_attrdef on adrelid = attrelid and adnum = attnum
union all
select 'constraint ' || own.name || ' ' || pg_get_constraintdef(pg_constraint.oid)
       || case when relkind = 'p' or own.name not like 'partitions.%' then ' ' || conname else '' end
  from own join pg_constraint on conrelid = own.oid
union all
select 'index ' || own.name || ' ' || case when own.name like 'partitions.%'
         then regexp_replace(pg_get_indexdef(indexrelid), 'INDEX \\S+ ON', 'INDEX ON') else pg_get_indexdef(indexrelid) end
  from own join pg_index on indrelid = own.oid
union all
select 'function ' || oid::regprocedure || ' returns ' || pg_get_function_result(oid) || coalesce(' -- ' || obj_description(oid, 'pg_proc'), '')
  from pg_proc where pronamespace::regnamespace::text in ('game', 'sync', 'analytics') and prokind <> 'a'
union all
select 'installed ' || name || ' ' || sha256 from sync.installed_sql
order by 1`

export async function describeSchema(sql: Sql): Promise<string[]> {
  return (await sql.values(DESCRIBED)).map(([line]) => String(line))
}
