import type { Sql } from '../../db/database.ts'
import type { Extraction, ResourceBase } from '../declare/resource.ts'
import { corroborate, forgetContradicted, pendingClaims, type Witness } from '../evidence/claims.ts'
import type { Guards } from '../evidence/policies.ts'
import type { LastAccepted } from '../ledger/ledger.ts'
import type { UnsentFields } from '../normalize/dependents.ts'
import { type FieldCount, type Preparation, rootsOf } from '../normalize/prepare.ts'
import type { PrivacyInput } from '../privacy/privacy.ts'
import { historySql } from '../sql/history-sql.ts'
import type { GuardAction } from './guard-actions.ts'

/** A response as the guards compare it, before anything is written. */
interface Candidate extends Omit<LastAccepted, 'reload'> {
  /** The instant, in ms, that the oldest page speaks for; `observedAt` is that of the newest. */
  readonly observedFrom: number
  /** All records; none is always implausible. */
  readonly records: number
  /** Its own count agrees with what it lists. */
  readonly agrees?: boolean
  /** Records that count when they are compared with the last good response. */
  readonly counted: number
}

type Verdict =
  /** `overruled`: what a person accepted although a guard objects. */
  | { readonly status: 'load'; readonly overruled?: string }
  | { readonly status: 'unchanged' }
  | { readonly status: 'stale'; readonly reason: string }
  | { readonly status: 'rejected'; readonly reason: string }

/**
 * Decides what becomes of a response: loaded, unchanged, stale (older than what is known) or rejected (implausible).
 * An empty or shrunken body must never look like a mass deletion (API reference 10).
 *
 * @param plausibleShare a response with fewer records than this share (0..1) of the last good one is rejected
 * @param accept a person confirms the response: plausibility does not reject it, staleness still does
 */
function validateSnapshot(
  response: Candidate,
  last: LastAccepted | undefined,
  { plausibleShare, accept = false }: { plausibleShare: number; accept?: boolean },
): Verdict {
  const same = last !== undefined && !last.reload && Buffer.compare(response.contentHash, last.contentHash) === 0
  if (same && response.observedAt >= last.observedAt) return { status: 'unchanged' }
  if (last && response.observedFrom < last.observedAt) {
    return staleness(response.observedFrom, last.observedAt)
  }
  const implausible = implausibility(response, last, plausibleShare)
  if (implausible !== undefined && !accept) {
    const hint = response.records === 0 ? '' : '; if that is right, sync with --accept'
    return { status: 'rejected', reason: implausible + hint }
  }
  if (last && response.observedAt === last.observedAt) {
    return {
      status: 'stale',
      reason: `another response for the same instant ${iso(last.observedAt)} was accepted before`,
    }
  }
  return implausible === undefined ? { status: 'load' } : { status: 'load', overruled: implausible }
}

/** What becomes of a response that is older than the last one; both are ms since the epoch. */
export function staleness(observedFrom: number, lastAt: number) {
  const reason = `response speaks for ${iso(observedFrom)}, before ${iso(lastAt)}`
  return { status: 'stale', reason, guarded: [staleAction(reason)] } as const
}

const staleAction = (reason: string) => ({ guard: 'staleness', action: 'ignored', reason }) as const

function implausibility(
  { records, counted, agrees = false }: Candidate,
  last: LastAccepted | undefined,
  plausibleShare: number,
): string | undefined {
  if (agrees && last !== undefined) return undefined
  if (records === 0) return 'the response holds no records'
  if (last === undefined || counted >= last.records * plausibleShare) return undefined
  return `${counted} ${counted === 1 ? 'record' : 'records'} where the last good response had ${last.records}`
}

/** @param instant ms since the epoch */
export function iso(instant: number): string {
  return new Date(instant).toISOString()
}

interface OpenSpan {
  readonly from: string
  readonly receivedFrom: string
  readonly columns: readonly string[]
}

/** What is known of the fields of a resource. */
export interface KnownFields {
  readonly presence: readonly (FieldCount & { readonly at: string })[]
  /** Fields that are not sent, and since when. */
  readonly open: readonly (FieldCount & OpenSpan)[]
  /** Fields that responses lacked, not yet confirmed. */
  readonly pending: readonly string[]
  /** Fields were not sent within the last month, and are again. */
  readonly wasUnsent: boolean
  /** Records of some keys cannot be read. */
  readonly hasUnread: boolean
}

