import type { IgnoredInstant } from '../declare/ignored.ts'
import type { Extraction } from '../declare/resource.ts'
import { isBurst, type Policy, ZEROS_AT_ONCE } from '../evidence/policies.ts'
import type { Loaded } from './load.ts'

export interface GuardAction {
  readonly guard:
    | 'staleness'
    | 'plausibility'
    | 'clock'
    | 'header'
    | 'absence'
    | 'zero-glitch'
    | 'walk'
    | 'mass-refusal'
    | 'mass-restriction'
    | 'credential'
  /** What the guard did. `pending`: it waits for another response before it concludes anything. */
  readonly action:
    | 'rejected'
    | 'ignored'
    | 'accepted'
    | 'accepted after agreement'
    | 'given up'
    | 'withdrawn'
    | 'stopped'
    | 'pending'
    | 'tombstoned'
  /** What was seen and what was done, in words. */
  readonly reason: string
  /** The key that the response was about; absent: the whole resource. */
  readonly key?: string
}

/** The latest reason that each guard gave for each key of a run, under key and guard. */
export type LastReasons = Map<string, string>

/** The actions about a key, without those that repeat the last reason of their guard. */
export function newActions(last: LastReasons | undefined, key: string, actions: readonly GuardAction[]): GuardAction[] {
  return actions.flatMap((action) =>
    last?.get(`${key} ${action.guard}`) === action.reason ? [] : [{ ...action, key }],
  )
}

/** How many keys of one history a response lacked. */
export interface Lacking {
  /** Name of the history, in the plural. */
  readonly what: string
  /** Keys that were missing and are not ended yet; `named` are some of them, where they may be named. */
  readonly waiting: number
  readonly named: readonly string[]
  /** Keys whose versions ended. */
  readonly ended: number
}

/** At most one action for what waits, and one for what ended. */
export function absenceActions(
  lacking: readonly Lacking[],
  { responses, span = 0 }: Pick<Policy, 'responses' | 'span'>,
): GuardAction[] {
  const waiting = lacking.filter((one) => one.waiting > 0)
  const ended = lacking.filter((one) => one.ended > 0)
  const actions: GuardAction[] = []
  if (waiting.length > 0) {
    const hours = span > 0 ? `, each of another cache window, over ${counted(span / 3_600_000, 'hours')}` : ''
    const missing = waiting.map(({ what, waiting, named }) => counted(waiting, what) + examples(named, waiting))
    const reason = `missing: ${missing.join(', ')}; not ended before ${responses} responses in a row lack the same${hours}`
    actions.push({ guard: 'absence', action: 'pending', reason })
  }
  if (ended.length > 0) {
    const gone = ended.map((one) => counted(one.ended, one.what)).join(', ')
    actions.push({ guard: 'absence', action: 'tombstoned', reason: `ended: ${gone}, when first missed` })
  }
  return actions
}

/** Many keys that no earlier response showed; few are ordinary. */
export function appearedActions(held: number, of: number): GuardAction[] {
  if (!isBurst(held, of)) return []
  const reason = `new: ${counted(held, 'records')} of ${of}; not there before two responses in a row show them`
  return [{ guard: 'plausibility', action: 'pending', reason }]
}

/** Entities that are older than what is stored: ignored until enough responses repeat it. */
export function olderActions(
  what: string,
  { older, confirmedOlder, replaced, withdrawn }: Pick<Loaded, 'older' | 'confirmedOlder' | 'replaced' | 'withdrawn'>,
  responses: number,
): GuardAction[] {
  const waiting = older - confirmedOlder
  const actions: GuardAction[] = []
  if (waiting > 0) {
    const reason = `older than what is stored or contradicted by the last response: ${counted(waiting, what)}; not loaded before ${responses} responses in a row say the same`
    actions.push({ guard: 'clock', action: 'pending', reason })
  }
  if (replaced > 0) {
    const reason = `${responses} responses in a row contradict what is stored: ${counted(replaced, what)}`
    actions.push({ guard: 'clock', action: 'given up', reason })
  }
  // What was stored is written down whole: it is in no table any more.
  for (const { key, document } of withdrawn) {
    const reason = `${responses} responses in a row contradict what only one showed (${what}): ${JSON.stringify(document)}`
    actions.push({ guard: 'clock', action: 'withdrawn', reason, key })
  }
  return actions
}

