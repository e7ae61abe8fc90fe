import { isDeepStrictEqual } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { itemMetadata } from '../../src/resources/item-metadata/index.ts'
import { itemSets } from '../../src/resources/item-sets/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { recipes } from '../../src/resources/recipes/index.ts'
import type { Resource } from '../../src/sync/declare/resource.ts'
import { bulkTable } from '../../src/sync/sql/history-sql.ts'
import { kindsOfLongTests, testDatabase } from '../support/postgres.ts'
import { type Fields, isFields, itemsOf, recordedFolder, recordedResponses } from '../support/recorded.ts'
import { openWorld, type World } from '../support/world.ts'

/** Columns that are empty by their nature as long as all goes well. */
const mayBeEmpty = /\.(extra|previous_until)$/

describe.each(kindsOfLongTests)('the recorded recipes, sets and enumerations on the %s database', (kind) => {
  const folder = recordedFolder('recordings')
  const older = recordedFolder('recordings-2025')
  if (folder === undefined || older === undefined) return test.skip('were synced (skipped: recorded data absent)')
  let world: World
  const dialect = kind === 'embedded' ? 'live' : 'documented'

  beforeAll(async () => {
    world = await openWorld(
      await testDatabase(kind),
      { recordings: folder, dialect, pageSize: 500 },
      Date.UTC(2026, 3, 12, 9),
    )
    return async () => {
      await world.api.close()
      await world.sandbox.close()
    }
  })

  test('have one real change between the two answers about sets, the order of parts aside', async () => {
    const answers = recordedResponses(folder, '/item/sets')
    expect(await world.syncNow(itemSets)).toMatchObject({ status: 'ok', inserted: 68, quarantined: 0 })
    await world.clock.advanceTo(answers[1]?.at.getTime() ?? 0)
    expect(await world.syncNow(itemSets)).toMatchObject({ status: 'ok', inserted: 0, changed: 1, closed: 0 })
    const [before, after] = answers.map(
      ({ body }) => new Map(Object.entries(isFields(body) ? body : {}).map(([name, set]) => [name, sorted(set)])),
    )
    const changed = [...(after ?? [])]
      .filter(([name, set]) => !isDeepStrictEqual(set, before?.get(name)))
      .map(([name]) => name)
    expect(await world.rows('select distinct key from game.field_change')).toEqual([changed])
    const documents = await world.db.query<{ name: string; document: Fields }>(
      `select name, document from game.item_set where valid_until = 'infinity'`,
    )
    expect(new Map(documents.map(({ name, document }) => [name, document]))).toEqual(after)
    const bonuses = await world.rows(
      `select count(*) from game.item_set_bonus join game.item_set using (name, valid_from) where valid_until = 'infinity'`,
    )
    expect(bonuses).toEqual([[[...(after?.values() ?? [])].flatMap(bonusesOf).length]])
  })

  test('list every enumeration, and between the first and the last answer what came and went', async () => {
    const [lists, ids] = ['', 'static'].map((query) => recordedResponses(folder, '/item/metadata', query))
    const found: string[][][] = []
    for (const [index, { at, body }] of (lists ?? []).entries()) {
      await world.clock.advanceTo(at.getTime())
      expect(await world.syncNow(itemMetadata)).toMatchObject({ status: 'ok', quarantined: 0 })
      const { static: _, ...named } = isFields(body) ? body : {}
      const expected = [...leaves(named, ''), ...leaves(ids?.[index]?.body, 'static')].sort()
      found.push(expected)
      const current = await world.rows(
        `select list || '/' || member, coalesce(number::text, '') from game.enumeration where valid_from <= '${at.toISOString()}' and '${at.toISOString()}' < valid_until`,
      )
      expect(current.map(String).sort()).toEqual(expected.map(String))
    }
    expect(found[0]?.length).toBeGreaterThan(500)
  })

  test('begin with a rejected empty answer about recipes, then all 720, then nothing new', async () => {
    const answers = recordedResponses(folder, '/item/recipe/database', 'full_result')
    const outcomes: unknown[] = []
    for (const { at } of answers) {
      await world.clock.advanceTo(at.getTime())
      const { status, records, inserted, changed, quarantined } = await world.syncNow(recipes)
      outcomes.push([status, records, inserted, changed, quarantined])
    }
    expect(outcomes).toEqual([
      ['rejected', 0, 0, 0, 0],
      ['ok', 720, 720, 0, 0],
      ['unchanged', 720, 0, 0, 0],
    ])
    const documents = await world.db.query<{ key: string; document: Fields }>(
      'select internal_name as key, analytics.recipe_at(internal_name) as document from game.recipe',
    )
    const expected = itemsOf(answers[2]?.body)
    expect(documents).toHaveLength(720)
    expect(documents.filter(({ key, document }) => !isDeepStrictEqual(document, expected.get(key)))).toEqual([])
    expect(await world.rows('select count(*), count(distinct position) from game.recipe_material')).toEqual([[1440, 2]])
    await findTheirMaterials(world, expected)
  })

  test('fill, with the items of 2025 and 2026, every column there is', async () => {
    const past = await openWorld(world.db, { recordings: older, dialect }, Date.UTC(2025, 2, 14))
    expect(await past.syncNow(items)).toMatchObject({ status: 'ok' })
    await past.api.close()
    await past.sandbox.close()
    expect(await world.syncNow(items)).toMatchObject({ status: 'ok' })
    const columns = await world.db.query<{ place: string; table: string; column: string }>(
      `select table_name || '.' || column_name as place, table_name as "table", column_name as "column"
         from information_schema.columns where table_schema || '.' || table_name = any($1::text[]) order by 1`,
      [['game.field_change', ...[items, recipes, itemSets, itemMetadata].flatMap(tablesOf)]],
    )
    const empty: string[] = []
    for (const { place, table, column } of columns) {
      const [row] = await world.db.query<{ filled: boolean }>(
        `select exists (select from game.${table} where "${column}" is not null) as filled`,
      )
      if (!row?.filled) empty.push(place)
    }
    expect(empty.filter((place) => !mayBeEmpty.test(place))).toEqual([])
  })
})

