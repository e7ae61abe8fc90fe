import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import { items } from '../../src/resources/items/index.ts'
import { PreparedBefore } from '../../src/sync/normalize/prepared-before.ts'
import { kindsAtNight, testDatabase } from '../support/postgres.ts'
import { contentOf, item, openWorld, worldOf } from '../support/world.ts'

const level = (name: string, at: unknown) => item(name, { requirements: { level: at } })

describe.each(kindsAtNight)('records that were in the response before, on the %s database', (kind) => {
  const world = worldOf(kind)
  const levels = () => world.rows('select internal_name, level, valid_from, valid_until from game.item order by 1, 3')

  test('are not normalized again', async () => {
    const before = new PreparedBefore()
    await world.sync(items, [level('Ash', 1), level('Elm', 1)], '10:00', { before })
    const normalized: unknown[] = []
    const normalize = (record: unknown) => {
      normalized.push(record)
      return items.normalize(record)
    }
    expect(
      await world.sync({ ...items, normalize }, [level('Ash', 1), level('Elm', 2)], '11:00', { before }),
    ).toMatchObject({
      changed: 1,
      unchanged: 1,
    })
    expect(normalized).toHaveLength(1)
  })

  test('are normalized again where a piece of them cannot be stored', async () => {
    const before = new PreparedBefore()
    const piece = { key: 'Ash/1', raw: 1, path: '/1', reason: 'is odd' }
    const normalize = (record: unknown) => ({ ...items.normalize(record), quarantined: [piece] })
    for (const at of ['10:00', '11:00'])
      expect((await world.sync({ ...items, normalize }, [level('Ash', 1)], at, { before })).status).toBe('partial')
  })

  test('are compared with what another process loaded in between', async () => {
    const before = new PreparedBefore()
    const [first, other] = [
      [level('Ash', 1), level('Elm', 1)],
      [level('Ash', 2), level('Elm', 1)],
    ]
    await world.sync(items, first, '10:00', { before })
    await world.sync(items, other, '11:00')
    expect(await world.sync(items, first, '12:00', { before })).toMatchObject({ changed: 1 })
    expect(await levels()).toEqual([
      ['Ash', 1, '10:00', '11:00'],
      ['Ash', 2, '11:00', '12:00'],
      ['Ash', 1, '12:00', 'infinity'],
      ['Elm', 1, '10:00', 'infinity'],
    ])
  })

  test('are compared again where the response before was rejected, or the database refused one of its records', async () => {
    const before = new PreparedBefore()
    const [ash, elm, oak] = [level('Ash', 1), level('Elm', 1), level('Oak', 1)]
    await world.sync(items, [ash, elm, oak], '10:00', { before })
    expect(await world.sync(items, [level('Ash', 2)], '11:00', { before })).toMatchObject({ status: 'rejected' })
    expect(await world.sync(items, [level('Ash', 2), elm, oak], '12:00', { before })).toMatchObject({ changed: 1 })
    await world.db.query('alter table game.item add constraint test_rule check (level <> 13)')
    try {
      const body = [level('Ash', 13), elm, oak]
      expect(await world.sync(items, body, '13:00', { before })).toMatchObject({ quarantined: 1, changed: 0 })
      expect(await world.sync(items, [...body, level('Yew', 1)], '14:00', { before })).toMatchObject({ quarantined: 1 })
    } finally {
      await world.db.query('alter table game.item drop constraint test_rule')
    }
    expect(await world.sync(items, [level('Ash', 13), elm, oak], '15:00', { before })).toMatchObject({ changed: 1 })
  })

  test('are compared where the response before contradicted itself about them', async () => {
    const before = new PreparedBefore()
    const [elm, ash] = [level('Elm', 1), level('Ash', 9)]
    await world.sync(items, [elm, level('Ash', 1)], '10:00', { before })
    expect(await world.sync(items, [elm, level('Ash', 2), ash], '11:00', { before })).toMatchObject({
      status: 'partial',
    })
    expect(await world.sync(items, [elm, ash], '12:00', { before })).toMatchObject({ changed: 1, unchanged: 1 })
  })

  test('come to the same as without that memory, whatever comes in which order', async () => {
    const random = seededRandom(5)
    const names = ['Ash', 'Elm', 'Oak', 'Yew', 'Fir', 'Bay', 'Box', 'Fig']
    const responses = Array.from({ length: 40 }, () =>
      names.flatMap((name) => {
        const draw = random()
        if (draw < 0.08) return []
        // Now and then a record that cannot be understood, and one that comes twice.
        const one = level(name, draw < 0.12 ? 'high' : Math.floor(draw * 3))
        return draw > 0.96 ? [one, level(name, 9)] : [one]
      }),
    )
    const play = async (before?: PreparedBefore) => {
      const another = await openWorld(await testDatabase(kind))
      const results = []
      for (const [nth, body] of responses.entries()) {
        const at = `${10 + Math.floor(nth / 12)} ${10 + (nth % 12)}:00`
        const options = { plausibleShare: 0, ...(before ? { before } : {}) }
        const { status, inserted, changed, closed, unchanged, quarantined } = await another.sync(
          items,
          body,
          at,
          options,
        )
        results.push({ status, inserted, changed, closed, unchanged, quarantined })
      }
      await another.api.close()
      await another.sandbox.close()
      return { results, content: await contentOf(another.db) }
    }
    const remembering = await play(new PreparedBefore())
    expect(remembering.results.some(({ quarantined }) => quarantined > 0)).toBe(true)
    expect(await play()).toEqual(remembering)
  })
})
