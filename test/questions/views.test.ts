import { readFileSync } from 'node:fs'
import { type Column, getViewName, getViewSelectedFields, type InferSelectViewModel } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { openServer } from '../../src/db/server/server.ts'
import { readDictionary } from '../../src/questions/dictionary.ts'
import * as views from '../../src/questions/views.ts'
import { viewsModule } from '../../src/questions/views-module.ts'
import { latestNews } from '../../src/resources/latest-news/index.ts'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { openScene, type Scene, start, syncEverything } from '../end-to-end/faults/scene.ts'
import { testDatabaseUrl } from '../support/postgres.ts'

const { analytics: _, ...all } = views
const hour = 3_600_000

/** Whether a value is of the type that its column declares. */
function fits(value: unknown, { dataType }: Column): boolean {
  if (dataType === 'date') return value instanceof Date && !Number.isNaN(value.getTime())
  if (dataType === 'array') return Array.isArray(value)
  return dataType === 'json' || typeof value === dataType
}

let url: string
let db: Database
let scene: Scene

beforeAll(async () => {
  url = await testDatabaseUrl()
  db = await openServer(url)
  scene = await openScene(db)
  await syncEverything(scene)
  await scene.playTo(start + 2 * hour, [start + hour])
  await syncEverything(scene)
  for (const resource of [lootPools, latestNews]) await scene.world.syncNow(resource)
})

afterAll(async () => {
  await scene?.close()
  await db?.close()
})

describe('the views that wynnsync/schema declares for drizzle', () => {
  test('are those of the database (npm run generate writes them)', async () => {
    const { questions } = await readDictionary(db)
    expect(viewsModule(questions)).toBe(readFileSync('src/questions/views.ts', 'utf8'))
  })

  test('has the columns of a patch in the order of the contract, also where they stood in another', async () => {
    const columns = `select array_agg(attname::text order by attnum) from pg_attribute where attrelid = 'analytics.patch'::regclass`
    const [[now]] = (await db.values(columns)) as [[string[]]]
    expect(now).toEqual([
      'patch',
      'started_at',
      'items_added',
      'items_changed',
      'items_removed',
      'recipes_changed',
      'abilities_changed',
      'aspects_changed',
      'quests_changed',
      'nearest_article',
      'kind',
      'technical_changes',
      'ended_at',
      'not_before',
    ])
    const before = [...now.slice(0, 6), 'ended_at', ...now.slice(6).filter((name) => name !== 'ended_at')]
    const [[body]] = (await db.values(`select pg_get_viewdef('analytics.patch'::regclass)`)) as [[string]]
    const old = `select ${before.join(', ')} from (${body.replace(/;\s*$/, '')}) patch`
    await db.query(`drop view analytics.patch; create view analytics.patch as ${old}`)
    await db.query(readFileSync('src/questions/sql/14-patch.sql', 'utf8'))
    expect(await db.values(columns)).toEqual([[now]])
  })

  test('a column of a type without a builder is an error that names the type', () => {
    const columns = [{ name: 'at', type: 'point', comment: null }]
    const view = { name: 'world', kind: 'view', comment: null, parameters: [], columns } as const
    expect(() => viewsModule([view])).toThrow('no drizzle builder is known for the type point')
  })

  test('give every row of every view, in the types they declare', async () => {
    const client = postgres(url, { max: 1 })
    const user = drizzle(client)
    const empty: string[] = []
    try {
      for (const view of Object.values(all)) {
        const name = getViewName(view)
        const rows = await user.select().from(view)
        const [{ count } = { count: 0 }] = await db.query<{ count: number }>(
          `select count(*)::int from analytics.${name}`,
        )
        expect([name, rows.length]).toEqual([name, count])
        if (rows.length === 0) empty.push(name)
        const wrong = Object.entries(getViewSelectedFields(view)).flatMap(([property, column]) => {
          const values = rows.map((row) => (row as Record<string, unknown>)[property])
          return values
            .filter((value) => value !== null && !fits(value, column))
            .map((value) => [name, property, value])
        })
        expect(wrong).toEqual([])
      }
    } finally {
      await client.end()
    }
    // Two hours of the game bring none of these.
    const rare = [
      'ability_change',
      'aspect_change',
      'membership_event',
      'quest_change',
      'recipe_change',
      'world_lifecycle',
    ]
    expect(rare).toEqual(expect.arrayContaining(empty))
  })

  test('have types that a program can rely on', () => {
    type Hold = InferSelectViewModel<typeof views.territoryHold>
    const hold: Pick<Hold, 'territory' | 'heldFrom' | 'isCurrent'> = {
      territory: 'Oak',
      heldFrom: new Date(0),
      isCurrent: true,
    }
    const contributed: InferSelectViewModel<typeof views.guildMember>['contributed'] = 4e12
    // @ts-expect-error an instant is a Date
    const wrong: Hold['heldFrom'] = '2026-06-01'
    expect([hold.territory, contributed, wrong]).toHaveLength(3)
  })
})
