import { instantText } from '../../db/bulk/values.ts'
import type { Sql } from '../../db/database.ts'
import { historyShape } from '../../db/history.ts'
import type { History } from '../declare/resource.ts'
import { canonicalJson, type Json } from '../normalize/hash.ts'
import type { Prepared } from '../normalize/prepare.ts'
import { bulkTable, historySql, type TableRows, writeRows } from '../sql/history-sql.ts'
import { differsOnlyIn, type ExtraChange, noneVolatile, type VolatilePaths } from './volatile-fields.ts'

/** A version that is in the table no longer. `before` is the document of the one before it. */
export interface Withdrawn {
  readonly key: string
  /** Its start as text, with the microseconds. */
  readonly validFrom: string
  readonly document: Json
  readonly before: Json
}

/** What becomes of entities that are older than what is stored. */
export interface JudgedOlder {
  /** How many of them enough responses agree in. */
  readonly confirmed: number
  /**
   * Those that replace the current version of their key: the instant of the first response that showed each, and where the
   * version before it began when another one was withdrawn for it.
   */
  readonly replacing: readonly { readonly entity: Prepared; readonly seen: Date; readonly after: Date | undefined }[]
  /** Versions that made way for the one before them, which is current again. */
  readonly withdrawn: readonly Withdrawn[]
}

/** What a load found to be different from the current versions. */
export interface Loaded {
  /** Entities that had no current version. */
  readonly inserted: readonly Prepared[]
  /** When versions began that earlier responses showed, or that say it themselves. */
  readonly starts: ReadonlyMap<Prepared, string>
  /** Entities without a current version that are not there before another response shows them. */
  readonly held: readonly Prepared[]
  /** Entities whose current version differs, with its document and what it has in its `extra` column. */
  readonly changed: readonly { readonly entity: Prepared; readonly before: Json; readonly extra: Json }[]
  readonly unchanged: number
  /** Entities that are older than the current version of their key, how many of them are confirmed, and how many replaced it. */
  readonly older: number
  readonly confirmedOlder: number
  readonly replaced: number
  /** Versions that only one response showed. */
  readonly withdrawn: readonly Withdrawn[]
  /** Paths of unknown fields whose values make no version, and which of them are so since this response. */
  readonly volatile: VolatilePaths
}

/** An entity without a current version, and whether its key had one before. */
export interface Appeared {
  readonly entity: Prepared
  readonly isBack: boolean
}

/** Since when new keys are there; null: they are not, before another response shows them. Others begin with their response. */
export type NewKeys = ReadonlyMap<Prepared, string | null>

const noneNew: NewKeys = new Map()

/** Why an entity does not simply replace the current version: it is from before, or the version before goes on with it. */
export type OlderKind = 'older' | 'resumed'

export interface Order {
  /** The instant that the last accepted response speaks for. */
  readonly lastSeen: Date | null
  /** What becomes of the entities that are older than what is stored. */
  readonly judgeOlder: (older: ReadonlyMap<Prepared, OlderKind>, less: readonly Prepared[]) => Promise<JudgedOlder>
  /** With the entities whose latest version is about to lose its tombstone. */
  readonly beforeReopening: (back: readonly Prepared[]) => Promise<void>
  /** Which entities without a current version are there, and since when. Absent: all are, since this response. */
  readonly judgeNew?: ((entities: readonly Appeared[]) => Promise<NewKeys>) | undefined
  /** Which unknown fields move with nearly every response. */
  readonly judgeVolatile: (entities: readonly Prepared[], changes: readonly ExtraChange[]) => Promise<VolatilePaths>
}

const noneOlder: JudgedOlder = { replacing: [], withdrawn: [], confirmed: 0 }
const unordered: Order = {
  lastSeen: null,
  judgeOlder: async () => noneOlder,
  beforeReopening: async () => {},
  judgeVolatile: async () => noneVolatile,
}

interface Version {
  readonly entity: Prepared
  /** End of the version before it; null for the first of its key. */
  readonly previousUntil: string | null
  /** As text, which keeps the microseconds that the API gave. */
  readonly start: string
}