const unknown = 'the API does not know it any more'

/** A key that the API did not know, for the first time or too soon after it. */
export function missingAction(absences: number): GuardAction {
  const responses = Math.max(2, absences)
  return {
    guard: 'absence',
    action: 'pending',
    reason: `${unknown}; not ended before ${responses} responses in a row say so`,
  }
}

/** A key that the API did not know several times. */
export const tombstoneAction: GuardAction = {
  guard: 'absence',
  action: 'tombstoned',
  reason: `${unknown}; ended with all that belongs to it, when first missed`,
}

/** How many counters were above zero before a response, and how many of them the response shows as zero. */
export interface Fall {
  readonly above: number
  readonly fell: number
}

/**
 * When many counters are zero at once, that is more likely wrong than true (rule: counters go backwards).
 * @param zeroShare from which share (0..1) of the counters that were above zero on
 */
export function zeroActions(falls: readonly Fall[], zeroShare: number): GuardAction[] {
  const above = falls.reduce((sum, one) => sum + one.above, 0)
  const fell = falls.reduce((sum, one) => sum + one.fell, 0)
  if (!isBurst(fell, above, { ...ZEROS_AT_ONCE, share: zeroShare })) return []
  const reason = `${fell} of ${above} counters fell to 0 at once; kept as the response has them, but hardly true`
  return [{ guard: 'zero-glitch', action: 'accepted', reason }]
}

/**
 * What a walk over pages that did not stand still led to.
 * @param records different ones that came
 */
export function walkActions(
  {
    complete,
    lacks,
    unsteady,
    count = null,
    restarts = 0,
  }: Pick<Extraction, 'complete' | 'lacks' | 'unsteady' | 'count' | 'restarts'>,
  records: number,
): GuardAction[] {
  // Another guard has nothing to do with what was not recorded.
  if (lacks !== undefined) return []
  if (complete && restarts === 0) return []
  const again = restarts > 0 ? `read again from the start ${counted(restarts, 'times')}` : ''
  if (complete)
    return [{ guard: 'walk', action: 'accepted', reason: `the listing changed while it was read; ${again}` }]
  const counts = count === null ? 'an unknown number of' : count
  const seen = `${counted(records, 'different records')} came where the API counts ${counts}${again && `, ${again}`}${unsteady ? `: ${unsteady}` : ''}`
  return [{ guard: 'walk', action: 'ignored', reason: `${seen}; what is missing is not counted as missing` }]
}

function counted(count: number, plural: string): string {
  return `${count} ${count === 1 ? plural.replace(/s$/, '') : plural}`
}

function examples(named: readonly string[], of: number): string {
  if (named.length === 0) return ''
  return ` (${named.join(', ')}${of > named.length ? ' ...' : ''})`
}

/** At most one action for each field. */
export function ignoredActions(ignored: readonly IgnoredInstant[]): GuardAction[] {
  const where = ({ field, isEarly = false }: IgnoredInstant) =>
    `${field} lies ${isEarly ? 'before the game began' : 'in the future'}`
  const places = [...new Set(ignored.map(where))].sort()
  return places.map((place) => {
    const all = ignored.filter((one) => where(one) === place)
    const named = all.flatMap(({ of }) => of ?? []).toSorted()
    const records = counted(all.length, 'records') + examples(named.slice(0, 3), named.length)
    return { guard: 'clock', action: 'ignored', reason: `${place} in ${records}; ignored` }
  })
}

/** What became of values that one response alone shows, by property: the ledger counts keys and does not name them. */
export function valueActions(
  properties: readonly string[],
  withdrawn: readonly (readonly string[])[],
  carried: readonly (readonly string[])[],
): GuardAction[] {
  return properties.flatMap((property): GuardAction[] => {
    const [back, waiting] = [withdrawn, carried].map((all) => all.filter((each) => each.includes(property)).length)
    const pending = `another ${property} of ${waiting}; not believed before two responses in a row say so`
    const taken = `another ${property} of ${back}, which one response alone showed`
    return [
      ...(waiting ? [{ guard: 'plausibility', action: 'pending', reason: pending } as const] : []),
      ...(back ? [{ guard: 'plausibility', action: 'withdrawn', reason: taken } as const] : []),
    ]
  })
}
