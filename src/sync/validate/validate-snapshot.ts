/** What a person may set about the guards. */
export interface Guards {
  /** An answer with fewer records than this share (0..1) of the last good one is rejected. */
  readonly plausibleShare: number
  /** The same for single resources, by name, where another share is right. */
  readonly plausibleShares?: Readonly<Record<string, number>>
  /** In how many consecutive complete answers a key must be missing before its version ends. */
  readonly absences: number
  /** From which share (0..1) on counters that fall to zero at once are taken for a glitch. */
  readonly zeroShare: number
  /** Take the answer although it looks implausible. */
  readonly accept?: boolean
}

/** What the ledger remembers of the last answer that was accepted. */
export interface LastAccepted {
  /** Milliseconds since the epoch, UTC. */
  readonly observedAt: number
  readonly records: number
  readonly contentHash: Uint8Array
}

/** What must be known of an answer to judge it, before anything is written. */
export interface Candidate {
  /** The instants, in ms, that the oldest and the newest page of the answer speak for. */
  readonly observedFrom: number
  readonly observedAt: number
  /** What came at all; nothing is always implausible. */
  readonly records: number
  /** Records that count when they are compared with the last good answer. */
  readonly counted: number
  readonly contentHash: Uint8Array
}

export type Verdict =
  /** `overruled`: what a person accepted although a guard objects. */
  | { readonly status: 'load'; readonly overruled?: string }
  | { readonly status: 'unchanged' }
  | { readonly status: 'stale'; readonly reason: string }
  /** `shrunken`: there are fewer records than there should be, but not none. */
  | { readonly status: 'rejected'; readonly reason: string; readonly shrunken: boolean }

/**
 * Decides what becomes of an answer: loaded, unchanged, stale (older than what is known) or rejected (implausible).
 * An empty or shrunken body must never look like a mass deletion (API reference 10).
 *
 * @param plausibleShare an answer with fewer records than this share (0..1) of the last good one is rejected
 * @param accept a person has looked and says the answer is right: plausibility does not reject it, staleness still does
 */
export function validateSnapshot(
  answer: Candidate,
  last: LastAccepted | undefined,
  { plausibleShare, accept = false }: { plausibleShare: number; accept?: boolean },
): Verdict {
  const same = last !== undefined && Buffer.compare(answer.contentHash, last.contentHash) === 0
  if (same && answer.observedAt >= last.observedAt) return { status: 'unchanged' }
  if (last && answer.observedFrom < last.observedAt) {
    return { status: 'stale', reason: `answer speaks for ${iso(answer.observedFrom)}, before ${iso(last.observedAt)}` }
  }
  const implausible = implausibility(answer, last, plausibleShare)
  if (implausible !== undefined && !accept) {
    const hint = answer.records === 0 ? '' : '; if that is right, sync with --accept'
    return { status: 'rejected', reason: implausible + hint, shrunken: answer.records > 0 }
  }
  if (last && answer.observedAt === last.observedAt) {
    return {
      status: 'stale',
      reason: `another answer for the same instant ${iso(last.observedAt)} was accepted before`,
    }
  }
  return implausible === undefined ? { status: 'load' } : { status: 'load', overruled: implausible }
}

function implausibility(
  { records, counted }: Candidate,
  last: LastAccepted | undefined,
  plausibleShare: number,
): string | undefined {
  if (records === 0) return 'the answer holds no records'
  if (last === undefined || counted >= last.records * plausibleShare) return undefined
  return `${counted} ${counted === 1 ? 'record' : 'records'} where the last good answer had ${last.records}`
}

function iso(instant: number): string {
  return new Date(instant).toISOString()
}
