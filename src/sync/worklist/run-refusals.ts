import { type BurstLimit, isBurst, REFUSED_AT_ONCE } from '../evidence/policies.ts'
import type { Refusal, RefusalState } from './refusals.ts'

/** The refusals of one run: concluded one by one, or all rejected when there are many at once. */
interface RunRefusals {
  readonly window: readonly Responded[]
  /** Keys that responded. */
  readonly position: number
  readonly refused: ReadonlySet<string>
  /** Confirmed refusals, with their position. */
  readonly held: readonly { readonly refusal: Refusal; readonly position: number }[]
  /** Why the run must stop: the API refuses many keys at once. */
  readonly massRefusal?: string | undefined
}

export const noRefusals: RunRefusals = { window: [], position: 0, refused: new Set(), held: [] }

/**
 * Adds the response of a key. A confirmed refusal is held back until enough other keys have responded, or the run ends,
 * without many being refused: what a kill meanwhile loses is refused again with the next request of the key.
 * @param accept a person accepts whatever comes
 * @param earlier what came in other runs, before all of this one
 */
export function addKey(
  before: RunRefusals,
  key: string,
  refusal: (Refusal & RefusalState) | undefined,
  accept = false,
  earlier: readonly Responded[] = [],
): RunRefusals {
  if (refusal?.state === 'concluded') return before
  const window = [...earlier, ...before.window].reduce<RunRefusals['window']>(addResponse, [])
  const state = earlier.length === 0 ? before : { ...before, window }
  const position = state.position + 1
  const isConfirmed = refusal?.state === 'confirmed'
  const added = {
    ...state,
    position,
    window: refusal ? withRefusal(state.window, refusal) : addResponse(state.window, { key, response: 'shown' }),
    refused: refusal ? new Set([...state.refused, key]) : state.refused,
    held: isConfirmed ? [...state.held, { refusal, position }] : state.held,
  }
  return judged(added, false, accept)
}

/** The end of the run: no further key comes. */
export function endOfKeys(state: RunRefusals, accept = false): RunRefusals {
  return judged(state, true, accept)
}

/** Splits off the refusals that so many other keys have followed; none while many are refused. */
export function takeReady(
  state: RunRefusals,
  window = refusalWindow,
): { state: RunRefusals; ready: readonly Refusal[] } {
  if (state.massRefusal !== undefined) return { state, ready: [] }
  const isReady = (position: number) => state.position - position >= window
  const ready = state.held.filter(({ position }) => isReady(position)).map(({ refusal }) => refusal)
  return { state: { ...state, held: state.held.filter(({ position }) => !isReady(position)) }, ready }
}

function withRefusal(window: RunRefusals['window'], { key, wasShown, kind, isExpected }: Refusal & RefusalState) {
  // Two resources that agree are no failure: otherwise a few that ended next to each other would stop every run.
  if (isExpected) return window
  // Of what was never shown, nothing can end.
  if (!wasShown && kind !== 'hidden') return window
  return addResponse(window, { key, response: wasShown ? 'refused' : 'unknown refused' })
}

function judged(state: RunRefusals, isOver: boolean, accept: boolean): RunRefusals {
  if (accept || state.massRefusal !== undefined) return state
  return { ...state, massRefusal: massRefusal(state.window, isOver) }
}

/** Keys whose refusals are judged together, of this run and those before; what one says is held back until so many others have responded. */
const refusalWindow = 20

/** How a key responded: with a body, or with a refusal that nothing follows from yet. */
interface Responded {
  readonly key: string
  readonly response: 'shown' | 'refused' | 'unknown refused'
  /** Of another run: which one. */
  readonly runId?: string
}

/** A key that is refused several times is one. */
function addResponse(window: readonly Responded[], added: Responded): readonly Responded[] {
  const others = window.filter(({ key, response }) => response === 'shown' || key !== added.key)
  return [...others, added].slice(-refusalWindow)
}

/**
 * Judges whether refusals come one by one, as keys hide and end, or many at once, as a service fails.
 * @param isOver no further key comes: a window that is not full counts too
 * @returns why the refusals are not credible; undefined when they are
 */
function massRefusal(responses: readonly Responded[], isOver: boolean): string | undefined {
  const window = responses.map(({ response }) => response)
  const row = window.slice(window.lastIndexOf('shown') + 1)
  const inARow = (limit: BurstLimit) => isBurst(row.length, row.length, limit)
  if (inARow(REFUSED_AT_ONCE.unknown) || (inARow(REFUSED_AT_ONCE.shown) && row.includes('refused')))
    return `${row.length} keys in a row were refused`
  if (!isOver && window.length < refusalWindow) return undefined
  const refused = window.filter((response) => response !== 'shown').length
  const known = window.filter((response) => response === 'refused').length
  const isMass =
    isBurst(known, window.length, REFUSED_AT_ONCE.shown) || isBurst(refused, window.length, REFUSED_AT_ONCE.unknown)
  return isMass ? `${refused} of ${window.length} keys were refused` : undefined
}
