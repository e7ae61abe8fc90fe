import { describe, expect, test } from 'vitest'
import type { Lane } from '../../src/api/http/request.ts'
import { available, expireAllReservations, transferOut, waitsForTurn } from '../../src/api/rate-limit/budget.ts'
import { emptyBudget, type PollCadence } from '../../src/api/rate-limit/budget-state.ts'
import {
  expireReservations,
  idleAt,
  markWaiting,
  pollsDue,
  recordPoll,
} from '../../src/api/rate-limit/budget-window.ts'
import { at, bucket, opened, reading } from './one-budget.ts'

describe('the lanes of a budget', () => {
  /** Live polls every ten seconds since second -40, each answered at once. */
  function polled(left: number) {
    const budget = bucket()
    for (const second of [-40, -30, -20, -10, 0]) {
      const poll = budget.take(second, 'live', '/map')
      budget.complete(poll, { ...reading(0, second < 0 ? 50 : left), resetAt: at(second < 0 ? 0 : 60) }, second)
    }
    return budget
  }

  test('leave a request for every live poll that is due before the window ends', () => {
    const budget = polled(20)
    // At 10, 20, 30, 40, 50 and 60: the window may last until 61. And two for polls that no cadence announces.
    expect([budget.available(1, 'live'), budget.available(1), budget.available(1, 'backfill')]).toEqual([20, 12, 12])
    expect(budget.remaining(1)).toBe(12)
    expect(budget.available(25)).toBe(20 - 4 - 2)
  })

  test('keep one request, not two, for the live polls that are due about when the window ends', () => {
    const budget = opened(20)
    for (const second of [14.7, 29.7, 44.7]) budget.ask(second, 'live', '/map')
    for (const second of [15, 30, 45]) budget.ask(second, 'live', '/player')
    // Expected again at 59.7 and 60; the window ends between 59 and 61. And two for polls that no cadence announces.
    expect([46, 56.9, 57, 60.5].map((second) => budget.available(second))).toEqual([10, 10, 13, 13])
    expect(budget.available(57, 'live')).toBe(14)
  })

  test.each([
    ['one for two that are due when it has ended, as the first of them opens the next', [14, 14.1], 13],
    ['none that is due after it has ended', [16.5], 17],
    ['one that is due before it can end, and no second', [12.5], 16],
  ])('keep in the last part of a window %s', (_name, firsts, room) => {
    const budget = opened(20)
    // Each route every 15 seconds; the window ends between 59 and 61.
    for (const [nth, first] of firsts.entries())
      for (const second of [first, first + 15, first + 30]) budget.ask(second, 'live', `/${nth}`)
    expect(budget.available(57)).toBe(room)
  })

  test('keep one for a live poll that found no room', () => {
    const budget = opened(1)
    budget.complete(budget.take(1), reading(1, 0), 1)
    expect(budget.ask(58, 'live', '/map')).toBeNull()
    expect(budget.state.cadences['/map']?.waiting).toEqual([at(58)])
    budget.complete(budget.take(61), reading(61, 20), 61)
    // And six that are expected every ten seconds, and two that nothing announces.
    expect(budget.available(62)).toBe(20 - 1 - 6 - 2)
  })

  test('leave two for live polls that nothing announces, until two seconds before the window can end', () => {
    const budget = opened(5)
    // Five seconds after the first request, which was a refresh.
    for (let turn = 0; turn < 3; turn++) budget.take(6, 'backfill')
    expect([budget.available(6, 'backfill'), budget.available(6, 'live')]).toEqual([0, 2])
    // It ends between 59 and 61.
    expect(budget.opensAt(6, 'backfill')).toBe(at(57))
    expect([budget.available(56.9, 'backfill'), budget.available(57, 'backfill')]).toEqual([0, 2])
    budget.take(30, 'live', '/map')
    expect([budget.available(31, 'backfill'), budget.available(31, 'live')]).toEqual([0, 1])
  })

  test('release them in the last tenth of a short window', () => {
    const budget = bucket()
    budget.complete(budget.take(50), reading(50, 5), 50)
    // The first response came at 50, the end is between 59 and 61.
    expect([budget.available(58, 'backfill'), budget.available(58.2, 'backfill')]).toEqual([3, 5])
  })

  test('let refreshes have them in a bucket without live polls', () => {
    const budget = opened(30)
    expect(budget.available(1)).toBe(30)
    budget.complete(budget.take(1, 'live', '/map'), reading(1, 20), 1)
    // Every ten seconds, until there is a second poll.
    expect(budget.available(2)).toBe(20 - 6 - 2)
  })

  test('let a live poll look soon for room that a response of another process may bring', () => {
    const budget = opened(2)
    const [one, two] = [budget.take(1, 'live'), budget.take(1, 'live')]
    expect(budget.ask(1, 'live', '/map')).toBeNull()
    const lookIn = (lane: Lane, own: readonly string[]) => budget.lookIn(1, lane, own)
    expect([lookIn('live', [one.id]), lookIn('live', [one.id, two.id]), lookIn('backfill', [])]).toEqual([
      200,
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ])
    // The server had counted the second request before it counted the first.
    budget.complete(one, reading(1, 1), 1)
    budget.complete(two, reading(1, 1), 1)
    expect(budget.available(1, 'live')).toBe(1)
  })

  test('do not look for room that no response can bring', () => {
    const budget = opened(2)
    const [one] = [budget.take(1, 'live'), budget.take(1, 'live')]
    budget.complete(one, reading(1, 0), 1)
    expect(budget.lookIn(1, 'live')).toBe(Number.POSITIVE_INFINITY)
  })

  test('look soon while another process sends the first request of a window, and each second while it may', () => {
    const budget = bucket()
    const { id } = budget.take(0, 'live')
    expect([budget.lookIn(1, 'refresh'), budget.lookIn(1, 'refresh', [id])]).toEqual([200, Number.POSITIVE_INFINITY])
    expect(budget.lookIn(61, 'live')).toBe(1000)
  })

  test('keep one for a live poll that is late, and none for one that was given up', () => {
    const budget = polled(20)
    budget.complete(budget.take(10, 'live', '/map'), reading(10, 19), 10)
    expect([budget.available(40), budget.available(46)]).toEqual([19 - 3 - 2, 19])
    const early = opened(20)
    early.complete(early.take(1, 'live', '/map'), reading(1, 19), 1)
    early.complete(early.take(7, 'live', '/map'), reading(7, 18), 7)
    expect([early.available(29), early.available(31)]).toEqual([18 - 6 - 2, 18])
  })

  test('do not take a repeat, or a second request of the same poll, for a beat', () => {
    const budget = polled(20)
    budget.complete(budget.take(2, 'live', '/map'), reading(2, 19), 2)
    budget.complete(budget.take(4, 'live'), reading(4, 18), 4)
    expect(budget.state.cadences['/map']).toMatchObject({ lastAt: at(0), everyMs: 10_000 })
  })

  test('share a window four to one while refreshes and backfills both want requests', () => {
    const budget = opened(50)
    budget.ask(0, 'backfill')
    budget.ask(0, 'refresh')
    const given = { refresh: 0, backfill: 0 }
    for (let turn = 0; turn < 60; turn++) if (budget.ask(0, 'refresh')) given.refresh++
    expect([budget.available(0), waitsForTurn(budget.state, at(0), 'refresh')]).toEqual([0, true])
    for (let turn = 0; turn < 60; turn++) if (budget.ask(0, 'backfill')) given.backfill++
    // And two that the window keeps for live polls.
    expect(given).toEqual({ refresh: 39, backfill: 7 })
  })

  test('leave refreshes four of five where backfills ask first', () => {
    const budget = opened(50)
    const given = { refresh: 0, backfill: 0 }
    for (let turn = 0; turn < 60; turn++) if (budget.ask(0, 'backfill')) given.backfill++
    expect(budget.remaining(0)).toBe(40)
    for (let turn = 0; turn < 60; turn++) if (budget.ask(0, 'refresh')) given.refresh++
    expect(given).toEqual({ refresh: 40, backfill: 10 })
  })

  test('are told apart in what a window allows refreshes', () => {
    const budget = opened(49)
    budget.take(0)
    expect([budget.remaining(0), budget.available(0, 'backfill')]).toEqual([48, 9])
  })

  test('share nothing in a window of ten seconds', () => {
    const budget = opened(20, 49)
    expect(budget.available(49, 'backfill')).toBe(20 - 2)
  })

  test('let a backfill have what refreshes leave, the later in the window the more', () => {
    const budget = opened(50)
    budget.complete(budget.take(0), reading(0, 49), 0)
    budget.complete(budget.take(20), reading(20, 48), 20)
    const soon = budget.available(21, 'backfill')
    // Five seconds after the last refresh nobody wants any.
    expect([soon, budget.available(26, 'backfill')]).toEqual([48 - 23, 48 - 2])
    budget.complete(budget.take(48), reading(48, 47), 48)
    expect([budget.available(48, 'backfill'), budget.available(50, 'backfill')]).toEqual([44, 45])
  })

  test('remember until the next window that a lane asked in vain', () => {
    const budget = opened(1, 30)
    budget.take(30)
    expect(budget.ask(31, 'backfill')).toBeNull()
    expect(budget.state.wantedUntil.backfill).toBe(at(61) + 5000)
    expect(budget.opensAt(31, 'backfill')).toBe(at(61))
  })
})

