import * as Plot from '@observablehq/plot'
import type { Sql } from '../../../db/database.ts'
import { draw } from '../drawing/draw.ts'
import { type Figure, missing } from '../drawing/figure.ts'
import { legendLine } from '../drawing/swatch.ts'
import type { Period } from '../period.ts'
import { count, moment, number, shortened } from '../words.ts'
import { type Change, changesOf, lastPatch, type Patch, readablePath } from './patch-changes.ts'

const most = 500

/** e. What the last patch changed, with before and after. */
export async function patchFigure(sql: Sql, { from, to }: Period): Promise<Figure> {
  const patch = await lastPatch(sql, to)
  if (!patch) return missing('patch', 'No patch was seen yet', 'wynnsync sync items recipes')
  return await figureOfPatch(sql, patch, from)
}

/**
 * What a patch changed.
 * @param from the beginning of the period that the page is about
 */
export async function figureOfPatch(sql: Sql, patch: Patch, from = patch.startedAt): Promise<Figure> {
  const found = await changesOf(sql, patch.patch, most + 1)
  const changes = found.slice(0, most)
  const parts = [
    count(patch.changed, 'item changed', 'items changed'),
    `${number(patch.added)} added`,
    `${number(patch.removed)} removed`,
    count(patch.recipes, 'recipe changed', 'recipes changed'),
  ]
  const shifts = shiftsOf(changes)
  return {
    id: 'patch',
    title: `${parts.slice(0, -1).join(', ')}, ${parts.at(-1)}`,
    lead: `Patch ${patch.patch}, first seen ${moment(patch.startedAt)} UTC${patch.startedAt < from ? ', before this period' : ''}.${shifts.length > 0 ? ' The picture has the numbers that changed most against what they were.' : ''}`,
    ...(shifts.length > 0 && {
      legend: legendLine([
        { fill: 'var(--g4)', label: 'rose' },
        { fill: 'url(#g5-lines)', label: 'fell' },
      ]),
      picture: picture(shifts),
    }),
    table: {
      columns: ['Item or recipe', 'What', 'Before', 'After', 'Taken back'],
      rows: changes.map(({ name, path, before, after, isRevert }) =>
        path === ''
          ? [name, before === null ? 'appeared' : 'disappeared', '', '', isRevert ? 'yes' : '']
          : [name, readablePath(path), shown(before), shown(after), isRevert ? 'yes' : ''],
      ),
      note:
        found.length > most
          ? `The first ${most} changes; all of them: wynnsync query item_change patch=${patch.patch}`
          : undefined,
    },
    isTableShown: changes.length <= 30,
  }
}

interface Shift {
  readonly label: string
  readonly before: number
  readonly after: number
  /** Change against the value before; 1 is as much again. */
  readonly relative: number
}

/** The numbers that changed most. Of an identification, which has three, the base value stands for all. */
function shiftsOf(changes: readonly Change[]): Shift[] {
  const paths = new Set(changes.map(({ name, path }) => `${name}${path}`))
  return changes
    .flatMap(({ name, path, before, after }) => {
      if (typeof before !== 'number' || typeof after !== 'number' || before === 0) return []
      const base = path.replace(/\/(min|max)$/, '/raw')
      if (base !== path && paths.has(`${name}${base}`)) return []
      const what = readablePath(path.replace(/^\/identifications/, '').replace(/\/raw$/, ''))
      return [{ label: `${name}: ${what}`, before, after, relative: (after - before) / Math.abs(before) }]
    })
    .sort((a, b) => Math.abs(b.relative) - Math.abs(a.relative))
}

function picture(shifts: readonly Shift[]) {
  return draw('The numbers that the patch changed most.', ({ isNarrow }) => {
    const shown = shifts.slice(0, 12)
    const at = { y: (_: Shift, place: number) => place }
    const far = Math.max(...shown.map(({ relative }) => Math.abs(relative)))
    return {
      height: shown.length * (isNarrow ? 36 : 24) + 28,
      marginLeft: isNarrow ? 20 : 300,
      marginRight: isNarrow ? 20 : 24,
      marginTop: 2,
      x: {
        label: null,
        domain: [-far * 1.5, far * 1.5],
        ticks: 5,
        tickFormat: (value: number) => `${value > 0 ? '+' : ''}${number(value * 100)} %`,
        grid: true,
      },
      y: { domain: shown.map((_, place) => place), axis: null },
      marks: [
        Plot.barX(shown, {
          ...at,
          x: 'relative',
          fill: (one: Shift) => (one.relative > 0 ? 'var(--g4)' : 'url(#g5-lines)'),
          insetTop: isNarrow ? 16 : 3,
          insetBottom: 3,
          title: ({ label, before, after }: Shift) => `${label}: ${before} → ${after}`,
        }),
        ...[1, -1].map((side) =>
          Plot.text(shown, {
            ...at,
            filter: ({ relative }: Shift) => relative * side > 0,
            x: 'relative',
            text: ({ before, after }: Shift) => `${number(before, 2)} → ${number(after, 2)}`,
            textAnchor: side > 0 ? 'start' : 'end',
            dx: 5 * side,
            dy: isNarrow ? 7 : 0,
            fill: 'var(--ink)',
          }),
        ),
        Plot.text(shown, {
          ...at,
          frameAnchor: 'left',
          text: ({ label }: Shift) => shortened(label, isNarrow ? 48 : 46),
          textAnchor: isNarrow ? 'start' : 'end',
          dx: isNarrow ? 0 : -10,
          dy: isNarrow ? -11 : 0,
          fill: 'var(--ink)',
        }),
        Plot.ruleX([0]),
      ],
    }
  })
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '–'
  return shortened(typeof value === 'string' ? value : JSON.stringify(value), 120)
}
