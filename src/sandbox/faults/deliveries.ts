import { type Fault, withBody } from './fault.ts'

/** Bodies that hold nothing, not all, or never come. */
export const deliveries = {
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
