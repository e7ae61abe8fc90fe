import type { HttpExchange } from '../../api/http/http-exchange.ts'
import type { Clock } from '../../base/clock.ts'
import { FatalError, UsageError } from '../../base/errors.ts'
import type { Database, Sql } from '../../db/database.ts'
import { accepted, NEWEST_MIGRATION } from '../sql/history-sql.ts'

/*
 * Whose responses a database takes. It keeps the base URL of the API from which it took its first response, and whether that was a
 * sandbox, whose responses have a header that says so: a simulated game in the history of the real one cannot be distinguished later.
 */

/** The header of every response of a sandbox. */
const SANDBOX = 'x-wynnsync-sandbox'

/** The responses are of another API than the history. */
export class WrongOrigin extends UsageError {}

/** Another program has migrated the database meanwhile: this one would write into tables that it does not know. */
class SchemaReplaced extends FatalError {}

/** Whether nothing more may be written after this error, not even that it happened. */
export function endsWork(error: unknown): boolean {
  return error instanceof WrongOrigin || error instanceof SchemaReplaced
}

/** What is checked before anything is made of a response, and before anything is written. */
export interface Admission {
  /** @throws WrongOrigin for a response that this history does not take */
  check(exchange: HttpExchange): void
  /** @param newest the newest migration, where it is read already @throws SchemaReplaced */
  checkSchema(sql: Sql, newest?: number | null): Promise<void>
  /** Keeps, in the transaction of an accepted response, where that came from. @throws WrongOrigin when another process has taken one of another origin */
  keep(sql: Sql): Promise<void>
}

export interface AdmissionOptions {
  readonly clock: Clock
  /** The last migration of this program, as the time of its journal. */
  readonly schema: number
  /** Normalized; undefined: responses that were recorded elsewhere. */
  readonly baseUrl: string | undefined
  /** Whether a person says that it is the same API under another address. */
  readonly acceptBaseUrl?: boolean
}

/** @throws WrongOrigin when the history is of another base URL */
export async function openAdmission(db: Database, options: AdmissionOptions): Promise<Admission> {
  const { clock, schema, baseUrl } = options
  const known = await readOrigin(db)
  if (!options.acceptBaseUrl) refuseBaseUrl(db.place, known, baseUrl)
  const origin = baseUrl ?? RECORDINGS
  let { isSandbox } = known
  let isKept = known.origins.includes(origin)

  const refuse = (): never => {
    throw new WrongOrigin(
      isSandbox
        ? `the database ${db.place} is that of a sandbox, and ${origin} is none: ${OTHER}`
        : `${origin} is a sandbox, and the database ${db.place} has the history of the real game, which takes no simulated one: ${OTHER}`,
    )
  }

  return {
    check: ({ outcome: { status, headers } }) => {
      if (status === null) return
      const isMarked = headers.has(SANDBOX)
      if (isSandbox === undefined && status < 300) isSandbox = isMarked
      // What lies between a sandbox and this program may respond too.
      const isOther = isMarked ? isSandbox === false : isSandbox === true && status < 500 && baseUrl !== undefined
      if (isOther) refuse()
    },
    checkSchema: async (sql, known) => {
      const newest = known === undefined ? await newestMigration(sql) : known
      if (newest !== schema)
        throw new SchemaReplaced(
          `another version of wynnsync has migrated ${db.place} meanwhile: this one ends, and writes nothing more`,
          { context: { databaseMigration: newest, ownMigration: schema } },
        )
    },
    keep: async (sql) => {
      if (isKept || isSandbox === undefined) return
      await sql.query('lock table sync.origin in share row exclusive mode')
      const { origins, isSandbox: kept = isSandbox } = await readKept(sql)
      if (kept !== isSandbox && baseUrl !== undefined) refuse()
      // Recordings say whose history it is where nothing else does.
      isKept = origins.includes(origin) || (baseUrl === undefined && origins.length > 0)
      if (isKept) return
      await sql.query('insert into sync.origin (base_url, is_sandbox, first_at) values ($1, $2, $3)', [
        origin,
        isSandbox,
        new Date(clock.now()),
      ])
    },
  }
}

