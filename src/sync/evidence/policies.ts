/** Whose clock decides when a response was made: both must agree, or a person knows which one is right. */
export type ClockSetting = 'both' | 'machine' | 'api'

/** What a person may set about the guards. */
export interface Guards {
  /** A response with fewer records than this share (0..1) of the last good one is rejected. */
  readonly plausibleShare: number
  /** The same for single resources, by name, where another share is right. */
  readonly plausibleShares?: Readonly<Record<string, number>>
  /** In how many consecutive complete responses a key must be missing before its version ends. */
  readonly absences: number
  /** For how many hours the responses of a shrunken resource must lack a key before its version ends; default: 6. */
  readonly shrunkenHours?: number
  /** From which share (0..1) on counters that fall to zero at once are taken for a glitch. */
  readonly zeroShare: number
  /** Whose clock decides when a response was made; default: both, which must agree. */
  readonly clock?: ClockSetting
  /** Accept a response although it looks implausible. */
  readonly accept?: boolean
}

/** What a response may not conclude alone, each with what it concludes once enough responses say the same. */
export type ClaimKind =
  /** A complete response lacks a key: its version ends where it was first missed. */
  | 'missing'
  /** A record is older than what is stored, or shows an owner without a time: it replaces what is stored. */
  | 'older'
  /** The version before the current one is back, which several responses showed as ended: it never ended. */
  | 'resumed'
  /** A version that one response showed so far: from then on it is kept; before, responses that contradict it withdraw it. */
  | 'shown'
  /** A version that one response opened again after its tombstone: the tombstone is forgotten. */
  | 'returned'
  /** Far fewer records than before: the response is loaded. */
  | 'shrunken'
  /** A response about a key that contradicts itself, such as a total that differs from the list: it is loaded in part. */
  | 'flawed'
  /** An announced start, still to come, is announced no more: it is taken back. */
  | 'skipped'
  /** Another start is announced than the one still to come: from then on it is kept; before, a response that does not repeat it takes it back. */
  | 'moved'
  /** A place of a leaderboard that a board lacks: it is empty. */
  | 'empty place'
  /** A player whom a list with unreadable players lacks, or many players at once: the listing ends. */
  | 'unlisted'
  /** A field that the program does not know moved in many records: its latest value is kept, and makes no version. */
  | 'volatile'
  /** Another time of joining of a known member, unless the member joined since the last response: the spell is another one. */
  | 'joined'
  /** Other ranks of many members at once. */
  | 'rank'
  /** A key that no earlier response showed, where its appearance is an event, or most keys, or members of a guild, are new at once: it is there since the first of them. */
  | 'appeared'
  /** Records lack a field that most had, or one record a number that it listed, or its list cannot be read: from then on that is unknown. */
  | 'unsent'
  /** The record of a key cannot be read, or is not among those that came: from then on what it shows is unknown. */
  | 'unread'
  /** The API says that there is no such key (404): it gets a tombstone where the first one said so. */
  | 'gone'
  /** The API refuses a key to one kind of credential (403): what that hides of the player is removed. */
  | 'forbidden'
  /** A player hides something: it is hidden at once, and removed once confirmed. */
  | 'restricted'
  /** A player hides something no longer: until this is confirmed, it stays hidden. */
  | 'lifted'
  /** The same not said: the rule is missing where the response names rules. A format may have changed, so it stays hidden for longer. */
  | 'lifted by absence'

/** How much evidence a conclusion takes. */
export interface Policy {
  /** Responses that must agree, the first one included. */
  readonly responses: number
  /** How far apart they are at least, by both clocks: a `cache` window of the resource, or ms. */
  readonly apart: 'cache' | number
  /** How long ago the first of them must be, by both clocks; ms. Default: it does not matter. */
  readonly span?: number
  /** Of the time that a claim asks for itself, by how long another value was shown, no more than this counts; ms. */
  readonly longestSpan?: number
  /** It stands until a response contradicts it, and is confirmed by each further one. Default: once confirmed it is concluded. */
  readonly stands?: boolean
}

/** After so long without a response that says so a claim about a volatile field is over, ms: while it is pending, and once confirmed. */
export const CALM_TIME = { pending: 12 * 3_600_000, confirmed: 7 * 24 * 3_600_000 } as const

/** After so long without a field, ms by both clocks, it is taken for removed: responses without it are whole. */
export const REMOVED_FIELD_TIME = 14 * 24 * 3_600_000

/** How many responses must agree that a list is shrunken, or a response flawed. */
const SHRUNKEN_AGREEING_RESPONSES = 3

/** From how many of how many on something is too much at once; both must hold. */
export interface BurstLimit {
  readonly count: number
  /** 0..1, of all. */
  readonly share: number
}

