import type { Database, Sql } from '../../db/database.ts'

/** Beside every table of schema `game` and `sync` there is an empty one in these while a replay runs. */
const shadowSchemas = ['game_replay', 'sync_replay']

/** Strings and comments; or `game.item` and `"sync"."run"`, where a statement names a table. */
const token = /'(?:[^']|'')*'|--[^\n]*|\/\*.*?\*\/|(?<![\w.$])("?)(game|sync)\1(?=\."?\w)/gs

/** The same table, or a statement about the same tables, in the schemas of the replay. What it says in strings stays. */
export function shadowName(statement: string): string {
  return statement.replace(token, (found, quote: string | undefined, schema: string | undefined) =>
    schema === undefined ? found : `${quote}${schema}_replay${quote}`,
  )
}

/**
 * Creates the shadow tables, empty but for what follows from no response: what was removed for privacy.
 * @param rebuilt tables of schema `game` that the replay writes; the others are there to be read, and need no indexes
 */
export async function createShadow(
  db: Database,
  resources: readonly string[],
  rebuilt: ReadonlySet<string>,
): Promise<void> {
  await dropShadow(db)
  const tables = await db.query<{ name: string }>(
    `select relnamespace::regnamespace || '.' || quote_ident(relname) as name from pg_class
      where relnamespace::regnamespace::text in ('game', 'sync') and relkind in ('r', 'p') and not relispartition
      order by 1`,
  )
  await db.transaction(async (sql) => {
    for (const schema of shadowSchemas) await sql.query(`create schema ${schema}`)
    // They are not needed after a crash: the next replay begins anew.
    for (const { name } of tables) {
      const like =
        name.startsWith('game.') && !rebuilt.has(name) ? '' : 'including all excluding comments excluding statistics'
      await sql.query(`create unlogged table ${shadowName(name)} (like ${name} ${like})`)
    }
    await sql.query('insert into sync_replay.privacy_action select * from sync.privacy_action')
    await sql.query(
      `insert into sync_replay.privacy_restriction select * from sync.privacy_restriction
        where split_part(told_by, '/', 1) <> all($1::text[])`,
      [resources],
    )
  })
}

const restrictionClaims = `kind in ('restricted', 'lifted', 'lifted by absence')`

/** What responses confirmed, and what is held, follows from more than the archive has. */
export async function keepRestrictionStates(sql: Sql, resources: readonly string[]): Promise<void> {
  await sql.query(`delete from sync_replay.claim where ${restrictionClaims}`)
  await sql.query(
    `insert into sync_replay.claim select * from sync.claim
      where ${restrictionClaims} and split_part(resource, '/', 1) = any($1::text[])`,
    [resources],
  )
  await sql.query(
    `update sync_replay.privacy_restriction again
        set is_pending = known.is_pending, is_held = known.is_held, is_refusal = known.is_refusal,
            credential = known.credential, needs_credential = known.needs_credential, run_id = known.run_id
       from sync.privacy_restriction known
      where known.player_uuid = again.player_uuid and known.field_group = again.field_group and known.told_by = again.told_by`,
  )
}

/** Removes the shadow tables, also those of a replay that was killed. */
export async function dropShadow(sql: Sql): Promise<void> {
  await sql.query(`drop schema if exists ${shadowSchemas.join(', ')} cascade`)
}

/** A database whose every statement is about the shadow tables. It sends no notifications. */
export function shadowOf(db: Database, inside?: Sql): Database {
  return {
    ...shadowed(inside ?? db),
    kind: db.kind,
    place: db.place,
    transaction: async (work) => (inside ? work(shadowed(inside)) : db.transaction((sql) => work(shadowed(sql)))),
    // A sync of the resource meanwhile is not in the way.
    tryLock: async () => ({ release: async () => {} }),
    close: async () => {},
  }
}

function shadowed(sql: Sql): Sql {
  return {
    query: async (text, params) => (text.includes('pg_notify(') ? [] : sql.query(shadowName(text), params)),
    values: async (text, params) => sql.values(shadowName(text), params),
    copy: async (table, columns, rows) => sql.copy(shadowName(table), columns, rows),
    copyCsv: async (table, columns, path) => sql.copyCsv(shadowName(table), columns, path),
  }
}
