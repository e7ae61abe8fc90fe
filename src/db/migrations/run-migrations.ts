import { hash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { FatalError, messageOf, RetryableError } from '../../base/errors.ts'
import { tableExists } from '../catalog.ts'
import type { Sql } from '../database.ts'
import { sqlState } from '../sql-errors.ts'
import { type Migration, namesOf, objectsIn, PRESENT, readText, type Script, withMissing } from './scripts.ts'

/** The tables that say what is installed. */
export const INSTALLED = `
create schema if not exists sync;
create table if not exists sync.installed_sql (
  name text primary key,
  sha256 text not null,
  installed_at timestamptz not null
);
alter table sync.installed_sql add column if not exists makes text[];
comment on table sync.installed_sql is 'Which version of each repeatable SQL file (views, functions, comments) this database has.';
comment on column sync.installed_sql.name is 'The file, as the program names it.';
comment on column sync.installed_sql.sha256 is 'SHA-256 of its text, in hexadecimal. Another text is installed anew.';
comment on column sync.installed_sql.installed_at is 'When it was installed.';
comment on column sync.installed_sql.makes is 'The views and functions that it makes. NULL: a version installed it that did not keep this.';
create table if not exists sync.installed_program (
  number bigint generated always as identity primary key,
  version text not null,
  sql_hash text not null,
  installed_at timestamptz not null
);
comment on table sync.installed_program is 'Whose repeatable SQL (views, functions, comments) was installed when; the last row is what is installed now.';
comment on column sync.installed_program.number is 'Rises from one installation to the next.';
comment on column sync.installed_program.version is 'Version of the program that installed it.';
comment on column sync.installed_program.sql_hash is 'SHA-256 over its files, in hexadecimal.';
comment on column sync.installed_program.installed_at is 'When it was installed.';
`

/** What one program installs. */
interface ToInstall {
  /** Of the migrations. */
  readonly folder: string
  readonly migrations: readonly Migration[]
  readonly scripts: readonly Script[]
  readonly clock: Clock
  readonly version?: string
  readonly sqlHash: string
  /** Called with how many files are done, of how many. */
  readonly onProgress?: ((done: number, of: number) => void) | undefined
}

type Running = Pick<ToInstall, 'clock' | 'onProgress'>

interface Applied {
  readonly applied: readonly string[]
  /** Why views and functions could not be replaced; the present ones stay. */
  readonly postponed?: string
}

/** Runs the migrations and the repeatable SQL that are due, in a transaction with the lock, and remembers whose they are. */
export async function install(
  sql: Sql,
  { folder, migrations, scripts, clock, version = '0.0.0', sqlHash, onProgress }: ToInstall,
): Promise<Applied> {
  const replaced = await replaceEarlierEdition(sql, folder, migrations)
  const applied = await runMigrations(sql, folder, { migrations, onProgress })
  await sql.query(INSTALLED)
  const installed = await runScripts(sql, scripts, { clock, onProgress })
  const all = [...replaced, ...applied, ...installed.applied]
  if (installed.postponed !== undefined) return { applied: all, postponed: installed.postponed }
  await sql.query(
    `insert into sync.installed_program (version, sql_hash, installed_at)
     select $1, $2, $3
      where $2 is distinct from (select sql_hash from sync.installed_program order by number desc limit 1)`,
    [version, sqlHash, new Date(clock.now())],
  )
  return { applied: all }
}

/** Runs a file; its error names the file, and rolls the transaction back. */
async function naming<T>(file: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    if (cause instanceof RetryableError) throw cause
    throw new FatalError(`${file} failed, and the database is unchanged: ${messageOf(cause)}`, {
      cause,
      context: { file, sqlState: sqlState(cause) },
    })
  }
}

/**
 * Some migrations had other content before their present one, at another time of the journal; drizzle would run them a
 * second time, and fail. `earlier/<time>_<tag>.sql` adds what the edition of that time lacked, and the database then
 * counts as migrated by the present one.
 */
async function replaceEarlierEdition(sql: Sql, folder: string, migrations: readonly Migration[]): Promise<string[]> {
  if (!(await tableExists(sql, 'drizzle.__drizzle_migrations'))) return []
  const [newest] = await sql.query<{ id: number; when: number }>(
    'select id, created_at as "when" from drizzle.__drizzle_migrations order by created_at desc limit 1',
  )
  if (!newest || migrations.some(({ when }) => when === newest.when)) return []
  const earlier = join(folder, 'earlier')
  const files = await readdir(earlier).catch(() => [])
  const file = files.find((name) => name.startsWith(`${newest.when}_`))
  const present = migrations.find(({ tag }) => file === `${newest.when}_${tag}.sql`)
  if (file === undefined || !present) return []
  const text = await readText(join(earlier, file))
  await naming(`migration earlier/${file}`, () => sql.query(text))
  const sha256 = hash('sha256', await readText(join(folder, `${present.tag}.sql`)))
  const replace = 'update drizzle.__drizzle_migrations set created_at = $2, hash = $3 where id = $1'
  await sql.query(replace, [newest.id, present.when, sha256])
  return [`earlier/${file}`]
}

