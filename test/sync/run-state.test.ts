import { describe, expect, test } from 'vitest'
import { noCounts } from '../../src/sync/ledger/ledger.ts'
import type { GuardAction } from '../../src/sync/respond/guard-actions.ts'
import type { Outcome } from '../../src/sync/respond/record-outcome.ts'
import { advance, allowance, failureOf, noProgress, type ProgressEvent } from '../../src/sync/run/run-resource.ts'
import { addMissed, addOutcome, emptySummary, reasonOf, rejectKeys, statusOf } from '../../src/sync/run/worklist-run.ts'
import type { Refusal, RefusalState } from '../../src/sync/worklist/refusals.ts'
import { addKey, endOfKeys, noRefusals, takeReady } from '../../src/sync/worklist/run-refusals.ts'

const error = new Error('no response')
const progressAfter = (...events: readonly ProgressEvent[]) => events.reduce(advance, noProgress)
const claim: ProgressEvent = { type: 'claim' }
const failure: ProgressEvent = { type: 'failure', error }

describe('the progress of a run over a worklist', () => {
  test('allows one key until a response shows the budget, then what the budget has beside the requests in flight', () => {
    expect(allowance(noProgress, { budget: 40 })).toBe(1)
    expect(allowance(progressAfter(claim, { type: 'outcome' }), { budget: 40 })).toBe(40)
    expect(allowance(progressAfter(claim, { type: 'outcome' }, claim, claim), { budget: 40 })).toBe(38)
    expect(allowance(progressAfter(claim), { budget: null })).toBe(49)
  })

  test('allows no more than was left of the window of the first response, however many windows follow', () => {
    const first = progressAfter(claim, { type: 'outcome' }, { type: 'budget', left: 2 })
    expect(allowance(first, { budget: 2 })).toBe(2)
    const next = [claim, claim, { type: 'outcome' }, { type: 'budget', left: 49 }] as const
    const later = next.reduce<typeof first>(advance, first)
    expect(allowance(later, { budget: 49 })).toBe(0)
  })

  test('is bounded by the named keys, the limit or the deadline', () => {
    expect(allowance(progressAfter(claim), { named: 3, budget: 0 })).toBe(2)
    expect(allowance(progressAfter(claim), { limit: 1, budget: 40 })).toBe(0)
    expect(allowance(progressAfter(claim, { type: 'no key' }), { limit: 1, budget: 40 })).toBe(1)
    expect(allowance(progressAfter(claim), { beforeDeadline: true, limit: 1, budget: 0 })).toBe(1)
    expect(allowance(progressAfter(claim), { beforeDeadline: false, budget: 40 })).toBe(0)
  })

  test('ends with the fifth failure in a row, or when all of a few keys failed', () => {
    const four = [claim, failure, claim, failure, claim, failure, claim, failure]
    expect(failureOf(progressAfter(claim, { type: 'outcome' }, ...four))).toBeUndefined()
    expect(failureOf(progressAfter(claim, { type: 'outcome' }, ...four, claim, failure))).toBe(error)
    expect(failureOf(progressAfter(...four))).toBe(error)
    expect(failureOf(progressAfter(...four, claim, { type: 'outcome' }))).toBeUndefined()
  })

  test('counts as in flight what neither came, nor failed, nor was given up', () => {
    const ended: ProgressEvent[] = [{ type: 'no key' }, { type: 'outcome' }, failure, { type: 'aborted' }]
    expect(ended.map((end) => progressAfter(claim, claim, end).inFlight)).toEqual([1, 1, 1, 1])
    expect(
      allowance(progressAfter(claim, claim, { type: 'outcome' }, { type: 'budget', left: 3 }), { budget: 9 }),
    ).toBe(2)
    expect(failureOf(noProgress)).toBeUndefined()
    expect(failureOf({ ...noProgress, lastFailure: error })).toBeUndefined()
  })

  test('keeps what ended it first', () => {
    expect(failureOf(progressAfter({ type: 'fatal', error }, { type: 'fatal', error: new Error('later') }))).toBe(error)
    expect(progressAfter(claim, { type: 'aborted' })).toMatchObject({ requested: 1, inFlight: 0, failures: 0 })
  })
})

const at = new Date('2026-06-01T10:00:00Z')
const outcome = (given: Partial<Outcome>): Outcome => ({
  ...noCounts,
  resource: 'r',
  key: 'k',
  runId: '1',
  status: 'unchanged',
  reason: null,
  at,
  observedAt: at,
  guarded: [],
  drift: [],
  people: 'none',
  ...given,
})