/** A version that is older than the current one of its key. */
interface Older extends Version {
  readonly before: Json
  readonly extra: Json
  readonly began: Date
  readonly kind: OlderKind
}

interface Difference {
  readonly position: number
  /** Start of the current version, or null when there is none; and its hash. */
  readonly began: Date | null
  readonly hash: Uint8Array | null
  readonly before: Json
  /** What is in its `extra` column. */
  readonly extra: Json
  /** End of the latest version when there is no current one, and whether it has the same content. */
  readonly ended: Date | null
  readonly isBack: boolean
  /** Whether the version before the current one has the same content. */
  readonly isReturn: boolean
}

/** What was gone for longer and comes back with the same content was gone meanwhile, ms. */
const longestPause = 24 * 3_600_000

/** Entities compared and written in one round of statements; bounds the memory of a million. */
const chunkSize = 20_000

/**
 * Writes new versions of the entities that changed and nothing for those that did not: one statement compares all
 * fingerprints with the current versions, one closes the changed ones, and COPY brings in the new rows.
 * Closing and inserting are two statements because in one the new row may meet the one-current-row index first.
 *
 * @param at the instant the response speaks for: where an entity has no `since`, the new version starts then and the old one
 * ends
 */
export async function loadVersions(
  sql: Sql,
  history: History,
  entities: readonly Prepared[],
  at: Date,
  order: Partial<Order> = {},
): Promise<Loaded> {
  const { lastSeen, judgeOlder, beforeReopening, judgeNew, judgeVolatile } = { ...unordered, ...order }
  const older: Older[] = []
  const now = instantText(at)
  const inserted: Prepared[] = []
  const less: Prepared[] = []
  const held: Prepared[] = []
  const starts = new Map<Prepared, string>()
  const changed: { entity: Prepared; before: Json; extra: Json }[] = []
  const volatile = { all: new Set<string>(), begun: new Set<string>() }
  for (let first = 0; first < entities.length; first += chunkSize) {
    const chunk = entities.slice(first, first + chunkSize)
    const fresh: Version[] = []
    const next: Version[] = []
    const back: Prepared[] = []
    const respelled: Prepared[] = []
    const found = await findDifferences(sql, history, chunk)
    const { differences, since } = await withoutHeld(chunk, found, { judgeNew, held })
    const moved = await judgeVolatile(chunk, extraChanges(chunk, differences))
    for (const path of moved.all) volatile.all.add(path)
    for (const path of moved.begun) volatile.begun.add(path)
    for (const { position, began, hash, before, extra, ended, isBack, isReturn } of differences) {
      const entity = chunk[position - 1]
      if (!entity) continue
      if (hash && (entity.hashAsSent?.equals(hash) || differsOnlyIn(moved.all, entity, { hash, extra }))) {
        respelled.push(entity)
        continue
      }
      const start = startOf({ since: since.get(entity) ?? entity.since }, began ?? ended, at) ?? now
      if (start !== now) starts.set(entity, start)
      if (began === null) {
        inserted.push(entity)
        const isRecent = ended !== null && at.getTime() - ended.getTime() <= longestPause
        if (isBack && isRecent && history.reopens) back.push(entity)
        else fresh.push({ entity, start, previousUntil: ended && instantText(ended) })
      } else {
        const comparison =
          history.compare?.(before, JSON.parse(entity.documentText) as Json, { began, lastSeen, isReturn }) ?? 'newer'
        if (comparison === 'newer') {
          changed.push({ entity, before, extra })
          next.push({ entity, start, previousUntil: start })
        } else if (comparison === 'less') less.push(entity)
        else older.push({ entity, before, extra, began, start, previousUntil: start, kind: comparison })
      }
    }
    if (back.length > 0) await beforeReopening(back)
    await reopenVersions(sql, history, back)
    await respellVersions(sql, history, respelled)
    await closeVersions(sql, history, next)
    await insertVersions(sql, history, [...fresh, ...next], now)
  }
  const judged = history.compare
    ? await judgeOlder(new Map(older.map(({ entity, kind }) => [entity, kind])), less)
    : noneOlder
  const versions = new Map(older.map((version) => [version.entity, version]))
  const replacing = judged.replacing.flatMap(({ entity, seen, after }) => {
    const version = versions.get(entity)
    return version ? [replacingVersion(version, { seen, after, at })] : []
  })
  await closeVersions(sql, history, replacing)
  await insertVersions(sql, history, replacing, now)
  for (const one of replacing) changed.push(one)
  const unchanged = entities.length - inserted.length - changed.length - held.length
  const counts = { unchanged, older: older.length, confirmedOlder: judged.confirmed, replaced: replacing.length }
  return { inserted, starts, held, changed, withdrawn: judged.withdrawn, volatile, ...counts }
}

