import { html } from 'hono/html'
import type { Figure } from '../../drawing/figure.ts'
import type { Cell, Markup, Table } from '../../drawing/html-table.ts'
import { number } from '../../drawing/words.ts'

/** A column by whose values the rows can be sorted. */
export interface Column<Row> {
  /** In the address. */
  readonly key: string
  readonly heading: string
  readonly value: (row: Row) => string | number | Date | null
  /** What is shown; the value, where it is left out. */
  readonly cell?: (row: Row) => Cell
  /** Whether the highest come first by default, as of most numbers. */
  readonly isFalling?: boolean
}

interface Address {
  readonly path: string
  readonly query: URLSearchParams
  /** The element that is shown after a click. */
  readonly anchor: string
}

interface SortedBy {
  /** The key of the column that the rows are sorted by. */
  readonly by: string | undefined
  /** Whether it is the other way than usual. */
  readonly isOther: boolean
  readonly isFalling: boolean
}

/** A heading as a link that sorts by its column, or the other way where it does already. */
export function sortLink(
  { key, heading }: { readonly key: string; readonly heading: string },
  { by, isOther, isFalling }: SortedBy,
  { path, query, anchor }: Address,
): Markup {
  const others = [...query].filter(([name]) => name !== 'sort' && name !== 'page')
  const isBy = key === by
  const address = new URLSearchParams([...others, ['sort', isBy && !isOther ? `-${key}` : key]])
  return html`<a href="${path}?${address}#${anchor}" rel="nofollow"${isBy ? html` aria-current="true"` : ''}>${heading}${isBy ? (isFalling ? ' ▼' : ' ▲') : ''}</a>`
}

/** Names with numbers in them go by these: EU2 comes before EU10. */
const { compare } = new Intl.Collator('en', { numeric: true })

type Value = string | number | Date | null

/** Numbers and instants before words. What is not known comes last, whichever way the others are. */
function inOrder(a: Value, b: Value, sign: number): number {
  if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0)
  if (typeof a === 'string' && typeof b === 'string') return sign * compare(a, b)
  if (typeof a === 'string' || typeof b === 'string') return sign * (typeof a === 'string' ? 1 : -1)
  return sign * (Number(a) - Number(b))
}

/**
 * A table whose headings are links that sort it; `-` before the key sorts the other way. What is not known comes last.
 * @param usual the key of what it is sorted by where the address names none of its columns; left out: the rows stay as they are
 */
export function sortedTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { usual, ...address }: Address & { readonly usual?: string | undefined },
): Table {
  const plain = (wanted: string) => wanted.replace(/^-/, '')
  const asked = address.query.get('sort') ?? ''
  const wanted = columns.some(({ key }) => key === plain(asked)) ? asked : (usual ?? '')
  const isOther = wanted.startsWith('-')
  const by = columns.find(({ key }) => key === plain(wanted))
  const sign = (by?.isFalling ? -1 : 1) * (isOther ? -1 : 1)
  const sorted = by ? rows.toSorted((one, other) => inOrder(by.value(one), by.value(other), sign)) : rows
  const sortedBy = { by: by?.key, isOther, isFalling: sign < 0 }
  return {
    columns: columns.map((column) => (column.heading === '' ? '' : sortLink(column, sortedBy, address))),
    rows: sorted.map((row) => columns.map(({ value, cell }) => (cell ? cell(row) : value(row)))),
  }
}

/** So many rows are read without sorting. */
const UNSORTED_ROWS = 10

/** So many rows a page has of a table that is folded away. */
const ROWS_FOLDED = 40
/** So many of one that is shown. */
const ROWS_SHOWN = 250
/** So many of one that is shown alone. */
const ROWS_ALONE = 2000

/**
 * A figure whose table can be sorted by its headings, where it has more than some rows and its page does not sort it itself. In the address, a column is
 * called by the figure and its heading: `rivals.won-from`. Of a long table it has the first rows, and a link to all of them: `?table=rivals`.
 */
export function listedFigure(figure: Figure, { path, query }: Omit<Address, 'anchor'>): Figure {
  const { id, table } = figure
  if (!table || table.rows.length <= UNSORTED_ROWS) return figure
  const isAlone = query.get('table') === id
  const { isAsked, ...sorted } = sortedByHeading(id, table, { path, query })
  const isTableShown = isAlone || isAsked || figure.isTableShown === true
  const most = isAlone ? ROWS_ALONE : isTableShown ? ROWS_SHOWN : ROWS_FOLDED
  const cut = table.rows.length > most
  const all = new URLSearchParams([...[...query].filter(([name]) => name !== 'table'), ['table', id]])
  const note = cut
    ? html`The first ${number(most)} of ${number(table.rows.length)}${isAlone ? '' : html`; <a href="${path}?${all}" rel="nofollow">all of them</a>`}. ${table.note ?? ''}`
    : table.note
  return { ...figure, isTableShown, table: { ...sorted, rows: cut ? sorted.rows.slice(0, most) : sorted.rows, note } }
}