/** Runs the migrations that are due. Returns their files. */
async function runMigrations(
  sql: Sql,
  folder: string,
  { migrations, onProgress }: Pick<ToInstall, 'migrations' | 'onProgress'>,
): Promise<string[]> {
  // Loaded only when there is something to migrate: most processes start sooner without drizzle.
  const { migrate: runDrizzle } = await import('drizzle-orm/pg-proxy/migrator')
  const { typed } = await import('../typed.ts')
  const applied: string[] = []
  await runDrizzle(
    typed(sql),
    async (statements) => {
      // drizzle gives one flat list, in which the row that records a migration ends it; so the last ones are due.
      const ends = statements.filter(endsMigration).length
      const due = migrations.slice(migrations.length - ends).map(({ tag }) => `${tag}.sql`)
      for (const statement of statements) {
        const file = due[applied.length] ?? ''
        if (statement.trim() !== '') await naming(`migration ${file}`, () => sql.query(statement))
        if (!endsMigration(statement)) continue
        applied.push(file)
        onProgress?.(applied.length, ends)
      }
    },
    { migrationsFolder: folder },
  )
  return applied
}

function endsMigration(statement: string): boolean {
  return statement.startsWith('INSERT INTO "drizzle"."__drizzle_migrations"')
}

/**
 * Installs the repeatable SQL from the first file that changed, or of which something is missing, on: in place, so that what others
 * have granted on it stays. Where that does not go, because a later script needs what an earlier one makes anew, all that scripts
 * have ever made is dropped, the last first, and made again; grants to other roles are given again. What an object of the user's own
 * needs is not dropped: it is replaced in place, and where that does not go either, everything stays as it is. Syncs go on without
 * waiting for a person.
 *
 * @throws FatalError naming the file that failed
 */
async function runScripts(sql: Sql, scripts: readonly Script[], running: Running): Promise<Applied> {
  const inPlace = await attempt(sql, async () => await run(sql, await dueOf(sql, scripts), running))
  if ('done' in inPlace) return { applied: inPlace.done }
  let needed: readonly string[] = []
  const anew = await attempt(sql, async () => {
    const before = await installedObjects(sql, scripts)
    needed = await ownObjectsOn(sql, await dropInstalled(sql, before))
    const applied = await run(sql, scripts, running)
    await grantAgain(sql, before, await installedObjects(sql, scripts))
    return applied
  })
  if ('done' in anew) return { applied: anew.done }
  // A script that fails the second time fails for itself.
  if (needed.length === 0) throw anew.error.context.file === undefined ? inPlace.error : anew.error
  return {
    applied: [],
    postponed: `${anew.error.context.file} makes something anew that objects of your own need (${needed.join(', ')}): save their definitions, drop them, run \`wynnsync migrate\`, and create them again`,
  }
}

/** Does something, or leaves everything as it was. @throws what is no failure of a script */
async function attempt<T>(
  sql: Sql,
  work: () => Promise<T>,
): Promise<{ readonly done: T } | { readonly error: FatalError }> {
  await sql.query('savepoint scripts')
  try {
    const done = await work()
    await sql.query('release savepoint scripts')
    return { done }
  } catch (error) {
    if (!(error instanceof FatalError) || sqlState(error) === undefined) throw error
    await sql.query('rollback to savepoint scripts; release savepoint scripts')
    return { error }
  }
}

async function dueOf(sql: Sql, scripts: readonly Script[]): Promise<readonly Script[]> {
  // What it made is granted to readers by this.
  const rows = await sql.query<{ name: string; sha256: string }>(
    'select name, sha256 from sync.installed_sql where makes is not null',
  )
  const installed = new Map(rows.map(({ name, sha256 }) => [name, sha256]))
  const [state] = await sql.query<{ present: string[] }>(`select ${PRESENT} as present`, [namesOf(scripts)])
  const missing = withMissing(scripts, state?.present ?? [])
  const first = scripts.findIndex((script) => installed.get(script.name) !== script.sha256 || missing.has(script))
  return first < 0 ? [] : scripts.slice(first)
}

async function run(sql: Sql, scripts: readonly Script[], { clock, onProgress }: Running): Promise<string[]> {
  for (const [nth, { name, path, text, sha256, names }] of scripts.entries()) {
    onProgress?.(nth, scripts.length)
    await naming(basename(path), () => sql.query(text))
    await sql.query(
      `insert into sync.installed_sql (name, sha256, installed_at, makes) values ($1, $2, $3, $4)
       on conflict (name) do update set sha256 = excluded.sha256, installed_at = excluded.installed_at, makes = excluded.makes`,
      [name, sha256, new Date(clock.now()), [...new Set(names)]],
    )
  }
  return scripts.map(({ name }) => name)
}

/** A view or function in the catalog. */
interface Installed {
  readonly kind: 'view' | 'function'
  readonly id: string
  /** With its schema, and of a function with its arguments. */
  readonly identity: string
  /** What its owner gave to other roles. */
  readonly grants: readonly Grant[] | null
}

