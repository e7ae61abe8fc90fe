import * as Plot from '@observablehq/plot'
import type { Sql } from '../../db/database.ts'
import { draw } from '../draw.ts'
import type { Figure } from '../figure.ts'
import type { Roster } from '../guild/roster.ts'
import { heat, heatLegend } from '../swatch.ts'
import { count, shortened } from '../words.ts'
import type { MapFrame } from './map-frame.ts'

interface Pair {
  readonly attackerId: string
  readonly attacker: string
  readonly defenderId: string | null
  readonly defender: string | null
  readonly captures: number
}

const unowned = 'no owner'

/** The width of a cell at most. */
const CELL_WIDTH = 110

/** b. Who takes from whom, as a heat map of the guilds that fight most. */
export async function captureMatrixFigure(
  sql: Sql,
  { from, to, roster }: Pick<MapFrame, 'from' | 'to' | 'roster'>,
): Promise<Figure> {
  const pairs = await sql.query<Pair>(
    `select attacker_uuid::text as "attackerId", attacker, defender_uuid::text as "defenderId", defender, captures
       from analytics.capture_matrix($1, $2)`,
    [from, to],
  )
  const wars = pairs.filter(({ attackerId, defenderId }) => attackerId !== defenderId)
  const [first] = wars
  if (!first) return { id: 'matrix', title: 'No guild took anything from another in this period' }
  const most = first.captures
  const isOwn = ({ attackerId, defenderId }: Pair) => attackerId === defenderId
  return {
    id: 'matrix',
    title: `${first.attacker} took most from ${first.defender ?? 'no owner'}: ${count(first.captures, 'time')}`,
    lead: 'Rows took, columns lost. On the diagonal, without colour, a guild took its own place again. An empty cell: no capture was seen.',
    legend: heatLegend(most, 'captures', null),
    picture: draw('Who took territories from whom, as a grid of numbers.', ({ isNarrow, width }) => {
      const names = fighters(wars, isNarrow ? 9 : 18).filter((one) => !isNarrow || one !== unowned)
      const label = (uuid: string) => labelOf(uuid, pairs, roster)
      const cells = pairs.filter((one) => names.includes(one.attackerId) && names.includes(one.defenderId ?? unowned))
      const at = { x: (one: Pair) => one.defenderId ?? unowned, y: 'attackerId' }
      return {
        height: names.length * (isNarrow ? 28 : 26) + 40,
        marginTop: 36,
        marginLeft: isNarrow ? 48 : 64,
        // A cell is not much wider than high, however few guilds there are.
        marginRight: Math.max(4, width - 64 - names.length * CELL_WIDTH),
        marginBottom: 4,
        x: { axis: 'top', domain: names, tickFormat: label, label: null, tickSize: 0 },
        y: { domain: names.filter((one) => one !== unowned), tickFormat: label, label: null, tickSize: 0 },
        color: { type: 'identity' },
        marks: [
          Plot.cell(cells, {
            ...at,
            inset: 0.5,
            fill: (one: Pair) => (isOwn(one) ? 'none' : 'var(--heat)'),
            fillOpacity: (one: Pair) => (isOwn(one) ? 1 : heat(one.captures, most)),
            stroke: (one: Pair) => (isOwn(one) ? 'var(--rule)' : 'none'),
            title: described,
          }),
          Plot.text(cells, {
            ...at,
            text: (one: Pair) => String(one.captures),
            fill: (one: Pair) => (one.captures > most * 0.55 && !isOwn(one) ? 'var(--on-heat)' : 'var(--ink)'),
            pointerEvents: 'none',
          }),
        ],
        opacity: { type: 'identity' },
      } as Plot.PlotOptions
    }),
    table: {
      columns: ['Took', 'From', 'Captures'],
      rows: pairs.map(({ attacker, defender, captures }) => [attacker, defender ?? 'no owner', captures]),
      note: 'The picture has the guilds that took and lost most, the table all.',
    },
  }
}

/** Those who took or lost most, and `unowned` when something was taken that had no owner. */
function fighters(pairs: readonly Pair[], most: number): string[] {
  const sums = new Map<string, number>()
  for (const { attackerId, defenderId, captures } of pairs) {
    for (const side of [attackerId, defenderId ?? unowned]) sums.set(side, (sums.get(side) ?? 0) + captures)
  }
  const guilds = [...sums].filter(([side]) => side !== unowned).sort(([, a], [, b]) => b - a)
  return [...guilds.slice(0, most).map(([side]) => side), ...(sums.has(unowned) ? [unowned] : [])]
}

function labelOf(uuid: string, pairs: readonly Pair[], roster: Roster): string {
  if (uuid === unowned) return unowned
  const prefix = roster.of(uuid)?.prefix ?? pairs.find(({ attackerId }) => attackerId === uuid)?.attacker
  return shortened(prefix ?? pairs.find(({ defenderId }) => defenderId === uuid)?.defender ?? '?', 5)
}

function described({ attacker, defender, captures }: Pair): string {
  return `${attacker} took from ${defender ?? 'no owner'}: ${captures}`
}
