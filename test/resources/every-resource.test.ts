import { getTableName } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { resources } from '../../src/resources/index.ts'
import { smallItemWorld } from '../support/item-world.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const combinations = kindsOfPart.flatMap((kind) =>
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
})
