import CliTable from 'cli-table3'
import { type Cells, cellOf, plainText } from '../../analytics/asking/rows-text.ts'
import { visibleText } from '../../app/terminal-text.ts'

const edges = ['top', 'bottom', 'left', 'right', 'mid']
const joints = ['top', 'bottom'].flatMap((side) => ['mid', 'left', 'right'].map((end) => `${side}-${end}`))
const borderless = Object.fromEntries(
  [...edges, ...joints, 'left-mid', 'mid-mid', 'right-mid'].map((name) => [name, '']),
)

/** Rows as aligned columns under their names; numbers to the right. */
export function formatTable(columns: readonly string[], rows: readonly Cells[]): string {
  if (rows.length === 0) return '(no rows)\n'
  const numeric = columns.map((column) => rows.every((row) => isNumeric(cellOf(row, column))))
  const table = new CliTable({
    head: [...columns],
    chars: { ...borderless, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: numeric.map((right) => (right ? 'right' : 'left')),
  })
  table.push(...rows.map((row) => columns.map((column) => cellText(cellOf(row, column)))))
  return `${table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')}\n`
}

function isNumeric(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'number' || typeof value === 'bigint'
}

/** A line feed or tab would rearrange the table and is shown as a space; other control characters are shown escaped. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return visibleText(plainText(value).replace(/[\t\r\n]/g, ' '))
}
