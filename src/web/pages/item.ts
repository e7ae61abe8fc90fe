import type { Figure } from '../../analytics/report/drawing/figure.ts'
import type { Cell } from '../../analytics/report/drawing/html-table.ts'
import { apiWords, count, moment } from '../../analytics/report/words.ts'
import { nearest } from '../../base/text/nearest.ts'
import type { Sql } from '../../db/database.ts'
import { alone, chapterOf, type Page, type Visit } from '../html/page.ts'
import { Problem } from '../http/problems.ts'
import { grouped, type Revision, readRevisions, revisionFigure } from './revisions.ts'

export interface Item {
  readonly id: string
  readonly name: string
  readonly type: string | null
  readonly kind: string | null
  readonly tier: string | null
  readonly level: number | null
}

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

/** What is known of some items, each with a few statements in common. */
async function readItems(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, ItemFacts>> {
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
export async function itemNamed({ sql, name, ahead = alone }: Pick<Visit, 'sql' | 'name' | 'ahead'>) {
  const find = (key: string) => ahead('items', key, (ids) => readItems(sql, ids))
  let [id, facts] = [name, await find(name)]
  if (!facts.item && facts.revisions.length === 0) {
    const [called] = await sql.query<{ id: string }>(
      `select internal_name as id from analytics.item where display_name = $1 order by internal_name collate "C" limit 1`,
      [name],
    )
    if (!called)
      throw new Problem('not-found', { detail: `item not found: ${name}`, similar: await itemsLike(sql, name) })
    id = called.id
    facts = await find(id)
  }
  return { id, ...facts, name: facts.item?.name ?? facts.revisions[0]?.name ?? id }
}

/** Names of items that are written nearly like this. */
async function itemsLike(sql: Sql, name: string): Promise<string[]> {
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
