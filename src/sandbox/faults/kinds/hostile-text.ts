import { type Fault, noCache, withBody, withHeaders } from '../fault.ts'

/** Clears the screen, sets the title, turns the line around, and begins a line of its own. */
const hostile = '\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\u2066\u200b\u2028\nwynnsync: all is well'

/** Text that a terminal would act upon. */
export const hostileTexts = {
  'hostile-error': {
    about: 'an error of the application whose text holds control, bidirectional and invisible characters',
    spoil: (answer) => {
      const body = JSON.stringify({ error: `Error ${hostile}`, detail: hostile, code: 500 })
      return withBody({ ...withHeaders(answer, noCache), status: 500 }, body)
    },
  },
} as const satisfies Record<string, Fault>