interface Grant {
  readonly role: string
  readonly privilege: string
  readonly isGrantable: boolean
}

/**
 * What scripts of this program, and of the one whose SQL is installed, have made, the last first. A function of the user's own may
 * have the name of one of them: it has no comment.
 */
async function installedObjects(sql: Sql, scripts: readonly Script[]): Promise<Installed[]> {
  const rows = await sql.query<{ makes: string[] | null }>(
    `select to_jsonb(installed_sql) -> 'makes' as makes from sync.installed_sql`,
  )
  const names = new Set([...rows.flatMap(({ makes }) => makes ?? []), ...namesOf(scripts)])
  const grants = (acl: string, owner: string) =>
    `(select json_agg(json_build_object('role', quote_ident(pg_get_userbyid(grantee)), 'privilege', privilege_type, 'isGrantable', is_grantable))
        from aclexplode(${acl}) where grantee not in (0, ${owner})) as grants`
  const ofView = `relname as name, pg_class.oid, format('%I.%I', nspname, relname) as identity, true as certain, ${grants('relacl', 'relowner')}`
  const args = 'pg_get_function_identity_arguments(pg_proc.oid)'
  const ofFunction = `proname as name, pg_proc.oid, format('%I.%I(%s)', nspname, proname, ${args}),
    count(*) over (partition by pronamespace, proname) = 1 or obj_description(pg_proc.oid, 'pg_proc') is not null, ${grants('proacl', 'proowner')}`
  return await sql.query<Installed>(
    `select kind, oid::text as id, identity, grants from (${objectsIn(ofView, ofFunction)}) each
      where kind || ' ' || name = any($1::text[]) and certain order by oid desc`,
    [[...names]],
  )
}

/** Drops what nothing else needs, as long as something goes. Returns what is still needed. */
async function dropInstalled(sql: Sql, objects: readonly Installed[]): Promise<Installed[]> {
  const left: Installed[] = []
  for (const object of objects) {
    await sql.query('savepoint dropping')
    try {
      await sql.query(`drop ${object.kind} ${object.identity}`)
      await sql.query('release savepoint dropping')
    } catch (error) {
      if (sqlState(error) !== IS_NEEDED) throw error
      await sql.query('rollback to savepoint dropping; release savepoint dropping')
      left.push(object)
    }
  }
  return left.length === 0 || left.length === objects.length ? left : await dropInstalled(sql, left)
}

/** PostgreSQL manual, appendix A: dependent_objects_still_exist. */
const IS_NEEDED = '2BP01'

/** What else needs these objects: `view mine depends on view analytics.item`. */
async function ownObjectsOn(sql: Sql, objects: readonly Installed[]): Promise<string[]> {
  const rows = await sql.query<{ text: string }>(
    `with kept as (
       select (case when kind = 'view' then 'pg_class' else 'pg_proc' end)::regclass::oid as class, id::oid as id
         from unnest($1::text[], $2::text[]) as given(kind, id)),
     used as (
       select class, id, class as shown_class, id as shown_id from kept
        union all
       -- The type of the rows of a view, and of arrays of them.
       select 'pg_type'::regclass, pg_type.oid, class, id from kept
         join pg_class on class = 'pg_class'::regclass and pg_class.oid = id
         join pg_type of_row on of_row.oid = reltype
         join pg_type on pg_type.oid in (of_row.oid, of_row.typarray)),
     needing as (
       select coalesce(case when ev_class is not null then 'pg_class'::regclass::oid end, classid) as class,
              coalesce(ev_class, objid) as id, shown_class, shown_id
         from pg_depend
         join used on refclassid = used.class and refobjid = used.id
         left join pg_rewrite on classid = 'pg_rewrite'::regclass and pg_rewrite.oid = objid
        where deptype in ('n', 'a'))
     select distinct pg_describe_object(class, id, 0) || ' depends on ' || pg_describe_object(shown_class, shown_id, 0) as text
       from needing where not exists (select from used where used.class = needing.class and used.id = needing.id)
      order by 1`,
    [objects.map(({ kind }) => kind), objects.map(({ id }) => id)],
  )
  return rows.map(({ text }) => text)
}

/** What may be in the way of another edition of the views: objects that no script has made and that need some that one has. */
export async function ownObjects(sql: Sql, scripts: readonly Script[]): Promise<string[]> {
  return await ownObjectsOn(sql, await installedObjects(sql, scripts))
}

/** Gives rights again on what has come back with the same name and arguments; to give them a second time changes nothing. */
async function grantAgain(sql: Sql, before: readonly Installed[], now: readonly Installed[]): Promise<void> {
  const present = new Set(now.map(({ identity }) => identity))
  for (const { kind, identity, grants } of before)
    for (const { role, privilege, isGrantable } of present.has(identity) ? (grants ?? []) : [])
      await sql.query(
        `grant ${privilege} on ${kind === 'view' ? 'table' : kind} ${identity} to ${role}${isGrantable ? ' with grant option' : ''}`,
      )
}