/**
 * The same of a lake, which was recorded elsewhere too: refuses one of another game than the history has, and keeps which it is where
 * nothing says so yet.
 * @param isSandbox of the lake; undefined: not known
 * @param keeps false: only refuses
 * @throws WrongOrigin
 */
export async function admitLake(
  sql: Sql,
  lake: { readonly place: string; readonly isSandbox: boolean | undefined },
  { clock, database, keeps }: { readonly clock: Clock; readonly database: string; readonly keeps: boolean },
): Promise<void> {
  if (lake.isSandbox === undefined) return
  if (keeps) await sql.query('lock table sync.origin in share row exclusive mode')
  const { origins, isSandbox } = await readOrigin(sql)
  if (isSandbox !== undefined && isSandbox !== lake.isSandbox)
    throw new WrongOrigin(
      isSandbox
        ? `the database ${database} is that of a sandbox, and the lake ${lake.place} has the history of the real game: ${OTHER}`
        : `the lake ${lake.place} was exported from the database of a sandbox, and the database ${database} has the history of the real game, which takes no simulated one: ${OTHER}`,
    )
  if (!keeps || origins.length > 0) return
  await sql.query('insert into sync.origin (base_url, is_sandbox, first_at) values ($1, $2, $3)', [
    RECORDINGS,
    lake.isSandbox,
    new Date(clock.now()),
  ])
}

/** In place of a base URL. */
const RECORDINGS = 'recordings'

const OTHER = 'name another database with --data-dir or --database-url'

interface Origin {
  /** What its responses came from. */
  readonly origins: readonly string[]
  /** Undefined: nothing was taken yet. */
  readonly isSandbox: boolean | undefined
  /** Of a database from before origins were kept: the servers that it has budgets of. */
  readonly servers?: readonly string[]
}

/** Whose history a database has. */
export async function readOrigin(sql: Sql): Promise<Origin> {
  const kept = await readKept(sql)
  if (kept.origins.length > 0) return kept
  const [earlier] = await sql.query<{ runs: boolean; servers: string[] | null }>(
    `select exists (select from sync.run where ${accepted}) as runs,
            (select array_agg(distinct split_part(account, ' ', 1)) from sync.budget) as servers`,
  )
  if (!earlier?.runs) return kept
  const servers = earlier.servers ?? []
  // A sandbox listens on this machine only; but so does a proxy.
  const mayBeSandbox =
    servers.length > 0 && servers.every((server) => /^https?:\/\/(127\.|localhost|\[::1\])/.test(server))
  return { origins: [], isSandbox: mayBeSandbox ? undefined : false, servers: mayBeSandbox ? [] : servers }
}

async function readKept(sql: Sql): Promise<Origin> {
  const rows = await sql.query<{ baseUrl: string; isSandbox: boolean }>(
    'select base_url as "baseUrl", is_sandbox as "isSandbox" from sync.origin order by first_at, base_url',
  )
  return { origins: rows.map(({ baseUrl }) => baseUrl), isSandbox: rows[0]?.isSandbox }
}

function refuseBaseUrl(place: string, { origins, isSandbox, servers = [] }: Origin, baseUrl: string | undefined): void {
  // A sandbox has another port each time; its header says what it is.
  if (baseUrl === undefined || isSandbox !== false || origins.includes(baseUrl)) return
  const [first = servers[0]] = origins.filter((origin) => origin !== RECORDINGS)
  if (first === undefined || servers.includes(new URL(baseUrl).origin)) return
  throw new WrongOrigin(
    `the database ${place} has the history of ${first}, not of ${baseUrl}: ${OTHER}, or the other API with --base-url; where both are the same API under two addresses, --accept-base-url says so once`,
  )
}

async function newestMigration(sql: Sql): Promise<number | null> {
  const [row] = await sql.query<{ newest: number | null }>(`select ${NEWEST_MIGRATION} as newest`)
  return row?.newest ?? null
}