/** Leaves out entities without a current version that are not there yet; `since` of those that are there since an earlier response. */
async function withoutHeld(
  chunk: readonly Prepared[],
  differences: readonly Difference[],
  { judgeNew, held }: Pick<Order, 'judgeNew'> & { readonly held: Prepared[] },
): Promise<{ readonly differences: readonly Difference[]; readonly since: NewKeys }> {
  if (!judgeNew) return { differences, since: noneNew }
  const appeared = differences.flatMap(({ position, began, ended }) => {
    const entity = chunk[position - 1]
    return entity && began === null ? [{ entity, isBack: ended !== null }] : []
  })
  if (appeared.length === 0) return { differences, since: noneNew }
  const since = await judgeNew(appeared)
  for (const { entity } of appeared) if (since.get(entity) === null) held.push(entity)
  const isThere = ({ position }: Difference) => since.get(chunk[position - 1] as Prepared) !== null
  return { differences: differences.filter(isThere), since }
}

/** What the differing versions of a chunk have in their `extra` columns, where they or their entities have anything. */
function extraChanges(chunk: readonly Prepared[], differences: readonly Difference[]): ExtraChange[] {
  return differences.flatMap(({ position, began, extra }) => {
    const entity = chunk[position - 1]
    return entity && began !== null && (extra !== null || entity.extra.length > 0) ? [{ entity, extra }] : []
  })
}

/** A version whose start the API does not send starts with the first of the responses that agree in it. */
function replacingVersion(
  version: Older,
  { seen, after, at }: { readonly seen: Date; readonly after: Date | undefined; readonly at: Date },
): Older {
  const { entity, began } = version
  const sent = after && startOf(entity, after, at)
  if (!sent && ((entity.since ?? null) !== null || seen <= began)) return version
  const start = sent ?? instantText(seen)
  return { ...version, start, previousUntil: start }
}

/** `since` of the entity where it lies between the version before and now. */
function startOf({ since }: Pick<Prepared, 'since'>, after: Date | null, at: Date): string | undefined {
  if (since === undefined || since === null) return undefined
  const start = Date.parse(since)
  return start <= at.getTime() && (after === null || start > after.getTime()) ? since : undefined
}

/**
 * One look into the index per entity. As a plain join it is at the mercy of the statistics: analyzed during a first load,
 * whose rows are not visible yet, the table counts as empty, and every entity is compared with every row.
 */
async function findDifferences(sql: Sql, history: History, chunk: readonly Prepared[]): Promise<Difference[]> {
  const key = historySql(history)
  const isReturn = `exists (select from ${key.table.name} earlier where ${key.keyJoin('earlier', 'incoming')}
                             and earlier.valid_until = current.valid_from and earlier.hash = incoming.hash)`
  return await sql.query<Difference>(
    `select incoming.position::int as position, current.valid_from as began, current.hash, current.extra,
            ${key.hasDocument ? 'current.document' : 'null'} as before, past.ended,
            coalesce(past.hash = incoming.hash, false) as "isBack",
            ${history.compare ? isReturn : 'false'} as "isReturn"
       from unnest(${key.keyArrays}, $${key.nextParameter}::bytea[]) with ordinality as incoming(${key.keyNames}, hash, position)
       left join lateral (select * from ${key.table.name} latest
                           where ${key.keyJoin('latest', 'incoming')} and latest.valid_until = 'infinity' limit 1) current on true
       left join lateral (select version.valid_until as ended, version.hash from ${key.table.name} version
                           where ${key.keyJoin('version', 'incoming')}
                           order by version.valid_from desc limit 1) past on current.hash is null
      where current.hash is distinct from incoming.hash
      order by incoming.position`,
    [...key.keyValues(chunk.map(({ root }) => root)), chunk.map(({ hash }) => hash)],
  )
}

