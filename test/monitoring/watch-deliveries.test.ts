import { describe, expect, test } from 'vitest'
import { readDeliveries } from '../../src/monitoring/watches/delivery-state.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { openReceiver } from '../support/receiver.ts'
import { instantOf } from '../support/world.ts'
import { watchedWorld } from './watched-world.ts'

const minute = 60_000
// biome-ignore lint/suspicious/noExplicitAny: bodies of any kind
type Body = any

describe.each(kindsAtNight)('watches whose receivers fail, wait or come back, on the %s database,', (kind) => {
  const { world, watched, oak, setBack } = watchedWorld(kind)

  test('repeat what failed with the same key until the receiver takes it, or for a day', async () => {
    let status = 500
    const receiver = await openReceiver(
      () => status,
      (answered) => (answered === 429 ? { 'retry-after': '90' } : {}),
    )
    await oak('a', '09:00', '10:00')
    const target = { type: 'discord', url: receiver.url }
    const { watching, warnings } = await watched([{ name: 'all', events: ['captured'], groupSeconds: 0, target }])
    await oak('b', '10:30', '11:00')
    await watching.look()
    await watching.look()
    expect(receiver.got).toHaveLength(1)
    expect(warnings).toEqual(['watch all: status 500'])
    await world.clock.advanceTo(instantOf('11:00:05'))
    status = 429
    await watching.look()
    await world.clock.advanceTo(instantOf('11:01:30'))
    await watching.look()
    expect(receiver.got).toHaveLength(2)
    // A capture that comes meanwhile is another message, after it.
    await oak('a', '11:01', '11:01:34')
    status = 204
    await world.clock.advanceTo(instantOf('11:01:35'))
    for (let times = 0; times < 3; times++) await watching.look()
    const keys = receiver.headers.map((headers) => headers['idempotency-key'])
    expect([new Set(keys.slice(0, 3)).size, new Set(keys).size, keys.length]).toEqual([1, 2, 4])
    expect(await readDeliveries(world.db)).toMatchObject([
      { number: 3, sending: null, failingSince: null, error: null },
    ])
    status = 404
    await oak('b', '11:30', '11:31')
    const until = instantOf('02 14:00')
    while (world.clock.now() < until) {
      await watching.look()
      await world.clock.advanceTo(world.clock.now() + 10 * minute)
    }
    expect(receiver.got.length).toBeLessThan(70)
    expect(warnings.at(-1)).toBe('watch all: status 404; the message is given up')
    expect(await readDeliveries(world.db)).toMatchObject([{ number: 4, sending: null, error: 'status 404' }])
  })

  test('repeat what failed, or was to wait, at once by a clock that was set back by a day', async () => {
    let status = 429
    const receiver = await openReceiver(
      () => status,
      () => ({ 'retry-after': '90' }),
    )
    await oak('a', '09:00', '10:00')
    const target = { type: 'webhook', url: receiver.url }
    const { watching } = await watched([{ name: 'all', events: ['captured'], groupSeconds: 0, target }])
    await oak('b', '10:30', '11:00')
    await watching.look()
    status = 204
    setBack(1440 * minute)
    for (const at of ['11:00:05', '11:00:10']) {
      await world.clock.advanceTo(instantOf(at))
      await watching.look()
    }
    expect(receiver.got).toHaveLength(2)
    expect(await readDeliveries(world.db)).toMatchObject([{ sending: null, error: null }])
  })

  test('send everything of the last day, in order, to a receiver that comes back after days', async () => {
    let status = 204
    const receiver = await openReceiver(() => status)
    await oak('a', '09:00', '10:00')
    const target = { type: 'webhook', url: receiver.url }
    const { watching } = await watched([{ name: 'all', events: ['captured'], groupSeconds: 0, target }])
    const lookUntil = async (at: string) => {
      for (let next = world.clock.now(); next < instantOf(at); next = world.clock.now() + 30 * minute) {
        await world.clock.advanceTo(next)
        await watching.look()
      }
    }
    status = 503
    for (const [letter, acquired, at, until] of [
      ['b', '10:30', '11:00', '02 09:30'],
      ['a', '02 09:00', '02 09:30', '02 13:30'],
      ['b', '02 13:00', '02 13:30', '03 08:30'],
      ['a', '03 08:00', '03 08:30', '03 12:15'],
    ] as const) {
      await oak(letter, acquired, at)
      await lookUntil(until)
    }
    const failed = receiver.got.length
    status = 204
    await lookUntil('03 13:15')
    const sent = receiver.got.slice(failed).flatMap((body: Body) => body.events.map((event: Body) => event.at))
    expect(sent).toEqual(['02 13:00', '03 08:00'].map((at) => new Date(instantOf(at)).toISOString()))
    expect(await readDeliveries(world.db)).toMatchObject([{ number: 5, sending: null, failingSince: null }])
  })

  test('wait until the date that a receiver names, by its own clock', async () => {
    const noon = Date.UTC(2031, 0, 1, 12)
    const date = (seconds: number) => new Date(noon + 1000 * seconds).toUTCString()
    const receiver = await openReceiver(
      (nth) => (nth === 0 ? 503 : 204),
      (status) => (status === 503 ? { date: date(0), 'retry-after': date(600) } : {}),
    )
    await oak('a', '09:00', '10:00')
    const target = { type: 'webhook', url: receiver.url }
    const { watching } = await watched([{ name: 'all', events: ['captured'], groupSeconds: 0, target }])
    await oak('b', '10:30', '11:00')
    await watching.look()
    await world.clock.advanceTo(instantOf('11:09:59'))
    await watching.look()
    expect(receiver.got).toHaveLength(1)
    await world.clock.advanceTo(instantOf('11:10:00'))
    await watching.look()
    expect(receiver.got).toHaveLength(2)
  })

  test('send nothing that is older than a day, after the process was away or the database came back from a backup', async () => {
    const receiver = await openReceiver()
    await oak('a', '09:00', '10:00')
    const target = { type: 'webhook', url: receiver.url }
    const { watching, warnings } = await watched([
      { name: 'all', events: ['captured'], quiet: '10:00-12:00', groupSeconds: 0, target },
    ])
    await oak('b', '10:30', '11:00')
    await watching.look()
    await world.clock.advanceTo(instantOf('04 13:00'))
    await watching.look()
    await oak('a', '04 13:00', '04 13:10')
    await watching.look()
    expect(receiver.got.flatMap((body: Body) => body.events.map((event: Body) => event.at))).toEqual([
      new Date(instantOf('04 13:00')).toISOString(),
    ])
    expect(warnings).toEqual([])
  })

  test('wait as long as Discord says when nothing is left of its limit, though it took the message', async () => {
    let left = 0
    const receiver = await openReceiver(
      () => 204,
      () => ({ 'x-ratelimit-remaining': String(left), 'x-ratelimit-reset-after': '120.5' }),
    )
    await oak('a', '09:00', '10:00')
    const target = { type: 'discord', url: receiver.url }
    const { watching, warnings } = await watched([{ name: 'all', events: ['captured'], groupSeconds: 0, target }])
    await oak('b', '10:30', '11:00')
    await watching.look()
    await oak('a', '11:00', '11:01')
    for (const time of ['11:01:01', '11:02:00']) {
      await world.clock.advanceTo(instantOf(time))
      await watching.look()
      expect([time, receiver.got.length]).toEqual([time, 1])
    }
    left = 5
    await world.clock.advanceTo(instantOf('11:02:01'))
    await watching.look()
    expect(receiver.got).toHaveLength(2)
    await oak('b', '11:02', '11:02:02')
    await watching.look()
    expect([receiver.got.length, warnings]).toEqual([3, []])
  })
})
