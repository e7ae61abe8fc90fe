import type { Sql } from '../../db/database.ts'
import type { ResourceBase } from '../declare/resource.ts'
import { corroborate, forgetContradicted, pendingClaims, type Witness } from '../evidence/claims.ts'
import { type Preparation, rootsOf } from '../normalize/prepare.ts'
import { historySql } from '../sql/history-sql.ts'

/** How many records of a response count for plausibility. */
interface RecordCount {
  /** Normalized records, and quarantined ones of keys that are current. The next response is compared with it. */
  readonly normalized: number
  /** The same with the quarantined records that have no readable key: each may be one of those that seem to be missing. */
  readonly came: number
}

/** Counts the records of a response. A quarantined record with an unknown key does not count. */
export async function countRecords(
  sql: Sql,
  { history }: Pick<ResourceBase, 'history'>,
  preparation: Preparation,
): Promise<RecordCount> {
  const { quarantined } = preparation
  const roots = rootsOf(preparation)
  const keys = new Set(quarantined.flatMap(({ key }) => (isReadable(key) ? [key] : [])))
  const loaded = keys.size > 0 ? new Set(roots.map(({ key }) => key)) : keys
  const unknown = [...keys].filter((key) => !loaded.has(key))
  const normalized = roots.length + (await countCurrent(sql, history, unknown))
  return { normalized, came: normalized + quarantined.filter(({ key }) => !isReadable(key)).length }
}

/** A key with a replacement character is a damaged spelling of another one. */
function isReadable(key: string | undefined): key is string {
  return key !== undefined && !key.includes('\uFFFD')
}

async function countCurrent(sql: Sql, history: ResourceBase['history'], keys: readonly string[]): Promise<number> {
  if (keys.length === 0) return 0
  const { table, keyText } = historySql(history)
  const [row] = await sql.query<{ current: number }>(
    `select count(*)::int as current from ${table.name} version
      where version.valid_until = 'infinity' and ${keyText('version')} = any($1::text[])`,
    [keys],
  )
  return row?.current ?? 0
}

/** By which share of the largest their numbers of records may differ. */
const tolerance = 0.02

/**
 * Whether enough responses were shrunken too and agree with this one: complete, not empty, and each of another cache window. One that is
 * not all there is neither agrees nor contradicts: every third list may be so. Only for resources that are one response.
 */
export async function agreesWithShrunken(
  sql: Sql,
  witness: Witness,
  { normalized, complete }: { readonly normalized: number; readonly complete: boolean },
): Promise<boolean> {
  if (!complete && normalized > 0) return false
  const pending = await pendingClaims(sql, witness, 'shrunken')
  const isSame = (count: number) => Math.abs(count - normalized) <= tolerance * Math.max(count, normalized)
  const agreeing = pending.find(({ value }) => isSame(Number(value)))
  const claims = normalized === 0 ? [] : [{ subject: '', value: agreeing?.value ?? String(normalized) }]
  await forgetContradicted(sql, witness, 'shrunken', claims)
  return (await corroborate(sql, witness, 'shrunken', claims)).confirmed.length > 0
}

/**
 * The same for a response about one key that contradicts itself, such as a total that differs from the listed records: whether enough
 * responses about the key had the same flaw.
 */
export async function agreesWithFlawed(sql: Sql, witness: Witness, key: string, reason: string): Promise<boolean> {
  const claims = [{ subject: key, value: reason }]
  await forgetContradicted(sql, witness, 'flawed', claims, key)
  return (await corroborate(sql, witness, 'flawed', claims)).confirmed.length > 0
}

/** By which share the gaps between a count and a list may differ from response to response. */
const gapTolerance = 0.25

const anyGap = 'any gap'

/**
 * The same for a list whose count is hard to believe: the count is believed once enough lists had about the same gap, and the list
 * itself once enough had any.
 */
export async function agreesWithDoubted(sql: Sql, witness: Witness, gap: number) {
  const pending = await pendingClaims(sql, witness, 'flawed')
  const isNear = ({ value }: { readonly value: string }) =>
    Math.abs(Number(value) - gap) <= gapTolerance * Math.max(Number(value), gap)
  const value = pending.find(isNear)?.value ?? String(gap)
  const claims = [anyGap, value].map((one) => ({ subject: '', value: one }))
  await forgetContradicted(sql, witness, 'flawed', claims)
  const { confirmed } = await corroborate(sql, witness, 'flawed', claims)
  const isConfirmed = (one: string) => confirmed.some((claim) => claim.value === one)
  return { count: isConfirmed(value), list: isConfirmed(anyGap) }
}

/** A response that is neither shrunken nor flawed contradicts those that were. */
export async function forgetImplausible(
  sql: Sql,
  witness: Witness,
  key: string | undefined,
  { isDoubted = false }: { readonly isDoubted?: boolean } = {},
): Promise<void> {
  if (key === undefined) await forgetContradicted(sql, witness, 'shrunken', [])
  if (!isDoubted) await forgetContradicted(sql, witness, 'flawed', [], key)
}
