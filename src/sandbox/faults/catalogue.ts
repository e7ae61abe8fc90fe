import { type Fault, withBody } from './fault.ts'
import { clocks } from './kinds/clock-faults.ts'
import { headerFaults } from './kinds/header-faults.ts'
import { incomplete } from './kinds/incomplete.ts'
import { people } from './kinds/people-faults.ts'
import { refusals } from './kinds/refusal-faults.ts'
import { shapes } from './kinds/shapes.ts'
import { values } from './kinds/value-faults.ts'

/** Bodies that hold nothing, not all, or never come. */
const deliveries = {
  truncated: {
    about: 'the body ends in the middle, with a length that fits or with a broken connection',
    spoil: (answer, { random }) => {
      if (answer.body.length < 2) return undefined
      if (random() < 0.5) return { ...answer, delivery: 'cut' }
      return { ...answer, body: answer.body.slice(0, Math.floor(answer.body.length * (0.1 + random() * 0.8))) }
    },
  },
  'empty-body': {
    about: '200 without a body',
    spoil: (answer) => (answer.status === 200 ? withBody(answer, '') : undefined),
  },
  nothing: {
    about: '200 with {} or []',
    spoil: (answer, { random }) => (answer.status === 200 ? withBody(answer, random() < 0.5 ? '{}' : '[]') : undefined),
  },
  drip: {
    about: 'the body comes in drops, over half a minute',
    spoil: (answer) => ({ ...answer, delivery: 'drip' }),
  },
  trickle: {
    about: 'the body comes in drops, over ten minutes',
    spoil: (answer) => ({ ...answer, delivery: 'trickle' }),
  },
  reset: {
    about: 'the connection is reset',
    spoil: (answer) => ({ ...answer, delivery: 'reset' }),
  },
} as const satisfies Record<string, Fault>

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
