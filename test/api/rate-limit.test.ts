import { describe, expect, test } from 'vitest'
import { describeRateLimit, readRateLimit } from '../../src/api/http/response-headers.ts'

const now = Date.parse('2026-05-30T12:00:35.250Z')
const seconds = now / 1000

function read(entries: Record<string, string>) {
  return readRateLimit(new Map(Object.entries(entries)), now)
}

describe('RateLimit-Reset', () => {
  test.each([
    ['seconds left', { 'ratelimit-reset': '25' }, 25_000, 1000],
    ['zero seconds left', { 'ratelimit-reset': '0' }, 0, 1000],
    ['far too many seconds left, cut to two minutes', { 'ratelimit-reset': '86400' }, 120_000, 1000],
    ['Unix seconds', { 'ratelimit-reset': String(Math.floor(seconds) + 25) }, 24_750, 0],
    ['Unix milliseconds', { 'ratelimit-reset': String(now + 25_000) }, 25_000, 0],
    ['Unix seconds in the past', { 'ratelimit-reset': '1000000000' }, 0, 0],
    [
      'Unix seconds by a server clock one hour ahead',
      { 'ratelimit-reset': String(Math.floor(seconds) + 3625), date: 'Sat, 30 May 2026 13:00:35 GMT' },
      25_000,
      0,
    ],
    [
      'Unix seconds with a malformed Date',
      { 'ratelimit-reset': String(Math.floor(seconds) + 25), date: 'now' },
      24_750,
      0,
    ],
  ])('is read as %s', (_name, entries, wait, slack) => {
    expect(read(entries)).toMatchObject({ resetAt: now + wait, resetSlack: slack })
  })

  test.each(['', 'soon', '-5', 'NaN', '1e3', '12 s'])('is absent when it says "%s"', (value) => {
    expect(read({ 'ratelimit-reset': value, 'ratelimit-limit': '50' })).toMatchObject({ resetAt: null, limit: 50 })
  })
})

describe('the other rate-limit headers', () => {
  test('all four together', () => {
    const entries = {
      'ratelimit-bucket': 'GUILD',
      'ratelimit-limit': '120',
      'ratelimit-remaining': '7',
      'ratelimit-reset': '3',
    }
    expect(read(entries)).toEqual({ bucket: 'GUILD', limit: 120, remaining: 7, resetAt: now + 3000, resetSlack: 1000 })
  })

  test('a missing remaining is unknown, not zero', () => {
    expect(read({ 'ratelimit-limit': '50', 'ratelimit-reset': '3' })).toMatchObject({ remaining: null })
  })

  test('a zero remaining is zero', () => {
    expect(read({ 'ratelimit-remaining': '0' })).toMatchObject({ remaining: 0, limit: null, resetAt: null })
  })

  test('malformed numbers are unknown', () => {
    expect(read({ 'ratelimit-remaining': 'many', 'ratelimit-limit': '', 'ratelimit-bucket': 'MAP' })).toEqual({
      bucket: 'MAP',
      limit: null,
      remaining: null,
      resetAt: null,
      resetSlack: 0,
    })
  })

  test('none of them, or only nonsense, is no reading at all', () => {
    expect(read({})).toBeNull()
    expect(read({ 'ratelimit-limit': '?', 'ratelimit-bucket': ' ' })).toBeNull()
  })
})

describe('what a caller is told of the reset', () => {
  test.each([
    ['seconds left', { 'ratelimit-reset': '25' }, 25],
    ['Unix seconds, rounded up', { 'ratelimit-reset': String(Math.floor(seconds) + 25) }, 25],
    ['Unix milliseconds, rounded up', { 'ratelimit-reset': String(now + 24_001) }, 25],
    ['nothing', { 'ratelimit-remaining': '3' }, null],
  ])('is seconds, from %s', (_name, entries, reset) => {
    expect(describeRateLimit(new Map(Object.entries(entries)), now)).toMatchObject({ reset })
  })

  test('is null when there are no headers at all', () => expect(describeRateLimit(new Map(), now)).toBeNull())
})
