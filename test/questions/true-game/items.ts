import { expect, test } from 'vitest'
import { seededRandom } from '../../../src/base/clock.ts'
import { byPlace, type Difference, differences } from '../../support/item-differences.ts'
import { type Fields, itemsOf } from '../../support/recorded.ts'
import type { Played } from './played.ts'
import { momentsOf, once } from './rows.ts'

/** What answers showed of items or recipes from an instant (ms) on, by internal name. */
interface Known {
  readonly at: number
  readonly records: Map<string, Fields>
}

type Kind = 'items' | 'recipes'

/** What accepted answers said, each with what the one before had and this one lacks, until a second one lacks it, too. */
function knownOf({ accepted, itemWorlds }: Played, kind: Kind): Known[] {
  const told = accepted[kind].map(({ at }) => {
    const world = itemWorlds.findLast((one) => one.at <= at)?.world
    return { at, records: itemsOf(world?.[kind]) }
  })
  const [last] = told.slice(-1)
  const before = told.at(-2)
  // What only the last one lacks may come back.
  if (last && before)
    for (const [name, record] of before.records) if (!last.records.has(name)) last.records.set(name, record)
  return told
}

/** Question 14: what changed in items and recipes, and how they were. */
export function questionsOfItems(of: () => Played): void {
  const told = once(() => {
    const played = of()
    const known = { items: knownOf(played, 'items'), recipes: knownOf(played, 'recipes') }
    const changesOf = (kind: Kind) =>
      known[kind].slice(1).flatMap(({ at, records }, nth) => {
        const before = known[kind][nth]?.records ?? new Map<string, Fields>()
        return differences(before, records).map((difference) => ({ at, difference }))
      })
    const changes = { items: changesOf('items'), recipes: changesOf('recipes') }
    const isPatched = played.itemWorlds.some(({ at }) => at > played.from)
    return { db: played.db, isPatched, known, changes, random: seededRandom(14) }
  })

  test.each([
    ['items', 'item_change'],
    ['recipes', 'recipe_change'],
  ] as const)('14: what changed in %s, field by field', async (kind, view) => {
    const { db, changes, isPatched } = told()
    const rows = await db.query<{ at: Date; key: string; path: string; old: unknown; young: unknown }>(
      `select changed_at as at, internal_name as key, path, old_value as old, new_value as young from analytics.${view}`,
    )
    const instants = [...new Set(changes[kind].map(({ at }) => at))]
    expect(rows.length).toBe(changes[kind].length)
    for (const instant of instants) {
      const found = rows.filter(({ at }) => at.getTime() === instant)
      const shown = found.map(({ key, path, old, young }): Difference => [key, path, old, young]).sort(byPlace)
      const expected = changes[kind].filter(({ at }) => at === instant).map(({ difference }) => difference)
      expect(shown).toEqual(expected.sort(byPlace))
    }
    if (isPatched) expect(instants.length).toBeGreaterThan(0)
  })

  test.each([
    ['items', 'item_at'],
    ['recipes', 'recipe_at'],
  ] as const)('14: %s as of any moment', async (kind, name) => {
    const { db, known, random } = told()
    const moments = momentsOf(
      known[kind].map(({ at }) => at),
      random,
      6,
    )
    for (const moment of [...moments, (known[kind][0]?.at ?? 0) - 1]) {
      const then = known[kind].findLast(({ at }) => at <= moment)?.records ?? new Map<string, Fields>()
      const names = [...new Set(known[kind].flatMap(({ records }) => [...records.keys()]))]
      const rows = await db.query<{ key: string; document: Fields | null }>(
        `select key, analytics.${name}(key, $2) as document from unnest($1::text[]) as wanted(key)`,
        [names, new Date(moment)],
      )
      const shown = rows.flatMap(({ key, document }): [string, Fields][] => (document ? [[key, document]] : []))
      expect(new Map(shown)).toEqual(then)
    }
  })

  test('14: patches: changes less than six hours apart, counted', async () => {
    const { db, changes } = told()
    const all = [
      ...changes.items.map((one) => ({ ...one, kind: 'items' })),
      ...changes.recipes.map((one) => ({ ...one, kind: 'recipes' })),
    ].sort((one, other) => one.at - other.at)
    const patches: (typeof all)[] = []
    for (const one of all) {
      const last = patches.at(-1)
      if (last && one.at - (last.at(-1)?.at ?? 0) < 6 * 3_600_000) last.push(one)
      else patches.push([one])
    }
    const expected = patches.map((patch, nth) => {
      const count = (kind: string, of: (difference: Difference) => boolean) =>
        new Set(patch.filter((one) => one.kind === kind && of(one.difference)).map(({ difference }) => difference[0]))
          .size
      return {
        patch: nth + 1,
        started_at: new Date(patch[0]?.at ?? 0),
        items_added: count('items', ([, path, before]) => path === '' && before === null),
        items_changed: count('items', ([, path]) => path !== ''),
        items_removed: count('items', ([, path, , after]) => path === '' && after === null),
        recipes_changed: count('recipes', () => true),
      }
    })
    const rows = await db.query(
      `select patch, started_at, items_added, items_changed, items_removed, recipes_changed from analytics.patch order by 1`,
    )
    expect(rows).toEqual(expected)
  })

  test('14: which recipes need a material', async () => {
    const { db, known } = told()
    const recipes = [...(known.recipes.at(-1)?.records.values() ?? [])] as {
      internalName: string
      materials: { item: string; amount: number }[]
    }[]
    const materials = [...new Set(recipes.flatMap((one) => one.materials.map(({ item }) => item)))]
    for (const material of materials) {
      const expected = recipes.flatMap((one) =>
        one.materials.filter(({ item }) => item === material).map(({ amount }) => `${one.internalName} ${amount}`),
      )
      const rows = await db.values('select internal_name, amount from analytics.recipes_using($1)', [material])
      expect(rows.map((row) => row.join(' ')).sort()).toEqual(expected.sort())
    }
    expect(materials.length).toBeGreaterThan(10)
  })
}
