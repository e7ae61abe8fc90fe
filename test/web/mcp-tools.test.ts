import { beforeAll, describe, expect, test } from 'vitest'
import { sourcesOf } from '../../src/analytics/asking/sources.ts'
import { topics } from '../../src/analytics/catalogue.ts'
import { readQuestions } from '../../src/analytics/questions.ts'
import { explained } from '../../src/cli/commands/query/query-list.ts'
import { resources } from '../../src/resources/index.ts'
import { nameFinders as finders } from '../../src/resources/key-names.ts'
import { tablesOf } from '../../src/sync/replay/replayed-tables.ts'
import type { Api } from '../../src/web/api/routes.ts'
import { servedQuestions } from '../../src/web/api/served-questions.ts'
import { callTool } from '../../src/web/mcp/tools.ts'
import { openReader } from '../../src/web/reading.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { webWorld } from '../support/web-world.ts'

describe.each(kindsOfPart)('tools of assistants on the %s database', (kind) => {
  const lived = webWorld(kind)
  let context: Api
  beforeAll(async () => {
    const { db, clock } = lived.world
    const reader = await openReader(db, 5000)
    context = { reader, finders, clock, version: '1', served: servedQuestions(reader, clock, true) }
  })
  const call = async (name: string, given: object = {}) => JSON.parse(await callTool(context, name, given))

  test('say how completely the resources of the question were observed in its own period', async () => {
    const period = { from_time: '2026-06-01T10:00Z', to_time: '2026-06-01T12:00Z' }
    const whole = await call('capture_matrix', period)
    expect(whole.coverage).toEqual([
      { resource: 'territories', from: '2026-06-01T10:00:00.000Z', to: '2026-06-01T12:00:00.000Z', coverage: 1 },
    ])
    expect(whole.freshness).toEqual([expect.objectContaining({ resource: 'territories' })])
    const partly = await call('capture_matrix', { from_time: '2026-06-01T10:00Z', to_time: '2026-06-01T17:00Z' })
    expect(partly.coverage[0].coverage).toBeCloseTo(3 / 7, 1)
    const [blind] = (await call('map_at', { at: '2026-06-01T16:00Z' })).coverage
    expect(blind).toMatchObject({ from: '2026-06-01T15:00:00.000Z', to: '2026-06-01T16:00:00.000Z', coverage: 0 })
    const history = await call('item_change')
    expect(history.coverage).toEqual([
      expect.objectContaining({ resource: 'items', from: '2026-06-01T10:00:00.000Z', coverage: expect.any(Number) }),
    ])
    expect((await call('coverage', { resource: 'items', ...period })).freshness).toHaveLength(1)
    expect(await call('freshness')).toMatchObject({ coverage: [], freshness: [] })
  })

  test('take one value for an argument, a list only where a column holds lists, and nothing for null', async () => {
    expect((await call('territory_capture', { territory: 'Oak', order: null, limit: 1 })).rows).toHaveLength(1)
    const [member] = (await call('guild_member')).rows.filter(
      ({ restricted }: { restricted: string[] }) => restricted.length > 0,
    )
    const same = await call('guild_member', { restricted: member.restricted })
    expect(same.rows).toContainEqual(member)
    for (const territory of [['Oak', 'Elm'], { name: 'Oak' }, []])
      await expect(call('territory_capture', { territory })).rejects.toThrow('territory takes one value')
    await expect(call('guild_territory_count', { step: '1 second' })).rejects.toThrow('step must be')
  })

  test('know of each question resources that fill a table it reads', async () => {
    const questions = await readQuestions(lived.world.db)
    const named = topics.flatMap(({ names }) => names).filter((name) => !/^(coverage|freshness)$/.test(name))
    for (const question of questions.filter(({ name }) => named.includes(name))) {
      const { madeFrom } = await lived.world.db.transaction((sql) => explained(sql, question))
      const sources = sourcesOf(question, [])
      expect([question.name, sources.length > 0]).toEqual([question.name, true])
      const fitting = sources.filter((source) => {
        const resource = resources.find(({ name }) => name === source)
        // Changes of all resources are in one table.
        return resource && ['game.field_change', ...tablesOf(resource)].some((table) => madeFrom.includes(table))
      })
      expect([question.name, fitting]).toEqual([question.name, sources])
    }
  })
})
