/** Ways in which a response goes wrong, by plan and by seed. */
export { type FaultName, faultNames } from './catalogue.ts'
export { addFaultControl } from './control.ts'
export { deliver } from './deliver.ts'
export { createFaults, type Faults, type FaultsDone } from './faults.ts'
export type { FaultRule, FaultSpec, FaultWish } from './rules.ts'