function tablesOf({ history }: Resource): string[] {
  return [history.root, ...Object.values(history.parts)].map((table) => bulkTable(table).name)
}

function sorted(set: unknown): unknown {
  return isFields(set) && Array.isArray(set.parts) ? { ...set, parts: [...set.parts].sort() } : set
}

function bonusesOf(set: unknown): unknown[] {
  const bonuses = isFields(set) && isFields(set.bonuses) ? Object.values(set.bonuses) : []
  return bonuses.flatMap((one) => (isFields(one) && isFields(one.minor) ? Object.keys(one.minor) : []))
}

/** `[list/member, number]` of every leaf; the two bounds of a range are called min and max. */
function leaves(value: unknown, place: string): string[][] {
  if (Array.isArray(value)) {
    return value.map((one, index) =>
      typeof one === 'number' ? [`${place}/${['min', 'max'][index]}`, String(one)] : [`${place}/${one}`, ''],
    )
  }
  if (!isFields(value)) return [[place, String(value)]]
  return Object.entries(value).flatMap(([name, inner]) => leaves(inner, place ? `${place}/${name}` : name))
}

/** Asks for the recipes of every material, and compares with what the answer says. */
async function findTheirMaterials({ db }: World, recorded: ReadonlyMap<string, Fields>): Promise<void> {
  const uses = [...recorded].flatMap(([recipe, { materials, level, type }]) => {
    const { minimum } = isFields(level) ? level : {}
    return (Array.isArray(materials) ? materials : []).map(({ item, amount }) => [item, recipe, type, minimum, amount])
  })
  const found = await db.values(
    `select asked.item, use.internal_name, use.type, use.level_min, use.amount
       from unnest($1::text[]) as asked(item) cross join lateral analytics.recipes_using(asked.item) use`,
    [[...new Set(uses.map(([item]) => String(item)))]],
  )
  expect(found.length).toBeGreaterThan(1000)
  expect(found.map((row) => row.join(' ')).sort()).toEqual(uses.map((row) => row.join(' ')).sort())
}
