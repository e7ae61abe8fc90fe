import { byteaText, instantText } from '../../db/bulk/values.ts'

export type Cells = object

export const cellOf = (row: Cells, column: string): unknown => Reflect.get(row, column)

/**
 * Rows as CSV (RFC 4180) with a header line. NULL is nothing, an empty text is `""`, as COPY writes it. Text that a
 * spreadsheet would take for a formula gets a leading apostrophe, unless all is wanted exactly as it is.
 */
export function formatCsv(columns: readonly string[], rows: readonly Cells[], { raw = false } = {}): string {
  const line = (cells: readonly string[]) => `${cells.join(',')}\r\n`
  const cell = (value: unknown) => csvCell(!raw && typeof value === 'string' && isFormula(value) ? `'${value}` : value)
  return line(columns) + rows.map((row) => line(columns.map((column) => cell(cellOf(row, column))))).join('')
}

/** Whether a spreadsheet evaluates the text instead of showing it (OWASP, CSV injection). Negative numbers are numbers. */
function isFormula(text: string): boolean {
  return /^[=+@\t\r\n]/.test(text) || (/^-./.test(text) && !/^-(?:\d+(?:\.\d+)?|infinity)$/.test(text))
}

export function formatJson(rows: readonly Cells[]): string {
  return JSON.stringify(rows.map(jsonRow))
}

/** The same with a line for each row (NDJSON). */
export function formatNdjson(rows: readonly Cells[]): string {
  return rows.map((row) => `${JSON.stringify(jsonRow(row))}\n`).join('')
}

export function jsonRow(row: Cells): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, jsonValue(value)]))
}

/** The ends of time have no date. Bytes are spelled as filters and Postgres read them. */
function jsonValue(value: unknown): unknown {
  if (value instanceof Date) return instantText(value)
  if (value instanceof Uint8Array) return byteaText(value)
  return Array.isArray(value) ? value.map(jsonValue) : value
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  // An instant is spelled as in JSON.
  const text = value instanceof Date ? instantText(value) : plainText(value)
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A value as text for people: instants in ISO 8601, bytes as Postgres spells them, objects as JSON. */
export function plainText(value: unknown): string {
  if (value instanceof Date) return instantText(value).replace('.000Z', 'Z')
  if (value instanceof Uint8Array) return byteaText(value)
  return typeof value === 'object' ? JSON.stringify(jsonValue(value)) : String(value)
}
