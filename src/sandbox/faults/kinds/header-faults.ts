import { pick } from '../../generator/draw.ts'
import { type Fault, movedDates, noLimits, withHeaders } from '../fault.ts'

const minute = 60_000

/** Responses that are right, under headers that are not. */
export const headerFaults = {
  'no-limit-headers': {
    about: 'no rate-limit headers',
    spoil: (answer) => withHeaders(answer, noLimits),
  },
  'odd-limit-headers': {
    about: 'rate-limit headers that make no sense',
    spoil: (answer, { random }) => {
      const odd = ['', 'soon', '-1', 'NaN', '1e9', '99999999999999999999', '0x10', '5, 5']
      const [, ...numbers] = Object.keys(noLimits)
      return withHeaders(answer, Object.fromEntries(numbers.map((name) => [name, pick(random, odd)])))
    },
  },
  'far-reset': {
    about: 'a rate-limit window that ends in hours, days or years; at times with nothing left of it',
    spoil: (answer, { random }) => {
      const date = Date.parse(answer.headers.get('date') ?? '')
      const seconds = pick(random, [3600, 86_400, 999_999_999])
      const forms = [seconds, date / 1000 + seconds, date + seconds * 1000].filter((one) => !Number.isNaN(one))
      return withHeaders(answer, {
        'ratelimit-reset': String(forms[Math.floor(random() * forms.length)]),
        ...(random() < 0.1 ? { 'ratelimit-remaining': '0' } : {}),
        ...(answer.status === 429 ? { 'retry-after': String(seconds) } : {}),
      })
    },
  },
  'no-cache-headers': {
    about: 'no Cache-Control and Expires, and at times no Date',
    spoil: (answer, { random }) =>
      answer.status === 200
        ? withHeaders(answer, {
            'cache-control': null,
            expires: null,
            'cache-source': null,
            ...(random() < 0.3 ? { date: null } : {}),
          })
        : undefined,
  },
  'odd-cache-headers': {
    about: 'Cache-Control, Expires and TerritoryLastTick that make no sense',
    spoil: (answer, { random }) => {
      if (answer.status !== 200) return undefined
      return withHeaders(answer, {
        'cache-control': pick(random, ['no-store', 'max-age=-5', 'max-age=soon', 'max-age=0']),
        expires: pick(random, ['0', '-1', 'never', 'Thu, 99 Foo 2026 25:61:00 GMT']),
        ...(answer.headers.has('territorylasttick') ? { territorylasttick: pick(random, ['', 'now', '0']) } : {}),
      })
    },
  },
  skew: {
    about: 'a clock that is minutes ahead or behind for a while: Date and Expires',
    run: 4,
    spoil: (answer, { random }) => {
      const shift = Math.ceil(random() * 9) * (random() < 0.5 ? -minute : minute)
      const moved = movedDates(answer.headers, ['date', 'expires'], shift)
      return Object.keys(moved).length > 0 ? withHeaders(answer, moved) : undefined
    },
  },
  stale: {
    about: 'an older copy again, after newer ones',
    spoil: (answer, { earlier, random }) => {
      if (answer.status !== 200 || earlier.length === 0) return undefined
      const old = pick(random, earlier)
      const names = ['cache-control', 'expires', 'territorylasttick', 'content-type']
      return {
        ...withHeaders(answer, Object.fromEntries(names.map((name) => [name, old.headers.get(name)]))),
        body: old.body,
      }
    },
  },
} as const satisfies Record<string, Fault>