/** Something that went missing or had another type, and is not back yet; the key of the record that showed it. */
export interface GoneField {
  readonly kind: string
  readonly path: string
  readonly key: string
}

interface LastKnown extends LastAccepted {
  readonly currentKeys: number | null
  /** Of a key that has a tombstone: since when. */
  readonly goneAt?: Date | null
}

/** What is known of a resource, or of a key of it, before a response is judged. */
export interface KnownBefore {
  readonly last: LastKnown | undefined
  /** What earlier responses said and what is pending, as `openClaimsSql` names it. */
  readonly claims: ReadonlySet<string>
  readonly fields: KnownFields
  readonly gone: readonly GoneField[]
}

/** A normalized response, and what is known before it. */
export interface IncomingResponse extends ReceivedResponse {
  readonly preparation: Preparation
  /** It has far fewer records than it should, but others agree: it is loaded, and what it lacks ends only after hours. */
  readonly isShrunken?: boolean
  /** Fields that it lacks although most records had them, and what follows from them. */
  readonly unsent?: UnsentFields
  /** Versions of its records may have been written by responses that lacked a field. */
  readonly followsUnsent?: boolean
  /** Its records list other samples than those of the last accepted response. */
  readonly listsOthers?: boolean
}

/** A response whose records may not have been parsed. */
export interface ReceivedResponse extends PrivacyInput, KnownBefore {
  readonly guards: Guards
}

/** What becomes of a response, and what the guards did about it. */
export interface Validation {
  readonly status: Verdict['status']
  /** Why it is not loaded, or only in part; null when it is loaded whole. */
  readonly reason: string | null
  readonly guarded: readonly GuardAction[]
  readonly response: IncomingResponse
  /** The number of records that later responses are compared with; null when its clock cannot be trusted. */
  readonly normalized: number | null
}

interface Found {
  readonly records: number
  readonly contentHash: Uint8Array
}

/** Validates a response before anything of it is written: its clock, its age and how plausible it is. */
export async function validateResponse(
  sql: Sql,
  resource: ResourceBase,
  response: IncomingResponse,
  witness: Witness,
  found: Found,
): Promise<Validation> {
  const { clockError } = response.extraction
  if (clockError !== undefined) return rejected(response, null, { guard: 'clock', reason: clockError })
  const validation = await judgePlausibility(sql, resource, response, witness, found)
  return await withoutDoubted(sql, validation, witness)
}

/** Takes the count of a response that is hard to believe for none, until enough responses agree in it. */
async function withoutDoubted(sql: Sql, validation: Validation, witness: Witness): Promise<Validation> {
  const { response, status } = validation
  const { extraction, last, guards } = response
  const { doubt } = extraction
  if (doubt === undefined || status === 'stale' || guards.accept) return validation
  const isNewer = last === undefined || extraction.observedAt > last.observedAt
  const agreed = isNewer ? await agreesWithDoubted(sql, witness, doubt.gap) : { count: false, list: false }
  if (agreed.count) return validation
  const { reason, facts } = doubt
  const pending = `${reason}; its count is not believed before three responses in a row say the same`
  return {
    ...validation,
    guarded: [...validation.guarded, { guard: 'plausibility', action: 'pending', reason: pending }],
    response: {
      ...response,
      extraction: { ...extraction, complete: agreed.list && extraction.complete, lacks: reason, facts },
    },
  }
}