describe('a reservation', () => {
  const two = () => {
    const budget = opened(10)
    return { budget, tickets: [budget.take(1, 'live', '/map'), budget.take(2)] as const }
  }

  test('moves alone, or with all that a bucket holds that nothing has named', () => {
    const { budget, tickets } = two()
    const [first, second] = tickets
    const alone = transferOut(budget.state, first, { all: false })
    expect(alone.result).toEqual({ reservations: [first], cadences: {} })
    expect(alone.state).toEqual({ ...budget.state, reservations: [second] })
    const whole = transferOut(budget.state, second, { all: true })
    expect(whole.result).toEqual({ reservations: [second, first], cadences: budget.state.cadences })
    expect(whole.state).toEqual({ ...budget.state, reservations: [] })
    expect(Object.keys(whole.result.cadences)).toEqual(['/map'])
  })

  test('ends with the process that made it: the server has counted those of the window', () => {
    const { budget } = two()
    const ended = expireAllReservations(budget.state, at(3))
    expect([ended.reservations, ended.probe, ended.window?.remaining]).toEqual([[], null, 8])
    const first = bucket()
    first.take(0)
    expect(available(expireAllReservations(first.state, at(1)), at(1), 'refresh')).toBe(1)
  })
})

describe('polls', () => {
  const route = '/map'
  const cadence = (lastAt: number, everyMs: number | null, more: Partial<PollCadence> = {}) => ({
    [route]: { lastAt: at(lastAt), everyMs, between: [], waiting: [], ...more },
  })
  const polled = (...seconds: number[]) =>
    seconds.reduce((known, second) => recordPoll(known, route, at(second)), {} as ReturnType<typeof recordPoll>)

  test('have an interval that follows slowly, and others in between', () => {
    expect(polled(0)).toEqual(cadence(0, null))
    expect(polled(0, 10)).toEqual(cadence(10, 10_000))
    expect(polled(0, 10, 22)).toEqual(cadence(22, 10_500))
    // The same poll again, and one that is too soon.
    expect(polled(0, 10, 10)).toEqual(cadence(10, 10_000))
    expect(polled(0, 4.9)).toEqual(cadence(0, null, { between: [at(4.9)] }))
    expect(polled(0, 5)).toEqual(cadence(5, 5000))
    expect(polled(0, 10, 17.4, 17.4)).toEqual(cadence(10, 10_000, { between: [at(17.4)] }))
    expect(polled(0, 10, 17.5)).toEqual(cadence(17.5, 9375))
    // Of the last two minutes only.
    expect(polled(0, 1000, 1100, 1219)).toEqual(cadence(1000, 1_000_000, { between: [at(1100), at(1219)] }))
    expect(polled(0, 1000, 1100, 1220)).toEqual(cadence(1000, 1_000_000, { between: [at(1220)] }))
    expect(polled(0, 9000)).toEqual(cadence(9000, 3_600_000))
  })

  test('wait for room until their caller has given up', () => {
    const known = cadence(0, null)
    expect(markWaiting(known, '/other', at(0), true)).toBe(known)
    expect(markWaiting(known, route, at(0), false)).toBe(known)
    const waits = markWaiting(known, route, at(0), true)
    expect(waits).toEqual(cadence(0, null, { waiting: [at(0)] }))
    expect(markWaiting(waits, route, at(0), true)).toBe(waits)
    expect(markWaiting(waits, route, at(29), true)).toEqual(cadence(0, null, { waiting: [at(0), at(29)] }))
    expect(markWaiting(waits, route, at(30), true)).toEqual(cadence(0, null, { waiting: [at(30)] }))
    expect(markWaiting(waits, route, at(0), false)).toEqual(known)
  })

  test.each([
    // A route that was polled once is expected again soon, a little early, for a minute.
    ['once', cadence(0, null), 1, 9.2, 0],
    ['once', cadence(0, null), 1, 9.3, 1],
    ['once', cadence(0, null), 1, 18.5, 2],
    ['once, long ago', cadence(0, null), 59.9, 65, 1],
    ['once, too long ago', cadence(0, null), 60, 65, 0],
    ['each half minute', cadence(0, 30_000), 1, 27.6, 0],
    ['each half minute', cadence(0, 30_000), 1, 27.7, 1],
    ['each half minute, and late', cadence(0, 30_000), 40, 41, 1],
    ['each half minute, and very late', cadence(0, 30_000), 61, 62, 1],
    ['in between a minute before', cadence(0, 600_000, { between: [at(10)] }), 60, 70, 0],
    ['in between a minute before', cadence(0, 600_000, { between: [at(10)] }), 60, 70.1, 1],
    ['in between, and a little late', cadence(0, 600_000, { between: [at(10)] }), 74.9, 90, 1],
    ['in between, and given up', cadence(0, 600_000, { between: [at(10)] }), 75, 90, 0],
    ['in between, and has come', cadence(0, 600_000, { between: [at(10), at(66)] }), 67, 90, 0],
    ['in between, and another has come', cadence(0, 600_000, { between: [at(10), at(64.9)] }), 66, 90, 1],
    [
      'in between, and another has come five seconds before',
      cadence(0, 600_000, { between: [at(10), at(65)] }),
      66,
      90,
      1,
    ],
    ['and waits', cadence(0, 600_000, { waiting: [at(10), at(20)] }), 39.9, 41, 2],
    ['and no longer waits', cadence(0, 600_000, { waiting: [at(10), at(20)] }), 40, 41, 1],
  ])('are due: %s (%#)', (_name, cadences, now, end, due) => {
    expect(pollsDue(cadences, at(now), at(end))).toBe(due)
  })

  test('are due when the interval says, where they are predicted punctually', () => {
    const due = (end: number) => pollsDue(cadence(0, 30_000), at(1), at(end), { punctual: true })
    expect([due(30), due(30.1), due(59.9), due(60)]).toEqual([0, 1, 1, 2])
  })

  test('of a route are forgotten after three intervals without one', () => {
    const [known, once] = Object.values({ ...cadence(0, 30_000), once: cadence(0, null)[route] })
    expect(known && idleAt(known)).toBe(at(95))
    expect(once && idleAt(once)).toBe(at(3 * 3600 + 5))
    const state = { ...emptyBudget, cadences: cadence(0, 30_000) }
    expect(Object.keys(expireReservations(state, at(94.9)).cadences)).toEqual([route])
    expect(Object.keys(expireReservations(state, at(95)).cadences)).toEqual([])
  })
})
