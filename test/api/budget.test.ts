import { describe, expect, test } from 'vitest'
import type { Lane } from '../../src/api/http/request.ts'
import {
  available,
  expireAllReservations,
  PROBE_LASTS,
  RESERVATION_LASTS,
  reserve,
  transferOut,
  waitsForTurn,
} from '../../src/api/rate-limit/budget.ts'
import {
  emptyBudget,
  type PollCadence,
  type Reservation,
  readBudgetState,
} from '../../src/api/rate-limit/budget-state.ts'
import {
  expireReservations,
  idleAt,
  markWaiting,
  pollsDue,
  recordPoll,
} from '../../src/api/rate-limit/budget-window.ts'
import { at, bucket, opened, reading } from './one-budget.ts'

describe('a budget', () => {
  test('counts what ended in silence, although later answers do not', () => {
    const budget = opened(49)
    const tickets = Array.from({ length: 4 }, () => budget.take(1))
    for (const [nth, ticket] of tickets.entries()) budget.complete(ticket, null, 2 + nth, false)
    expect(budget.available(6)).toBe(45)
    // The server counted two requests, and six were sent.
    budget.complete(budget.take(7), reading(7, 48), 7)
    expect(budget.available(7)).toBe(44)
    budget.complete(budget.take(62), reading(62, 49), 62)
    expect(budget.available(62)).toBe(49)
  })

  test('counts in a window what ended in silence before its first answer', () => {
    const budget = bucket()
    budget.complete(budget.take(0), null, 0, false)
    budget.complete(budget.take(2), null, 2, false)
    budget.complete(budget.take(4), reading(4, 49), 4)
    expect(budget.available(4)).toBe(47)
  })

  test('lets one request go first, and no other until it is answered', () => {
    const budget = bucket()
    expect(budget.available(0)).toBe(1)
    const probe = budget.take(0)
    expect([budget.available(0), budget.available(0, 'live')]).toEqual([0, 0])
    expect(budget.ask(0)).toBeNull()
    budget.complete(probe, reading(1, 49), 1)
    expect(budget.available(1)).toBe(49)
  })

  test('lets another one go at the pace of the limit when the first brought no answer', () => {
    const budget = bucket()
    budget.complete(budget.take(0), null, 1, false)
    expect(budget.opensAt(1)).toBe(at(2.2))
    expect([budget.available(2.1), budget.available(2.2)]).toEqual([0, 1])
    budget.complete(budget.take(2.2), reading(3, 30), 3)
    expect(budget.available(3)).toBe(29)
  })

  test.each([1, 4, 8, 19])(
    'never sends more than the limit in a minute that begins with %i failures of the window before',
    (tail) => {
      const budget = bucket(20)
      // The window ends within about a second after the minute: of requests until then nobody can say where they count.
      const first = budget.take(34)
      budget.complete(first, { bucket: 'GUILD', limit: 20, remaining: 19, resetAt: at(60.25), resetSlack: 1000 }, 34.25)
      let sent = 0
      for (let tenth = 600; tenth < 1200; tenth++) {
        const second = tenth / 10
        while ((second >= 61.25 || sent < tail) && budget.available(second) > 0) {
          budget.complete(budget.take(second), null, second + 0.1, false)
          sent += 1
        }
      }
      expect(sent).toBeGreaterThanOrEqual(Math.min(15, tail))
      expect(sent).toBeLessThanOrEqual(20)
      expect(budget.available(125)).toBe(1)
    },
  )

  test('never sends more than the limit in any minute while nothing but failures come', () => {
    const budget = bucket(20)
    const sent: number[] = []
    for (let second = 0; second < 300; second += 0.5) {
      if (budget.available(second) === 0) continue
      sent.push(second)
      budget.complete(budget.take(second), null, second, false)
    }
    const inMinute = (begin: number) => sent.filter((one) => one >= begin && one < begin + 60).length
    expect(Math.max(...sent.map(inMinute))).toBe(20)
  })

  test('lets another one go ten seconds after a first one that nobody hears of again', () => {
    const budget = bucket()
    budget.take(0)
    expect(budget.opensAt(1)).toBe(at(0) + PROBE_LASTS)
    expect([budget.available(9.9), budget.available(10)]).toEqual([0, 1])
    const second = budget.take(10)
    expect(budget.available(10)).toBe(0)
    budget.complete(second, reading(10, 30), 10)
    expect(budget.available(10)).toBe(29)
  })

  test('counts every request in flight and loses nothing when the answers are in', () => {
    const budget = opened(10)
    const tickets = Array.from({ length: 8 }, () => budget.take(1))
    expect(budget.available(1)).toBe(2)
    tickets.forEach((ticket, index) => {
      budget.complete(ticket, reading(2, 9 - index), 2)
      expect(budget.available(2)).toBe(2)
    })
  })

  test('what a dead process had in flight lapses, and its late answer changes nothing twice', () => {
    const budget = opened(10)
    const lost = budget.take(1)
    budget.complete(budget.take(61), reading(61, 40), 61)
    expect([budget.available(61), budget.available(90.9), budget.available(91)]).toEqual([39, 39, 40])
    budget.complete(budget.take(91), reading(91, 20), 91)
    budget.complete(lost, reading(1, 8), 92)
    budget.complete(lost, null, 92)
    expect(budget.available(92)).toBe(20)
    expect(RESERVATION_LASTS).toBe(90_000)
  })

  test('what lapses in the window it was taken in was counted by the server', () => {
    const budget = bucket()
    const long = { ...reading(0, 10), resetAt: at(115) }
    budget.complete(budget.take(0), long, 0)
    budget.take(1)
    expect([budget.available(90), budget.available(92)]).toEqual([9, 9])
  })

  test('a step that is repeated changes nothing more', () => {
    const budget = opened(10)
    const first = budget.take(1)
    const again = reserve(budget.state, { id: first.id, lane: 'refresh', poll: null }, at(1))
    expect(again.result).toEqual(first)
    expect(available(again.state, at(1), 'refresh')).toBe(9)
    budget.take(1)
    budget.complete(first, null, 1)
    budget.complete(first, null, 1)
    expect(budget.available(1)).toBe(8)
  })

  test('what was never sent is given back', () => {
    const budget = bucket()
    budget.release(budget.take(0), 0)
    expect(budget.available(0)).toBe(1)
    budget.complete(budget.take(0), reading(0, 5), 0)
    budget.release(budget.take(1), 1)
    expect(budget.available(1)).toBe(5)
  })

  test('a request that ran before its bucket was known counts in it from then on', () => {
    const [unknown, known] = [bucket(), opened(10)]
    const early = unknown.take(1, 'live', '/map')
    known.transferIn(unknown.state, 2)
    known.transferIn(unknown.state, 2)
    expect(known.available(2, 'live')).toBe(9)
    expect(known.state.cadences).toEqual({ '/map': { lastAt: at(1), everyMs: null, between: [], waiting: [] } })
    known.complete(early, null, 3)
    expect(known.available(3, 'live')).toBe(9)
  })

  test('what moves to a bucket leaves what that holds', () => {
    const [unknown, known] = [bucket(), opened(10)]
    known.take(2, 'live')
    unknown.take(1, 'live')
    unknown.take(11, 'live')
    known.transferIn(unknown.state, 12)
    known.transferIn(unknown.state, 12)
    expect(known.available(12, 'live')).toBe(7)
  })

  test('answers out of order never raise what remains', () => {
    const budget = opened(10)
    const [one, two, three] = [budget.take(1), budget.take(1), budget.take(1)]
    budget.complete(three, reading(2, 7), 2)
    expect(budget.available(2)).toBe(5)
    budget.complete(one, reading(2, 9), 2)
    budget.complete(two, reading(2, 8), 2)
    expect(budget.available(2)).toBe(7)
  })

  test('somebody else on the same address lowers it', () => {
    const budget = opened(40)
    budget.complete(budget.take(1), reading(1, 3), 1)
    expect(budget.available(1)).toBe(3)
  })

  test('after the window only one request goes out until its answer tells the new numbers', () => {
    const budget = opened(0, 30)
    expect(budget.available(30)).toBe(0)
    expect(budget.opensAt(30)).toBe(at(61))
    expect(budget.available(60.9)).toBe(0)
    expect(budget.available(61)).toBe(1)
    const probe = budget.take(61)
    expect(budget.available(61)).toBe(0)
    budget.complete(probe, reading(61, 20), 61)
    expect(budget.available(61)).toBe(20)
  })

  test('a slow answer of the old window says nothing about the new one', () => {
    const budget = opened(50)
    const slow = budget.take(1)
    budget.complete(budget.take(59), reading(59, 0), 59)
    expect(budget.available(61)).toBe(1)
    const probe = budget.take(61)
    // Its headers were written at second 1, and it arrived at second 62 with "59 seconds left".
    budget.complete(slow, { ...reading(1, 49), resetAt: at(62 + 59) }, 62)
    expect(budget.available(62)).toBe(0)
    budget.complete(probe, reading(62, 5), 62)
    expect(budget.available(62)).toBe(5)
  })

  test('a slow answer within the window does not pass for a later window', () => {
    const budget = opened(50)
    const slow = budget.take(1)
    budget.complete(budget.take(20), reading(20, 1), 20)
    budget.complete(slow, { ...reading(1, 49), resetAt: at(25 + 59) }, 25)
    expect(budget.available(25)).toBe(1)
    expect(budget.opensAt(25)).toBeLessThanOrEqual(at(61))
  })

  test('an answer of a later window replaces the old numbers before our own timer fires', () => {
    const budget = opened(0)
    budget.observe(reading(60.5, 42), 60.4, 60.5)
    expect(budget.available(60.5)).toBe(42)
  })

  test('a missing remaining counts one, and is not zero', () => {
    const budget = opened(10)
    budget.complete(budget.take(1), reading(1, null), 1)
    expect(budget.available(1)).toBe(9)
  })

  test('a failed request counts, since the server may have counted it', () => {
    const budget = opened(10)
    budget.complete(budget.take(1), null, 2, false)
    expect(budget.available(2)).toBe(9)
  })

  test('without headers it counts its own requests per minute of the clock', () => {
    const budget = bucket(5)
    for (let sent = 0; sent < 5; sent++) budget.complete(budget.take(10), null, 10)
    expect([budget.available(10), budget.remaining(10)]).toEqual([0, null])
    expect(budget.opensAt(10)).toBe(at(61))
    expect(budget.available(61)).toBe(1)
  })

  test('headers that come after all replace the assumption', () => {
    const budget = bucket(5)
    budget.complete(budget.take(10), null, 10)
    budget.complete(budget.take(10), reading(10, 90, 120), 10)
    expect(budget.available(10)).toBe(90)
  })

  test('a block ends with one request, whatever was said before', () => {
    const budget = opened(40)
    const late = budget.take(5)
    budget.block(9, 5)
    expect([budget.available(8), budget.available(8, 'live'), budget.remaining(8)]).toEqual([0, 0, 0])
    expect(budget.opensAt(8)).toBe(at(9))
    budget.complete(late, reading(6, 30), 6)
    expect(budget.available(8)).toBe(0)
    expect(budget.available(9)).toBe(1)
    const probe = budget.take(9)
    expect(budget.available(9)).toBe(0)
    budget.complete(probe, reading(10, 12), 10)
    expect(budget.available(10)).toBe(12)
  })

  describe('stored while the clock was a day ahead', () => {
    const day = 86_405
    test.each([
      ['an open window', () => opened(0, day)],
      [
        'a block',
        () => {
          const budget = opened(40, day)
          budget.block(day + 120, day + 5)
          return budget
        },
      ],
      [
        'a first request without a response',
        () => {
          const budget = bucket()
          budget.take(day)
          return budget
        },
      ],
    ])('has room again once it is set back: %s', (_name, make) => {
      const budget = make()
      expect([budget.available(day + 9), budget.available(10)]).toEqual([0, 1])
      budget.complete(budget.take(10), reading(10, 49), 10)
      expect(budget.available(10)).toBe(49)
    })

    test('counts neither its requests, nor its lanes, nor its live polls', () => {
      const budget = bucket()
      budget.complete(budget.take(day, 'live', '/map'), reading(day, 20), day)
      for (let turn = 0; turn < 4; turn++) budget.complete(budget.take(day + 1), null, day + 2, false)
      budget.ask(day + 3, 'backfill')
      budget.complete(budget.take(10), reading(10, 40), 10)
      expect([budget.available(10), budget.available(10, 'live'), budget.state.uncounted]).toEqual([40, 40, []])
      expect(budget.state.cadences).toEqual({})
    })
  })

  test('keeps a window and a block of the longest kind, by a clock that is two minutes behind', () => {
    const budget = bucket()
    budget.complete(budget.take(120), { ...reading(120, 0), resetAt: at(240) }, 120)
    expect(budget.available(1)).toBe(0)
    budget.block(240, 120)
    expect(budget.available(1)).toBe(0)
  })

  test('corrects a window whose end was far ahead by the next response, and counts in it as told', () => {
    const budget = bucket()
    budget.complete(budget.take(1), { ...reading(1, 49), resetAt: at(121) }, 1)
    expect(budget.available(2)).toBe(49)
    budget.complete(budget.take(2), reading(2, 20), 3)
    expect(budget.available(3)).toBe(20)
    for (let turn = 0; turn < 20; turn++) budget.take(3)
    expect(budget.opensAt(3)).toBe(at(61))
  })

  test('takes no later window from a header before the running one can have ended, and counts what is in flight', () => {
    const budget = opened(10)
    const [lied, ...others] = [10, 10, 10].map((second) => budget.take(second)) as [
      Reservation,
      Reservation,
      Reservation,
    ]
    budget.complete(lied, { ...reading(11, 9), resetAt: at(131) }, 11)
    for (const [nth, one] of others.entries()) budget.complete(one, reading(11, 8 - nth), 11)
    expect([budget.available(12), budget.state.window?.latest]).toEqual([7, at(61)])
  })

  test('a limit of 0 leaves a first request every minute', () => {
    const budget = bucket()
    budget.complete(budget.take(0), reading(0, null, 0), 0)
    budget.complete(budget.take(61), null, 61, false)
    expect([budget.available(100), budget.available(121)]).toEqual([0, 1])
  })

  test('that nothing is known about can be stored, and has room for one', () => {
    expect(readBudgetState(emptyBudget)).toEqual(emptyBudget)
    expect(available(emptyBudget, at(0), 'backfill')).toBe(1)
  })

  test('a stored state that cannot be read counts as none', () => {
    expect(readBudgetState({ ...emptyBudget, window: { remaining: 'many' } })).toBeNull()
    expect(readBudgetState(null)).toBeNull()
  })
})

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
