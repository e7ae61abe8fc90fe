import type { Guards } from '../evidence/policies.ts'
import type { LastAccepted } from '../ledger/ledger.ts'
import type { UnsentFields } from '../normalize/dependents.ts'
import type { FieldCount, Preparation } from '../normalize/prepare.ts'
import type { PrivacyInput } from '../privacy/privacy.ts'

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

export type Verdict =
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
export function validateSnapshot(
  response: Candidate,
  last: LastAccepted | undefined,
  { plausibleShare, accept = false }: { plausibleShare: number; accept?: boolean },
): Verdict {
  const same = last !== undefined && !last.reload && Buffer.compare(response.contentHash, last.contentHash) === 0
  if (same && response.observedAt >= last.observedAt) return { status: 'unchanged' }
  if (last && response.observedFrom < last.observedAt) {
    return {
      status: 'stale',
      reason: `response speaks for ${iso(response.observedFrom)}, before ${iso(last.observedAt)}`,
    }
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

export interface OpenSpan {
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
}

/** Something that went missing or had another type, and is not back yet; the key of the record that showed it. */
export interface GoneField {
  readonly kind: string
  readonly path: string
  readonly key: string
}

/** What is known of a resource, or of a key of it, before a response is judged. */
export interface KnownBefore {
  readonly last: (LastAccepted & { readonly currentKeys: number | null }) | undefined
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
}

/** A response whose records may not have been parsed. */
export interface ReceivedResponse extends PrivacyInput, KnownBefore {
  readonly guards: Guards
}
