import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTemplate, migrateDatabase, template } from '../../src/app/app.ts'
import { virtualClock } from '../../src/base/clock.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import type { Template } from '../../src/db/embedded/embedded-create.ts'
import { readTemplate } from '../../src/db/migrations/cluster-template.ts'
import { clusterTemplate, temporaryFolder } from '../support/postgres.ts'

const clock = virtualClock(Date.UTC(2026, 4, 1))
const kept = join(import.meta.dirname, '../../node_modules/.cache/wynnsync')

/** Everything that a cluster holds, but for numbers of files and what Postgres counts by itself. */
const CONTENT: Readonly<Record<string, string>> = {
  databases: `select datname, datistemplate, datallowconn, datcollate, datctype, encoding, datacl::text from pg_database`,
  roles: `select rolname, rolsuper, rolcanlogin, rolconfig::text from pg_roles order by 1`,
  members: `select roleid::regrole::text, member::regrole::text from pg_auth_members order by 1, 2`,
  perDatabase: `select setdatabase, setrole, setconfig::text from pg_db_role_setting`,
  settings: `select name, setting from pg_settings where name <> 'data_directory' and name !~ '^plpgsql' order by 1`,
  schemas: `select nspname, nspowner::regrole::text, nspacl::text from pg_namespace where nspname !~ '^pg_(temp|toast)' order by 1`,
  relations: `select oid::regclass::text as name, relkind, relowner::regrole::text, relacl::text, reloptions::text, relispartition,
      pg_get_expr(relpartbound, oid) as bound, obj_description(oid, 'pg_class') as comment, pg_get_partkeydef(oid) as key,
      case relkind when 'v' then pg_get_viewdef(oid) end as view
    from pg_class where relkind <> 't' and relnamespace::regnamespace::text !~ '^pg_toast' order by 1`,
  columns: `select attrelid::regclass::text as name, attnum, attname, format_type(atttypid, atttypmod), attnotnull, attstorage,
      attcompression, attacl::text, attidentity, pg_get_expr(adbin, adrelid) as value, col_description(attrelid, attnum) as comment
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where not attisdropped and attrelid::regclass::text !~ 'toast' order by 1, 2`,
  indexes: `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid), indisvalid from pg_index
    where indrelid::regclass::text !~ 'toast' order by 1`,
  constraints: `select conrelid::regclass::text as name, conname, pg_get_constraintdef(oid), condeferred from pg_constraint order by 1, 2`,
  functions: `select oid::regprocedure::text as name, proacl::text, obj_description(oid, 'pg_proc') as comment,
      case when prokind <> 'a' then pg_get_functiondef(oid) end as text from pg_proc order by 1`,
  triggers: `select tgrelid::regclass::text as name, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal order by 1, 2`,
  types: `select oid::regtype::text as name, typacl::text, obj_description(oid, 'pg_type') as comment from pg_type where typname !~ '^_?pg_toast' order by 1`,
  extensions: `select extname, extversion from pg_extension order by 1`,
  rows: `select oid::regclass::text as name, query_to_xml(format('select * from %s order by 1', oid::regclass), true, false, '')::text as rows
    from pg_class where relkind in ('r', 'p', 'S') and relnamespace::regnamespace::text in ('drizzle', 'game', 'sync') order by 1`,
}

/** Makes a database the way that is given, and returns what is in it and what the migration did. */
async function contentOf(way?: Template) {
  const db = await openEmbedded(await temporaryFolder(), { clock, durable: false, ...(way && { template: way }) })
  try {
    const migrated = await migrateDatabase(db, { clock })
    const content: Record<string, unknown> = {}
    for (const [part, text] of Object.entries(CONTENT)) content[part] = await db.query(text)
    return { migrated, content, again: await migrateDatabase(db, { clock }) }
  } finally {
    await db.close()
  }
}

test('a database from the template is the same as one that was migrated, and says that it was', async () => {
  expect(await clusterTemplate()).toBeDefined()
  const unpacked = await contentOf(clusterTemplate)
  const migrated = await contentOf()
  for (const part of Object.keys(CONTENT)) expect(unpacked.content[part], part).toEqual(migrated.content[part])
  expect(unpacked.migrated).toEqual(migrated.migrated)
  expect(unpacked.again).toEqual({ applied: [] })
})

test('a template of other migrations, another version or another engine is refused, and so is a damaged one', async () => {
  await clusterTemplate()
  const folder = join(await temporaryFolder(), 'cluster')
  const sources = { folder: join(import.meta.dirname, '../../migrations'), repeatable: [], version: '0.0.1' }
  expect(await readTemplate(kept, sources)).toBeUndefined()
  const altered = async (alter: () => Promise<void>) => {
    await rm(folder, { recursive: true, force: true })
    await cp(kept, folder, { recursive: true })
    expect(await template(folder)).toBeDefined()
    await alter()
    return template(folder)
  }
  const [archive, label] = [join(folder, 'cluster.tar.br'), join(folder, 'cluster.json')]
  expect(await altered(async () => writeFile(archive, (await readFile(archive)).subarray(0, 100_000)))).toBeUndefined()
  expect(await altered(async () => writeFile(archive, (await readFile(archive)).fill(0, 5000, 5001)))).toBeUndefined()
  expect(await altered(() => writeFile(label, '{'))).toBeUndefined()
  expect(await altered(() => rm(label))).toBeUndefined()
  expect(await altered(() => rm(folder, { recursive: true }))).toBeUndefined()
})

test('what is there already is not made again', async () => {
  await clusterTemplate()
  const before = await stat(join(kept, 'cluster.tar.br'))
  await makeTemplate(kept)
  expect(await stat(join(kept, 'cluster.tar.br'))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs })
})

test('a start that fails or is killed while it unpacks is made good by the next one', async () => {
  const dataDir = await temporaryFolder()
  const whole = (await clusterTemplate()) ?? new Uint8Array()
  const cutOff = openEmbedded(dataDir, { clock, template: async () => whole.subarray(0, whole.length / 2) })
  await expect(cutOff).rejects.toThrow()
  expect(await readdir(dataDir)).toEqual([])
  // What one that was killed leaves behind.
  await mkdir(join(dataDir, 'postgres.new'))
  await writeFile(join(dataDir, 'postgres.new', 'PG_VERSION'), '')
  await mkdir(join(dataDir, 'postgres'))
  const db = await openEmbedded(dataDir, { clock, template: clusterTemplate })
  expect((await migrateDatabase(db, { clock })).applied).not.toEqual([])
  expect(await db.query('select * from game.item')).toEqual([])
  await db.close()
  // No copy of what holds nothing yet.
  expect((await readdir(dataDir)).sort()).toEqual(['boot', 'postgres'])
  const again = await openEmbedded(dataDir, { clock, template: clusterTemplate })
  await again.query('create table t (a int)')
  await again.close()
  expect((await readdir(dataDir)).sort()).toEqual(['backups', 'boot', 'postgres'])
})
