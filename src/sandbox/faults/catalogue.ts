import { deliveries } from './deliveries.ts'
import type { Fault } from './fault.ts'
import { clocks } from './kinds/clock-faults.ts'
import { headerFaults } from './kinds/header-faults.ts'
import { incomplete } from './kinds/incomplete.ts'
import { people } from './kinds/people-faults.ts'
import { refusals } from './kinds/refusal-faults.ts'
import { shapes } from './kinds/shapes.ts'
import { values } from './kinds/value-faults.ts'

const all = {
  ...refusals,
  ...deliveries,
  ...headerFaults,
  ...incomplete,
  ...shapes,
  ...people,
  ...values,
  ...clocks,
}

/** A fault by the name that `--faults` knows it under. */
export type FaultName = keyof typeof all

/** Every fault there is (API reference 2.2-2.5, 9, 10). */
export const catalogue: Readonly<Record<FaultName, Fault>> = all

/** Their names, in the order in which they are tried on a response. */
export const faultNames = Object.keys(all) as readonly FaultName[]

export function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(all, name)
}
