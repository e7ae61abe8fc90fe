import { html } from 'hono/html'
import type { Sql } from '../../db/database.ts'
import { type Figure, listFigure, missing } from '../../drawing/figure.ts'
import type { Cell } from '../../drawing/html-table.ts'
import {
  answerPath,
  type Change,
  changesOf,
  type Kind,
  type Patch,
  patchText,
} from '../../drawing/patch/patch-changes.ts'
import { groupChapters, groupsOf, groupTable, technicalFigure } from '../../drawing/patch/patch-groups.ts'
import { shiftsPicture } from '../../drawing/patch/patch-shifts.ts'
import { count, levelText, moment, number } from '../../drawing/words.ts'
import { link } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { type Column, pageOf, sortedTable } from '../html/sorted-table.ts'
import { Problem } from '../http/problems.ts'
import type { PatchesOf } from '../known-patches.ts'

const resourceOf: Readonly<Record<Kind, string>> = {
  items: 'items',
  recipes: 'recipes',
  abilities: 'ability-trees',
  aspects: 'aspects',
  quests: 'quests',
}

const kinds = Object.keys(resourceOf) as Kind[]

const patchResources = Object.values(resourceOf)

/** What the list can be sorted by. */
const patchColumns: readonly Column<Awaited<ReturnType<PatchesOf>>[number]>[] = [
  {
    key: 'patch',
    heading: 'Patch',
    isFalling: true,
    value: ({ patch }) => patch,
    cell: (one) =>
      link('patches', String(one.patch), `${one.patch}${patchText(one).startsWith('only ') ? ', of form' : ''}`),
  },
  { key: 'seen', heading: 'First seen (UTC)', isFalling: true, value: ({ startedAt }) => startedAt },
  { key: 'changed', heading: 'Items changed', isFalling: true, value: ({ changed }) => changed },
  { key: 'added', heading: 'Added', isFalling: true, value: ({ added }) => added },
  { key: 'removed', heading: 'Removed', isFalling: true, value: ({ removed }) => removed },
  { key: 'recipes', heading: 'Recipes', isFalling: true, value: ({ recipes }) => recipes },
  { key: 'abilities', heading: 'Abilities', isFalling: true, value: ({ abilities }) => abilities },
  {
    key: 'article',
    heading: 'Near it was published',
    value: ({ article }) => article,
    cell: ({ article }) => article ?? '',
  },
]

/** `/patches`: every patch of a period, the latest first, or as a heading sorts them; by default of all that was observed. */
export async function patchesPage(visit: Visit): Promise<Page> {
  const shown = await shownPeriod(visit, { path: '/patches', of: patchResources, days: Infinity })
  const { frame, isWhole } = shown
  const known = await visit.patchesOf(visit.sql)
  const isOf = ({ startedAt }: Patch) => startedAt >= frame.from && startedAt < frame.to
  const all = isWhole ? known : known.filter(isOf)
  const [last] = all
  const page = pageOf('/patches', visit.query)
  const sorting = { path: '/patches', query: visit.query, anchor: 'list', usual: 'patch' }
  const { columns, rows: sorted } = sortedTable(all, patchColumns, sorting)
  const rows = sorted.slice(page.offset, page.offset + page.size)
  const range = page.range(rows.length, all.length)
  const figure: Figure = last
    ? listFigure('list', `${range ? `${range}. ` : ''}The latest: ${patchText(last)}`, { columns, rows })
    : isWhole
      ? missing('list', 'No patch was seen yet', 'wynnsync sync items recipes')
      : { id: 'list', title: 'No patch was seen in this period' }
  return {
    path: '/patches',
    feed: '/feeds/patches.atom',
    title: last
      ? `${count(all.length, 'patch', 'patches')} seen, the last on ${moment(last.startedAt, visit.now)}`
      : figure.title,
    lead: 'Updates of the game, as far as they show in items, recipes, abilities, aspects and quests.',
    control: shown.control,
    links: page.links(all.length),
    chapters: [chapterOf('patches', 'Patches', figure)],
  }
}

/** Changed values of a kind that a page shows. */
const shown = 3000

