import { html } from 'hono/html'
import { type Cell, type Markup, type Table, tableMarkup } from '../../drawing/html-table.ts'
import { apiWords, count, levelText, number, plainWords } from '../../drawing/words.ts'
import { grouped } from '../html/grouped.ts'
import { link } from '../html/links.ts'
import { isRecord, nameOf, rollOf } from './revisions.ts'

type Fields = Readonly<Record<string, unknown>>

/** By their names: the database keeps them in no order that means something. */
const entriesOf = (value: unknown) => Object.entries(fieldsOf(value)).sort(([one], [other]) => (one < other ? -1 : 1))

const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {})
const textIn = (fields: Fields, ...names: readonly string[]) =>
  names.map((name) => fields[name]).find((value): value is string => typeof value === 'string' && value !== '')
const listOf = (value: unknown): string[] =>
  [value].flat().flatMap((one) => (typeof one === 'string' || typeof one === 'number' ? [String(one)] : []))

/** A line of the card: what it is called, and its value. */
type Line = readonly [what: string, value: Markup | string]

/** A part of a set that the item belongs to. */
interface SetMember {
  readonly set: string
  /** Null: no item has that name now. */
  readonly member: string | null
  readonly name: string
  readonly bonuses: unknown
}

/** A table as its page sorts it. */
type Sorted = (id: string, table: Table) => Table

/** An item as the game shows it, from its record in the shape of the API, of whatever time that is; where it comes from, and its sets. */
export function itemParts(id: string, record: unknown, sets: readonly SetMember[], sorted: Sorted) {
  return { card: itemCard(id, record), drops: dropsMarkup(record, sorted), sets: setsMarkup(sets, id) }
}

function itemCard(id: string, record: unknown): Markup {
  const item = fieldsOf(record)
  const tier = tierOf(item)
  const kind =
    textIn(item, 'subType', 'weaponType', 'armourType', 'accessoryType', 'tomeType', 'toolType', 'type') ?? ''
  const hasColour = tiers.includes(tier)
  const parts = [
    linesMarkup(baseLines(item)),
    linesMarkup(requiredLines(fieldsOf(item.requirements))),
    rollsMarkup(item.identifications),
    linesMarkup(craftingLines(item)),
    ...entriesOf(item.majorIds).map(
      ([name, text]) => html`<p><b>${name}</b> ${typeof text === 'string' ? plainWords(text) : ''}</p>`,
    ),
    linesMarkup(otherLines(item)),
    typeof item.lore === 'string' ? html`<p class="lore">${plainWords(item.lore)}</p>` : '',
  ].filter((part) => part !== '')
  return html`<div class="item-card${hasColour ? ` of-${tier}` : ''}"><h4>${nameOf(record) ?? id}</h4><p>${[tier, kind].filter(Boolean).map(levelText).join(' ')}</p>${parts.map((part) => html`<div>${part}</div>`)}</div>`
}

/** Those that the game has a colour for, the rarest last. */
export const tiers: readonly string[] = ['normal', 'common', 'unique', 'rare', 'set', 'legendary', 'fabled', 'mythic']

function tierOf(item: Fields): string {
  if (typeof item.tier === 'number') return `tier ${item.tier}`
  return (textIn(item, 'tier', 'rarity') ?? '').toLowerCase().replaceAll('_', ' ')
}

function linesMarkup(lines: readonly Line[]): Markup | '' {
  if (lines.length === 0) return ''
  return html`<dl>${lines.map(([what, value]) => html`<dt>${what}</dt><dd>${value}</dd>`)}</dl>`
}

function baseLines(item: Fields): Line[] {
  const speed = textIn(item, 'attackSpeed')
  const base = entriesOf(item.base).flatMap(([name, value]): Line[] => {
    const range = rangeText(value)
    return range === undefined ? [] : [[apiWords(name).replace(/^base /, ''), range]]
  })
  return [
    ...(speed === undefined ? [] : [['attack speed', apiWords(speed)] as const]),
    ...base,
    ...numberLines(item, { averageDps: 'average damage per second' }),
  ]
}

/** The numbers of a record that have a name here. */
function numberLines(fields: Fields, names: Readonly<Record<string, string>>): Line[] {
  return Object.entries(names).flatMap(([name, what]): Line[] => {
    const value = fields[name]
    return typeof value === 'number' ? [[what, number(value, 2)]] : []
  })
}

