import { html } from 'hono/html'
import { type Figure, listFigure } from '../../analytics/report/drawing/figure.ts'
import type { Cell } from '../../analytics/report/drawing/html-table.ts'
import { apiWords, count, levelText, moment, number } from '../../analytics/report/words.ts'
import { nearest } from '../../base/text/nearest.ts'
import { link, searchForm } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { sortLink } from '../html/sorted-table.ts'
import { Problem } from '../http/problems.ts'
import { grouped, type Revision, readRevisions, revisionFigure } from './revisions.ts'

interface Item {
  readonly id: string
  readonly name: string
  readonly type: string | null
  readonly kind: string | null
  readonly tier: string | null
  readonly level: number | null
}

const columns = `internal_name as id, coalesce(display_name, internal_name) as name, type, sub_type as kind, tier, level`
const most = 200

/** What the list is narrowed by, with its name for readers. */
const filters = [
  ['q', 'Name'],
  ['type', 'Type'],
  ['tier', 'Tier'],
  ['class', 'Class'],
  ['least', 'Level from'],
  ['most', 'to'],
  ['stat', 'Identification'],
] as const

export const itemParameters: readonly string[] = [...filters.map(([name]) => name), 'sort', 'page']

/** What the list can be sorted by: a column of the statement, and its heading. */
const headings = [
  ['name', 'Item'],
  ['type', 'Type'],
  ['kind', 'Kind'],
  ['tier', 'Tier'],
  ['level', 'Level'],
  ['class', 'Class'],
  ['value', 'Identification'],
] as const

/** `/items?q=&type=&tier=&class=&least=&most=&stat=`: items by name, type, tier, class, level and identification, sorted by a heading. */
export async function itemsPage({ sql, query }: Visit): Promise<Page> {
  const [text = '', type = '', tier = '', wanted = '', least = '', highest = '', stat = ''] = filters.map(
    ([name]) => query.get(name) ?? '',
  )
  const level = (given: string) => (/^\d{1,4}$/.test(given) ? Number(given) : null)
  const sort = query.get('sort') ?? ''
  const isOther = sort.startsWith('-')
  const by = headings.find(([name]) => name === sort.replace(/^-/, ''))?.[0] ?? 'name'
  const isNumber = by === 'value' || by === 'level'
  const isFalling = isNumber !== isOther
  const page = Math.max(1, Math.min(1000, Math.floor(Number(query.get('page'))) || 1))
  const found = await sql.query<
    Item & { readonly class: string | null; readonly value: number | null; readonly total: number }
  >(
    `select listed.*, count(*) over ()::int as total
       from (select ${columns}, class_requirement as class, roll.value from analytics.item
              left join lateral (select max(one.raw)::double precision as value from analytics.item_identification one
                                  where $7 <> '' and one.internal_name = item.internal_name
                                    and lower(one.identification collate "C") = replace(lower($7 collate "C"), ' ', '')) roll on true
             where ($1 = '' or strpos(lower(coalesce(display_name, internal_name) collate "C"), lower($1 collate "C")) > 0
                            or strpos(lower(internal_name collate "C"), lower($1 collate "C")) > 0)
               and ($2 = '' or lower($2 collate "C") in (lower(type collate "C"), lower(sub_type collate "C")))
               and ($3 = '' or lower(tier collate "C") = lower($3 collate "C"))
               and ($4 = '' or lower(class_requirement collate "C") = lower($4 collate "C"))
               and ($5::int is null or level >= $5) and ($6::int is null or level <= $6)
               and ($7 = '' or roll.value is not null)) listed
      order by listed.${by}${isNumber ? '' : ' collate "C"'} ${isFalling ? 'desc' : 'asc'} nulls last, listed.name collate "C", listed.id collate "C" limit ${most} offset $8`,
    [text, type, tier, wanted, level(least), level(highest), stat, (page - 1) * most],
  )
  const total = found[0]?.total ?? 0
  const given = new URLSearchParams([...query].filter(([name]) => name !== 'sort' && name !== 'page'))
  const to = (place: number, said: string) =>
    html`<a href="/items?${new URLSearchParams([...[...query].filter(([name]) => name !== 'page'), ['page', String(place)]])}">${said}</a> `
  const shown = headings.filter(([name]) => name !== 'value' || stat !== '')
  const first = (page - 1) * most
  return {
    path: given.size > 0 ? `/items?${given}` : '/items',
    title: `${count(total, 'item')}${text === '' ? '' : ` like ${text}`}`,
    lead: 'Items by name, type (weapon, bow, helmet, ingredient), tier, class, level and identification (walk speed).',
    control: html`${searchForm('/items', filters, query)}<p class="at">${page > 1 ? to(page - 1, 'Before') : ''}${total > page * most ? to(page + 1, 'Next') : ''}</p>`,
    chapters: [
      chapterOf(
        'items',
        'Items',
        listFigure(
          'list',
          total > most
            ? `${number(first + 1)} to ${number(first + found.length)} of ${number(total)}`
            : count(total, 'item'),
          {
            columns: shown.map(([key, heading]) =>
              sortLink(
                { key, heading: key === 'value' ? apiWords(stat) : heading },
                { by, isOther, isFalling },
                { path: '/items', query, anchor: 'list' },
              ),
            ),
            rows: found.map((item): Cell[] => [
              ...[
                link('items', item.id, item.name),
                wordsOf(item.type),
                wordsOf(item.kind),
                wordsOf(item.tier),
                item.level ?? '',
                item.class ?? '',
              ],
              ...(stat === '' ? [] : [item.value]),
            ]),
          },
        ),
      ),
    ],
  }
}

