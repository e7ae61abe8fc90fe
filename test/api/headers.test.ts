import { describe, expect, test } from 'vitest'
import { expiresAt, maxAge, observedAt } from '../../src/api/http/response-headers.ts'

const now = Date.parse('2026-05-30T13:00:00Z')
const headers = (entries: Record<string, string>) => new Map(Object.entries(entries))
const date = 'Sat, 30 May 2026 12:59:58 GMT'
const cached = { 'cache-control': 'public, max-age=120', expires: 'Sat, 30 May 2026 13:01:00 GMT', date }

describe('the instant an answer speaks for', () => {
  test.each([
    [
      'the territory tick with a space and microseconds',
      '2026-05-30 12:34:56.789012+00:00',
      '2026-05-30T12:34:56.789Z',
    ],
    ['the territory tick in RFC 3339', '2026-05-30T12:34:56Z', '2026-05-30T12:34:56.000Z'],
    ['the territory tick with another offset', '2026-05-30 14:34:56.5+02:00', '2026-05-30T12:34:56.500Z'],
    ['the territory tick with a short offset', '2026-05-30 12:34:56.789+00', '2026-05-30T12:34:56.789Z'],
    ['the territory tick without an offset', '2026-05-30 12:34:56', '2026-05-30T12:34:56.000Z'],
  ])('is %s', (_name, tick, expected) => {
    const instant = observedAt(headers({ ...cached, territorylasttick: tick }), now)
    expect(new Date(instant).toISOString()).toBe(expected)
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
    ['Date when Expires is a number', { ...cached, expires: '0' }, '2026-05-30T12:59:58.000Z'],
    ['Date when there is no max-age', { expires: cached.expires, date }, '2026-05-30T12:59:58.000Z'],
    ['Date when max-age is 0', { ...cached, 'cache-control': 'max-age=0' }, '2026-05-30T12:59:58.000Z'],
    ['Date when only s-maxage is there', { ...cached, 'cache-control': 's-maxage=120' }, '2026-05-30T12:59:58.000Z'],
    ['our own clock when Date is malformed too', { date: '2026' }, '2026-05-30T13:00:00.000Z'],
    ['our own clock when there are no headers', {}, '2026-05-30T13:00:00.000Z'],
  ])('is %s', (_name, entries, expected) => {
    expect(new Date(observedAt(headers(entries), now)).toISOString()).toBe(expected)
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
