import { html, raw } from 'hono/html'
import { escapeToBuffer } from 'hono/utils/html'
import { instant, number } from './words.ts'

export type Markup = ReturnType<typeof html>

/** What a cell may hold: text, a number (NULL is not known), an instant, a truth, markup, or words with the number that they are sorted by. */
export type Cell = string | number | boolean | Date | null | Markup | { readonly value: number; readonly shown: string }

/** The numbers behind a picture. */
export interface Table {
  /** Headings; a link where the table can be sorted. */
  readonly columns: readonly (Markup | string)[]
  readonly rows: readonly (readonly Cell[])[]
  /** What a reader should know of it, such as how many rows are left out. */
  readonly note?: Markup | string | undefined
}

/** The named fields of each record, as rows. */
export function rowsOf<Name extends string>(
  records: readonly Readonly<Record<Name, Cell>>[],
  ...names: readonly Name[]
): Cell[][] {
  return records.map((record) => names.map((name) => record[name]))
}

/** Rows of a table that a brief page has on paper. */
const rowsOnPaper = 20

/** A table that scrolls inside itself; numbers to the right, what is not known marked as such. */
export function tableMarkup({ columns, rows, note }: Table): Markup {
  const isNumeric = columns.map(
    (_, index) =>
      rows.every((row) => isNumber(row[index])) && rows.some((row) => row[index] !== '' && row[index] !== null),
  )
  const kind = (index: number) => (isNumeric[index] ? ' class=n' : '')
  // A template for each of ten thousand cells would take three times as long.
  // Cells and rows end where the next begins, as HTML has it: a tenth of a page would be tags that say so.
  const line = (row: readonly Cell[]) =>
    `<tr>${row.map((cell, index) => `<td${kind(index)}>${cellText(cell)}`).join('')}`
  const body = (some: readonly (readonly Cell[])[]) => raw(some.map(line).join(''))
  const more = rows.slice(rowsOnPaper)
  return html`<div class="scroll" tabindex="0"><table>
<thead><tr>${columns.map((column, index) => html`<th scope="col"${raw(kind(index))}>${column}</th>`)}</tr></thead>
<tbody>${body(rows.slice(0, rowsOnPaper))}</tbody>${more.length > 0 ? html`<tbody class="more">${body(more)}</tbody>` : ''}</table></div>${
    more.length > 0
      ? html`<p class="note on-paper">The first ${rowsOnPaper} of ${number(rows.length)} rows; the file has all of them,
and <code>wynnsync report --tables</code> prints them.</p>`
      : ''
  }${note ? html`<p class="note">${note}</p>` : ''}`
}

/** A number, what stands for one, or a number as people say it, such as `35.5 T`, `≥ 12` and `+4 %`. */
function isNumber(cell: Cell | undefined): boolean {
  return typeof cell === 'string'
    ? /^$|^\?$|^(≥ |[+−-])?[\d.,]+( [MBTQ%])?$/.test(cell)
    : typeof cell === 'number' || cell === null
}

/** @throws Error for markup that is not ready */
function cellText(cell: Cell): string {
  if (cell === null) return '<span class="unknown" title="not known">?</span>'
  if (cell instanceof Date) return `<time datetime="${cell.toISOString().slice(0, 16)}Z">${instant(cell)}</time>`
  if (typeof cell === 'number') return number(cell, 2)
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  if (cell instanceof Promise) throw new Error('the markup of a cell must be ready')
  // A day stays on one line, as an instant does.
  if (/^\d{4}-\d\d-\d\d$/.test(String(cell))) return `<time datetime="${cell}">${cell}</time>`
  if (typeof cell === 'object') return 'shown' in cell ? escaped(cell.shown) : String(cell)
  return escaped(cell)
}

function escaped(text: string): string {
  const buffer: [string] = ['']
  escapeToBuffer(text, buffer)
  return buffer[0]
}
