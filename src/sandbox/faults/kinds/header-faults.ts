import { type Fault, noLimits, oneOf, withHeaders } from '../fault.ts'

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
      const odd = ['', 'soon', '-1', 'NaN', '1e9', '99999999999999999999', '0x10', '5, 5'] as const
      const numbers = Object.keys(noLimits)
        .slice(1)
        .map((name) => [name, oneOf(odd, random)])
      return withHeaders(answer, Object.fromEntries(numbers))
    },
  },
  'far-reset': {
    about: 'a rate-limit window that ends in hours, days or years; at times with nothing left of it',
    spoil: (answer, { random }) => {
      const date = Date.parse(answer.headers.get('date') ?? '')
      const seconds = oneOf([3600, 86_400, 999_999_999], random)
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
        'cache-control': oneOf(['no-store', 'max-age=-5', 'max-age=soon', 'max-age=0'], random),
        expires: oneOf(['0', '-1', 'never', 'Thu, 99 Foo 2026 25:61:00 GMT'], random),
        ...(answer.headers.has('territorylasttick') ? { territorylasttick: oneOf(['', 'now', '0'], random) } : {}),
      })
    },
  },
  skew: {
    about: 'a clock that is minutes ahead or behind for a while: Date and Expires',
    run: 4,
    spoil: (answer, { random }) => {
      const shift = Math.ceil(random() * 9) * (random() < 0.5 ? -minute : minute)
      const moved = ['date', 'expires'].flatMap((name) => {
        const instant = Date.parse(answer.headers.get(name) ?? '')
        return Number.isNaN(instant) ? [] : [[name, new Date(instant + shift).toUTCString()] as const]
      })
      return moved.length > 0 ? withHeaders(answer, Object.fromEntries(moved)) : undefined
    },
  },
  stale: {
    about: 'an older copy again, after newer ones',
    spoil: (answer, { earlier, random }) => {
      const [first, ...others] = earlier()
      if (answer.status !== 200 || !first) return undefined
      const old = oneOf([first, ...others], random)
      const names = ['cache-control', 'expires', 'territorylasttick', 'content-type']
      return {
        ...withHeaders(answer, Object.fromEntries(names.map((name) => [name, old.headers.get(name)]))),
        body: old.body,
      }
    },
  },
} as const satisfies Record<string, Fault>
