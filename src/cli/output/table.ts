import CliTable from 'cli-table3'
import { visibleText } from '../../app/terminal-text.ts'
import { instantText } from '../../db/bulk/values.ts'

/** One row by column name. */
export type Cells = object

const edges = ['top', 'bottom', 'left', 'right', 'mid']
const joints = ['top', 'bottom'].flatMap((side) => ['mid', 'left', 'right'].map((end) => `${side}-${end}`))
const borderless = Object.fromEntries(
  [...edges, ...joints, 'left-mid', 'mid-mid', 'right-mid'].map((name) => [name, '']),
)

const cellOf = (row: Cells, column: string): unknown => Reflect.get(row, column)

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

export interface CsvOptions {
  /** Text exactly as it is, also where a spreadsheet would run it as a formula. */
  readonly raw?: boolean
}

/**
 * Rows as CSV (RFC 4180) with a header line. NULL is nothing, an empty text is `""`, as COPY writes it. Text that a
 * spreadsheet would take for a formula gets a leading apostrophe.
 */
export function formatCsv(
  columns: readonly string[],
  rows: readonly Cells[],
  { raw = false }: CsvOptions = {},
): string {
  const line = (cells: readonly string[]) => `${cells.join(',')}\r\n`
  const cell = (value: unknown) => csvCell(!raw && typeof value === 'string' && isFormula(value) ? `'${value}` : value)
  return line(columns) + rows.map((row) => line(columns.map((column) => cell(cellOf(row, column))))).join('')
}

/** Whether a spreadsheet evaluates the text instead of showing it (OWASP, CSV injection). Negative numbers are numbers. */
function isFormula(text: string): boolean {
  return /^[=+@\t\r\n]/.test(text) || (/^-./.test(text) && !/^-(?:\d+(?:\.\d+)?|infinity)$/.test(text))
}

/** Rows as one JSON document. */
export function formatJson(rows: readonly Cells[]): string {
  return JSON.stringify(
    rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, jsonValue(value)]))),
  )
}

/** The ends of time have no date. */
function jsonValue(value: unknown): unknown {
  if (value instanceof Date) return instantText(value)
  return Array.isArray(value) ? value.map(jsonValue) : value
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = plainText(value)
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function isNumeric(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'number' || typeof value === 'bigint'
}

/** A line feed or tab would rearrange the table and is shown as a space; other control characters are shown escaped. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return visibleText(plainText(value).replace(/[\t\r\n]/g, ' '))
}

function plainText(value: unknown): string {
  if (value instanceof Date) return instantText(value).replace('.000Z', 'Z')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
