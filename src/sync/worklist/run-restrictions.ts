import type { GuardAction } from '../respond/guard-actions.ts'

/** The keys of one run, and those that hide something for the first time. */
export interface RunRestrictions {
  readonly responded: ReadonlySet<string>
  readonly hiding: ReadonlySet<string>
  /** Why one response alone hides too much at once. */
  readonly ofResponse?: string | undefined
}

export const noRestrictions: RunRestrictions = { responded: new Set(), hiding: new Set() }

/** So many keys at once are no mass. */
const few = 3
/** The share (0..1) of the keys that responded that is too much. */
const share = 0.1

export function addRestriction(
  { responded, hiding, ofResponse }: RunRestrictions,
  key: string,
  { hidesKept = false, guarded }: { readonly hidesKept?: boolean; readonly guarded: readonly GuardAction[] },
): RunRestrictions {
  const mass = guarded.find(({ guard }) => guard === 'mass-restriction')
  return {
    responded: new Set([...responded, key]),
    hiding: hidesKept ? new Set([...hiding, key]) : hiding,
    ofResponse: ofResponse ?? (mass && `${key}: ${mass.reason}`),
  }
}

/** Why the restrictions of a run are not credible; undefined when they are. */
export function massRestriction({ responded, hiding, ofResponse }: RunRestrictions): string | undefined {
  if (hiding.size > Math.max(few, share * responded.size))
    return `${hiding.size} of ${responded.size} keys hide at once what they showed; nothing is removed before responses hours apart say the same`
  return ofResponse
}