function sortedByHeading(id: string, table: Table, at: Omit<Address, 'anchor'>): Table & { readonly isAsked: boolean } {
  const headings = table.columns.filter((heading) => typeof heading === 'string')
  if (headings.length < table.columns.length) return { ...table, isAsked: false }
  const columns = headings.map((heading, nth): Column<readonly Cell[]> => {
    const value = (row: readonly Cell[]) => orderedBy(row[nth] ?? null)
    const first = table.rows.map(value).find((one) => one !== null)
    const isFalling = typeof first === 'number' || first instanceof Date
    return { key: `${id}.${keyOf(heading)}`, heading, value, cell: (row) => row[nth] ?? null, isFalling }
  })
  const usual = orderOf(table.rows, columns)
  const isAsked = columns.some(({ key }) => key === at.query.get('sort')?.replace(/^-/, ''))
  return { ...sortedTable(table.rows, columns, { ...at, anchor: id, usual }), isAsked }
}

/** `won-from` of `Won from`, `at` of `At (UTC)`. */
const keyOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/\(.*\)/, '')
    .trim()
    .replace(/[^\p{L}\p{N}]+/gu, '-')

/** The first column by which rows are in order already, as the address would have it; undefined where there is none. */
function orderOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string | undefined {
  for (const { key, heading, value, isFalling = false } of columns) {
    const values = rows.map(value)
    if (heading === '' || values.every((one) => one === null || String(one) === String(values[0]))) continue
    const isSorted = (sign: number) =>
      values.every((one, nth) => nth === 0 || inOrder(values[nth - 1] ?? null, one, sign) <= 0)
    const usual = isFalling ? -1 : 1
    if (isSorted(usual)) return key
    if (isSorted(-usual)) return `-${key}`
  }
  return undefined
}

const sizes: Readonly<Record<string, number>> = { M: 1e6, B: 1e9, T: 1e12, Q: 1e15 }

/** What a cell is sorted by: numbers as people say them are numbers, of markup it is the text. */
function orderedBy(cell: Cell): Value {
  if (cell === null || typeof cell === 'number' || cell instanceof Date) return cell
  if (typeof cell === 'object' && 'value' in cell) return cell.value
  const text = String(cell)
    .replace(/<[^>]*>/g, '')
    .trim()
  const [, digits, unit = ''] = /^(?:≥|at least|\+)? ?(-?[\d,]*\.?\d+)(?: ([MBTQ])| %)?$/.exec(text) ?? []
  if (digits !== undefined) return Number(digits.replaceAll(',', '')) * (sizes[unit] ?? 1)
  return text === '' || text === '?' ? null : text
}

/** Rows of a list on one page. */
const ROWS_OF_LIST = 200

/** The page of a list that `?page=` names, which is the first without it. @param size rows of a page */
export function pageOf(path: string, query: URLSearchParams, size = ROWS_OF_LIST) {
  const page = Math.max(1, Math.min(1000, Math.floor(Number(query.get('page'))) || 1))
  const offset = (page - 1) * size
  const to = (place: number, said: string) => {
    const others = [...query].filter(([name]) => name !== 'page')
    return html`<a href="${path}?${new URLSearchParams([...others, ['page', String(place)]])}">${said}</a> `
  }
  /** What is said where the list ends before the page; else undefined. A statement that counts its rows does not say then how many there are. */
  const past = (shown: number) => (page > 1 && shown === 0 ? `The list ends before page ${number(page)}` : undefined)
  return {
    /** Rows of a page. */
    size,
    /** Rows of the pages before it. */
    offset,
    past,
    /** Which rows are shown, such as `201 to 400 of 1,024`; undefined where all are. */
    range: (shown: number, total: number) =>
      past(shown) ??
      (total > size ? `${number(offset + 1)} to ${number(offset + shown)} of ${number(total)}` : undefined),
    /** Links to the pages before and after it. */
    links: (total: number): Markup => {
      const hasNext = total > offset + size
      if (page === 1 && !hasNext) return html``
      return html`<p class="at">${page > 1 ? to(Math.max(1, Math.min(page - 1, Math.ceil(total / size))), '← Before') : ''}${hasNext ? to(page + 1, 'Next →') : ''}</p>`
    },
  }
}