/** `/patches/N`: everything that one patch changed, by kind, direction and class or type. */
export async function patchPage({ sql, name, now, patchesOf }: Visit): Promise<Page> {
  const wanted = /^\d{1,9}$/.test(name) ? Number(name) : undefined
  const patch = wanted === undefined ? undefined : (await patchesOf(sql)).find((one) => one.patch === wanted)
  if (!patch) throw new Problem('not-found', { detail: `patch not found: ${name}` })
  const found = await Promise.all(kinds.map(async (kind) => await changesOf(sql, patch, [kind], shown + 1)))
  const some = await withTypes(
    sql,
    found.flatMap((one) => one.slice(0, shown)),
  )
  const isTechnical = await technicalIn(sql, patch)
  const changes = some.filter((change) => !isTechnical(change))
  const groups = groupsOf(changes)
  const drawn = shiftsPicture(changes)
  const cut = kinds.filter((_, place) => (found[place]?.length ?? 0) > shown)
  const figure: Figure = {
    id: 'patch',
    title: patchText(patch),
    lead: html`${drawn.picture ? 'The picture has the numbers that changed most against what they were. ' : ''}Buffed is what has only better numbers, nerfed what has only worse ones: of costs, cooldowns and requirements less is better${cut.map((kind) => html`; of ${kind}, the first ${number(shown)} changed values are shown, and <a href="${answerPath(kind, patch.patch)}">the API has more</a>`)}.`,
    ...drawn,
    table: groupTable(groups),
    isTableShown: groups.length > 0,
  }
  const technical = some.filter(isTechnical)
  return {
    path: `/patches/${patch.patch}`,
    title: `Patch ${patch.patch}: ${patch.article ?? figure.title}`,
    lead: `${patch.article === null ? '' : 'Named after the article that was published nearest to it. '}First seen ${moment(patch.startedAt, now)} UTC.`,
    chapters: [
      chapterOf('changes', 'What changed', figure),
      ...groupChapters(groups, nameCell),
      ...(technical.length > 0 ? [chapterOf('technical', 'Technical', technicalFigure(technical, nameCell))] : []),
    ],
  }
}

/** The same with the type of each item in place of a class. */
async function withTypes(sql: Sql, changes: readonly Change[]): Promise<Change[]> {
  const keys = [...new Set(changes.flatMap(({ kind, key }) => (kind === 'items' ? [key] : [])))]
  const rows = await sql.query<{ key: string; type: string }>(
    `select distinct on (internal_name) internal_name as key, coalesce(sub_type, type) as type
       from game.item where internal_name = any ($1::text[]) order by internal_name, valid_from desc`,
    [keys],
  )
  const types = new Map(rows.map(({ key, type }) => [key, levelText(type)]))
  return changes.map((one) => (one.kind === 'items' ? { ...one, class: types.get(one.key) ?? null } : one))
}

/** Which changes of a patch say nothing of the game. */
async function technicalIn(sql: Sql, { technical, startedAt, endedAt }: Patch): Promise<(change: Change) => boolean> {
  if (technical === 0) return () => false
  const rows = await sql.query<{ resource: string; key: string; path: string; at: Date }>(
    `with format as materialized (select * from analytics.format_change where changed_at between $1 and $2)
     select change.resource, change.key, change.path, change.changed_at as at from game.field_change change
      where change.changed_at between $1 and $2 and change.path <> '' and change.resource = any ($3::text[])
        and (analytics.is_technical(change.path, change.old_value, change.new_value)
             or exists (select from format where format.resource = change.resource and format.changed_at = change.changed_at and format.path = change.path
                                             and format.form = analytics.form_of(change.old_value, change.new_value)))`,
    [startedAt, endedAt, patchResources],
  )
  const keyOf = (...parts: readonly unknown[]) => JSON.stringify(parts)
  const known = new Set(rows.map(({ resource, key, path, at }) => keyOf(resource, key, path, at)))
  return ({ kind, key, path, at }) => known.has(keyOf(resourceOf[kind], key, path, at))
}

/** Items have pages; what is no ability of its own, such as a connector, says so. */
function nameCell({ kind, key, name }: Change): Cell {
  if (kind === 'items') return link('items', key, name)
  const [, part = 'ability'] = kind === 'abilities' ? key.split('/') : []
  return part === 'ability' ? name : `${part} ${name}`
}