/** Opens the latest versions again that got a tombstone: the keys are back with the same content. */
async function reopenVersions(sql: Sql, history: History, back: readonly Prepared[]): Promise<void> {
  if (back.length === 0) return
  const key = historySql(history)
  await sql.query(
    `update ${key.table.name} past set valid_until = 'infinity'
       from unnest(${key.keyArrays}) as back(${key.keyNames})
      where ${key.keyJoin('past', 'back')}
        and past.valid_from = (select max(version.valid_from) from ${key.table.name} version
                                where ${key.keyJoin('version', 'back')})`,
    key.keyValues(back.map(({ root }) => root)),
  )
}

/**
 * Gives current versions another hash without another version: those of earlier programs hashed instants as they were sent, and of what is
 * volatile the latest value is kept.
 */
async function respellVersions(sql: Sql, history: History, entities: readonly Prepared[]): Promise<void> {
  if (entities.length === 0) return
  const key = historySql(history)
  const document = key.hasDocument ? ', document = same.document' : ''
  await sql.query(
    `update ${key.table.name} current set hash = same.hash, extra = same.extra${document}
       from unnest(${key.keyArrays}, $${key.nextParameter}::bytea[], $${key.nextParameter + 1}::jsonb[], $${key.nextParameter + 2}::jsonb[])
            as same(${key.keyNames}, hash, document, extra)
      where ${key.keyJoin('current', 'same')} and current.valid_until = 'infinity'`,
    [
      ...key.keyValues(entities.map(({ root }) => root)),
      entities.map(({ hash }) => hash),
      entities.map(({ documentText }) => documentText),
      entities.map(({ root }) => (root.extra ? canonicalJson(root.extra as Json) : null)),
    ],
  )
}

/** Ends the current versions where their successors start. */
async function closeVersions(sql: Sql, history: History, successors: readonly Version[]): Promise<void> {
  if (successors.length === 0) return
  const key = historySql(history)
  await sql.query(
    `update ${key.table.name} current set valid_until = ending.at
       from unnest(${key.keyArrays}, $${key.nextParameter}::timestamptz[]) as ending(${key.keyNames}, at)
      where ${key.keyJoin('current', 'ending')} and current.valid_until = 'infinity'`,
    [...key.keyValues(successors.map(({ entity }) => entity.root)), successors.map(({ start }) => start)],
  )
}

async function insertVersions(
  sql: Sql,
  history: History,
  versions: readonly Version[],
  observedAt: string,
): Promise<void> {
  if (versions.length === 0) return
  // Only tables whose versions may start before they were seen have a column for when that was.
  const [hash, document, validFrom, previousUntil]: unknown[] = []
  const ofRoot = { hash, document, validFrom, validUntil: 'infinity', previousUntil, observedAt }
  const roots = function* () {
    for (const { entity, start, previousUntil } of versions) {
      ofRoot.hash = entity.hash
      ofRoot.document = entity.documentText
      ofRoot.validFrom = start
      ofRoot.previousUntil = previousUntil
      yield entity.root
    }
  }
  const tables: TableRows[] = [{ table: bulkTable(history.root), rows: roots(), filled: ofRoot }]
  const keys = history.root[historyShape].key
  for (const [part, table] of Object.entries(history.parts)) {
    const ofPart: Record<string, unknown> = Object.fromEntries(['validFrom', ...keys].map((name) => [name, null]))
    const parts = function* () {
      for (const { entity, start } of versions) {
        ofPart.validFrom = start
        for (const key of keys) ofPart[key] = entity.root[key]
        yield* entity.parts[part] ?? []
      }
    }
    if (versions.some(({ entity }) => entity.parts[part]?.length))
      tables.push({ table: bulkTable(table), rows: parts(), filled: ofPart })
  }
  await writeRows(sql, tables, versions.length)
}
