import type { Database, Sql } from '../../db/database.ts'
import { STORED_BODY, type StoredBody, textOfBody } from '../archive/bodies.ts'
import { isWorklist, type ResourceBase } from '../declare/resource.ts'
import { type VersionsTable, type WrittenTable, writtenTables } from '../declare/written-tables.ts'
import { orphanClaims } from '../evidence/orphan-claims.ts'
import { type ClaimKind, policiesOf } from '../evidence/policies.ts'
import { sha256 } from '../normalize/hash.ts'
import { accepted } from '../sql/history-sql.ts'
import { type Check, collectWrong, findWrong, type WrongRows } from './check.ts'
import { coverageChecks } from './coverage-checks.ts'

/** How many bodies are read at once. */
const BODIES_AT_ONCE = 50

export const archiveUnused = {
  name: 'archive unused',
  table: 'sync.raw_body',
  meaning: 'bodies that no archived response has and no other body needs, which no retention and no purge would find',
  find: `select encode(hash, 'hex') as hash, first_at from sync.raw_body
          where not exists (select from sync.raw_answer where raw_answer.hash = raw_body.hash)
            and not exists (select from sync.raw_body other where other.base = raw_body.hash)`,
} as const satisfies Check

/** What must hold of the archived responses. */
const archiveChecks: readonly Check[] = [
  {
    name: 'archive body',
    table: 'sync.raw_body',
    meaning: 'bodies that cannot be decompressed, whose base is missing, or that are not what their hash says',
    find: async (sql, signal) => {
      const wrong = collectWrong()
      for await (const rows of bodiesOf(sql)) {
        signal?.throwIfAborted()
        await Promise.all(
          rows.map(async (stored) => {
            const problem = await problemOf(stored)
            if (problem !== undefined) wrong.add({ hash: Buffer.from(stored.hash).toString('hex'), problem })
          }),
        )
      }
      return wrong
    },
  },
  {
    name: 'archive response',
    table: 'sync.raw_answer',
    meaning: 'archived responses without their body',
    find: `select answer_id, position, resource, key, encode(hash, 'hex') as hash from sync.raw_answer
            where not exists (select from sync.raw_body where raw_body.hash = raw_answer.hash) order by answer_id, position`,
  },
  archiveUnused,
]

interface Body extends StoredBody {
  readonly bytes: number
  readonly base: Uint8Array | null
}

async function* bodiesOf(sql: Sql): AsyncGenerator<Body[]> {
  let last: Uint8Array = Buffer.alloc(0)
  for (;;) {
    const rows = await sql.query<Body>(
      `select raw_body.bytes, raw_body.base, ${STORED_BODY.columns}
         from sync.raw_body ${STORED_BODY.join} where raw_body.hash > $1 order by raw_body.hash limit ${BODIES_AT_ONCE}`,
      [last],
    )
    if (rows.length === 0) return
    yield rows
    last = rows.at(-1)?.hash ?? last
  }
}

async function problemOf({ base, bytes, ...stored }: Body): Promise<string | undefined> {
  if (base !== null && stored.baseBody === null)
    return `differs from ${Buffer.from(base).toString('hex')}, which is not there`
  const text = await textOfBody(stored).catch(() => undefined)
  if (text === undefined) return 'cannot be decompressed'
  if (text.length !== bytes) return `has ${text.length} bytes instead of ${bytes}`
  return sha256(text).equals(stored.hash) ? undefined : 'has another SHA-256'
}

/** What must hold of the versions of a history, which constraints hold too, unless an index or a disk is broken. */
function chainChecks(of: VersionsTable): Check[] {
  const { table, parts, key } = of
  const keys = key.join(', ')
  const chain: Check = {
    name: 'chain',
    table,
    meaning: 'versions of a key that overlap, of which two are current, or that do not name the end of the one before',
    find: chainFind(of),
  }
  const rootless = parts.map((part) => ({
    name: 'part',
    table: part,
    meaning: `parts of a version that ${table} does not have`,
    find: `select ${keys}, valid_from, count(*)::int as rows from ${part}
            where not exists (select from ${table} root where root.valid_from = ${nameOf(part)}.valid_from
                                 and ${key.map((column) => `root.${column} = ${nameOf(part)}.${column}`).join(' and ')})
            group by ${keys}, valid_from`,
  }))
  return [chain, ...rootless]
}

const nameOf = (table: string) => table.replace(/^.*\./, '')

/** What `problem` says of an interval that is none. */
export const REVERSED = 'ends before it begins'