describe('the summary of a run over a worklist', () => {
  test('adds up counts, and has the latest instant of an accepted response', () => {
    const later = new Date(at.getTime() + 1000)
    const outcomes = [
      outcome({ status: 'ok', records: 1, inserted: 2 }),
      outcome({ status: 'stale', observedAt: later }),
    ]
    const summary = outcomes.reduce(addOutcome, emptySummary)
    expect(summary).toMatchObject({ counts: { ...noCounts, records: 1, inserted: 2 }, observedAt: at.getTime() })
    expect(statusOf(summary)).toBe('ok')
  })

  test('is stale when every response was, and partial when a key was missed', () => {
    const stale = addOutcome(emptySummary, outcome({ status: 'stale' }))
    expect(statusOf(stale)).toBe('stale')
    expect(statusOf(addOutcome(stale, outcome({})))).toBe('unchanged')
    expect(statusOf(addMissed(stale, 'k', 'no response'))).toBe('partial')
  })

  test('is that of its worst response: partial for what was rejected, quarantined or missed, ok for what is new', () => {
    const statusAfter = (given: Partial<Outcome>) => statusOf(addOutcome(emptySummary, outcome(given)))
    for (const given of [
      { rejected: 1 },
      { quarantined: 1 },
      { status: 'partial' as const },
      { rejected: 1, inserted: 2 },
    ])
      expect(statusAfter(given)).toBe('partial')
    for (const given of [
      { inserted: 1 },
      { changed: 1 },
      { closed: 1 },
      { events: 1 },
      { changed: 1, closed: 1, events: 1 },
    ])
      expect(statusAfter(given)).toBe('ok')
    expect([statusAfter({}), statusOf(emptySummary), statusAfter({ status: 'failed' })]).toEqual([
      'unchanged',
      'unchanged',
      'unchanged',
    ])
    const undated = addOutcome(emptySummary, outcome({ status: 'ok', observedAt: null }))
    expect([undated.observedAt, emptySummary.guarded, emptySummary.reasons]).toEqual([0, [], []])
  })

  test('keeps each guard action and reason, once for each response', () => {
    const action = (reason: string): GuardAction => ({ guard: 'header', action: 'ignored', reason })
    const first = addOutcome(
      emptySummary,
      outcome({ key: 'a', guarded: [action('one'), action('two')], reason: 'odd' }),
    )
    const both = addOutcome(addOutcome(first, outcome({})), outcome({ guarded: [action('three')] }))
    expect(both.guarded.map(({ reason }) => reason)).toEqual(['one', 'two', 'three'])
    expect([reasonOf(both), reasonOf(emptySummary)]).toEqual(['a: odd', null])
    const rejected = rejectKeys(both, 2, action('many'))
    expect(rejected.guarded.map(({ reason }) => reason)).toEqual(['one', 'two', 'three', 'many'])
    expect(rejected.counts).toEqual({ ...noCounts, rejected: 2 })
  })

  test('names the first five reasons, that of a rejection before all, and none of refusals', () => {
    const missed = ['a', 'b', 'c', 'd', 'e', 'f'].reduce((summary, key) => addMissed(summary, key, 'x'), emptySummary)
    expect(reasonOf(missed)).toBe('a: x; b: x; c: x; d: x; e: x')
    const rejected = rejectKeys(missed, 6, { guard: 'mass-refusal', action: 'stopped', reason: 'many' })
    expect(reasonOf(rejected)).toBe('many; a: x; b: x; c: x; d: x')
    expect(statusOf(rejected)).toBe('rejected')
    expect(reasonOf(addOutcome(emptySummary, { ...outcome({ reason: 'private' }), refusal: {} } as Outcome))).toBeNull()
  })
})

