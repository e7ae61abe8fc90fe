import { describe, expect, test } from 'vitest'
import { datesOf, expiresAt, joinDates, maxAge } from '../../src/api/http/response-headers.ts'

const now = Date.parse('2026-05-30T13:00:00Z')
const headers = (entries: Record<string, string>) => new Map(Object.entries(entries))
const date = 'Sat, 30 May 2026 12:59:58 GMT'
const cached = { 'cache-control': 'public, max-age=120', expires: 'Sat, 30 May 2026 13:01:00 GMT', date }

describe('the instant that a response speaks for', () => {
  const observed = (entries: Record<string, string>) =>
    new Date(datesOf(headers(entries), now).observedAt).toISOString()

  test.each([
    ['a space and microseconds', '2026-05-30 12:58:56.789012+00:00', '2026-05-30T12:58:56.789Z'],
    ['RFC 3339', '2026-05-30T12:58:56Z', '2026-05-30T12:58:56.000Z'],
    ['another offset', '2026-05-30 14:58:56.5+02:00', '2026-05-30T12:58:56.500Z'],
    ['a short offset', '2026-05-30 12:58:56.789+00', '2026-05-30T12:58:56.789Z'],
    ['no offset', '2026-05-30 12:58:56', '2026-05-30T12:58:56.000Z'],
  ])('is the territory tick with %s', (_name, tick, expected) => {
    expect(observed({ ...cached, territorylasttick: tick })).toBe(expected)
  })

  test.each([
    ['Expires minus max-age when there is no tick', cached, '2026-05-30T12:59:00.000Z'],
    [
      'Expires minus max-age when the tick is malformed',
      { ...cached, territorylasttick: 'soon' },
      '2026-05-30T12:59:00.000Z',
    ],
    [
      'Expires minus max-age when the tick names no real month',
      { ...cached, territorylasttick: '2026-13-30 12:34:56' },
      '2026-05-30T12:59:00.000Z',
    ],
    ['Date minus Age when there is no Expires', { date, age: '31' }, '2026-05-30T12:59:27.000Z'],
    ['Date when Expires is a number', { ...cached, expires: '0' }, '2026-05-30T12:59:58.000Z'],
    ['Date when there is no max-age', { expires: cached.expires, date }, '2026-05-30T12:59:58.000Z'],
    ['Date when max-age is 0', { ...cached, 'cache-control': 'max-age=0' }, '2026-05-30T12:59:58.000Z'],
    ['Date when only s-maxage is there', { ...cached, 'cache-control': 's-maxage=120' }, '2026-05-30T12:59:58.000Z'],
    ['our own clock when Date is malformed too', { date: '2026' }, '2026-05-30T13:00:00.000Z'],
    ['our own clock when there are no headers', {}, '2026-05-30T13:00:00.000Z'],
    ['our own clock minus the age when there is no Date', { age: '20' }, '2026-05-30T12:59:40.000Z'],
  ])('is %s', (_name, entries, expected) => {
    expect(observed(entries)).toBe(expected)
    expect(datesOf(headers(entries), now).oddHeaders).toEqual([])
  })

  const seconds = (ms: number) => String(ms / 1000)
  const tickAt = (ms: number) => new Date(Date.parse(date) - ms).toISOString()
  const expiresOf = (ms: number) => new Date(Date.parse(date) - ms + 120_000).toUTCString()

  test.each([
    ['TerritoryLastTick', 'at zero', 0, true],
    ['TerritoryLastTick', 'within the second of Date', -999, true],
    ['TerritoryLastTick', 'below zero', -1000, false],
    ['TerritoryLastTick', 'of the lifetime and a minute', 180_000, true],
    ['TerritoryLastTick', 'of more than the lifetime and a minute', 180_001, false],
    ['Expires', 'at zero', 0, true],
    ['Expires', 'below zero', -1000, false],
    ['Expires', 'of the lifetime and a minute', 180_000, true],
    ['Expires', 'of more than the lifetime and a minute', 181_000, false],
    ['Age', 'at zero', 0, true],
    ['Age', 'of the lifetime and a minute', 180_000, true],
    ['Age', 'of more than the lifetime and a minute', 181_000, false],
  ])('believes an age by %s %s: %d ms, %s', (header, _what, age, isBelieved) => {
    const said = { TerritoryLastTick: tickAt(age), Expires: expiresOf(age), Age: seconds(age) }[header] ?? ''
    const dates = datesOf(headers({ 'cache-control': 'max-age=120', date, [header.toLowerCase()]: said }), now)
    expect(Date.parse(date) - dates.observedAt).toBe(isBelieved ? age : 0)
    expect([dates.oddHeaders, dates.isUndated]).toEqual(isBelieved ? [[], false] : [[header], age > 0])
  })

  test.each([
    [7 * 24 * 3600, true],
    [7 * 24 * 3600 + 1, false],
  ])('may be that of an old copy where the age is %d seconds: %s', (age, isUndated) => {
    expect(datesOf(headers({ date, age: String(age) }), now)).toMatchObject({ oddHeaders: ['Age'], isUndated })
  })

  test('is that of the next header where one says what cannot be, and that one is named', () => {
    const odd = { ...cached, territorylasttick: '2026-05-29T12:00:00Z', expires: 'Thu, 01 Jan 1970 00:00:00 GMT' }
    const { observedAt, oddHeaders, isUndated } = datesOf(headers({ ...odd, age: '7' }), now)
    expect(new Date(observedAt).toISOString()).toBe('2026-05-30T12:59:51.000Z')
    expect([oddHeaders, isUndated]).toEqual([['TerritoryLastTick', 'Expires'], false])
  })

  test.each([
    ['a year', 'max-age=31536000', 3_660_000],
    ['nothing', 'no-store', 60_000],
  ])('is no older than an hour and a minute where the lifetime is said to be %s', (_what, control, oldest) => {
    const aged = (ms: number) => ({ 'cache-control': control, date, age: seconds(ms) })
    expect(Date.parse(date) - datesOf(headers(aged(oldest)), now).observedAt).toBe(oldest)
    expect(Date.parse(date) - datesOf(headers(aged(oldest + 1000)), now).observedAt).toBe(0)
  })

  const tenMinutesOld = 'Sat, 30 May 2026 12:50:00 GMT'
  test.each([
    ['an Age that says so', { date: tenMinutesOld, age: '599' }],
    [
      'an Age that says so, and Expires of then',
      { date: tenMinutesOld, age: '601', expires: tenMinutesOld, 'cache-control': 'max-age=0' },
    ],
    [
      'an Age that says so, and a lifetime that was over then',
      { date: tenMinutesOld, age: '600', 'cache-control': 'max-age=10', expires: 'Sat, 30 May 2026 12:50:10 GMT' },
    ],
  ])('is Date where a cache kept the response since then: %s', (_what, entries) => {
    const { observedAt, clockSkew, oddHeaders, isUndated } = datesOf(headers(entries), now)
    expect(new Date(observedAt).toISOString()).toBe('2026-05-30T12:50:00.000Z')
    expect(Math.abs(clockSkew ?? Number.NaN)).toBeLessThanOrEqual(1000)
    expect([oddHeaders, isUndated]).toEqual([[], false])
  })

  test.each([
    ['no Age', { date: tenMinutesOld }, -600_000],
    ['an Age of another time', { date: tenMinutesOld, age: '500' }, -600_000],
    ['an Age of more than an hour', { date: 'Sat, 30 May 2026 11:50:00 GMT', age: '4200' }, -4_200_000],
    ['a Date that is only a little early', { date: 'Sat, 30 May 2026 12:58:00 GMT', age: '120' }, -120_000],
  ])('is by a clock that is behind where the response has %s', (_what, entries, skew) => {
    expect(datesOf(headers(entries), now).clockSkew).toBe(skew)
  })

  test('of several responses is the oldest and the newest, with what is off most and all that is odd', () => {
    const later = { ...cached, date: 'Sat, 30 May 2026 13:00:31 GMT', expires: 'Sat, 30 May 2026 13:02:00 GMT' }
    const one = datesOf(headers(cached), now)
    const dates = joinDates([one, datesOf(headers({ ...later, territorylasttick: '2020-01-01' }), now)])
    expect(dates).toEqual({
      observedFrom: Date.parse('2026-05-30T12:59:00Z'),
      observedAt: Date.parse('2026-05-30T13:00:00Z'),
      clockSkew: 31_000,
      oddHeaders: [],
      isUndated: false,
    })
    const old = datesOf(headers({ date, age: '9999' }), now)
    expect(joinDates([old, one])).toMatchObject({ clockSkew: -2000, oddHeaders: ['Age'], isUndated: true })
    expect(joinDates([one, datesOf(headers({}), now)]).clockSkew).toBe(null)
  })
})

describe('the end of a cached copy', () => {
  test.each([
    ['Expires', cached, '2026-05-30T13:01:00.000Z'],
    ['Date plus max-age without Expires', { 'cache-control': 'max-age=30', date }, '2026-05-30T13:00:28.000Z'],
    ['unknown when nothing can be read', { expires: '-1', date }, null],
  ])('is %s', (_name, entries, expected) => {
    const instant = expiresAt(headers(entries))
    expect(instant === null ? null : new Date(instant).toISOString()).toBe(expected)
  })
})

describe('how long the service keeps a copy', () => {
  test.each([
    ['max-age, in seconds', cached, 120],
    ['none for max-age=0', { 'cache-control': 'max-age=0' }, 0],
    ['unknown without max-age', { 'cache-control': 'no-store', date }, null],
    ['unknown without the header', {}, null],
  ])('is %s', (_name, entries, expected) => expect(maxAge(headers(entries))).toBe(expected))
})
