import * as Plot from '@observablehq/plot'
import { draw, type Picture } from '../draw.ts'
import { legendLine } from '../swatch.ts'
import { shortened } from '../words.ts'

/** How much of something a member did. */
interface MemberAmount {
  readonly username: string
  readonly amount: number
  /** `exact`, or why it is a lower bound. */
  readonly quality: string
}

export const qualityLegend = legendLine([
  { fill: 'var(--g4)', label: 'exact' },
  { fill: 'url(#g4-lines)', label: 'at least: not watched around the beginning or the end, or the counter fell' },
])

export const qualityNote =
  'Quality: exact; at_least: not watched around the beginning or the end, only what is certainly within counts; clamped: the counter dipped and came back; reset: it fell for good; unknown: no response shows it, or the member hides it.'

/** A bar for each of the members who did most; these come first in `members`. */
export function memberBars(label: string, members: readonly MemberAmount[], said: (amount: number) => string): Picture {
  return draw(label, ({ isNarrow }) => {
    const shown = members.slice(0, isNarrow ? 10 : 15)
    // By place, because two members may have been called the same.
    const y = (_: MemberAmount, place: number) => place
    return {
      height: shown.length * 22 + 8,
      marginLeft: isNarrow ? 110 : 170,
      marginRight: isNarrow ? 56 : 80,
      marginTop: 2,
      marginBottom: 6,
      x: { axis: null },
      y: { domain: shown.map((_, place) => place), axis: null },
      marks: [
        Plot.barX(shown, {
          x: 'amount',
          y,
          fill: ({ quality }: MemberAmount) => (quality === 'exact' ? 'var(--g4)' : 'url(#g4-lines)'),
          inset: 2,
          title: ({ username, amount, quality }: MemberAmount) => `${username}: ${said(amount)} (${quality})`,
        }),
        Plot.text(shown, {
          x: 0,
          y,
          text: ({ username }: MemberAmount) => shortened(username, isNarrow ? 15 : 24),
          textAnchor: 'end',
          dx: -6,
          fill: 'var(--ink)',
        }),
        Plot.text(shown, {
          x: 'amount',
          y,
          text: ({ amount }: MemberAmount) => said(amount),
          textAnchor: 'start',
          dx: 5,
          fill: 'var(--ink)',
        }),
      ],
    }
  })
}
