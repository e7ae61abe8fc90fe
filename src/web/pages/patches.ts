import { html } from 'hono/html'
import { type Figure, listFigure, missing } from '../../analytics/report/drawing/figure.ts'
import type { Cell } from '../../analytics/report/drawing/html-table.ts'
import {
  answerPath,
  type Change,
  changesOf,
  type Kind,
  latestPatches,
  patchNumbered,
  patchText,
} from '../../analytics/report/patch/patch-changes.ts'
import { groupChapters, groupsOf, groupTable } from '../../analytics/report/patch/patch-groups.ts'
import { shiftsPicture } from '../../analytics/report/patch/patch-shifts.ts'
import { count, moment, number } from '../../analytics/report/words.ts'
import { link } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { Problem } from '../http/problems.ts'

const most = 200

const kinds: readonly Kind[] = ['items', 'recipes', 'abilities', 'aspects', 'quests']

/** `/patches`: every patch, the latest first. */
export async function patchesPage({ sql }: Visit): Promise<Page> {
  const rows = await latestPatches(sql, most)
  const [last] = rows
  const figure: Figure = last
    ? listFigure('list', `The latest: ${patchText(last)}`, {
        columns: [
          'Patch',
          'First seen (UTC)',
          'Items changed',
          'Added',
          'Removed',
          'Recipes',
          'Abilities',
          'Near it was published',
        ],
        rows: rows.map(({ patch, startedAt, changed, added, removed, recipes, abilities, article }) => [
          ...[link('patches', String(patch)), startedAt, changed, added, removed, recipes, abilities, article ?? ''],
        ]),
      })
    : missing('list', 'No patch was seen yet', 'wynnsync sync items recipes')
  return {
    path: '/patches',
    feed: '/feeds/patches.atom',
    title: last ? `${count(last.patch, 'patch', 'patches')} seen, the last on ${moment(last.startedAt)}` : figure.title,
    lead: 'Updates of the game, as far as they show in items, recipes, abilities, aspects and quests.',
    chapters: [chapterOf('patches', 'Patches', figure)],
  }
}

/** Changed values of a kind that a page shows. */
const shown = 3000

/** `/patches/N`: everything that one patch changed, by kind and direction. */
export async function patchPage({ sql, name }: Visit): Promise<Page> {
  const patch = /^\d{1,9}$/.test(name) ? await patchNumbered(sql, Number(name)) : undefined
  if (!patch) throw new Problem('not-found', { detail: `patch not found: ${name}` })
  const found = await Promise.all(kinds.map(async (kind) => await changesOf(sql, patch, [kind], shown + 1)))
  const changes = found.flatMap((some) => some.slice(0, shown))
  const groups = groupsOf(changes)
  const drawn = shiftsPicture(changes)
  const cut = kinds.filter((_, place) => (found[place]?.length ?? 0) > shown)
  const figure: Figure = {
    id: 'patch',
    title: patchText(patch),
    lead: html`${drawn.picture ? 'The picture has the numbers that changed most against what they were; the table, what changed by kind and direction' : 'What changed by kind and direction'}${cut.map((kind) => html`; of ${kind}, the first ${number(shown)} changed values are shown, and <a href="${answerPath(kind, patch.patch)}">the API has more</a>`)}.`,
    ...drawn,
    table: groupTable(groups),
    isTableShown: true,
  }
  return {
    path: `/patches/${patch.patch}`,
    title: `Patch ${patch.patch}: ${figure.title}`,
    lead: `First seen ${moment(patch.startedAt)} UTC.`,
    chapters: [chapterOf('changes', 'What changed', figure), ...groupChapters(groups, nameCell)],
  }
}

/** Items have pages; what is no ability of its own, such as a connector, says so. */
function nameCell({ kind, key, name }: Change): Cell {
  if (kind === 'items') return link('items', key, name)
  const [, part = 'ability'] = kind === 'abilities' ? key.split('/') : []
  return part === 'ability' ? name : `${part} ${name}`
}
