import { html } from 'hono/html'
import { type Figure, listFigure } from '../../analytics/report/drawing/figure.ts'
import type { Cell } from '../../analytics/report/drawing/html-table.ts'
import { count, moment } from '../../analytics/report/words.ts'
import { nearest } from '../../base/text/nearest.ts'
import { link, searchForm } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { Problem } from '../http/problems.ts'
import { type Revision, readRevisions, revisionFigure } from './revisions.ts'

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

/** `/items?q=&type=&tier=`: items by name, type and tier. */
export async function itemsPage({ sql, query }: Visit): Promise<Page> {
  const [text = '', type = '', tier = ''] = ['q', 'type', 'tier'].map((one) => query.get(one) ?? '')
  const found = await sql.query<Item>(
    `select ${columns} from analytics.item
      where ($1 = '' or strpos(lower(coalesce(display_name, internal_name) collate "C"), lower($1 collate "C")) > 0
                     or strpos(lower(internal_name collate "C"), lower($1 collate "C")) > 0)
        and ($2 = '' or lower($2 collate "C") in (lower(type collate "C"), lower(sub_type collate "C")))
        and ($3 = '' or lower(tier collate "C") = lower($3 collate "C"))
      order by coalesce(display_name, internal_name) collate "C", internal_name collate "C" limit $4`,
    [text, type, tier, most + 1],
  )
  const amount = found.length > most ? `More than ${most} items` : count(found.length, 'item')
  const filters = new URLSearchParams(Object.entries({ q: text, type, tier }).filter(([, value]) => value !== ''))
  return {
    path: filters.size > 0 ? `/items?${filters}` : '/items',
    title: `${amount}${text === '' ? '' : ` like ${text}`}`,
    lead: 'Items by name, by type (weapon, bow, helmet, ingredient) and by tier.',
    control: searchForm(
      '/items',
      [
        ['q', 'Name'],
        ['type', 'Type'],
        ['tier', 'Tier'],
      ],
      query,
    ),
    chapters: [
      chapterOf(
        'items',
        'Items',
        listFigure('list', found.length > most ? `The first ${most}` : amount, {
          columns: ['Item', 'Type', 'Kind', 'Tier', 'Level'],
          rows: found
            .slice(0, most)
            .map(({ id, name, type, kind, tier, level }) => [
              ...[link('items', id, name), type ?? '', kind ?? '', tier ?? '', level ?? ''],
            ]),
        }),
      ),
    ],
  }
}

/** The item that the path names by its internal or display name, with its revisions. @throws Problem when there is none */
export async function itemNamed({ sql, name }: Pick<Visit, 'sql' | 'name'>) {
  const [item] = await sql.query<Item>(
    `select ${columns} from analytics.item where internal_name = $1 or display_name = $1
      order by internal_name = $1 desc, internal_name collate "C" limit 1`,
    [name],
  )
  const id = item?.id ?? name
  const revisions = await readRevisions(sql, id)
  const [latest] = revisions
  if (!item && !latest)
    throw new Problem('not-found', { detail: `item not found: ${name}`, similar: await itemsLike(sql, name) })
  return { id, item, revisions, name: item?.name ?? latest?.name ?? id }
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
  const { sql } = visit
  const { id, item, revisions, name: shown } = await itemNamed(visit)
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
      ...(item ? [chapterOf('item', 'As it is', await itemFigure(sql, item), await recipesFigure(sql, item))] : []),
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

async function itemFigure(sql: Visit['sql'], { id, name }: Item): Promise<Figure> {
  const [row] = await sql.query<Record<string, Cell>>(
    `select class_requirement as "Class", attack_speed as "Attack speed", average_dps as "Average damage per second",
            powder_slots as "Powder slots", strength as "Strength", dexterity as "Dexterity", intelligence as "Intelligence",
            defence as "Defence", agility as "Agility", quest as "Quest", restriction as "Restriction"
       from analytics.item where internal_name = $1`,
    [id],
  )
  const given: Cell[][] = Object.entries(row ?? {}).flatMap(([field, value]) =>
    value === null ? [] : [[field, value, '']],
  )
  const rolls = await sql.query<{ what: string; base: number | null; least: number | null; most: number | null }>(
    `select identification as what, raw as base, min as least, max as most from analytics.item_identification
      where internal_name = $1 order by identification collate "C"`,
    [id],
  )
  const identified = rolls.map(({ what, base, least, most }): Cell[] => [
    ...[what, base, least === most ? '' : `${least ?? '?'} to ${most ?? '?'}`],
  ])
  return {
    id: 'fields',
    title: `${name}: ${count(rolls.length, 'identification')}`,
    table: { columns: ['What', 'Value', 'Range'], rows: [...given, ...identified] },
    isTableShown: given.length + identified.length > 0,
  }
}

async function recipesFigure(sql: Visit['sql'], { id }: Item): Promise<Figure> {
  const recipes = await sql.query<{ recipe: string; skill: string | null; amount: number | null }>(
    `select internal_name as recipe, skill, amount from analytics.recipes_using($1) order by internal_name collate "C" limit 200`,
    [id],
  )
  if (recipes.length === 0) return { id: 'recipes', title: 'No recipe is known to use it' }
  return {
    id: 'recipes',
    title: `${count(recipes.length, 'recipe uses', 'recipes use')} it`,
    lead: html`As of the latest response.`,
    table: {
      columns: ['Recipe', 'Skill', 'Amount'],
      rows: recipes.map(({ recipe, skill, amount }) => [recipe, skill, amount]),
    },
  }
}
