import * as Plot from '@observablehq/plot'
import { draw, type Picture } from '../draw.ts'
import type { Figure } from '../figure.ts'
import { legendLine } from '../swatch.ts'
import { number, shortened } from '../words.ts'
import { type Change, readablePath } from './patch-changes.ts'

interface Shift {
  readonly label: string
  readonly before: number
  readonly after: number
  /** Change against the value before; 1 is as much again. */
  readonly relative: number
}

/** The picture of the numbers that changed most, with its legend; nothing where no number changed. */
export function shiftsPicture(changes: readonly Change[]): Pick<Figure, 'legend' | 'picture'> {
  const shifts = shiftsOf(changes)
  if (shifts.length === 0) return {}
  return {
    legend: legendLine([
      { fill: 'var(--g4)', label: 'rose' },
      { fill: 'url(#g5-lines)', label: 'fell' },
    ]),
    picture: picture(shifts),
  }
}

/** The numbers that changed most; no places in a tree or list. Of an identification, which has three, the base value stands for all. */
export function shiftsOf(changes: readonly Change[]): Shift[] {
  const paths = new Set(changes.map(({ name, path }) => `${name}${path}`))
  return changes
    .flatMap(({ name, path, before, after, isTechnical }) => {
      if (isTechnical || typeof before !== 'number' || typeof after !== 'number' || before === 0) return []
      const base = path.replace(/\/(min|max)$/, '/raw')
      if (base !== path && paths.has(`${name}${base}`)) return []
      const what = readablePath(path.replace(/\/raw$/, ''))
      return [{ label: `${name}: ${what}`, before, after, relative: (after - before) / Math.abs(before) }]
    })
    .sort((a, b) => Math.abs(b.relative) - Math.abs(a.relative))
}

function picture(shifts: readonly Shift[]): Picture {
  return draw('The numbers that the patch changed most.', ({ isNarrow }) => {
    const shown = shifts.slice(0, 12)
    const at = { y: (_: Shift, place: number) => place }
    const inset = { insetTop: isNarrow ? 16 : 3, insetBottom: 3 }
    const far = Math.max(...shown.map(({ relative }) => Math.abs(relative)))
    return {
      height: shown.length * (isNarrow ? 36 : 24) + 28,
      marginLeft: isNarrow ? 20 : 300,
      marginRight: isNarrow ? 20 : 24,
      marginTop: 2,
      x: {
        label: null,
        domain: [-far * (isNarrow ? 1.9 : 1.5), far * (isNarrow ? 1.9 : 1.5)],
        ticks: 5,
        tickFormat: (value: number) => `${value > 0 ? '+' : ''}${number(value * 100)} %`,
        // On narrow screens labels stand above the bars, where lines would cross them.
        grid: !isNarrow,
      },
      y: { domain: shown.map((_, place) => place), axis: null },
      marks: [
        Plot.barX(shown, {
          ...at,
          ...inset,
          x: 'relative',
          fill: (one: Shift) => (one.relative > 0 ? 'var(--g4)' : 'url(#g5-lines)'),
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
        isNarrow ? Plot.tickX(shown, { ...at, ...inset, x: 0 }) : Plot.ruleX([0]),
      ],
    }
  })
}
