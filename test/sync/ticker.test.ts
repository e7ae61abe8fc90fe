import { createTask, getTasks } from 'node-cron'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Clock, systemClock, virtualClock } from '../../src/base/clock.ts'
import { cronError, cronTicker } from '../../src/sync/schedule/node-cron.ts'
import { clockTicker, nextTick, periodSeconds } from '../../src/sync/schedule/ticker.ts'

const at = (text: string) => Date.parse(`2026-06-01T${text}Z`)

describe('a cron expression', () => {
  test('names instants in UTC', () => {
    expect(nextTick('*/2 * * * *', at('10:00:30'))).toBe(at('10:02:00'))
    expect(nextTick('7 * * * *', at('10:07:00'))).toBe(at('11:07:00'))
    expect(nextTick('*/20 * * * * *', at('10:00:25'))).toBe(at('10:00:40'))
    expect(nextTick('0 3 * * 1', at('10:00:00'))).toBe(Date.parse('2026-06-08T03:00:00Z'))
  })

  test('has a period', () => {
    expect(periodSeconds('* * * * *', at('10:00:00'))).toBe(60)
    expect(periodSeconds('27 * * * *', at('10:00:00'))).toBe(3600)
  })

  test('that comes less than once a month is none to watch by', () => {
    expect(nextTick('0 0 29 2 *', at('10:00:00'))).toBe(Number.POSITIVE_INFINITY)
  })

  test('leaves nothing behind, however often its next tick is asked for', () => {
    const before = getTasks().size
    const expressions = ['* * * * *', '*/7 * * * *', '13 4 * * *', '*/20 * * * * *']
    for (let minute = 0; minute < 2000; minute++) {
      for (const expression of expressions) periodSeconds(expression, at('10:00:30') + minute * 60_000)
    }
    expect(getTasks().size).toBe(before)
  })

  test('names the instants that node-cron rings at', () => {
    const expressions = [
      '*/5 * * * *',
      '0 0,12 1 */2 *',
      '0 3 * * 1-5',
      '30 4 1,15 * 5',
      '*/20 * * * * *',
      '0 * * * SUN',
    ]
    for (const expression of expressions) {
      const task = createTask(expression, () => undefined, { timezone: 'UTC' })
      const instants = Array.from({ length: 8 }, (_, nth) => at('10:00:30') + ((nth * 5) % 8) * 20_000_000)
      for (const instant of instants) {
        const next = nextTick(expression, instant)
        if (next === Number.POSITIVE_INFINITY) continue
        expect(next).toBeGreaterThan(instant)
        expect(task.match(new Date(next))).toBe(true)
        // The last of the instants that are named before it is not after `instant`.
        const step = expression.split(' ').length > 5 ? 1000 : 60_000
        for (let between = next - step; between > instant && between > next - 50 * step; between -= step)
          expect(task.match(new Date(between))).toBe(false)
      }
      void task.destroy()
    }
  })

  test('that is none is explained', () => {
    expect(cronError('61 * * * *')).toMatch(/minute/)
    expect(cronError('often')).toMatch(/5 or 6 fields/)
    expect(cronError('* * * * *')).toBeUndefined()
  })
})

test('a ticker of a virtual clock rings at every instant until it is silenced', async () => {
  const clock = virtualClock(at('10:00:30'))
  const rang: number[] = []
  const stop = clockTicker(clock)(
    'one',
    '* * * * *',
    () => rang.push(clock.now()),
    () => undefined,
  )
  await clock.advanceTo(at('10:03:10'))
  stop()
  await clock.advanceTo(at('10:10:00'))
  expect(rang).toEqual([at('10:01:00'), at('10:02:00'), at('10:03:00')])
})

describe("a ticker of the machine's clock", () => {
  /** Minutes after 10:00 at which it rings, or says that it missed to, while the clock is set as `step` does at 10:01. */
  async function ringing(expression: string, step: () => void, minutes: number) {
    vi.useFakeTimers({ now: at('10:00:10') })
    const rang: string[] = []
    const said = (what: string) => () => void rang.push(`${what} ${new Date().toISOString().slice(11, 16)}`)
    const clock: Clock = {
      now: () => Date.now(),
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          setTimeout(resolve, ms)
          signal?.addEventListener('abort', reject)
        }),
    }
    const stop = cronTicker(clock)('one', expression, said('rang'), said('missed'))
    onTestFinished(() => {
      stop()
      vi.useRealTimers()
    })
    await vi.advanceTimersByTimeAsync(50_000)
    step()
    await vi.advanceTimersByTimeAsync(minutes * 60_000)
    return [...new Set(rang)]
  }

  test('rings as ever while nobody sets it', async () => {
    expect(await ringing('*/5 * * * *', () => {}, 11)).toEqual(['rang 10:05', 'rang 10:10'])
  })

  test('says at once after a sleep that a tick was missed, and rings at the next one', async () => {
    const sleep = () => vi.setSystemTime(at('18:31:00'))
    expect(await ringing('0 */3 * * *', sleep, 180)).toEqual(['missed 18:31', 'rang 21:00'])
  })

  test('rings at the next instant by a clock that was set back', async () => {
    const setBack = () => vi.setSystemTime(at('09:01:00') - 365 * 86_400_000)
    expect(await ringing('0 * * * *', setBack, 130)).toEqual(['rang 10:00', 'rang 11:00'])
  })
})

test('a wait by the machine that is longer than one timer can be does not end at once', async () => {
  const ending = new AbortController()
  const waited = [2 ** 31, Number.POSITIVE_INFINITY].map((ms) =>
    systemClock.sleep(ms, ending.signal).then(
      () => 'over',
      () => 'aborted',
    ),
  )
  await systemClock.sleep(50)
  ending.abort()
  expect(await Promise.all(waited)).toEqual(['aborted', 'aborted'])
})
