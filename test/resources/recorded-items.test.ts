import { isDeepStrictEqual } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import type { Dialect } from '../../src/sandbox/index.ts'
import { effort } from '../support/effort.ts'
import { byPlace, type Difference, differences } from '../support/item-differences.ts'
import { type bothKinds, testDatabase } from '../support/postgres.ts'
import { type Fields, itemsOf, type RecordedResponse, recordedFolder, recordedResponses } from '../support/recorded.ts'
import { openWorld, type World } from '../support/world.ts'

async function changesAt({ db }: World, at: Date): Promise<Difference[]> {
  const rows = await db.query<{ key: string; path: string; old: unknown; young: unknown }>(
    'select internal_name as key, path, old_value as old, new_value as young from analytics.item_change where changed_at = $1',
    [at],
  )
  return rows.map(({ key, path, old, young }): Difference => [key, path, old, young]).sort(byPlace)
}

async function stateAt({ db }: World, at: Date): Promise<Map<string, unknown>> {
  const rows = await db.query<{ key: string; document: unknown }>(
    `select key, analytics.item_at(key, $1) as document from (select distinct internal_name as key from game.item) known`,
    [at],
  )
  return new Map(rows.filter(({ document }) => document !== null).map(({ key, document }) => [key, document]))
}

function countsOf(found: readonly Difference[]): number[] {
  const changed = new Set(found.filter(([, path]) => path !== '').map(([key]) => key)).size
  const added = found.filter(([, path, before]) => path === '' && before === null).length
  return [changed, added, found.filter(([, path, , after]) => path === '' && after === null).length]
}

const series = [
  {
    name: 'of May 2026',
    folder: 'recordings',
    counts: [
      [123, 0, 0],
      [10, 1, 0],
      [30, 0, 0],
      [54, 6, 0],
    ],
  },
  { name: 'of March 2025', folder: 'recordings-2025', counts: [[207, 10, 0]] },
] as const

// Neither dialect nor database knows of the other, so each is met with each series once; in CI each is met once.
const settings: readonly ((typeof series)[number] & { kind: (typeof bothKinds)[number]; dialect: Dialect })[] = [
  { ...series[0], kind: 'embedded', dialect: 'live' },
  { ...series[0], kind: 'server', dialect: 'documented' },
  { ...series[1], kind: 'server', dialect: 'documented' },
  { ...series[1], kind: 'embedded', dialect: 'live' },
]

describe.each(settings.filter((_, nth) => effort.everyAnswer || nth % 2 === 1))(
  'the recorded items $name, served in the $dialect dialect, on the $kind database',
  ({ kind, dialect, folder: name, counts }) => {
    const folder = recordedFolder(name)
    if (folder === undefined) return test.skip('were compared (skipped: recorded data absent)')
    let world: World
    let answers: RecordedResponse[]

    beforeAll(async () => {
      answers = recordedResponses(folder, '/item/database', 'fullResult')
      const start = answers[0]?.at.getTime() ?? 0
      world = await openWorld(await testDatabase(kind), { recordings: folder, dialect, pageSize: 500 }, start)
      return async () => {
        await world.api.close()
        await world.sandbox.close()
      }
    })

    test('give exactly the changes of a comparison field by field, each once, and nothing for a state served twice', async () => {
      const found: number[][] = []
      let before: Map<string, Fields> | undefined
      for (const { at, body } of answers) {
        await world.clock.advanceTo(at.getTime())
        const after = itemsOf(body)
        const expected = before ? differences(before, after) : []
        expect(await world.syncNow(items)).toMatchObject({
          status: 'ok',
          observedAt: at.toISOString(),
          records: after.size,
          quarantined: 0,
        })
        expect(await changesAt(world, at)).toEqual(expected)
        await world.clock.advance(7_200_000)
        expect(await world.syncNow(items)).toMatchObject({ status: 'unchanged', inserted: 0, changed: 0, closed: 0 })
        if (before) found.push(countsOf(expected))
        before = after
      }
      expect(found).toEqual(counts)
      // Days apart, each is a patch.
      expect(
        await world.rows('select items_changed, items_added, items_removed from analytics.patch order by patch'),
      ).toEqual(counts)
      const total = await world.db.query('select 1 from game.field_change')
      expect(total).toHaveLength((await Promise.all(answers.map(({ at }) => changesAt(world, at)))).flat().length)
    })

    test('can be rebuilt whole from the tables, the first state and the last', async () => {
      for (const { at, body } of [answers[0], answers.at(-1)].filter((one) => one !== undefined)) {
        const expected = itemsOf(body)
        const rebuilt = await stateAt(world, at)
        expect(rebuilt.size).toBe(expected.size)
        expect([...expected].filter(([key, document]) => !isDeepStrictEqual(rebuilt.get(key), document))).toEqual([])
      }
    })

    test('fit the columns: nothing was set aside, and nothing was unknown but what the API called otherwise in 2025', async () => {
      const names = [
        'accessoryType',
        'armourColor',
        'armourMaterial',
        'armourType',
        'craftable',
        'raidReward',
        'rarity',
        'restrictions',
        'tomeType',
        'toolType',
        'weaponType',
      ]
      const fields = names.map((field) => ['unknown_field', `/${field}`, ''])
      const speeds = ['super_fast', 'super_slow', 'very_fast', 'very_slow']
      const members = speeds.map((member) => ['unknown_member', '/attackSpeed', member])
      const drift = await world.rows('select kind, path, member from sync.drift order by 1, 2, 3')
      expect(drift).toEqual(name === 'recordings' ? [] : [...fields, ...members])
      expect(await world.rows('select key, path, reason from sync.quarantine')).toEqual([])
    })
  },
)