const wordsOf = (name: string | null) => (name === null ? '' : levelText(name))

/** What the pages of items show of one. */
interface ItemFacts {
  /** Undefined for one that is no longer in the game. */
  readonly item: Item | undefined
  /** What it is besides, by the words for it. */
  readonly fields: Readonly<Record<string, Cell>>
  readonly rolls: readonly Roll[]
  readonly recipes: readonly {
    readonly recipe: string
    readonly skill: string | null
    readonly amount: number | null
  }[]
  readonly revisions: readonly Revision[]
}

interface Roll {
  readonly id: string
  readonly what: string
  readonly base: number | null
  readonly least: number | null
  readonly most: number | null
}

/** Finds what is known of an item by its internal name. */
export type FindItem = (sql: Visit['sql'], id: string) => Promise<ItemFacts>

/** What is known of some items, each with a few statements in common. */
export async function readItems(sql: Visit['sql'], ids: readonly string[]): Promise<ReadonlyMap<string, ItemFacts>> {
  const rows = await sql.query<{ item: Item; fields: Record<string, Cell> }>(
    `select json_build_object('id', internal_name, 'name', coalesce(display_name, internal_name), 'type', type, 'kind', sub_type,
                               'tier', tier, 'level', level) as item,
            json_build_object('Class', class_requirement, 'Attack speed', attack_speed, 'Average damage per second', average_dps,
                               'Powder slots', powder_slots, 'Strength', strength, 'Dexterity', dexterity,
                               'Intelligence', intelligence, 'Defence', defence, 'Agility', agility, 'Quest', quest,
                               'Restriction', restriction) as fields
       from game.item where valid_until = 'infinity' and internal_name = any ($1::text[])`,
    [ids],
  )
  const rolls = await sql.query<Roll>(
    `select internal_name as id, identification as what, raw as base, min as least, max as most from analytics.item_identification
      where internal_name = any ($1::text[]) order by identification collate "C"`,
    [ids],
  )
  // Recipes are made of materials alone.
  const recipes = await sql.query<ItemFacts['recipes'][number] & { id: string }>(
    `select item.internal_name as id, found.internal_name as recipe, found.skill, found.amount
       from game.item
      cross join lateral (select * from analytics.recipes_using(item.internal_name) one order by one.internal_name collate "C" limit 200) found
      where item.valid_until = 'infinity' and item.type = 'material' and item.internal_name = any ($1::text[])`,
    [ids],
  )
  const revisions = await readRevisions(sql, ids)
  const idOf = ({ id }: { readonly id: string }) => id
  const [rollsOf, recipesOf] = [grouped(rolls, idOf), grouped(recipes, idOf)]
  const itemOf = new Map(rows.map((row) => [row.item.id, row]))
  return new Map(
    ids.map((id) => [
      id,
      {
        ...{ item: itemOf.get(id)?.item, fields: itemOf.get(id)?.fields ?? {}, rolls: rollsOf.get(id) ?? [] },
        ...{ recipes: recipesOf.get(id) ?? [], revisions: revisions.get(id) ?? [] },
      },
    ]),
  )
}