function rangeText(value: unknown): string | undefined {
  const roll = rollOf(value)
  if (!roll) return undefined
  return roll.least === roll.most ? number(roll.least, 2) : `${number(roll.least, 2)} to ${number(roll.most, 2)}`
}

function requiredLines(required: Fields): Line[] {
  const range = rangeText(required.levelRange)
  const skills = listOf(required.skills)
  return [
    ...numberLines(required, { level: 'level' }),
    ...(range === undefined ? [] : [['level', range] as const]),
    ...(['classRequirement', 'quest'] as const).flatMap((name): Line[] => {
      const value = textIn(required, name)
      return value === undefined ? [] : [[name === 'quest' ? 'quest' : 'class', value]]
    }),
    ...['strength', 'dexterity', 'intelligence', 'defence', 'agility'].flatMap((name) => {
      return required[name] === 0 ? [] : numberLines(required, { [name]: `${name} needed` })
    }),
    ...(skills.length === 0 ? [] : [['used for', skills.join(', ')] as const]),
  ]
}

/** Each identification with the ends of its roll; of the costs of spells less is better. */
function rollsMarkup(identifications: unknown): Markup | '' {
  const rows = entriesOf(identifications).flatMap(([name, value]) => {
    const roll = rollOf(value)
    if (!roll) return []
    const isGood = (roll.base ?? roll.most) > 0 !== /SpellCost$/.test(name)
    const isFixed = roll.least === roll.most
    return [
      html`<tr class="${isGood ? 'good' : 'bad'}"><th scope="row">${apiWords(name)}</th><td>${rolled(name, roll.base ?? roll.most)}</td><td>${isFixed ? 'always' : `${signed(roll.least)} to ${rolled(name, roll.most)}`}</td></tr>`,
    ]
  })
  if (rows.length === 0) return ''
  return html`<table><thead><tr><th scope="col">Identification</th><th scope="col">Base</th><th scope="col">Rolls</th></tr></thead><tbody>${rows}</tbody></table>`
}

/** Units of the identifications that are no numbers of their own, as the game shows them. */
const rollUnits: readonly (readonly [RegExp, string])[] = [
  [/^raw|Raw$/, ''],
  [/^(lifeSteal|manaSteal|poison)$/, '/3 s'],
  [/^manaRegen$/, '/5 s'],
  [/(damage|defence|spellcost|bonus|experience|speed|quality|efficiency|range)$/i, ' %'],
  [/^(exploding|healthRegen|knockback|reflection|slowEnemy|sprint|sprintRegen|stealing|thorns|weakenEnemy)$/, ' %'],
]

/** `+12 %` of an identification; without a unit where it has none, or none is known. */
function rolled(name: string, value: number): string {
  return `${signed(value)}${rollUnits.find(([names]) => names.test(name))?.[1] ?? ''}`
}

