import { clocks } from './clocks.ts'
import { deliveries } from './deliveries.ts'
import type { Fault } from './fault.ts'
import { headerFaults } from './header-faults.ts'
import { hostileTexts } from './hostile-text.ts'
import { incomplete } from './incomplete.ts'
import { people } from './people.ts'
import { refusals } from './refusals.ts'
import { shapes } from './shapes.ts'
import { values } from './values.ts'

const all = {
  ...refusals,
  ...deliveries,
  ...headerFaults,
  ...incomplete,
  ...shapes,
  ...people,
  ...hostileTexts,
  ...values,
  ...clocks,
}

/** A fault by the name that `--faults` knows it under. */
export type FaultName = keyof typeof all

/** Every fault there is (API reference 2.2-2.5, 9, 10). */
export const catalogue: Readonly<Record<FaultName, Fault>> = all

/** Their names, in the order in which they are tried on an answer. */
export const faultNames = Object.keys(all) as readonly FaultName[]

export function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(all, name)
}
