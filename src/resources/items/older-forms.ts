import { fieldsOf, isFields } from '../../api/schemas/form/unknown.ts'
import { itemVocabulary } from '../../api/schemas/items.ts'
import { fieldOf, textField } from '../record.ts'

/*
 * Until the release of August 2024 the API sent items in another form, which archives of that time keep: the kind within the kind as `type`
 * or not at all, base stats without `base` in their names, requirements beside the others, the creatures of `droppedBy` by their names. Each
 * field becomes what it was called afterwards. What has no such field stays as it is, and nothing is added: of a range without `raw`, none is
 * known.
 */

/** Each kind, and where its records say which one they are within it. */
const kinds: Readonly<Record<string, readonly [field: string, members: readonly string[]]>> = {
  weapon: ['weaponType', ['spear', 'dagger', 'bow', 'wand', 'relik']],
  armour: ['armourType', ['helmet', 'chestplate', 'leggings', 'boots']],
  accessory: ['accessoryType', ['ring', 'bracelet', 'necklace']],
  tome: ['tomeType', itemVocabulary.subType.filter((name) => name.endsWith('_tome'))],
  tool: ['toolType', ['axe', 'pickaxe', 'rod', 'scythe']],
}

/** The kind of a record without a type, by fields that no other kind has. */
const kindByField: readonly (readonly [field: string, kind: string])[] = [
  ...Object.entries(kinds).map(([kind, [field]]) => [field, kind] as const),
  ...['itemOnlyIDs', 'consumableOnlyIDs', 'ingredientPositionModifiers'].map((field) => [field, 'ingredient'] as const),
  ['craftable', 'material'],
]

/** Where fields stood, and where they stand since. What is there already stays. */
const moved: readonly (readonly [before: string, after: string])[] = [
  ['base.averageDPS', 'averageDps'],
  ['base.health', 'base.baseHealth'],
  ['base.damage', 'base.baseDamage'],
  ...itemVocabulary.elements.flatMap((element) =>
    ['Damage', 'Defence', 'Defense'].map((what) => {
      const name = `${element[0]?.toUpperCase()}${element.slice(1)}${what.replace('Defense', 'Defence')}`
      return [`base.${element}${what}`, `base.base${name}`] as const
    }),
  ),
  ...[
    'level',
    'classRequirement',
    'strength',
    'dexterity',
    'intelligence',
    'defence',
    'agility',
    'quest',
    'skills',
  ].map((field) => [field, `requirements.${field}`] as const),
  ['defense', 'requirements.defence'],
  ['requirements.defense', 'requirements.defence'],
  ['armorType', 'armourMaterial'],
]

type Fields = Readonly<Record<string, unknown>>

/** What one field becomes; undefined where its value is in another form than the one of that time. */
const respelled: readonly (readonly [before: string, after: string, of: (value: unknown) => unknown])[] = [
  ['armorColor', 'armourColor', (value) => (/^\d+(,\d+){2}$/.test(String(value)) ? `rgb(${value})` : undefined)],
  ['skin', 'icon', (value) => (typeof value === 'string' ? { format: 'skin', value } : undefined)],
  ['sprite', 'icon', (value) => legacyIcon([fieldOf(value, 'id'), fieldOf(value, 'damage')].join(':'))],
  ['material', 'icon', legacyIcon],
]

/** What the same field was written as. */
const rewritten: readonly (readonly [field: string, of: (value: unknown) => unknown])[] = [
  ['tier', lowerCase],
  ['rarity', lowerCase],
  ['restrictions', lowerCase],
  ['attackSpeed', lowerCase],
  ['droppedBy', (value) => (isFields(value) ? fieldsOf(value).map(([name, coords]) => ({ name, coords })) : value)],
  ['majorIds', majorIds],
]

/** The kind of an item in any form; undefined where nothing says it. */
function kindOf(record: unknown): string | undefined {
  const type = (textField(record, 'type') ?? textField(record, 'itemType'))?.toLowerCase().replace(/^armor$/, 'armour')
  if (type === undefined) return kindByField.find(([field]) => fieldOf(record, field) !== undefined)?.[1]
  if (itemVocabulary.type.some((kind) => kind === type)) return type
  return Object.entries(kinds).find(([, [, members]]) => members.includes(type))?.[0]
}

/** An item as the API sent it since August 2024; a record in a later form, or in none that is known, as it is. */
export function inLaterForm(record: unknown): unknown {
  const kind = kindOf(record)
  if (!isFields(record) || kind === undefined || !isOlder(record)) return record
  // Of two responses most records are the same objects, and stay so.
  const known = converted.get(record)
  if (known) return known
  const item = structuredClone(record) as Record<string, unknown>
  const type = (textField(item, 'type') ?? textField(item, 'itemType'))?.toLowerCase()
  delete item.itemType
  item.type = kind
  const [field, members] = kinds[kind] ?? ['', []]
  if (type !== undefined && members.includes(type)) item[field] ??= type
  for (const [before, after] of moved) move(item, before, after)
  for (const [before, after, of] of respelled) move(item, before, after, of)
  for (const [name, of] of rewritten) if (item[name] !== undefined) item[name] = of(item[name])
  if (kinds[kind] || kind === 'charm') move(item, 'tier', 'rarity')
  converted.set(record, item)
  return item
}

const converted = new WeakMap<object, object>()

/** What only records of later forms have. */
const later = ['subType', 'emblem']

/** Whether a record has what none has since August 2024. */
function isOlder(record: Fields): boolean {
  if (later.some((field) => Object.hasOwn(record, field))) return false
  if (!itemVocabulary.type.some((kind) => kind === record.type) || isFields(record.droppedBy)) return true
  if (record.restrictions !== undefined && record.restrictions !== lowerCase(record.restrictions)) return true
  const inside = ['base', 'requirements'].flatMap((field) =>
    fieldsOf(record[field]).map(([name]) => `${field}.${name}`),
  )
  return [...Object.keys(record), ...inside].some((place) => formerPlaces.has(place))
}

const formerPlaces = new Set([...moved, ...respelled].map(([before]) => before))

/** The object around a place, and its name there. */
function around(item: Record<string, unknown>, place: string): [inside: unknown, name: string] {
  const [first = '', second] = place.split('.')
  return second === undefined ? [item, first] : [item[first], second]
}

/** Moves a value to where nothing stands. */
function move(
  item: Record<string, unknown>,
  before: string,
  after: string,
  of: (value: unknown) => unknown = (value) => value,
): void {
  const [from, name] = around(item, before)
  const value = fieldOf(from, name)
  const moved = value === undefined || value === null ? undefined : of(value)
  if (moved === undefined) return
  const [outer] = after.split('.')
  if (after !== outer && outer !== undefined) item[outer] ??= {}
  const [to, field] = around(item, after)
  if (!isFields(to) || to[field] !== undefined) return
  to[field] = moved
  Reflect.deleteProperty(Object(from), name)
}

function lowerCase(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value
}

/** An icon by its number: `356:0`. */
function legacyIcon(value: unknown): unknown {
  return /^\d+:\d+$/.test(String(value)) ? { format: 'legacy', value } : undefined
}

/** One of them had its label and its text beside each other. */
function majorIds(value: unknown): unknown {
  const name = textField(value, 'name')
  const description = textField(value, 'description')
  const isOne = name !== undefined && description !== undefined && Object.keys(Object(value)).length === 2
  return isOne ? { [name]: description } : value
}
