import CliTable from 'cli-table3'

/** One row of an answer by column name. */
export type Cells = Readonly<Record<string, unknown>>

const none = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
}
const borderless = {
  ...none,
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
}

/** Rows as aligned columns under their names; numbers to the right. */
export function formatTable(columns: readonly string[], rows: readonly Cells[]): string {
  if (rows.length === 0) return '(no rows)\n'
  const numeric = columns.map((column) => rows.every((row) => isNumeric(row[column])))
  const table = new CliTable({
    head: [...columns],
    chars: { ...borderless, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: numeric.map((right) => (right ? 'right' : 'left')),
  })
  table.push(...rows.map((row) => columns.map((column) => cellText(row[column]))))
  return `${table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')}\n`
}

/** Rows as CSV (RFC 4180) with a header line. */
export function formatCsv(columns: readonly string[], rows: readonly Cells[]): string {
  const line = (values: readonly string[]) =>
    `${values.map((value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(',')}\r\n`
  return line(columns) + rows.map((row) => line(columns.map((column) => cellText(row[column])))).join('')
}

function isNumeric(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'number'
}

/** Control characters of the API's text would rearrange the screen; they are shown as spaces. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z')
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.replace(/[\p{Cc}]/gu, ' ')
}