/** SQL of the versions that do not follow on each other. */
export function chainFind({ table, key }: Pick<VersionsTable, 'table' | 'key'>): string {
  const keys = key.join(', ')
  return `select ${keys}, valid_from, valid_until, previous_until, problem
      from (select ${keys}, valid_from, valid_until, previous_until,
                   case when valid_from >= valid_until then '${REVERSED}'
                        when valid_until = 'infinity' and lead(valid_until) over versions = 'infinity' then 'two current versions'
                        when valid_until > lead(valid_from) over versions then 'overlaps the next version'
                        -- An overlap counts once, for the version before.
                        when previous_until is distinct from lag(valid_until) over versions
                             and (lag(valid_until) over versions <= valid_from) is not false
                        then 'does not name the end of the version before' end as problem
              from ${table} window versions as (partition by ${keys} order by valid_from)) version
     where problem is not null`
}

/** Kinds that are concluded, and forgotten, with the response that confirms them, whatever is configured. */
const CONCLUDED: readonly ClaimKind[] = ['shown', 'returned', 'joined', 'rank', 'appeared']

/** SQL: that claims of a kind have all that it takes. Those that ask for more time themselves wait for it. */
function concluded(kind: ClaimKind): string {
  const { responses, longestSpan = 0 } = policiesOf({ absences: 2 })[kind]
  const passed = `least(last_at - first_at, last_received_at - first_received_at) >= interval '${longestSpan} ms'`
  return `or kind = '${kind}' and times >= ${responses}${longestSpan > 0 ? ` and ${passed}` : ''}`
}

/** What must hold of the claims about the keys of a resource. */
function claimChecks(resource: ResourceBase): Check[] {
  return orphanClaims(resource).map(({ table, find }) => ({
    name: 'claim',
    table: 'sync.claim',
    meaning: `claims that a version of ${table} has ended, or is pending, which is not current`,
    find,
  }))
}

/** What must hold of every claim. */
const claimWide: readonly Check[] = [
  {
    name: 'claim count',
    table: 'sync.claim',
    meaning: 'claims that end before they begin, that no response made, or that enough responses made to be concluded',
    find: `select resource, kind, subject, first_at, last_at, times from sync.claim
            where times < 1 or first_at > last_at or first_received_at > last_received_at
               ${CONCLUDED.map(concluded).join('\n               ')}`,
  },
]

/**
 * What must hold between the history of a resource and the ledger. Where retention has removed responses, only what came after
 * them is held against those that are left.
 */
function ledgerChecks(resource: ResourceBase & { extractOne?: unknown }, tables: readonly WrittenTable[]): Check[] {
  const isKeyed = isWorklist(resource as never)
  return [
    ...tables.flatMap((table) => (table.kind === 'versions' ? [sourceCheck(table)] : [])),
    ...(isKeyed ? [worklistCheck(resource.name)] : []),
    ...(resource.changeLog ? tables.slice(0, 1).flatMap((table) => changeChecks(resource.name, table)) : []),
  ]
}

/** From when on the ledger of a resource has every accepted response. */
const wholeSince = (resource: string) =>
  `(select greatest((select thinned_until from sync.coverage_reach where resource = '${resource}'),
                    (select fine_since from sync.tier where sample_table = 'ledger/${resource}'),
                    (select coarse_since from sync.tier where sample_table = 'ledger/${resource}'), '-infinity') as since)`

function sourceCheck({ resource, table, key, hasObserved, isKeyed }: VersionsTable): Check {
  const seen = hasObserved ? 'version.observed_at' : 'version.valid_from'
  const keyText = key.map((column) => `version.${column}::text`).join(` || '/' || `)
  const response = isKeyed
    ? `select from sync.observation one where one.resource = '${resource}' and one.key = version.${key[0]}::text
          and one.observed_at = ${seen} and one.${accepted}`
    : `select from sync.run one where one.resource = '${resource}' and one.observed_at = ${seen} and one.${accepted}`
  return {
    name: 'source',
    table,
    meaning: 'versions that begin with a response which is neither in the ledger nor of a lake',
    find: `select ${key.map((column) => `version.${column}`).join(', ')}, version.valid_from, ${seen} as seen_at
             from ${table} version, ${wholeSince(resource)} whole
            where ${seen} >= whole.since and not exists (${response})
              and not exists (select from sync.source_version said where said.table_name = '${table}'
                                 and said.key = ${keyText} and said.valid_from = version.valid_from)`,
  }
}

function worklistCheck(resource: string): Check {
  return {
    name: 'worklist',
    table: 'sync.work_item',
    meaning: `keys of ${resource} whose latest accepted response is not in the ledger`,
    find: `select item.resource, item.key, item.observed_at from sync.work_item item, ${wholeSince(resource)} whole
            where item.resource = '${resource}' and item.observed_at >= whole.since
              and not exists (select from sync.observation one where one.resource = item.resource and one.key = item.key
                                 and one.observed_at = item.observed_at and one.${accepted})`,
  }
}

