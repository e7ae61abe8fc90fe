import { html } from 'hono/html'
import { INSTANT, instantOf } from '../../base/text/instants.ts'
import { nearest } from '../../base/text/nearest.ts'
import type { Sql } from '../../db/database.ts'
import type { Figure } from '../../drawing/figure.ts'
import { type Cell, type Markup, type Table, tableMarkup } from '../../drawing/html-table.ts'
import type { Period } from '../../drawing/period.ts'
import { count, instant, levelText, moment } from '../../drawing/words.ts'
import { grouped } from '../html/grouped.ts'
import { link, pathOf } from '../html/links.ts'
import { alone, chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { listedFigure, pageOf } from '../html/sorted-table.ts'
import { Problem } from '../http/problems.ts'
import { itemParts } from './item-card.ts'
import {
  changesTable,
  differences,
  nameOf,
  type Revision,
  readRevisions,
  revisionFigures,
  type Version,
} from './revisions.ts'

/** What the pages of items show of one. */
interface ItemFacts {
  /** Its versions and what each changed, the latest first; none of what is no item. */
  readonly versions: readonly Version[]
  readonly revisions: readonly Revision[]
  /** Whether there are earlier ones. */
  readonly isCut: boolean
  readonly recipes: readonly Recipe[]
  readonly sets: readonly SetMember[]
  readonly pools: readonly Pool[]
}

interface Recipe {
  readonly id: string
  readonly recipe: string
  readonly skill: string | null
  readonly amount: number | null
}

type SetMember = Parameters<typeof itemParts>[2][number] & { readonly id: string }

interface Pool {
  readonly id: string
  readonly pool: string
  readonly isCurrent: boolean
  readonly first: Date
  readonly last: Date
  readonly times: number
}

/** How many versions of an item a page has. */
const SHOWN_VERSIONS = 100

/** What is known of some items, each with a few statements in common. */
async function readItems(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, ItemFacts>> {
  const changesOf = await readRevisions(sql, ids, { to: null, offset: 0, most: SHOWN_VERSIONS })
  // Recipes are made of materials alone.
  const recipes = await sql.query<Recipe>(
    `select item.internal_name as id, found.internal_name as recipe, found.skill, found.amount
       from game.item
      cross join lateral (select * from analytics.recipes_using(item.internal_name) one order by one.internal_name collate "C" limit 200) found
      where item.valid_until = 'infinity' and item.type = 'material' and item.internal_name = any ($1::text[])`,
    [ids],
  )
  const sets = await sql.query<SetMember>(
    `with part as materialized (select set, internal_name, display_name, bonuses from analytics.item_set)
     select own.internal_name as id, part.set, part.internal_name as member, part.display_name as name, part.bonuses
       from part own join part on part.set = own.set
      where own.internal_name = any ($1::text[]) order by part.set collate "C", part.display_name collate "C", part.internal_name collate "C"`,
    [ids],
  )
  const pools = await sql.query<Pool>(
    `select item.internal_name as id, seen.pool, seen.is_current as "isCurrent", seen.first_seen as first, seen.last_seen as last, seen.times
       from game.item join analytics.reward_appearance seen on seen.reward = item.display_name
      where item.valid_until = 'infinity' and item.internal_name = any ($1::text[])
        and seen.reward_type in ('ITEM', 'TOME', 'INGREDIENT')
      order by seen.is_current desc, seen.last_seen desc, seen.pool collate "C"`,
    [ids],
  )
  const idOf = ({ id }: { readonly id: string }) => id
  const recipesOf = grouped(recipes, idOf)
  const setsOf = grouped(sets, idOf)
  const poolsOf = grouped(pools, idOf)
  return new Map(
    ids.map((id) => [
      id,
      {
        ...changesOf(id),
        recipes: recipesOf.get(id) ?? [],
        sets: setsOf.get(id) ?? [],
        pools: poolsOf.get(id) ?? [],
      },
    ]),
  )
}

/** The item that the path names by its internal or display name, with its revisions. @throws Problem when there is none */
export async function itemNamed({ sql, name, ahead = alone }: Pick<Visit, 'sql' | 'name' | 'ahead'>) {
  const find = (key: string) => ahead('items', key, (ids) => readItems(sql, ids))
  let id = name
  let facts = await find(name)
  if (facts.versions.length === 0) {
    const [called] = await sql.query<{ id: string }>(
      `select internal_name as id from analytics.item where display_name = $1 order by internal_name collate "C" limit 1`,
      [name],
    )
    if (!called)
      throw new Problem('not-found', { detail: `item not found: ${name}`, similar: await itemsLike(sql, name) })
    id = called.id
    facts = await find(id)
  }
  return { id, ...facts, name: nameOf(facts.versions[0]?.record) ?? id }
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

/** `/items/NAME?patch=&a=&b=&page=&from=&to=`: an item as it is or was, what two of its versions have different, and every revision. */
export async function itemPage(visit: Visit): Promise<Page> {
  const { sql, now } = visit
  const { id, name, ...facts } = await itemNamed(visit)
  const path = pathOf('items', id)
  const patch = await patchOf(visit)
  const { frame, control, isWhole } = await shownPeriod(visit, { path, of: ['items'], days: Infinity })
  const compared = await comparedVersions(visit, id)
  const isPast = patch !== undefined || !isWhole
  const shown = isPast
    ? await versionAt(sql, id, patch?.endedAt ?? new Date(frame.to.getTime() - 1))
    : facts.versions.find(({ until }) => until === null)
  const was = patch ? `as of patch ${patch.patch}` : 'at the end of this period'
  const title = isPast ? (shown ? `${name} ${was}` : `${name}: no response shows it ${was}`) : nowText(name, facts, now)
  const { figures, links } = await revisionsPart(visit, { id, path, facts, period: isWhole ? null : frame })
  return {
    path,
    feed: `/feeds/items/${encodeURIComponent(id)}.atom`,
    title,
    lead: isPast
      ? 'What came later is not in it.'
      : shown
        ? leadText(shown)
        : `Last seen ${moment(facts.versions[0]?.until ?? now, now)} UTC.`,
    control: patch
      ? html`<p class="at">${link('items', id, 'As it is now')} · ${link('patches', String(patch.patch), `Patch ${patch.patch}`)}</p>`
      : control,
    ...(patch === undefined && { links }),
    chapters: [
      ...(compared ? [chapterOf('comparison', 'Compared', comparedFigure(compared))] : []),
      ...(shown
        ? [
            chapterOf(
              'item',
              isPast ? 'As it was' : 'As it is',
              itemFigure(visit, id, shown, isPast ? undefined : facts),
            ),
          ]
        : []),
      chapterOf(
        'revisions',
        'Revisions',
        ...(figures.length === 0 && !(shown && !isPast)
          ? [{ id: 'none', title: `No change was seen ${isWhole ? 'since the history began' : 'in this period'}` }]
          : figures),
      ),
    ],
  }
}

interface OfRevisions {
  readonly id: string
  readonly path: string
  readonly facts: ItemFacts
  /** Null: all that was observed. */
  readonly period: Period | null
}

/** The revisions of a period that the page of the address has, the latest first, and links to the others. */
async function revisionsPart({ sql, query }: Visit, { id, path, facts, period }: OfRevisions) {
  const page = pageOf(path, query, SHOWN_VERSIONS)
  const isFirst = period === null && page.offset === 0
  const total = isFirst && !facts.isCut ? facts.versions.length : await countVersions(sql, id, period)
  const part = isFirst
    ? facts
    : (await readRevisions(sql, [id], { to: period?.to ?? null, offset: page.offset, most: SHOWN_VERSIONS }))(id)
  const from = period?.from ?? new Date(0)
  const versions = part.versions.filter(({ since }) => since >= from)
  const revisions = part.revisions.filter(({ at }) => at >= from)
  const range = page.range(versions.length, total)
  return {
    links: page.links(total),
    figures: [
      ...(range ? [{ id: 'part', title: page.past(versions.length) ?? `Versions ${range}` }] : []),
      ...(versions.length > 1 ? [choiceFigure(path, versions, revisions)] : []),
      ...revisionFigures(id, revisions),
    ],
  }
}

/** The version of an item at an instant; undefined where there was none. */
async function versionAt(sql: Sql, id: string, at: Date): Promise<Version | undefined> {
  const [version] = await sql.query<Version>(
    `select valid_from as since, case when valid_until < 'infinity' then valid_until end as until, document as record
       from game.item where internal_name = $1 and valid_from <= $2 and valid_until > $2`,
    [id, at],
  )
  return version
}

/** How many versions of an item began, in a period or ever. */
async function countVersions(sql: Sql, id: string, period: Period | null): Promise<number> {
  const [row] = await sql.query<{ versions: number }>(
    `select count(*)::int as versions from game.item
      where internal_name = $1 and ($2::timestamptz is null or valid_from >= $2) and ($3::timestamptz is null or valid_from < $3)`,
    [id, period?.from ?? null, period?.to ?? null],
  )
  return row?.versions ?? 0
}

/** The patch that the address names, with its end. @throws Problem where there is none */
async function patchOf({ sql, query }: Visit): Promise<{ readonly patch: number; readonly endedAt: Date } | undefined> {
  const text = query.get('patch') ?? ''
  if (text === '') return undefined
  const [found] = /^\d{1,9}$/.test(text)
    ? await sql.query<{ at: Date | null }>(
        'select max(changed_at) as at from analytics.change_instant where patch = $1',
        [Number(text)],
      )
    : []
  if (!found?.at) throw new Problem('bad-argument', { detail: `patch not found: ${text}`, argument: 'patch' })
  return { patch: Number(text), endedAt: found.at }
}

function nowText(name: string, { versions, ...facts }: ItemFacts, now: Date): string {
  return `${name} ${versions[0]?.until === null ? changedText(facts, now) : 'is no longer in the game'}`
}

function changedText({ revisions, isCut }: Pick<ItemFacts, 'revisions' | 'isCut'>, now: Date): string {
  const [latest, ...earlier] = revisions.filter(({ kind }) => kind !== 'appeared')
  const [come] = revisions
  if (!latest) return come ? `appeared on ${moment(come.at, now)}` : 'has not changed since the history began'
  return earlier.length === 0
    ? `changed once, on ${moment(latest.at, now)}`
    : `changed ${isCut ? 'more than ' : ''}${earlier.length + 1} times, last on ${moment(latest.at, now)}`
}

function leadText({ record }: Version): string {
  const { tier, subType, type, requirements } = record as Readonly<Record<string, unknown>>
  const level = (requirements as { readonly level?: unknown } | undefined)?.level
  const words = [tier, subType ?? type].flatMap((one) => (typeof one === 'string' ? levelText(one) : []))
  return [...words, ...(typeof level === 'number' ? [`level ${level}`] : [])].join(', ')
}

/** The card, and beside it where the item comes from and what it is good for. @param facts what is known of now alone */
function itemFigure({ query }: Visit, id: string, { record, since }: Version, facts: ItemFacts | undefined): Figure {
  const at = { path: pathOf('items', id), query }
  const sorted = (id: string, table: Table) => listedFigure({ id, title: '', table }, at).table ?? table
  const { card, drops, sets } = itemParts(id, record, facts?.sets ?? [], sorted)
  const beside = [drops, ...(facts ? [poolsMarkup(facts, sorted), ...sets, recipesMarkup(facts, sorted)] : [])]
  return {
    id: 'card',
    title: `${nameOf(record) ?? id}, as it ${facts ? 'is since' : 'was from'} ${instant(since)}`,
    picture: html`<div class="item">${card}<div>${beside}</div></div>`,
  }
}

type Sorted = Parameters<typeof itemParts>[3]

function poolsMarkup({ pools }: ItemFacts, sorted: Sorted): Markup | '' {
  if (pools.length === 0) return ''
  const rows = pools.map(({ pool, isCurrent, first, last, times }): Cell[] => [
    html`<a href="/pools">${pool}</a>`,
    isCurrent ? 'now' : last,
    first,
    times,
  ])
  const table = { columns: ['Pool', 'Last there (UTC)', 'First seen (UTC)', 'Times'], rows }
  return html`<h4 id="item-pools">In loot pools</h4>${tableMarkup(sorted('item-pools', table))}`
}

function recipesMarkup({ recipes }: ItemFacts, sorted: Sorted): Markup | '' {
  if (recipes.length === 0) return ''
  const rows = recipes.map(({ recipe, skill, amount }): Cell[] => [recipe, skill, amount])
  const table = sorted('recipes', { columns: ['Recipe', 'Skill', 'Amount'], rows })
  return html`<h4 id="recipes">${count(recipes.length, 'recipe uses', 'recipes use')} it</h4>${tableMarkup(table)}`
}

interface Compared {
  readonly at: readonly [Date, Date]
  readonly before: Version | undefined
  readonly after: Version | undefined
}

/** The versions of the two instants of the address; without the second, it is compared with now. */
async function comparedVersions({ sql, query, now }: Visit, id: string): Promise<Compared | undefined> {
  const [a, b] = (['a', 'b'] as const).map((name) => {
    const text = query.get(name) ?? ''
    const at = text === '' ? undefined : instantOf(text, now.getTime())
    if (text !== '' && !at) throw new Problem('bad-argument', { detail: `${name} must be ${INSTANT}`, argument: name })
    // A minute more, as of a period.
    if (at && at.getTime() > now.getTime() + 60_000)
      throw new Problem('bad-argument', { detail: `${name} must not be after now`, argument: name })
    return at
  })
  if (!a && !b) return undefined
  const at = [a ?? now, b ?? now].sort((one, other) => one.getTime() - other.getTime()) as [Date, Date]
  return { at, before: await versionAt(sql, id, at[0]), after: await versionAt(sql, id, at[1]) }
}

function comparedFigure({ at: [from, to], before, after }: Compared): Figure {
  const id = 'compare'
  const span = `${instant(from)} and ${instant(to)}`
  if (!before || !after)
    return { id, title: `No response shows it at ${instant(before ? to : from)}, so there is nothing to compare` }
  const changes = differences(before.record, after.record)
  if (changes.length === 0) return { id, title: `It was the same at ${span}` }
  return {
    id,
    title: `${count(changes.length, 'value')} between ${span} ${changes.length === 1 ? 'is' : 'are'} different`,
    table: changesTable(changes),
    isTableShown: true,
  }
}

/** A form to compare any two versions; works without a script. */
function choiceFigure(path: string, versions: readonly Version[], revisions: readonly Revision[]): Figure {
  const patches = new Map(revisions.map(({ at, patch }) => [at.getTime(), patch]))
  const options = (chosen: number) =>
    versions.map(({ since }, place) => {
      const patch = patches.get(since.getTime())
      return html`<option value="${since.toISOString()}"${place === chosen ? html` selected` : ''}>${instant(since)}${patch ? `, patch ${patch}` : ''}</option>`
    })
  return {
    id: 'choice',
    title: `${count(versions.length, 'version')} to compare`,
    picture: html`<form action="${path}#compare"><label>Between <select name="a">${options(1)}</select></label><label>and <select name="b">${options(0)}</select></label><button>Compare</button></form>`,
  }
}