describe('the refusals of a run', () => {
  const refusal = (key: string, state: RefusalState['state'], wasShown = true): Refusal & RefusalState => {
    return { key, kind: 'gone', at: 0, receivedAt: 0, state, wasShown }
  }
  const shown = (state = noRefusals, times = 1) =>
    Array.from({ length: times }).reduce<typeof noRefusals>((sum, _, nth) => addKey(sum, `s${nth}`, undefined), state)

  test('are ready once so many other keys have responded', () => {
    const held = addKey(shown(), 'a', refusal('a', 'confirmed'))
    expect(takeReady(held, 2).ready).toEqual([])
    const { state, ready } = takeReady(shown(held, 2), 2)
    expect(ready.map(({ key }) => key)).toEqual(['a'])
    expect(takeReady(state, 0).ready).toEqual([])
  })

  test('stop the run when three known keys in a row are refused, unless a person accepts that', () => {
    const three = (accept: boolean) =>
      ['a', 'b', 'c'].reduce((sum, key) => addKey(sum, key, refusal(key, 'confirmed'), accept), shown())
    expect(three(false).massRefusal).toBe('3 keys in a row were refused')
    expect(takeReady(three(false), 0).ready).toEqual([])
    expect(takeReady(three(true), 0).ready).toHaveLength(3)
  })

  test('are held back apart from others, and once concluded are none', () => {
    const first = shown(addKey(shown(), 'a', refusal('a', 'confirmed')), 5)
    const { state, ready } = takeReady(addKey(first, 'b', refusal('b', 'confirmed')), 5)
    expect([ready.map(({ key }) => key), state.held.map(({ refusal: { key } }) => key)]).toEqual([['a'], ['b']])
    expect([...state.refused]).toEqual(['a', 'b'])
    expect(addKey(state, 'c', refusal('c', 'concluded'))).toBe(state)
    expect([noRefusals.held, takeReady(shown(state, 5), 5).ready.map(({ key }) => key)]).toEqual([[], ['b']])
  })

  test('of what was never shown stop the run only where they hide, and five of them in a row', () => {
    const neverShown = (count: number, more: Partial<Refusal & RefusalState>) =>
      Array.from({ length: count }).reduce<typeof noRefusals>(
        (sum, _, nth) => addKey(sum, `k${nth}`, { ...refusal(`k${nth}`, 'pending', false), ...more }),
        noRefusals,
      )
    expect(neverShown(30, {}).massRefusal).toBeUndefined()
    expect(neverShown(4, { kind: 'hidden' }).massRefusal).toBeUndefined()
    expect(neverShown(5, { kind: 'hidden' }).massRefusal).toBe('5 keys in a row were refused')
    expect(neverShown(30, { kind: 'hidden', isExpected: true }).massRefusal).toBeUndefined()
    // One that was shown among them makes three enough.
    expect(addKey(neverShown(2, { kind: 'hidden' }), 'x', refusal('x', 'pending')).massRefusal).toMatch(
      /^3 keys in a row/,
    )
  })

  test('are counted among the last twenty keys, of which one that is refused again is one', () => {
    const refuse = (state: typeof noRefusals, ...keys: readonly string[]) =>
      keys.reduce((sum, key) => shown(addKey(sum, key, refusal(key, 'pending'))), state)
    expect(refuse(shown(), 'a', 'b', 'c').massRefusal).toBeUndefined()
    // Three of twenty are less than a fifth, four are not; a window that is not full decides nothing.
    expect(refuse(shown(noRefusals, 14), 'a', 'b', 'c').massRefusal).toBeUndefined()
    expect(refuse(shown(noRefusals, 12), 'a', 'b', 'c', 'd').massRefusal).toBe('4 of 20 keys were refused')
    expect(refuse(shown(noRefusals, 11), 'a', 'b', 'c', 'd').massRefusal).toBeUndefined()
    expect(refuse(shown(noRefusals, 12), 'a', 'b', 'c', 'c').massRefusal).toBeUndefined()
    // What lies further back than twenty is forgotten.
    const accepted = (shownAfter: number) =>
      Array.from({ length: 10 + shownAfter }).reduce<typeof noRefusals>(
        (sum, _, nth) => addKey(sum, `k${nth}`, nth < 10 ? refusal(`k${nth}`, 'pending') : undefined, true),
        noRefusals,
      )
    expect(refuse(accepted(20), 'a').massRefusal).toBeUndefined()
    expect(refuse(accepted(15), 'a').massRefusal).toBe('5 of 20 keys were refused')
  })

  test('count with those of earlier runs, and a verdict stays', () => {
    const earlier = ['y', 'z'].map((key) => ({ key, response: 'refused' as const, runId: '1' }))
    const third = addKey(noRefusals, 'a', refusal('a', 'pending'), false, earlier)
    expect(third.massRefusal).toBe('3 keys in a row were refused')
    expect(addKey(noRefusals, 'a', refusal('a', 'pending'), true, earlier).massRefusal).toBeUndefined()
    expect(shown(third, 30).massRefusal).toBe(third.massRefusal)
    expect(addKey(noRefusals, 'a', undefined, false, earlier).window).toHaveLength(3)
  })

  test('count at the end of a short run as in a full window', () => {
    const some = ['a', 'b', 'c'].reduce((sum, key) => shown(addKey(sum, key, refusal(key, 'pending'))), shown())
    expect(some.massRefusal).toBeUndefined()
    expect(endOfKeys(some).massRefusal).toBe('3 of 7 keys were refused')
  })
})