/** What was written down field by field follows from versions. */
function changeChecks(resource: string, root: WrittenTable): Check[] {
  if (root.kind !== 'versions') return []
  const keyOf = (row: string) => root.key.map((column) => `${row}.${column}::text`).join(` || '/' || `)
  const keyText = keyOf('version')
  return [
    {
      follows: { history: root.table, key: 'wrong.key' },
      name: 'change',
      table: 'game.field_change',
      meaning: `changes of ${resource} at an instant at which no version begins or ends`,
      find: `select change.resource, change.key, change.changed_at, change.path from game.field_change change
              where change.resource = '${resource}'
                and not exists (select from ${root.table} version where ${keyText} = change.key
                                   and change.changed_at in (version.valid_from, version.valid_until))`,
    },
    {
      follows: { history: root.table, key: keyOf('wrong') },
      name: 'version without change',
      table: root.table,
      meaning: 'versions after another one of which no change was written down',
      find: `select ${root.key.map((column) => `version.${column}`).join(', ')}, version.valid_from from ${root.table} version
              where version.previous_until is not null
                and not exists (select from game.field_change change where change.resource = '${resource}'
                                   and change.key = ${keyText} and change.changed_at = version.valid_from)`,
    },
  ]
}

/** What must hold of the ledger as a whole. */
const ledgerWide: readonly Check[] = [
  {
    name: 'import',
    table: 'sync.source_version',
    meaning: 'what is said to come from an import that is not known',
    find: `select source_id, table_name, key, valid_from from sync.source_version said
            where not exists (select from sync.source where source.source_id = said.source_id)
            union all
           -- A response of an import that was retracted stays, as rejected.
           select source_id, 'sync.run', run_id::text, observed_at from sync.run
            where source_id is not null and run.${accepted} and not exists (select from sync.source where source.source_id = run.source_id)`,
  },
  {
    name: 'gap',
    table: 'sync.gap',
    meaning: 'gaps of a resource that overlap',
    find: `select resource, began_at, ended_at from (
             select *, lead(began_at) over (partition by resource order by began_at) as next_at from sync.gap) gap
            where ended_at > next_at or ended_at < began_at`,
  },
]

/** What must hold of the numbered changes, which readers count by. */
const outboxChecks: readonly Check[] = [
  {
    name: 'outbox',
    table: 'sync.outbox',
    meaning: 'numbers that are missing between changes, or are higher than the last one that was given',
    find: `select before + 1 as from_number, number - 1 as to_number, 'missing' as problem
             from (select number, lag(number) over (order by number) as before from sync.outbox) one
            where number <> before + 1
            union all
           select min(number), max(number), 'higher than the last that was given' from sync.outbox
            where number > coalesce((select last from sync.outbox_head), 0) having count(*) > 0
            union all
           select max(number) + 1, (select last from sync.outbox_head), 'missing' from sync.outbox
           having max(number) < (select last from sync.outbox_head)`,
  },
]

/** What a check found. */
export interface Verified extends WrongRows {
  readonly check: string
  readonly table: string
  readonly meaning: string
}

interface VerifyOptions {
  readonly signal?: AbortSignal | undefined
  /** Called before each check: how many are done, of how many. */
  readonly onProgress?: (done: number, of: number) => void
}

/** Everything that must hold of the tables that these resources write, and of those of the engine. */
export async function checksOf(resources: readonly ResourceBase[]): Promise<Check[]> {
  const ofResources: Check[] = []
  for (const resource of resources) {
    const tables = writtenTables(resource)
    ofResources.push(
      ...tables.flatMap((table) => (table.kind === 'versions' ? chainChecks(table) : [])),
      ...((await resource.checks?.()) ?? []),
      ...ledgerChecks(resource, tables),
      ...claimChecks(resource),
    )
  }
  return [...ofResources, ...claimWide, ...ledgerWide, ...coverageChecks, ...archiveChecks, ...outboxChecks]
}

/** Runs every check, and changes nothing. */
export async function verifyDatabase(
  db: Database,
  resources: readonly ResourceBase[],
  { signal, onProgress }: VerifyOptions = {},
): Promise<Verified[]> {
  const checks = await checksOf(resources)
  const done: Verified[] = []
  for (const check of checks) {
    signal?.throwIfAborted()
    onProgress?.(done.length, checks.length)
    const found = await findIn(db, check, signal)
    const { name, table, meaning } = check
    done.push({ check: name, table, meaning, wrong: found.wrong, examples: [...found.examples] })
  }
  return done
}

/** One statement is one snapshot. What reads in pieces takes none, so that the embedded database serves others between them. */
async function findIn(db: Database, check: Check, signal: AbortSignal | undefined): Promise<WrongRows> {
  const { find } = check
  if (typeof find === 'function') return await find(db, signal)
  return await db.transaction(async (sql) => {
    await sql.query('set transaction read only; set local statement_timeout = 0')
    return await findWrong(sql, find)
  })
}
