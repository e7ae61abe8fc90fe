import { expect, test } from 'vitest'
import {
  CALM_TIME,
  copySecondsOf,
  HIDING_AT_ONCE,
  isBurst,
  NEW_AT_ONCE,
  policiesOf,
  REFUSED_AT_ONCE,
  REMOVED_FIELD_TIME,
  UNLISTED_AT_ONCE,
  ZEROS_AT_ONCE,
} from '../../src/sync/evidence/policies.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

test('how much evidence each conclusion takes, where a person asks for four absences', () => {
  const shown = Object.entries(policiesOf({ absences: 4, shrunkenHours: 5 })).map(([name, policy]) => {
    const { responses, apart, span, stands } = policy
    return [name, responses, apart, ...(span === undefined ? [] : [span]), ...(stands === true ? ['stands'] : [])]
  })
  expect(shown).toEqual([
    ['missing', 4, 'cache'],
    ['missing from shrunken', 4, 'cache', 5 * hour],
    ['older', 4, 'cache'],
    ['resumed', 4, 'cache'],
    ['shown', 2, 'cache'],
    ['returned', 2, 'cache'],
    ['shrunken', 3, 'cache', 'stands'],
    ['flawed', 3, 'cache', 'stands'],
    ['skipped', 4, 'cache'],
    ['moved', 2, 'cache'],
    ['empty place', 4, 'cache'],
    ['unlisted', 4, 'cache'],
    ['unsent', 4, 'cache'],
    ['unread', 4, 'cache'],
    ['volatile', 3, 'cache', 'stands'],
    ['volatile in few records', 10, 'cache', 'stands'],
    ['joined', 2, 'cache'],
    ['rank', 2, 'cache'],
    ['appeared', 2, 'cache'],
    ['gone', 4, 'cache', 10 * minute, 'stands'],
    ['forbidden', 2, 'cache', 'stands'],
    ['restricted', 2, 'cache'],
    ['restricted in mass', 3, 2 * hour],
    ['lifted', 2, 'cache'],
    ['lifted by absence', 2, 7 * day],
  ])
})

test('one absence is enough where a person says so, but not for what destroys much', () => {
  const policies = policiesOf({ absences: 1 })
  expect([policies.missing.responses, policies.gone.responses]).toEqual([1, 2])
  expect(policies['missing from shrunken']).toEqual({ responses: 3, apart: 'cache', span: 6 * hour })
})

test('how long what is pending, confirmed or no longer sent is waited for', () => {
  expect([CALM_TIME.pending, CALM_TIME.confirmed, REMOVED_FIELD_TIME]).toEqual([12 * hour, 7 * day, 14 * day])
})

test('a copy may come again for the time of the cache; where it does not say its age, for six hours at least', () => {
  const seconds = (cacheSeconds: number, isUndated?: boolean) =>
    copySecondsOf({ cacheSeconds }, isUndated === undefined ? {} : { isUndated })
  expect([seconds(600), seconds(600, false), seconds(600, true), seconds(86_400, true)]).toEqual([
    600, 600, 21_600, 86_400,
  ])
})

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
  { of: 'of shown keys', limit: REFUSED_AT_ONCE.shown, cases: ['2 of 2', '3 of 3!', '3 of 16', '4 of 20!'] },
  { of: 'of keys that responded last', limit: HIDING_AT_ONCE, cases: ['3 of 3', '4 of 5!', '4 of 17', '10 of 20!'] },
  { of: 'of unknown keys', limit: REFUSED_AT_ONCE.unknown, cases: ['4 of 4', '5 of 5!', '9 of 20', '10 of 20!'] },
  {
    of: 'of players of a list',
    limit: UNLISTED_AT_ONCE.unlisted,
    cases: ['3 of 3', '4 of 4!', '4 of 8!', '4 of 9'],
  },
  {
    of: 'of players of a list a minute before',
    limit: UNLISTED_AT_ONCE['unlisted in minutes'],
    cases: ['9 of 20', '10 of 50!', '10 of 51', '18 of 60!'],
  },
  { of: 'of new keys', limit: NEW_AT_ONCE, cases: ['4 of 4', '5 of 5!', '5 of 10!', '5 of 11'] },
  { of: 'of counters', limit: { ...ZEROS_AT_ONCE, share: 0.25 }, cases: ['1 of 1', '2 of 8!', '2 of 9', '3 of 12!'] },
]

test.each(limits)('what is too many at once $of follows its own limit', ({ limit, cases }) => {
  const judged = cases.map((one) => {
    const [count = 0, of = 0] = one.match(/\d+/g)?.map(Number) ?? []
    return `${count} of ${of}${isBurst(count, of, limit) ? '!' : ''}`
  })
  expect(judged).toEqual(cases)
})
