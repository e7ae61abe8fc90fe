import { expect, test } from 'vitest'
import {
  type BackfillEvent,
  type BackfillState,
  initialState,
  nextStep,
  reduce,
} from '../../src/sync/backfill/backfill-state.ts'

const after = (state: BackfillState, ...events: readonly BackfillEvent[]) => events.reduce(reduce, state)
const begun = (limit = Number.POSITIVE_INFINITY, concurrency = 2) => initialState({ limit, concurrency })
const claimed = (...keys: string[]): BackfillEvent => ({ type: 'claimed', keys })
const requested = (key: string): BackfillEvent => ({ type: 'requested', key })
const response = (key: string): BackfillEvent => ({ type: 'response', key })
const failed = (key: string, cause: 'temporary' | 'refused' | 'fatal' = 'temporary'): BackfillEvent => ({
  type: 'failed',
  key,
  cause,
  error: new Error(`${key} is ${cause}`),
})
const recovered = (wasAway: boolean): BackfillEvent => ({ type: 'recovered', wasAway })
const thrice = (key: string): BackfillEvent[] => [1, 2, 3].flatMap(() => [requested(key), failed(key)])

test('claims keys, requests them up to the concurrency, and then waits', () => {
  expect(nextStep(begun())).toEqual({ type: 'claim', limit: 20, except: [] })
  const one = after(begun(), claimed('a', 'b', 'c'), requested('a'))
  expect(nextStep(one)).toEqual({ type: 'request', key: 'b', isRetry: false })
  expect(nextStep(after(one, requested('b')))).toEqual({ type: 'wait' })
  expect(nextStep(after(one, requested('b'), response('a')))).toEqual({ type: 'request', key: 'c', isRetry: false })
})

test('claims no more than the limit leaves, and ends there', () => {
  const one = after(begun(2), claimed('a'), requested('a'), response('a'))
  expect(nextStep(one)).toEqual({ type: 'claim', limit: 1, except: [] })
  expect(nextStep(after(one, claimed('b'), requested('b'), response('b')))).toEqual({ type: 'end' })
})

test('counts what is open when no key is free, and looks for keys again after the wait', () => {
  const none = after(begun(), claimed())
  expect(nextStep(none)).toEqual({ type: 'count', except: [] })
  expect(nextStep(after(none, { type: 'waited' }))).toMatchObject({ type: 'claim' })
})

test('requests a key that failed after all others, and counts it once', () => {
  const state = after(begun(), claimed('a', 'b'), requested('a'), failed('a'))
  expect(nextStep(state)).toEqual({ type: 'request', key: 'b', isRetry: false })
  const alone = after(state, requested('b'), response('b'), claimed())
  expect(nextStep(alone)).toEqual({ type: 'request', key: 'a', isRetry: true })
  expect(after(alone, requested('a'))).toMatchObject({ requested: 2, retries: [], running: ['a'] })
  expect(nextStep(after(alone, { type: 'retry-dropped' }))).toMatchObject({ type: 'count' })
})

test('gives a key up after three failures, unless the service was away meanwhile', () => {
  const state = after(begun(), claimed('a'), ...thrice('a'))
  expect(nextStep(state)).toEqual({ type: 'recover' })
  const alone = after(state, recovered(false), claimed())
  expect(alone.givenUp).toEqual([{ key: 'a', reason: 'a is temporary' }])
  expect(nextStep(alone)).toEqual({ type: 'count', except: ['a'] })
  const outage = after(state, recovered(true), claimed())
  expect(nextStep(outage)).toEqual({ type: 'request', key: 'a', isRetry: true })
  expect(after(outage, requested('a'))).toMatchObject({ requested: 1 })
})

test('recovers after five failures in a row, of which one response makes none, and claims anew', () => {
  const failures = ['a', 'b', 'c', 'd'].flatMap((key) => [requested(key), failed(key)])
  const four = after(begun(), claimed('a', 'b', 'c', 'd', 'e', 'f'), ...failures)
  expect(nextStep(after(four, requested('e'), response('e'), requested('f'), failed('f')))).not.toEqual({
    type: 'recover',
  })
  const five = after(four, requested('e'), failed('e'))
  expect(nextStep(five)).toEqual({ type: 'recover' })
  expect(nextStep(after(five, recovered(true)))).toMatchObject({ type: 'claim', except: ['a', 'b', 'c', 'd', 'e'] })
})

test('recovers when a statement failed because the database was away', () => {
  expect(nextStep(after(begun(), { type: 'interrupted' }))).toEqual({ type: 'recover' })
})

test('gives up at once a key that the API refuses, and ends when it refuses five in a row or the credential', () => {
  const keys = ['a', 'b', 'c', 'd', 'e']
  const one = after(begun(), claimed(...keys), requested('a'), failed('a', 'refused'))
  expect(one.givenUp).toEqual([{ key: 'a', reason: 'a is refused' }])
  expect(nextStep(one)).toMatchObject({ type: 'request', key: 'b' })
  const all = after(begun(), claimed(...keys), ...keys.flatMap((key) => [requested(key), failed(key, 'refused')]))
  expect(nextStep(all)).toEqual({ type: 'end' })
  expect(nextStep(after(one, requested('b'), failed('b', 'fatal')))).toEqual({ type: 'end' })
})