/** The item that the path names by its internal or display name, with its revisions. @throws Problem when there is none */
export async function itemNamed({ sql, name, findItem = readItem }: Pick<Visit, 'sql' | 'name' | 'findItem'>) {
  let [id, facts] = [name, await findItem(sql, name)]
  if (!facts.item && facts.revisions.length === 0) {
    const [called] = await sql.query<{ id: string }>(
      `select internal_name as id from analytics.item where display_name = $1 order by internal_name collate "C" limit 1`,
      [name],
    )
    if (!called)
      throw new Problem('not-found', { detail: `item not found: ${name}`, similar: await itemsLike(sql, name) })
    id = called.id
    facts = await findItem(sql, id)
  }
  return { id, ...facts, name: facts.item?.name ?? facts.revisions[0]?.name ?? id }
}

const readItem: FindItem = async (sql, id) => {
  const facts = (await readItems(sql, [id])).get(id)
  if (!facts) throw new Error(`nothing was read of ${id}`)
  return facts
}

/** The internal names of items by what players call them. */
export async function itemsCalled(sql: Visit['sql'], names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.query<{ name: string; id: string }>(
    `select display_name as name, min(internal_name collate "C") as id from game.item
      where valid_until = 'infinity' and display_name = any ($1::text[]) group by 1`,
    [names],
  )
  return new Map(rows.map(({ name, id }) => [name, id]))
}

/** Names of items that are written nearly like this. */
async function itemsLike(sql: Visit['sql'], name: string): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `select coalesce(display_name, internal_name) as name from analytics.item`,
  )
  return nearest(
    name,
    rows.map(({ name: one }) => one),
  )
}

/** `/items/NAME`: an item by its internal name, as it is, and every revision. */
export async function itemPage(visit: Visit): Promise<Page> {
  const { id, name: shown, ...facts } = await itemNamed(visit)
  const { item, revisions } = facts
  return {
    path: `/items/${encodeURIComponent(id)}`,
    feed: `/feeds/items/${encodeURIComponent(id)}.atom`,
    title: `${shown} ${item ? changedText(revisions) : 'is no longer in the game'}`,
    lead: item
      ? [item.tier, item.kind ?? item.type, item.level === null ? null : `level ${item.level}`]
          .filter(Boolean)
          .join(', ')
      : id,
    chapters: [
      ...(item ? [chapterOf('item', 'As it is', itemFigure(item, facts), ...recipesFigures(facts))] : []),
      chapterOf(
        'revisions',
        'Revisions',
        ...(revisions.length > 0
          ? revisions.map(revisionFigure)
          : [{ id: 'none', title: 'No change was seen since the history began' }]),
      ),
    ],
  }
}

function changedText([latest, ...earlier]: readonly Revision[]): string {
  if (!latest) return 'has not changed since the history began'
  return earlier.length === 0
    ? `changed once, on ${moment(latest.at)}`
    : `changed ${earlier.length + 1} times, last on ${moment(latest.at)}`
}

function itemFigure({ name }: Item, { fields, rolls }: ItemFacts): Figure {
  const given: Cell[][] = Object.entries(fields).flatMap(([field, value]) =>
    value === null ? [] : [[field, value, '']],
  )
  const identified = rolls.map(({ what, base, least, most }): Cell[] => [
    ...[apiWords(what), base, least === most ? '' : `${least ?? '?'} to ${most ?? '?'}`],
  ])
  return {
    id: 'fields',
    title: `${name}: ${count(rolls.length, 'identification')}`,
    table: { columns: ['What', 'Value', 'Range'], rows: [...given, ...identified] },
    isTableShown: given.length + identified.length > 0,
  }
}

function recipesFigures({ recipes }: ItemFacts): Figure[] {
  if (recipes.length === 0) return []
  const table = {
    columns: ['Recipe', 'Skill', 'Amount'],
    rows: recipes.map(({ recipe, skill, amount }) => [recipe, skill, amount]),
  }
  const title = count(recipes.length, 'recipe uses', 'recipes use')
  return [{ id: 'recipes', title: `${title} it`, lead: 'As of the latest response.', table }]
}
