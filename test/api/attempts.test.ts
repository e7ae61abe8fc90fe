import { expect, test } from 'vitest'
import { type Attempts, endingOf, firstAttempt, nextStep } from '../../src/api/http/attempts.ts'
import { classifyResponse } from '../../src/api/http/classify-response.ts'
import type { Outcome } from '../../src/api/http/outcome.ts'
import type { ApiRequest } from '../../src/api/http/request.ts'

const receivedAt = Date.parse('2026-05-30T12:00:05Z')
const request: ApiRequest = { method: 'GET', route: '/item/sets', path: '/item/sets' }
const outcome = (status: number, rest: Partial<Outcome> = {}): Outcome => {
  return { status, headers: new Map(), body: {}, failure: null, reason: '', bytes: 2, receivedAt, ...rest }
}
function step(attempts: Attempts, given: Outcome, rest: { blamesCredential?: boolean; request?: ApiRequest } = {}) {
  const result = { request, outcome: given, fault: classifyResponse(given), blamesCredential: false, ...rest }
  return nextStep(attempts, result, () => 0.5)
}

test('a response without fault is accepted', () => {
  expect(step(firstAttempt, outcome(200))).toEqual({ kind: 'accept' })
})

test('errors of the server are repeated four times with backoff, 429 ten times without', () => {
  expect(step(firstAttempt, outcome(502))).toEqual({
    kind: 'repeat',
    waitMs: 250,
    attempts: { number: 2, tooMany: 0, failures: 1, blamed: null },
  })
  expect(step({ ...firstAttempt, failures: 4 }, outcome(502)).kind).toBe('fail')
  // The bucket is closed meanwhile.
  expect(step({ ...firstAttempt, failures: 4 }, outcome(429))).toMatchObject({ kind: 'repeat', waitMs: 0 })
  expect(step({ ...firstAttempt, tooMany: 10 }, outcome(429)).kind).toBe('fail')
})

test('what may happen once only is repeated only when it did not reach the server', () => {
  const once = { request: { ...request, repeatable: false } }
  expect(step(firstAttempt, outcome(502), once).kind).toBe('fail')
  expect(step(firstAttempt, { ...outcome(0), status: null, failure: 'refused' }, once).kind).toBe('repeat')
})

test('a fault that blames the credential is repeated at once, without it', () => {
  const next = step(firstAttempt, outcome(401), { blamesCredential: true })
  expect(next).toMatchObject({ kind: 'repeat', waitMs: 0, attempts: { number: 2, blamed: { status: 401 } } })
})

test('a 429 blocks the bucket, an error of the server counts as unanswered', () => {
  expect(endingOf(outcome(429, { headers: new Map([['retry-after', '20']]) }), 0).refusal).toEqual({
    wait: 20_000,
    contradictsHeaders: false,
  })
  expect(endingOf(outcome(503), 0)).toMatchObject({ answered: false, receivedAt, refusal: null })
  expect([200, 404, 429, 499, 500].map((status) => endingOf(outcome(status), 0).answered)).toEqual([
    true,
    true,
    true,
    true,
    false,
  ])
  expect(endingOf({ ...outcome(0), status: null, failure: 'refused' }, 0).answered).toBe(false)
  expect(endingOf(null, 7)).toEqual({ reading: null, answered: false, receivedAt: 7, refusal: null })
})
