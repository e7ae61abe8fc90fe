import { storable } from '../../api/schemas/form/limits.ts'
import { messageOf, RecordError } from '../../base/errors.ts'
import { byteaText } from '../../db/bulk/values.ts'
import type { CopyValue, Database, Sql } from '../../db/database.ts'
import { sqlState } from '../../db/sql-errors.ts'
import type { ResourceBase, Row } from '../declare/resource.ts'
import { canonicalJson, type Json, sha256 } from '../normalize/hash.ts'
import { type Preparation, type Prepared, type Quarantined, rootsOf } from '../normalize/prepare.ts'
import { loadVersions } from './load.ts'
import { appendSamples } from './samples.ts'

/** A response on its way into the tables of a resource. */
interface Loading {
  readonly resource: ResourceBase
  readonly preparation: Preparation
  /** The instant that the response speaks for. */
  readonly at: Date
}

/** The error of the database for each thing that it refuses. */
type Refused = Map<object, string>

/**
 * Loads a response in one transaction; where the database refuses it for its data, once more without the records, the entities
 * of further histories and the samples that it refuses, which go to quarantine. The checks before the transaction should find
 * them all: this is for what they do not know.
 */
export async function loadWithoutRefused<T>(
  db: Database,
  loading: Loading,
  load: (preparation: Preparation) => Promise<T>,
): Promise<T> {
  try {
    return await load(loading.preparation)
  } catch (error) {
    if (!isRefusal(error)) throw error
    const refused = await db.transaction((sql) => findRefused(sql, loading))
    if (refused.size === 0) throw error
    return await load(without(refused, loading))
  }
}

/** SQLSTATE classes of data: wrong values, violated constraints, and what is too large for an index. */
function isRefusal(error: unknown): boolean {
  return error instanceof RecordError || /^(22|23|54)/.test(sqlState(error) ?? '')
}

/** Loads everything piece by piece, and rolls all of it back. */
async function findRefused(transaction: Sql, { resource, preparation, at }: Loading): Promise<Refused> {
  const sql = { ...transaction, copy: insertInstead(transaction) }
  const { entities } = preparation
  const refused: Refused = new Map()
  await sql.query('savepoint whole')
  const tryRoots = (some: readonly Prepared[]) => loadVersions(sql, resource.history, some, at)
  await tryAll(sql, rootsOf(preparation), tryRoots, refused)
  const good = entities.filter((entity) => !refused.has(entity) || hasOwnRecords(resource))
  for (const [name, history] of Object.entries(resource.relatedHistories ?? {})) {
    const others = good.flatMap((entity) => entity.relatedEntities[name] ?? [])
    await tryAll(sql, others, (some) => loadVersions(sql, history, some, at), refused)
  }
  for (const [name, sample] of Object.entries(resource.samples ?? {})) {
    const rows = good.flatMap((entity) => entity.samples?.[name] ?? [])
    await tryAll(sql, rows, (some) => appendSamples(sql, [{ sample, rows: some }], at), refused)
  }
  await sql.query('rollback to savepoint whole')
  return refused
}

/** Whether records of their own hang on its roots: they load also where their root is refused. */
function hasOwnRecords({ relatedHistories = {} }: ResourceBase): boolean {
  return Object.values(relatedHistories).some(({ absence }) => absence === 'own')
}

/** A COPY that fails costs the connection, and the transaction with it: here rows go in by a statement that may fail. */
function insertInstead(sql: Sql): Sql['copy'] {
  return async (table, columns, rows) => {
    const records = Array.from(rows, (row) =>
      Object.fromEntries(columns.map((name, nth) => [name, jsonOf(row[nth], name === 'document')])),
    )
    const names = columns.join(', ')
    await sql.query(
      `insert into ${table} (${names}) select ${names} from jsonb_populate_recordset(null::${table}, $1::jsonb)`,
      [JSON.stringify(records)],
    )
    return records.length
  }
}

function jsonOf(value: CopyValue, isJson: boolean): unknown {
  if (value instanceof Uint8Array) return byteaText(value)
  return isJson && typeof value === 'string' ? JSON.parse(value) : value
}

/** Loads all at once under a savepoint; where that fails, each half. */
async function tryAll<T extends object>(
  sql: Sql,
  all: readonly T[],
  load: (some: readonly T[]) => Promise<unknown>,
  refused: Refused,
): Promise<void> {
  if (all.length === 0) return
  await sql.query('savepoint part')
  try {
    await load(all)
    // Some constraints are looked at when the transaction ends, unless they are asked for before.
    await sql.query('set constraints all immediate; set constraints all deferred')
    await sql.query('release savepoint part')
    return
  } catch (error) {
    if (!isRefusal(error)) throw error
    await sql.query('rollback to savepoint part; release savepoint part')
    const [only] = all
    if (only && all.length === 1) {
      refused.set(only, messageOf(error))
      return
    }
  }
  const half = Math.ceil(all.length / 2)
  await tryAll(sql, all.slice(0, half), load, refused)
  await tryAll(sql, all.slice(half), load, refused)
}

/** The preparation with everything in quarantine that the database refuses. Its keys stay among those that were seen. */
function without(refused: Refused, { preparation, resource }: Loading): Preparation {
  const quarantined: Quarantined[] = [...preparation.quarantined]
  const isGood = (key: string) => (value: Prepared | Row) => {
    const reason = refused.get(value)
    if (reason === undefined) return true
    const isEntity = 'documentText' in value && typeof value.documentText === 'string'
    const rawText = isEntity ? String(value.documentText) : canonicalJson(value as Json)
    const why = storable(`the database refuses it: ${reason}`)
    const ofKey = isEntity ? String(value.key) : key
    quarantined.push({ key: ofKey, rawText, hash: sha256(rawText), path: '', reason: why, misfit: undefined })
    return false
  }
  const entities = preparation.entities.flatMap((entity) => {
    const isRefused = !isGood(entity.key)(entity)
    if (isRefused && !hasOwnRecords(resource)) return []
    const relatedEntities = filtered(entity.relatedEntities, isGood(entity.key))
    const samples = entity.samples && filtered(entity.samples, isGood(entity.key))
    const withoutRoot = entity.withoutRoot || isRefused
    return [{ ...entity, relatedEntities, samples, withoutRoot }]
  })
  return { ...preparation, entities, quarantined, repetition: undefined }
}

function filtered<T>(
  lists: Readonly<Record<string, readonly T[]>>,
  isGood: (value: T) => boolean,
): Record<string, readonly T[]> {
  return Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.filter(isGood)]))
}
