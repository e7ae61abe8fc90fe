import { describe, expect, test } from 'vitest'
import { openServer } from '../../src/db/server/server.ts'
import { items } from '../../src/resources/items/index.ts'
import { createItemWorld } from '../../src/sandbox/generator/world.ts'
import { detectResponses } from '../../src/sync/backfill/git-detect.ts'
import { runInside } from '../support/cli-inside.ts'
import { gitRepository } from '../support/git-repository.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { recordingFolder } from '../support/recording-folder.ts'
import { instantOf } from '../support/world.ts'

/*
 * The same made-up items as the API sent them at three times. Written from descriptions of what it sent, and not from the table that reads it.
 */

type Fields = Record<string, unknown>
type Items = Readonly<Record<string, Fields>>

const kindFields: Readonly<Record<string, string>> = {
  weapon: 'weaponType',
  armour: 'armourType',
  accessory: 'accessoryType',
  tome: 'tomeType',
  tool: 'toolType',
}
const snake = (text: unknown) => String(text).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const without = (fields: Fields, ...names: string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
const mapped = (of: unknown, each: (name: string, value: unknown) => [string, unknown]) =>
  Object.fromEntries(Object.entries(Object(of) as Fields).map(([name, value]) => each(name, value)))

/** Some of each kind, under their own names, without the sets that less than twenty of them belong to. */
function itemsOf2026(seed: number, each = 130): Items {
  const all: readonly Fields[] = createItemWorld(seed).items.map((item) => ({ ...item }))
  const types = [...new Set(all.map(({ type }) => type))]
  const some = types.flatMap((type) => all.filter((item) => item.type === type).slice(0, each))
  return Object.fromEntries(
    some.map((item) => [
      String(item.internalName),
      { ...without(item, 'sets'), displayName: item.internalName, ...placed(item) },
    ]),
  )
}

/** Creatures with the word for nowhere, where the list may have none. */
const placed = ({ droppedBy }: Fields) =>
  droppedBy ? { droppedBy: (droppedBy as Fields[]).map((one) => ({ coords: null, ...one })) } : {}

/** From August 2024 to March 2026. */
function itemOf2024(item: Fields): Fields {
  const { type, subType, tier, restriction, attackSpeed } = item
  const field = kindFields[String(type)]
  return {
    ...without(
      item,
      'subType',
      'tier',
      'restriction',
      'attackSpeed',
      'emblem',
      'elements',
      'sets',
      'displayName',
      'chances',
    ),
    ...(field && subType !== undefined ? { [field]: subType } : {}),
    ...(type === 'ingredient' ? { tier: Number(/\d/.exec(String(tier))?.[0]) } : { rarity: tier }),
    ...(restriction === undefined || restriction === 'none' ? {} : { restrictions: restriction }),
    ...(attackSpeed === undefined ? {} : { attackSpeed: snake(attackSpeed) }),
    ...(type === 'armour' ? { armourMaterial: 'leather', armourColor: 'rgb(160,101,64)' } : {}),
    ...(type === 'material' ? { craftable: ['spears'] } : {}),
  }
}

/** What of it was there before, too. */
function itemOf2024AsKnownIn2023(item: Fields): Fields {
  const { type, base, identifications } = item
  const withoutRaw = (name: string, value: unknown): [string, unknown] => [name, rangeWithoutRaw(value)]
  const icon = type === 'weapon' || type === 'ingredient' ? { icon: { format: 'legacy', value: '356:0' } } : {}
  return {
    ...without(item, 'icon'),
    ...icon,
    ...(base === undefined ? {} : { base: mapped(base, withoutRaw) }),
    ...(identifications !== undefined && type === 'ingredient'
      ? { identifications: mapped(identifications, withoutRaw) }
      : {}),
  }
}
const rangeWithoutRaw = (value: unknown) => (typeof value === 'object' ? without(value as Fields, 'raw') : value)

/** From 2023 to July 2024. */
function itemOf2023(sent: Fields): Fields {
  const item = itemOf2024AsKnownIn2023(sent)
  const { type, base, averageDps, restrictions, rarity, droppedBy, majorIds, armourMaterial, armourColor } = item
  const own = item[kindFields[String(type)] ?? '']
  const [[label, description] = []] = Object.entries(Object(majorIds) as Fields)
  const before = (name: string, value: unknown): [string, unknown] => [
    name.replace(/^base(.)/, (_, letter: string) => letter.toLowerCase()),
    value,
  ]
  const allBase = { ...mapped(base, before), ...(averageDps === undefined ? {} : { averageDPS: averageDps }) }
  const tells = ['weapon', 'armour'].includes(String(type)) ? { type: own } : type === 'charm' ? { type } : {}
  return {
    ...without(item, 'type', 'weaponType', 'armourType', 'base', 'averageDps', 'restrictions', 'rarity', 'icon'),
    ...tells,
    ...(rarity === undefined ? {} : { tier: rarity }),
    ...(Object.keys(allBase).length > 0 ? { base: allBase } : {}),
    ...(restrictions === undefined
      ? {}
      : { restrictions: String(restrictions).replace(/^./, (one) => one.toUpperCase()) }),
    ...(item.icon ? { material: '356:0' } : {}),
    ...(armourMaterial === undefined
      ? {}
      : {
          armourMaterial: undefined,
          armourColor: undefined,
          armorType: armourMaterial,
          armorColor: String(armourColor).slice(4, -1),
        }),
    ...(droppedBy === undefined
      ? {}
      : { droppedBy: Object.fromEntries((droppedBy as Fields[]).map(({ name, coords }) => [name, coords])) }),
    ...(majorIds === undefined || Object.keys(Object(majorIds)).length !== 1
      ? {}
      : { majorIds: { name: label, description } }),
  }
}

const asJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
const each = (all: Items, of: (item: Fields) => Fields): Items =>
  asJson(mapped(all, (name, item) => [name, of(item as Fields)])) as Items
const in2024 = (all: Items) => each(all, itemOf2024)
const in2023 = (all: Items) => each(all, (item) => itemOf2023(itemOf2024(item)))

/** Each item of a kind with another level. */
const leveled = (all: Items, type: string, by: number) =>
  each(all, (item) =>
    item.type === type
      ? { ...item, requirements: { ...Object(item.requirements), level: Number(Object(item.requirements).level) + by } }
      : item,
  )

async function query(url: string, sql: string) {
  const db = await openServer(url)
  return await db.query<Fields>(sql).finally(() => db.close())
}

const rowsSql = `select internal_name, type, sub_type, tier, level, class_requirement, strength, dexterity, intelligence, defence, agility, quest,
    attack_speed, average_dps, powder_slots, restriction, drop_restriction, identified, drop_name, drop_event, lore,
    (select jsonb_agg(jsonb_build_array(i.identification, i.min, i.max, i.is_fixed) order by i.identification collate "C")
       from game.item_identification i where i.internal_name = item.internal_name and i.valid_from = item.valid_from) as identifications,
    (select jsonb_agg(jsonb_build_array(b.stat, b.min, b.max, b.is_fixed) order by b.stat collate "C")
       from game.item_base b where b.internal_name = item.internal_name and b.valid_from = item.valid_from) as base,
    (select jsonb_agg(jsonb_build_array(m.major_id, m.description) order by m.major_id collate "C")
       from game.item_major_id m where m.internal_name = item.internal_name and m.valid_from = item.valid_from) as major_ids,
    (select jsonb_agg(jsonb_build_array(p.source, p.name, p.x, p.y, p.z, p.radius) order by p.source, p.name collate "C", p.place)
       from game.item_drop_place p where p.internal_name = item.internal_name and p.valid_from = item.valid_from) as places,
    (select jsonb_agg(s.skill order by s.position)
       from game.item_skill s where s.internal_name = item.internal_name and s.valid_from = item.valid_from) as skills
  from game.item item where valid_until = 'infinity' order by internal_name collate "C"`

describe('items as the API sent them from 2023 to July 2024', () => {
  const world = itemsOf2026(11)
  const folderOf = (body: unknown, day = '01') =>
    recordingFolder([{ at: '10:00', path: '/item/database?fullResult', body }]).then((folder) => [folder, day] as const)

  test('are loaded into the same rows as those of later forms', async () => {
    const rowsOf = async (body: unknown) => {
      const DATABASE_URL = await testDatabaseUrl()
      const [folder] = await folderOf(body)
      const { code, err } = await runInside(['backfill', '--from', folder, '--json'], { DATABASE_URL })
      expect([code, err]).toEqual([0, expect.any(String)])
      expect(await query(DATABASE_URL, 'select reason, path from sync.quarantine')).toEqual([])
      return await query(DATABASE_URL, rowsSql)
    }
    const [older, later] = [await rowsOf(in2023(world)), await rowsOf(in2024(world))]
    expect(older).toHaveLength(Object.keys(world).length)
    expect(older).toEqual(later)
  })

  test('are found in a repository, and what changed in their form alone is no change of the game', async () => {
    const changed = leveled(world, 'weapon', 1)
    const states = [in2023(world), in2023(changed), in2024(changed), changed, leveled(changed, 'armour', 1)]
    const days = (nth: number) => instantOf('10:00') + nth * 86_400_000
    const commits = states.map((all, nth) => ({ at: days(nth), files: { 'data/gear.json': JSON.stringify(all) } }))
    const repository = await gitRepository(commits)
    const { detected, notSent } = await detectResponses(repository, [items])
    expect([detected.map(({ glob, mapped: is }) => [glob, is]), notSent]).toEqual([[['data/gear.json', true]], []])
    const DATABASE_URL = await testDatabaseUrl()
    const { code, err } = await runInside(['backfill', '--from-git', repository, '--detect', '--yes'], { DATABASE_URL })
    expect([code, err]).toEqual([0, expect.any(String)])
    expect(
      await query(
        DATABASE_URL,
        'select kind, items_added, items_changed, items_removed from analytics.patch order by patch',
      ),
    ).toEqual([
      { kind: 'game', items_added: 0, items_changed: 130, items_removed: 0 },
      { kind: 'format', items_added: 0, items_changed: 0, items_removed: 0 },
      { kind: 'format', items_added: 0, items_changed: 0, items_removed: 0 },
      { kind: 'game', items_added: 0, items_changed: 130, items_removed: 0 },
    ])
  })
})
