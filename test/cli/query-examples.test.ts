import { expect, test } from 'vitest'
import { createItemWorld } from '../../src/sandbox/generator/world.ts'
import { runInside } from '../support/cli-inside.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'

test('the examples of query --list name what is in the database, and of it no player', async () => {
  const environment = { DATABASE_URL: await testDatabaseUrl() }
  const list = async () => (await runInside(['query', '--list'], environment)).out
  expect(await list()).toContain('gathering_near <material> <near_x> <near_z>')
  const { items, recipes, sets } = createItemWorld(1)
  const few = { items: items.slice(0, 50), recipes: recipes.slice(0, 20), sets }
  const api = await servedApi({ items: few, game: { guilds: 5, players: 20 } })
  expect(await runInside(['sync', '--base-url', api.url], environment)).toMatchObject({ code: 0 })
  const listed = await list()
  expect([...new Set(listed.match(/<\w+>/g))]).toEqual(['<player>'])
  expect(listed).toMatch(/ gathering_near \w+ -?\d+ -?\d+ /)
})
