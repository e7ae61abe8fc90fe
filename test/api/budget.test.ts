import { describe, expect, test } from 'vitest'
import { available, PROBE_LASTS, RESERVATION_LASTS, reserve } from '../../src/api/rate-limit/budget.ts'
import { emptyBudget, type Reservation, readBudgetState } from '../../src/api/rate-limit/budget-state.ts'
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

    test('believes the reset that headers say, which it did not for an hour', () => {
      const budget = bucket()
      const short = { wait: 10_000, contradictsHeaders: false }
      budget.complete(budget.take(day), reading(day, 20), day)
      budget.refuse(budget.take(day + 1), short, day + 1)
      budget.refuse(budget.take(day + 12), short, day + 12)
      expect(budget.state.resetDistrustedUntil).toBe(at(day + 12 + 3600))
      budget.complete(budget.take(10), reading(10, 49), 10)
      expect(budget.state.resetDistrustedUntil).toBe(0)
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
