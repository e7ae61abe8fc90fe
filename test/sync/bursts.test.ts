import { expect, test } from 'vitest'
import { isBurst, REFUSED_AT_ONCE, UNKNOWN_REFUSED_AT_ONCE, ZEROS_AT_ONCE } from '../../src/sync/evidence/policies.ts'

test.each([
  [0, 0, false],
  [3, 3, false],
  [4, 4, true],
  [4, 40, true],
  [4, 41, false],
  [100, 1000, true],
])('%i changes of %i are a burst: %s', (count, of, burst) => {
  expect(isBurst(count, of)).toBe(burst)
})

const limits = [
  { of: 'of shown keys', limit: REFUSED_AT_ONCE, cases: ['2 of 2', '3 of 3!', '3 of 16', '4 of 20!'] },
  { of: 'of unknown keys', limit: UNKNOWN_REFUSED_AT_ONCE, cases: ['4 of 4', '5 of 5!', '9 of 20', '10 of 20!'] },
  { of: 'of counters', limit: { ...ZEROS_AT_ONCE, share: 0.25 }, cases: ['1 of 1', '2 of 8!', '2 of 9', '3 of 12!'] },
]

test.each(limits)('what is too many at once $of follows its own limit', ({ limit, cases }) => {
  const judged = cases.map((one) => {
    const [count = 0, of = 0] = one.match(/\d+/g)?.map(Number) ?? []
    return `${count} of ${of}${isBurst(count, of, limit) ? '!' : ''}`
  })
  expect(judged).toEqual(cases)
})
