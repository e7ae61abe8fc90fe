import CliTable from 'cli-table3'
import stringWidth from 'string-width'
import { type Cells, cellOf, plainText } from '../../analytics/asking/rows-text.ts'
import { visibleText } from '../../app/terminal-text.ts'
import { bold, type Style } from './output.ts'
import { numberText, shortened } from './units.ts'

const edges = ['top', 'bottom', 'left', 'right', 'mid']
const joints = ['top', 'bottom'].flatMap((side) => ['mid', 'left', 'right'].map((end) => `${side}-${end}`))
const borderless = Object.fromEntries(
  [...edges, ...joints, 'left-mid', 'mid-mid', 'right-mid'].map((name) => [name, '']),
)

export interface TableOptions {
  /** Of the terminal, in characters; undefined shows everything. */
  readonly width?: number | undefined
  /** Whether long texts go on in the next line instead of being cut. */
  readonly wraps?: boolean
  /** Whether numbers are shown as people read them: `5.66 bn`. */
  readonly readable?: boolean
}

/** Rows as aligned columns under their names; numbers to the right. */
export function formatTable(columns: readonly string[], rows: readonly Cells[], options: TableOptions = {}): string {
  if (rows.length === 0) return '(no rows)\n'
  const { width, wraps = false, readable = false } = options
  const numeric = columns.map((column) => rows.every((row) => isNumeric(cellOf(row, column))))
  const lines = rows.map((row) => columns.map((column) => cellText(cellOf(row, column), readable)))
  const cuttable = columns.map((column, index) => !numeric[index] && !rows.some((row) => isInstant(row, column)))
  const natural = naturalWidths(columns, lines)
  const widths = width === undefined ? natural : fitColumns(natural, cuttable, width)
  const shown = widths.length
  const text: string[] = []
  for (let from = 0; from < lines.length; from += together) {
    const table = new CliTable({
      ...(from === 0 ? { head: columns.slice(0, shown) } : {}),
      chars: { ...borderless, middle: ' '.repeat(gap) },
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
      colAligns: numeric.slice(0, shown).map((right) => (right ? 'right' : 'left')),
      wordWrap: wraps,
      colWidths: widths,
    })
    for (const line of lines.slice(from, from + together)) table.push(line.slice(0, shown))
    for (const line of table.toString().split('\n')) text.push(line.trimEnd())
  }
  return `${text.join('\n')}\n${leftOut(columns.slice(shown), width)}`
}

/** The names of the columns of a table that the text begins with. */
export const boldFirstLine: Style = (text) => text.replace(/^.+/, bold)

/** The width of each column that shows everything: a call with a row per argument overflows the stack. */
function naturalWidths(columns: readonly string[], lines: readonly (readonly string[])[]): number[] {
  return columns.map((name, index) =>
    lines.reduce((most, line) => Math.max(most, stringWidth(line[index] ?? '')), stringWidth(name)),
  )
}

function leftOut(columns: readonly string[], width = 0): string {
  if (columns.length === 0) return ''
  const count = columns.length === 1 ? '1 more column' : `${columns.length} more columns`
  return `${shortened(`(${count}, which --wide shows: ${columns.join(', ')}`, width - 1)})\n`
}

function isNumeric(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'number' || typeof value === 'bigint'
}

const isInstant = (row: Cells, column: string) => cellOf(row, column) instanceof Date

/** A line feed or tab would rearrange the table and is shown as a space; other control characters are shown escaped. */
function cellText(value: unknown, readable: boolean): string {
  if (value === null || value === undefined) return ''
  if (readable && typeof value === 'number') return numberText(value)
  return visibleText(plainText(value).replace(/[\t\r\n]/g, ' '))
}

const gap = 2
/** Rows that are laid out at a time: the time for one table grows with the square of its rows. */
const together = 20
/** Columns are not cut below this; then the last ones are left out. */
const narrowest = 10

/**
 * The widths of the columns that fit a terminal: the widest are cut first, and the last left out when that is not enough. The
 * first always stays.
 * @param natural widths that show everything
 * @param isCuttable whether a column may be cut: half a number is another number
 */
function fitColumns(natural: readonly number[], isCuttable: readonly boolean[], width: number): number[] {
  const cutTo = (most: number, count: number) =>
    natural.slice(0, count).map((one, index) => (isCuttable[index] ? Math.min(one, most) : one))
  const total = (widths: readonly number[]) => widths.reduce((sum, one) => sum + one + gap, -gap)
  let count = natural.length
  while (count > 1 && total(cutTo(narrowest, count)) > width) count--
  let most = width
  while (most > narrowest && total(cutTo(most, count)) > width) most--
  return cutTo(most, count)
}
