import * as Plot from '@observablehq/plot'
import type { Sql } from '../db/database.ts'
import { differenceOf } from '../drawing/difference.ts'
import { draw } from '../drawing/draw.ts'
import { type Figure, missing } from '../drawing/figure.ts'
import type { ValueChange } from '../drawing/patch/direction.ts'
import { lastBalancePatch, readablePath } from '../drawing/patch/patch-changes.ts'
import { observedOf, type Period } from '../drawing/period.ts'
import { legendLine } from '../drawing/swatch.ts'
import { count, moment, number } from '../drawing/words.ts'

interface Change extends ValueChange {
  readonly class: string | null
  readonly kind: 'ability' | 'aspect'
  readonly name: string | null
  readonly key: string
  readonly isRevert: boolean
}

const most = 500
const unknownClass = 'no class'

async function noPatch(sql: Sql): Promise<Figure> {
  const title = 'No balance patch was seen yet'
  const seen = (await observedOf(sql, 'ability-trees')) ?? (await observedOf(sql, 'aspects'))
  if (!seen) return missing('balance', title, 'wynnsync sync ability-trees aspects')
  return {
    id: 'balance',
    title,
    lead: `The abilities and aspects are as they were when they were first seen; last looked at ${moment(seen.last)} UTC.`,
  }
}

/** h. What the last balance patch changed, by class. */
export async function balanceFigure(sql: Sql, { from, to }: Period): Promise<Figure> {
  const patch = await lastBalancePatch(sql, to)
  if (!patch) return await noPatch(sql)
  const changes = await sql.query<Change>(
    `select * from (
     select class, 'ability' as kind, name, key, path, old_value as before, new_value as after, is_revert as "isRevert"
       from analytics.ability_change where patch = $1
      union all
     select class, 'aspect', name, key, path, old_value, new_value, is_revert from analytics.aspect_change where patch = $1) change
      order by class collate "C" nulls last, kind collate "C", name collate "C", key collate "C", path collate "C"`,
    [patch.patch],
  )
  const sums = countByClass(changes)
  const [first, second] = sums
  const isFirstAlone = first && (!second || sizeOf(first) > sizeOf(second))
  const total = (kind: Change['kind']) => sums.reduce((sum, one) => sum + one[kind], 0)
  return {
    id: 'balance',
    title: `The balance patch changed ${count(total('ability'), 'ability', 'abilities')} and ${count(total('aspect'), 'aspect')}${isFirstAlone ? `, most of the ${first.name}` : ''}`,
    lead: `Patch ${patch.patch}, first seen ${moment(patch.startedAt)} UTC${patch.startedAt < from ? ', before this period' : ''}${patch.article === null ? '' : `; the article nearest to it is “${patch.article}”`}. How many changed, by class.`,
    legend: legendLine([
      { fill: 'var(--g4)', label: 'abilities' },
      { fill: 'url(#g1-lines)', label: 'aspects' },
    ]),
    picture: picture(sums),
    table: {
      columns: ['Class', 'Ability or aspect', 'What', 'Before', 'After', 'Taken back'],
      rows: changes.slice(0, most).map(({ class: of, name, key, path, before, after, isRevert }) => {
        const [old, young] = differenceOf(before, after)
        const what = path === '' ? (before === null ? 'appeared' : 'disappeared') : readablePath(path)
        return [
          of ?? unknownClass,
          name ?? key,
          what,
          path === '' ? '' : old,
          path === '' ? '' : young,
          isRevert ? 'yes' : '',
        ]
      }),
      note:
        changes.length > most
          ? `The first ${most} changes; all of them: wynnsync query ability_change patch=${patch.patch}`
          : undefined,
    },
  }
}

interface ClassSum {
  readonly name: string
  readonly ability: number
  readonly aspect: number
}

/** How much changed of each class, the most first; what changed in several fields counts once. */
function countByClass(changes: readonly Change[]): ClassSum[] {
  const names = [...new Set(changes.map((one) => one.class))]
  const keysOf = (of: string | null, kind: Change['kind']) =>
    new Set(changes.filter((one) => one.class === of && one.kind === kind).map(({ key }) => key)).size
  return names
    .map((name) => ({ name: name ?? unknownClass, ability: keysOf(name, 'ability'), aspect: keysOf(name, 'aspect') }))
    .sort((a, b) => sizeOf(b) - sizeOf(a) || (a.name < b.name ? -1 : 1))
}

function picture(sums: readonly ClassSum[]) {
  return draw('How many abilities and aspects the balance patch changed, by class.', ({ isNarrow }) => ({
    height: sums.length * 26 + 28,
    marginLeft: isNarrow ? 72 : 110,
    marginRight: 40,
    marginTop: 2,
    x: {
      label: null,
      ticks: 5,
      tickFormat: (value: number) => (Number.isInteger(value) ? number(value) : ''),
      grid: true,
    },
    y: { domain: sums.map(({ name }) => name), label: null, tickSize: 0 },
    marks: [
      Plot.barX(sums, { x: 'ability', y: 'name', fill: 'var(--g4)', insetTop: 3, insetBottom: 3, title: described }),
      Plot.barX(sums, {
        x1: 'ability',
        x2: sizeOf,
        y: 'name',
        fill: 'url(#g1-lines)',
        insetTop: 3,
        insetBottom: 3,
        title: described,
      }),
      Plot.text(sums, {
        x: sizeOf,
        y: 'name',
        text: ({ ability, aspect }: ClassSum) => `${ability} + ${aspect}`,
        textAnchor: 'start',
        dx: 5,
        fill: 'var(--ink)',
      }),
      Plot.ruleX([0]),
    ],
  }))
}

function sizeOf({ ability, aspect }: ClassSum): number {
  return ability + aspect
}

function described({ name, ability, aspect }: ClassSum): string {
  return `${name}: ${count(ability, 'ability', 'abilities')}, ${count(aspect, 'aspect')}`
}
