import CliTable from 'cli-table3'
import { instantText } from '../db/values.ts'

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

/** Rows as CSV (RFC 4180) with a header line. NULL is nothing, an empty text is `""`, as COPY writes it. */
export function formatCsv(columns: readonly string[], rows: readonly Cells[]): string {
  const line = (cells: readonly string[]) => `${cells.join(',')}\r\n`
  return line(columns.map(csvCell)) + rows.map((row) => line(columns.map((column) => csvCell(row[column])))).join('')
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

/** Control characters of the API's text would rearrange the screen; they are shown as spaces. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return plainText(value).replace(/[\p{Cc}]/gu, ' ')
}

function plainText(value: unknown): string {
  if (value instanceof Date) return instantText(value).replace('.000Z', 'Z')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