/** Of what changes by itself, such as what people hide, or where members of a guild rank. */
const CHANGED_AT_ONCE: BurstLimit = { count: 4, share: 0.1 }

/** Of the few keys that responded last: of so few, some may hide something by themselves. */
export const HIDING_AT_ONCE: BurstLimit = { count: 4, share: 0.5 }

/** Of records with keys that no response showed before: from one response to the next most stay. */
export const NEW_AT_ONCE: BurstLimit = { count: 5, share: 0.5 }

/**
 * Of keys that the API showed before and refuses now; of those in a row, the count alone decides. Of keys that it never showed, a new
 * installation meets all the private ones there are.
 */
export const REFUSED_AT_ONCE: Readonly<Record<'shown' | 'unknown', BurstLimit>> = {
  shown: { count: 3, share: 0.2 },
  unknown: { count: 5, share: 0.5 },
}

/** Counters that fall to zero: one alone does for good reasons, when a member joins again or a week begins. */
export const ZEROS_AT_ONCE: Pick<BurstLimit, 'count'> = { count: 2 }

/** Of players whom a list lacks: from one list to the next most stay, and from one minute to the next nearly all. */
export const UNLISTED_AT_ONCE: Readonly<Record<'unlisted' | 'unlisted in minutes', BurstLimit>> = {
  unlisted: { count: 4, share: 0.5 },
  'unlisted in minutes': { count: 10, share: 0.2 },
}

/** Whether so many of so many at once are too many to be believed: a failure of the service is more likely. */
export function isBurst(count: number, of: number, limit: BurstLimit = CHANGED_AT_ONCE): boolean {
  return count >= limit.count && count >= limit.share * of
}

/** In how many responses an unknown field must have moved in every second record that has it, or in any. */
const VOLATILE_MOVES = 3
const VOLATILE_MOVES_OF_FEW = 10

const minute = 60_000
const hour = 60 * minute

/** An old copy that does not say its age may come again for so long, seconds: until then it is one response. */
const UNDATED_COPY_SECONDS = 6 * 3600

/** How long the API may send the same copy, seconds. */
export function copySecondsOf(
  { cacheSeconds }: { readonly cacheSeconds: number },
  { isUndated = false }: { readonly isUndated?: boolean },
): number {
  return isUndated ? Math.max(cacheSeconds, UNDATED_COPY_SECONDS) : cacheSeconds
}

/** What takes more evidence than the kind of its claims does. */
type Variant =
  | 'missing from shrunken'
  | 'volatile in few records'
  /** Of many people at once, which is more likely a fault of the service than their will. */
  | 'restricted in mass'

export type PolicyName = ClaimKind | Variant

/** How much evidence each conclusion takes. */
export function policiesOf({
  absences,
  shrunkenHours = 6,
}: Pick<Guards, 'absences' | 'shrunkenHours'>): Record<PolicyName, Policy> {
  return {
    missing: { responses: absences, apart: 'cache' },
    'missing from shrunken': {
      responses: Math.max(absences, SHRUNKEN_AGREEING_RESPONSES),
      apart: 'cache',
      span: shrunkenHours * hour,
    },
    older: { responses: absences, apart: 'cache' },
    resumed: { responses: absences, apart: 'cache' },
    shown: { responses: 2, apart: 'cache', longestSpan: hour },
    returned: { responses: 2, apart: 'cache' },
    shrunken: { responses: SHRUNKEN_AGREEING_RESPONSES, apart: 'cache', stands: true },
    flawed: { responses: SHRUNKEN_AGREEING_RESPONSES, apart: 'cache', stands: true },
    skipped: { responses: absences, apart: 'cache' },
    moved: { responses: 2, apart: 'cache' },
    'empty place': { responses: absences, apart: 'cache' },
    unlisted: { responses: absences, apart: 'cache' },
    unsent: { responses: absences, apart: 'cache' },
    unread: { responses: absences, apart: 'cache' },
    volatile: { responses: VOLATILE_MOVES, apart: 'cache', stands: true },
    'volatile in few records': { responses: VOLATILE_MOVES_OF_FEW, apart: 'cache', stands: true },
    joined: { responses: 2, apart: 'cache', longestSpan: hour },
    rank: { responses: 2, apart: 'cache', longestSpan: hour },
    appeared: { responses: 2, apart: 'cache' },
    // It stands until the run has met enough other keys.
    gone: { responses: Math.max(2, absences), apart: 'cache', span: 10 * minute, stands: true },
    forbidden: { responses: 2, apart: 'cache', stands: true },
    restricted: { responses: 2, apart: 'cache' },
    'restricted in mass': { responses: 3, apart: 2 * hour },
    lifted: { responses: 2, apart: 'cache' },
    'lifted by absence': { responses: 2, apart: 7 * 24 * hour },
  }
}
