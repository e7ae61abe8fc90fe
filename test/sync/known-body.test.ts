import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { itemSets } from '../../src/resources/item-sets/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { recipes } from '../../src/resources/recipes/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import type { Resource } from '../../src/sync/declare/resource.ts'
import type { RunResult } from '../../src/sync/run/run-result.ts'
import { kindsAtNight, testDatabase } from '../support/postgres.ts'
import {
  emptyTables,
  headersOf,
  incomplete,
  instantOf,
  item,
  openWorld,
  type SyncOptions,
  tableNames,
  type World,
} from '../support/world.ts'

/** One response: what it holds, when it comes, which instant it speaks for where that is another one. */
interface Step {
  readonly body: unknown
  readonly at: string
  readonly of?: string
  readonly options?: SyncOptions
  /** Whether its records are read although the body is the last one. */
  readonly isParsed?: boolean
}

const [ash, elm, oak] = [item('Ash'), item('Elm'), item('Oak')]
const all = [ash, elm, oak]
const bad = { internalName: 'Bad', type: 7 }

/** A territory that its guild has held since an instant. */
const held = (acquired: string, stored = 10) => ({
  Detlas: {
    guild: { uuid: '11111111-1111-4111-8111-111111111111', name: 'Blue', prefix: 'BLU' },
    acquired,
    resources: [{ type: 'ORE', generation: 5, stored, limit: 100 }],
    location: { start: [0, 0], end: [9, 9] },
  },
})

const early = '2026-06-01T09:00:00.000000Z'
const series: readonly (readonly [string, Resource, readonly Step[]])[] = [
  [
    'that comes again, as a copy, late, changed, in another order and as it was before',
    items,
    [
      { body: all, at: '10:00', isParsed: true },
      { body: all, at: '11:00' },
      { body: all, at: '11:00' },
      { body: all, at: '11:10', of: '10:30', isParsed: true },
      { body: [ash, elm, item('Oak', { level: 1 })], at: '12:00', isParsed: true },
      { body: all, at: '13:00', isParsed: true },
      { body: all, at: '14:00' },
      { body: [oak, elm, ash], at: '15:00', isParsed: true },
      { body: [oak, elm, ash], at: '16:00' },
      { body: [oak, elm, ash], at: '02 00:10', isParsed: true },
      { body: [oak, elm, ash], at: '02 01:10' },
    ],
  ],
  [
    'that lacks a key: the same body again confirms that it is gone',
    items,
    [
      { body: all, at: '10:00', isParsed: true },
      { body: [ash, elm], at: '11:00', isParsed: true },
      { body: [ash, elm], at: '11:00', isParsed: true },
      { body: [ash, elm], at: '12:00', isParsed: true },
      { body: [ash, elm], at: '13:00' },
    ],
  ],
  [
    'of which a record is in quarantine, or that is not all there is',
    items,
    [
      { body: [...all, bad], at: '10:00', isParsed: true },
      { body: [...all, bad], at: '11:00', isParsed: true },
      { body: incomplete(all), at: '12:00', options: { walk: true }, isParsed: true },
      { body: incomplete(all), at: '13:00', options: { walk: true }, isParsed: true },
    ],
  ],
  [
    'that was rejected, and is accepted by a person',
    items,
    [
      { body: all, at: '10:00', isParsed: true },
      { body: [ash], at: '11:00', isParsed: true },
      { body: [ash], at: '12:00', options: { accept: true }, isParsed: true },
      { body: [ash], at: '13:00', isParsed: true },
      { body: [ash], at: '14:00' },
      { body: all, at: '15:00', isParsed: true },
    ],
  ],
  [
    'whose clock is wrong',
    items,
    [
      { body: all, at: '10:00', isParsed: true },
      { body: all, at: '10:30', of: '20 10:30', isParsed: true, options: { clock: 'both' } },
      {
        body: [ash, elm, item('Oak', { level: 1 })],
        at: '11:00',
        of: '20 11:00',
        options: { clock: 'both' },
        isParsed: true,
      },
      { body: all, at: '13:00', of: '13:40', options: { clock: 'both' } },
      { body: all, at: '14:00' },
    ],
  ],
  [
    'whose clock was ahead and alone decided, and is right again',
    items,
    [
      { body: all, at: '10:00', isParsed: true },
      { body: all, at: '10:30', of: '20 10:30' },
      { body: [ash, elm, item('Oak', { level: 1 })], at: '12:00', isParsed: true },
      { body: [ash, elm, item('Oak', { level: 1 })], at: '13:00' },
    ],
  ],
  [
    'with an instant that lies in its future first, and then does not',
    territories,
    [
      { body: held(early), at: '10:00', isParsed: true },
      { body: held('2026-06-01T10:30:00.000000Z'), at: '10:20', isParsed: true },
      { body: held('2026-06-01T10:30:00.000000Z'), at: '10:21', isParsed: true },
      { body: held('2026-06-01T10:30:00.000000Z'), at: '10:31', isParsed: true },
      { body: held('2026-06-01T10:30:00.000000Z'), at: '10:32', isParsed: true },
      { body: held('2026-06-01T10:30:00.000000Z'), at: '10:33' },
    ],
  ],
  [
    'with samples, and a hold that is older than the stored one',
    territories,
    [
      { body: held('2026-06-01T09:30:00.000000Z'), at: '10:00', isParsed: true },
      { body: held('2026-06-01T09:30:00.000000Z', 20), at: '10:01', isParsed: true },
      { body: held('2026-06-01T09:30:00.000000Z', 20), at: '10:02' },
      { body: held(early, 20), at: '10:03', isParsed: true },
      { body: held(early, 20), at: '10:04', isParsed: true },
      { body: held(early, 20), at: '10:05' },
    ],
  ],
  [
    'of sets',
    itemSets,
    [
      { body: { One: { internalName: 'One', parts: ['b', 'a'] } }, at: '10:00', isParsed: true },
      { body: { One: { internalName: 'One', parts: ['b', 'a'] } }, at: '11:00' },
      { body: { One: { internalName: 'One', parts: ['a', 'b'] } }, at: '12:00', isParsed: true },
    ],
  ],
]

