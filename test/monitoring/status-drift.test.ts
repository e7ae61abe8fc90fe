import { beforeAll, expect, test } from 'vitest'
import { buildProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { item } from '../support/world.ts'

beforeAll(buildProgram)

test('wynnsync status --drift names each thing once, with where and when, as a table and as JSON', async () => {
  const api = await servedApi()
  const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
  const none = await runInside(['status', '--drift'], environment)
  expect(none).toMatchObject({ code: 0, out: 'No drift: the API sends nothing unknown.\n' })
  serveItems(api, [item('Elm', { novelty: { deep: 1 }, tier: 'cosmic' }), item('Oak', { novelty: 2, tier: 'cosmic' })])
  await runInside(['sync', 'items'], environment)
  const { code, out } = await runInside(['status', '--drift'], environment)
  expect(code).toBe(0)
  expect(out).toMatch(/items +\/novelty +unknown 2026-06-01T\d\d:\d\dZ +Elm +\{"deep":1\}/)
  expect(out).toMatch(/items +\/tier +"cosmic" unknown/)
  const { drift } = JSON.parse((await runInside(['status', '--drift', '--json'], environment)).out)
  expect(drift).toEqual([
    expect.objectContaining({ resource: 'items', path: '/novelty', member: null, example: { deep: 1 } }),
    expect.objectContaining({ resource: 'items', path: '/tier', member: 'cosmic' }),
  ])
})
