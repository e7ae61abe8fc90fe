import { addResponse, type KeyResponse, massRefusal } from '../validate/mass-refusal.ts'
import type { Refusal, RefusalState } from './refusals.ts'

/** The refusals of one run: concluded one by one, or all rejected when there are many at once. */
export interface RunRefusals {
  readonly window: readonly KeyResponse[]
  /** Keys that responded. */
  readonly position: number
  /** Keys that were refused. */
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
 */
export function addKey(
  state: RunRefusals,
  key: string,
  refusal: (Refusal & RefusalState) | undefined,
  accept = false,
): RunRefusals {
  if (refusal?.state === 'concluded') return state
  const position = state.position + 1
  const isConfirmed = refusal?.state === 'confirmed'
  const added = {
    ...state,
    position,
    window: refusal ? withRefusal(state.window, refusal) : addResponse(state.window, 'shown'),
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
export function takeReady(state: RunRefusals, window: number): { state: RunRefusals; ready: readonly Refusal[] } {
  if (state.massRefusal !== undefined) return { state, ready: [] }
  const isReady = (position: number) => state.position - position >= window
  const ready = state.held.filter(({ position }) => isReady(position)).map(({ refusal }) => refusal)
  return { state: { ...state, held: state.held.filter(({ position }) => !isReady(position)) }, ready }
}

function withRefusal(window: RunRefusals['window'], { wasShown, kind }: Refusal & RefusalState) {
  // Of what was never shown, nothing can end.
  if (!wasShown && kind !== 'hidden') return window
  return addResponse(window, wasShown ? 'refused' : 'unknown refused')
}

function judged(state: RunRefusals, isOver: boolean, accept: boolean): RunRefusals {
  if (accept || state.massRefusal !== undefined) return state
  return { ...state, massRefusal: massRefusal(state.window, isOver) }
}