describe.each(kindsAtNight)('a body, on the %s database,', (kind) => {
  let db: Database
  beforeAll(async () => {
    db = await testDatabase(kind)
  })

  /** Plays the responses on empty tables. @param forgets every body is parsed */
  async function play(given: Resource, steps: readonly Step[], forgets: boolean, serve = serveWhole) {
    await emptyTables(db)
    const world = await openWorld(db)
    let parsed = false
    const resource: Resource = {
      ...given,
      keyOf: (record) => {
        parsed = true
        return given.keyOf(record)
      },
    }
    const results: RunResult[] = []
    const isParsed: boolean[] = []
    try {
      for (const step of steps) {
        if (forgets) await db.query('update sync.run set body_hash = null')
        if (instantOf(step.at) > world.clock.now()) await world.clock.advanceTo(instantOf(step.at))
        serve(world, given, step)
        parsed = false
        const { runId: _, renewAt, ...result } = await world.syncNow(resource, { raw: true, ...step.options })
        // When it comes again by itself matters for live polls alone.
        results.push(renewAt && given.lane === 'live' ? { ...result, renewAt } : result)
        isParsed.push(parsed)
      }
      return { results, isParsed, rows: await everythingIn(db) }
    } finally {
      await world.api.close()
      await world.sandbox.close()
    }
  }

  test.each(series)('%s, leaves what parsing it leaves', async (_what, resource, steps) => {
    const compared = await play(resource, steps, false)
    const parsed = await play(resource, steps, true)
    expect(parsed.isParsed).toEqual(steps.map(() => true))
    expect(compared.isParsed).toEqual(steps.map(({ isParsed = false }) => isParsed))
    expect(compared.results).toEqual(parsed.results)
    expect(compared.rows).toEqual(parsed.rows)
  })

  test('of several pages is parsed', async () => {
    const records = ['One', 'Two', 'Three'].map((internalName) => ({ internalName, type: 'helmet' }))
    const steps = [
      { body: records, at: '10:00' },
      { body: records, at: '11:00' },
    ]
    const compared = await play(recipes, steps, false, servePages)
    expect(compared.isParsed).toEqual([true, true])
    expect(compared.results[1]).toMatchObject({ status: 'unchanged', pages: 3, unchanged: 3 })
    expect(compared.rows).toEqual((await play(recipes, steps, true, servePages)).rows)
  })

  test('is parsed by another version of the program, and after its content hash was given up', async () => {
    const { isParsed } = await play(
      items,
      [
        { body: all, at: '10:00' },
        { body: all, at: '11:00' },
      ],
      false,
    )
    expect(isParsed).toEqual([true, false])
    const world = await openWorld(db, {}, instantOf('12:00'))
    serveWhole(world, items, { body: all, at: '12:00' })
    let parses = 0
    const keyOf = (record: unknown) => {
      parses++
      return items.keyOf(record)
    }
    const counting = { ...items, keyOf }
    await db.query(`update sync.run set reload = true where resource = 'items'`)
    expect(await world.syncNow(counting)).toMatchObject({ status: 'unchanged' })
    expect(parses).toBe(3)
    await world.syncNow(counting, { program: 'another' })
    expect(parses).toBe(6)
    await world.api.close()
    await world.sandbox.close()
  })
})

const routes: Readonly<Record<string, string>> = {
  items: '/item/database',
  recipes: '/item/recipe/database',
  'item-sets': '/item/sets',
  territories: '/guild/list/territory',
}

function headersFor({ at, of = at }: Step) {
  return { ...headersOf(instantOf(of), 60), Age: '3', 'X-Request': at }
}

function serveWhole(world: World, { name }: Resource, step: Step): void {
  world.sandbox.setAnswer(routes[name] ?? '', () => ({ headers: headersFor(step), body: step.body }))
}

/** One record a page. */
function servePages(world: World, { name }: Resource, step: Step): void {
  const records = step.body as readonly unknown[]
  world.sandbox.setAnswer(routes[name] ?? '', ({ query }) => {
    const current = Number(query.get('page') ?? 1)
    const next = current < records.length ? current + 1 : null
    const controller = { count: records.length, pages: records.length, prev: null, current, next }
    return { headers: headersFor(step), body: { controller, results: [records[current - 1]] } }
  })
}

/** Every row of every table, without random ids and the hash that is compared. */
async function everythingIn(db: Database): Promise<Record<string, unknown[]>> {
  const content: Record<string, unknown[]> = {}
  const left = `to_jsonb(each) - 'run_id' - 'id' - 'body_hash' - 'answer_id'`
  for (const table of await tableNames(db)) {
    const rows = await db.query<{ row: object }>(`select ${left} as row from ${table} each order by (${left})::text`)
    content[table] = rows.map(({ row }) => row)
  }
  return content
}
