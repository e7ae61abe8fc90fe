import { getTableName } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { resources } from '../../src/resources/index.ts'
import { isWorklist } from '../../src/sync/declare/resource.ts'
import { smallItemWorld } from '../support/item-world.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const combinations = kindsAtNight.flatMap((kind) =>
  (['live', 'documented'] as const).map((dialect) => [kind, dialect] as const),
)

describe.each(combinations)('on the %s database, from the sandbox in the %s dialect', (kind, dialect) => {
  const game = { guilds: 20, players: 60, resourceSeconds: 86_400 }
  const world = worldOf(kind, { sandbox: { dialect, game, items: smallItemWorld() } })

  test('each of the resources is synced without a record that cannot be read', async () => {
    for (const resource of resources) {
      const run = await world.syncNow(resource)
      expect([resource.name, run]).toMatchObject([resource.name, { status: 'ok', quarantined: 0, rejected: 0 }])
    }
    const filled = Object.keys(await world.rowCounts())
    expect(filled).toEqual(expect.arrayContaining(resources.map(({ history }) => `game.${getTableName(history.root)}`)))
    expect(await world.rows('select resource, path from sync.drift')).toEqual([])
  })

  const deep = (around: string) => `${around.repeat(10_000)}1${'}'.repeat(10_000)}`
  const odd = ['[null]', '{"a":null}', deep('{"a":'), deep('{"a":0,"a":')]

  test('a body of another kind writes nothing, whichever resource', async () => {
    // Boards have their turns, and each of a worklist's keys has a path of its own.
    for (const resource of resources.filter((each) => !isWorklist(each) && each.name !== 'leaderboards')) {
      const before = world.sandbox.requests.length
      await world.syncNow(resource)
      const paths = new Set(world.sandbox.requests.slice(before).map(({ path }) => path))
      const outcomes: unknown[] = []
      for (const body of odd) {
        await world.clock.advanceTo(world.clock.now() + 2 * 3_600_000)
        for (const path of paths) world.sandbox.setAnswer(path, () => ({ body }))
        const { inserted, changed, closed, events, status, error } = await world.syncNow(resource)
        outcomes.push([
          inserted,
          changed,
          closed,
          events,
          ['failed', 'rejected', 'partial'].includes(status),
          /stack/.test(error ?? ''),
        ])
      }
      for (const path of paths) world.sandbox.setAnswer(path, null)
      expect([resource.name, ...outcomes]).toEqual([resource.name, ...odd.map(() => [0, 0, 0, 0, true, false])])
    }
  }, 300_000)
})
