import { describe, expect, test } from 'vitest'
import { type Attempt, decideRetry } from '../../src/api/http/attempts.ts'
import { readRefusal429 } from '../../src/api/http/response-headers.ts'

const now = Date.parse('2026-05-30T12:00:35Z')

function decide(attempt: Partial<Omit<Attempt, 'headers'>> & { headers?: Record<string, string> }, random = () => 0.5) {
  const headers = new Map(Object.entries(attempt.headers ?? {}))
  return decideRetry({ status: null, failure: null, count: 1, ...attempt, headers }, now, random)
}

describe('a 429', () => {
  test.each([
    ['Retry-After in seconds', { 'retry-after': '7', 'ratelimit-reset': '20' }, 7000],
    ['Retry-After as a date', { 'retry-after': 'Sat, 30 May 2026 12:00:45 GMT' }, 10_000],
    [
      'Retry-After as a date by the server clock',
      { 'retry-after': 'Sat, 30 May 2026 13:00:45 GMT', date: 'Sat, 30 May 2026 13:00:35 GMT' },
      10_000,
    ],
    ['the next minute when Retry-After is 0', { 'retry-after': '0' }, 25_000],
    ['the next minute when Retry-After is negative', { 'retry-after': '-5' }, 25_000],
    [
      'the next minute when Retry-After is a date in the past',
      { 'retry-after': 'Sat, 30 May 2026 11:00:00 GMT' },
      25_000,
    ],
    ['the next minute when the window has ended by its reset', { 'ratelimit-reset': '0' }, 25_000],
    ['the next minute when the reset is in the past', { 'ratelimit-reset': String(now / 1000 - 25) }, 25_000],
    [
      'the next minute when there is room by its headers',
      { 'ratelimit-reset': '9', 'ratelimit-remaining': '3' },
      25_000,
    ],
    ['the reset where Retry-After says that it is over', { 'retry-after': '0', 'ratelimit-reset': '20' }, 21_000],
    ['two minutes when Retry-After is an hour', { 'retry-after': '3600' }, 120_000],
    ['the reset, and the second it may be short of, without Retry-After', { 'ratelimit-reset': '20' }, 21_000],
    ['the reset when Retry-After is malformed', { 'retry-after': 'later', 'ratelimit-reset': '20' }, 21_000],
    ['an epoch reset', { 'ratelimit-reset': String(now / 1000 + 25) }, 25_000],
    ['the next minute without any header', {}, 25_000],
  ])('waits for %s', (_name, headers, wait) => {
    expect(readRefusal429(new Map(Object.entries(headers)), now).wait).toBe(wait)
    // In the queue of its bucket, which is closed until then.
    expect(decide({ status: 429, headers })).toEqual({ wait: 0 })
  })

  test('is waited out ten times and no more', () => {
    expect(decide({ status: 429, count: 10 })).toEqual({ wait: 0 })
    expect(decide({ status: 429, count: 11 })).toBe('give up')
  })
})

describe('a failure that may pass', () => {
  test.each([
    ['500', { status: 500 }],
    ['502', { status: 502 }],
    ['524', { status: 524 }],
    ['HTML with status 503', { status: 503, failure: 'html' as const }],
    ['HTML with status 200', { status: 200, failure: 'html' as const }],
    ['truncated JSON', { status: 200, failure: 'not json' as const }],
    ['a truncated body', { status: 200, failure: 'ended early' as const }],
    ['a reset connection', { failure: 'reset' as const }],
    ['a refused connection', { failure: 'refused' as const }],
    ['a timeout', { failure: 'timeout' as const }],
    ['a 300 without its matches', { status: 300, failure: 'ended early' as const }],
  ])('%s is repeated four times and no more', (_name, attempt) => {
    expect(decide({ ...attempt, count: 4 })).toEqual({ wait: 2000 })
    expect(decide({ ...attempt, count: 5 })).toBe('give up')
  })

  test('backs off exponentially from 500 ms, with full jitter', () => {
    const waits = [1, 2, 3, 4].map((count) => decide({ status: 500, count }, () => 0.999_999))
    expect(waits).toEqual([{ wait: 500 }, { wait: 1000 }, { wait: 2000 }, { wait: 4000 }])
    expect(decide({ status: 500, count: 4 }, () => 0)).toEqual({ wait: 0 })
  })

  test('waits as long as Retry-After says when it says so', () => {
    expect(decide({ status: 503, headers: { 'retry-after': '9' } })).toEqual({ wait: 9000 })
  })
})

describe('a refusal', () => {
  test.each([300, 301, 400, 401, 403, 404, 405, 418])('%i is never repeated', (status) => {
    expect(decide({ status })).toBe('give up')
  })

  test('HTML with a status that refuses is not repeated either', () => {
    expect(decide({ status: 403, failure: 'html' })).toBe('give up')
  })

  test('a body over the size limit is not asked for again', () => {
    expect(decide({ status: 200, failure: 'too large' })).toBe('give up')
  })
})