async function judgePlausibility(
  sql: Sql,
  resource: ResourceBase,
  response: IncomingResponse,
  witness: Witness,
  { records, contentHash }: Found,
): Promise<Validation> {
  const { extraction, preparation, last, guards, scope } = response
  const { accept = false, plausibleShares = {} } = guards
  const plausibleShare = plausibleShares[resource.name] ?? resource.plausibleShare ?? guards.plausibleShare
  // A response about one key is one record, however many pieces of it are in quarantine.
  const one = Math.min(records, 1)
  const counted = scope === undefined ? await countRecords(sql, resource, preparation) : { normalized: one, came: one }
  const { normalized, came } = counted
  const candidate = { ...extraction, records, counted: came, contentHash }
  const verdict = validateSnapshot(candidate, last, { plausibleShare, accept })
  const isNewer = last === undefined || extraction.observedAt > last.observedAt
  if (verdict.status === 'stale') {
    const { status, reason } = verdict
    return { status, reason, normalized: null, response, guarded: [staleAction(reason)] }
  }
  const validation = { reason: null, normalized, response }
  if (verdict.status === 'rejected') {
    const { reason } = verdict
    if (
      scope !== undefined ||
      !isNewer ||
      !(await agreesWithShrunken(sql, witness, { ...extraction, normalized: records && normalized }))
    )
      return rejected(response, normalized, { guard: 'plausibility', reason })
    const such = extraction.complete ? 'complete responses' : 'responses'
    const because = `because three ${such} in a row, each of another cache window, agree`
    const guarded = [accepted(`${reason}; loaded, ${because}; what it lacks is not ended yet`, 'agreement')]
    return { ...validation, reason, status: 'load', response: { ...response, isShrunken: true }, guarded }
  }
  const { status } = verdict
  // What other records say, however often, says nothing of the key.
  const isOfOther = scope !== undefined && !preparation.seen.has(scope)
  const error =
    (status === 'load' ? verdict.overruled : undefined) ??
    extraction.validationError ??
    (isOfOther ? 'the response has no record of the key that was asked for' : undefined)
  if (error === undefined) {
    if (isNewer) await forgetImplausible(sql, witness, scope, { isDoubted: extraction.doubt !== undefined })
    return { ...validation, status, guarded: [] }
  }
  if (accept && !isOfOther)
    return { ...validation, status, guarded: [accepted(`${error}; accepted, because a person accepts it`)] }
  if (scope === undefined || isOfOther || !isNewer || !(await agreesWithFlawed(sql, witness, scope, error)))
    return rejected(response, normalized, { guard: 'plausibility', reason: error })
  const reason = `${error}; accepted, because three responses in a row agree, but nothing it lacks is ended`
  const partial = { ...validation, reason: error, response: withoutAbsences(resource, response) }
  return { ...partial, status, guarded: [accepted(reason, 'agreement')] }
}

/** The same response, of which nothing follows from what it lacks. */
function withoutAbsences({ relatedHistories = {} }: ResourceBase, response: IncomingResponse): IncomingResponse {
  const incomplete = Object.keys(relatedHistories)
  const entities = response.preparation.entities.map((entity) => ({ ...entity, incomplete }))
  return { ...response, preparation: { ...response.preparation, entities } }
}

function accepted(reason: string, by: 'agreement' | 'person' = 'person'): GuardAction {
  return { guard: 'plausibility', action: by === 'agreement' ? 'accepted after agreement' : 'accepted', reason }
}

function rejected(
  response: IncomingResponse,
  normalized: number | null,
  { guard, reason }: Pick<GuardAction, 'guard' | 'reason'>,
): Validation {
  return { status: 'rejected', reason, normalized, response, guarded: [{ guard, action: 'rejected', reason }] }
}

/** How many records of a response count for plausibility. */
interface RecordCount {
  /** Normalized records, and quarantined ones of keys that are current. The next response is compared with it. */
  readonly normalized: number
  /** The same with the quarantined records that have no readable key: each may be one of those that seem to be missing. */
  readonly came: number
}

/** Counts the records of a response. A quarantined record with an unknown key does not count. */
async function countRecords(
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
 * Whether enough responses were shrunken too and agree with this one: not empty, and each of another cache window. One that is not all there
 * is contradicts none: every third list may be so. It agrees only where pages or parts of it failed: else what always fails would keep all
 * the rest away. Only for resources that are one response.
 */
async function agreesWithShrunken(
  sql: Sql,
  witness: Witness,
  { normalized, complete, unsteady }: Pick<Extraction, 'complete' | 'unsteady'> & { readonly normalized: number },
): Promise<boolean> {
  const isWhole = complete || normalized === 0
  if (!isWhole && unsteady === undefined) return false
  const pending = await pendingClaims(sql, witness, 'shrunken')
  const isSame = (count: number) => Math.abs(count - normalized) <= tolerance * Math.max(count, normalized)
  const agreeing = pending.find(({ value }) => isSame(Number(value)))
  const claims = normalized === 0 ? [] : [{ subject: '', value: agreeing?.value ?? String(normalized) }]
  if (isWhole) await forgetContradicted(sql, witness, 'shrunken', claims)
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
async function agreesWithDoubted(sql: Sql, witness: Witness, gap: number) {
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