function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${number(value, 2)}`
}

/** What only ingredients and materials have. */
function craftingLines(item: Fields): Line[] {
  const beside = { left: 'to its left', right: 'to its right', above: 'above it', under: 'under it' }
  const effects = Object.entries({ ...beside, touching: 'that touch it', notTouching: 'that do not touch it' })
  const modifiers = fieldsOf(item.ingredientPositionModifiers)
  const onItems = fieldsOf(item.itemOnlyIDs)
  const needs = Object.entries(onItems).filter(([name, value]) => name.endsWith('Requirement') && value !== 0)
  return [
    ...numberLines(fieldsOf(item.consumableOnlyIDs), { charges: 'charges', duration: 'duration, seconds' }),
    ...(typeof onItems.durabilityModifier === 'number'
      ? [['durability', signed(onItems.durabilityModifier / 1000)] as const]
      : []),
    ...needs.flatMap(([name]) => numberLines(onItems, { [name]: apiWords(name) })),
    ...effects.flatMap(([name, where]): Line[] => {
      const effect = modifiers[name]
      return typeof effect === 'number' && effect !== 0 ? [[`ingredients ${where}`, `${signed(effect)} %`]] : []
    }),
    ...entriesOf(item.chances).flatMap(([tier, chance]): Line[] =>
      typeof chance === 'number' ? [[`chance of ${levelText(tier)}`, `${number(chance)} %`]] : [],
    ),
  ]
}

function otherLines(item: Fields): Line[] {
  const restriction = textIn(item, 'restriction', 'restrictions')
  const elements = listOf(item.elements)
  return [
    ...numberLines(item, { powderSlots: 'powder slots', gatheringSpeed: 'gathering speed', durability: 'durability' }),
    ...(elements.length === 0 ? [] : [['elements', elements.join(', ')] as const]),
    ...(item.identified === true ? [['rolls', 'comes identified'] as const] : []),
    ...(restriction === undefined || restriction === 'none' ? [] : [['restriction', levelText(restriction)] as const]),
  ]
}

function setsMarkup(sets: readonly SetMember[], id: string): Markup[] {
  return [...grouped(sets, ({ set }) => set)].map(([set, members]) => {
    const parts = members.map(({ member, name }) =>
      member === null || member === id ? html`<li>${name}</li>` : html`<li>${link('items', member, name)}</li>`,
    )
    const bonuses = Object.entries((members[0]?.bonuses ?? {}) as Readonly<Record<string, unknown>>)
    const given = (value: unknown) =>
      typeof value === 'object' && value !== null
        ? Object.entries(value)
            .map(([stat, amount]) => `${apiWords(stat)} ${typeof amount === 'number' ? rolled(stat, amount) : amount}`)
            .join(', ')
        : ''
    const table = { columns: ['Worn', 'Adds'], rows: bonuses.map(([pieces, value]): Cell[] => [pieces, given(value)]) }
    return html`<h4>Set ${set}</h4><ul class="parts">${parts}</ul>${bonuses.length > 0 ? tableMarkup(table) : ''}`
  })
}

/** So many places of one item are listed. */
const LISTED_PLACES = 60

/** Where an item comes from, as its record says it: a place or person that gives it, and creatures that drop it. */
function dropsMarkup(record: unknown, sorted: Sorted): Markup {
  const item = fieldsOf(record)
  const drop = fieldsOf(item.dropMeta)
  const ways = listOf(drop.type).map(apiWords)
  const event = textIn(drop, 'event')
  const given = textIn(drop, 'name')
  const creatures = (Array.isArray(item.droppedBy) ? item.droppedBy : []).map(fieldsOf)
  const rows: Cell[][] = [
    ...(given === undefined ? [] : [[given, ways.join(', ') || 'place', ...spotCells(drop.coordinates)]]),
    ...creatures.flatMap((creature) =>
      spotsOf(creature.coords).map((spot) => [textIn(creature, 'name') ?? '?', 'creature', ...spotCells(spot)]),
    ),
  ]
  const from = listOf(item.dropRestriction).filter((one) => one !== 'normal')
  const said = [
    ...(from.length > 0 ? [`Drops: ${from.map(levelText).join(', ')}.`] : []),
    ...(event === undefined ? [] : [`Event: ${apiWords(event)}.`]),
    ...(given === undefined && ways.length > 0 ? [`From: ${ways.join(', ')}.`] : []),
  ]
  const table: Table = {
    columns: ['From', 'Kind', 'At (x, y, z)', 'Within, blocks'],
    rows: rows.slice(0, LISTED_PLACES),
    note: rows.length > LISTED_PLACES ? `The first ${LISTED_PLACES} of ${count(rows.length, 'place')}.` : undefined,
  }
  return html`<h4 id="drops">Where it comes from</h4>${said.length > 0 ? html`<p>${said.join(' ')}</p>` : ''}${rows.length > 0 ? tableMarkup(sorted('drops', table)) : said.length > 0 ? '' : html`<p class="soft">The API does not say.</p>`}`
}

/** The three ways in which the API says where a creature is: nowhere in particular, in one place, in several. */
function spotsOf(coords: unknown): readonly unknown[] {
  if (!Array.isArray(coords) || coords.length === 0) return [undefined]
  const several = coords.filter((spot) => Array.isArray(spot))
  return several.length > 0 ? several : [coords]
}

/** 99999 stands for no place. */
function spotCells(spot: unknown): [Cell, Cell] {
  const [x, y, z, radius] = Array.isArray(spot) ? spot.filter((one) => typeof one === 'number') : []
  if (x === undefined || z === undefined || x === 99_999) return ['', '']
  return [html`<span class="n">${[x, y, z].map((one) => number(one)).join(', ')}</span>`, radius ?? '']
}
