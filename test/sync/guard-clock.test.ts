import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { farAhead } from '../../src/sync/guard/clock.ts'
import { bothKinds } from '../support/postgres.ts'
import { instantOf, item, worldOf } from '../support/world.ts'

const year = 365 * 86_400_000
const minute = 60_000

describe('an answer that speaks for a far future is not believed', () => {
  const ahead = (observed: number, received: number) => ({ observedAt: year + observed, receivedAt: received })

  test('on its own, or from the same copy twice', () => {
    expect(farAhead(ahead(0, 0), undefined, undefined)).toContain('days ahead')
    expect(farAhead(ahead(0, 0), { observedAt: -minute, receivedAt: 0 }, undefined)).toContain('days ahead')
    expect(farAhead(ahead(0, minute), undefined, ahead(0, 0))).toContain('days ahead')
  })

  test('unless another one said so before it, or the clock of this machine is the one that is behind', () => {
    expect(farAhead(ahead(minute, minute), undefined, ahead(0, 0))).toBeUndefined()
    expect(farAhead(ahead(minute, minute), ahead(0, 0), undefined)).toBeUndefined()
    // Both disagree with this machine, and with each other.
    expect(farAhead(ahead(year, minute), undefined, ahead(0, 0))).toContain('days ahead')
  })

  test('but clocks may differ, and that of a sandbox may be moved by months', () => {
    expect(farAhead({ observedAt: year / 3, receivedAt: 0 }, undefined, undefined)).toBeUndefined()
    expect(farAhead(ahead(year / 3, minute), ahead(0, 0), undefined)).toBeUndefined()
  })
})

describe.each(bothKinds)('on the %s database', (kind) => {
  const world = worldOf(kind)
  const guards = () => world.rows('select guard from sync.guard_action')

  /** The API tells a year from now, in one answer. */
  const answerItems = (names: readonly string[], by: number) => {
    const expires = new Date(world.clock.now() + by + 60_000).toUTCString()
    const headers = { 'Cache-Control': 'max-age=60', Expires: expires }
    const body = names.map((name) => item(name))
    world.sandbox.setAnswer('/item/database', () => ({ headers, body }))
  }

  test('a year that is wrong once changes nothing, and the next answer is taken as ever', async () => {
    await world.sync(items, [item('Ash')], '10:00')
    await world.clock.advanceTo(instantOf('11:00'))
    answerItems(['Ash', 'Elm'], year)
    expect(await world.syncNow(items)).toMatchObject({ status: 'rejected', inserted: 0 })
    expect(await guards()).toEqual([['clock']])
    expect(await world.sync(items, [item('Ash'), item('Fir')], '12:00')).toMatchObject({ status: 'ok', inserted: 1 })
  })

  test('where the clock of this machine is a year behind, the second answer is taken', async () => {
    answerItems(['Ash'], year)
    expect(await world.syncNow(items)).toMatchObject({ status: 'rejected' })
    await world.clock.advance(60_000)
    answerItems(['Ash'], year)
    expect(await world.syncNow(items)).toMatchObject({ status: 'ok', inserted: 1 })
    await world.clock.advance(60_000)
    answerItems(['Ash', 'Elm'], year)
    expect(await world.syncNow(items)).toMatchObject({ status: 'ok', inserted: 1 })
  })
})
