import { html } from 'hono/html'
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

/** A table whose headings are links that sort it; `-` before the key sorts the other way. What is not known comes last. */
export function sortedTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { usual, ...address }: Address & { readonly usual: string },
): Table {
  const wanted = address.query.get('sort') ?? usual
  const isOther = wanted.startsWith('-')
  const by = columns.find(({ key }) => key === wanted.replace(/^-/, '')) ?? columns[0]
  const sign = (by?.isFalling ? -1 : 1) * (isOther ? -1 : 1)
  const sorted = by
    ? rows.toSorted((one, other) => {
        const [a, b] = [by.value(one), by.value(other)]
        if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0)
        if (typeof a === 'string' && typeof b === 'string') return sign * a.localeCompare(b, 'en')
        return sign * (Number(a) - Number(b))
      })
    : rows
  const sortedBy = { by: by?.key, isOther, isFalling: sign < 0 }
  return {
    columns: columns.map((column) => sortLink(column, sortedBy, address)),
    rows: sorted.map((row) => columns.map(({ value, cell }) => (cell ? cell(row) : value(row)))),
  }
}

/** Rows of a list on one page. */
const PER_PAGE = 200

/** The page of a list that `?page=` names, which is the first without it. @param size rows of a page */
export function pageOf(path: string, query: URLSearchParams, size = PER_PAGE) {
  const page = Math.max(1, Math.min(1000, Math.floor(Number(query.get('page'))) || 1))
  const offset = (page - 1) * size
  const to = (place: number, said: string) => {
    const others = [...query].filter(([name]) => name !== 'page')
    return html`<a href="${path}?${new URLSearchParams([...others, ['page', String(place)]])}">${said}</a> `
  }
  return {
    /** Rows of a page. */
    size,
    /** Rows of the pages before it. */
    offset,
    /** Which rows are shown, such as `201 to 400 of 1,024`; undefined where all are. */
    range: (shown: number, total: number) =>
      total > size ? `${number(offset + 1)} to ${number(offset + shown)} of ${number(total)}` : undefined,
    /** Links to the pages before and after it. */
    links: (total: number): Markup =>
      html`<p class="at">${page > 1 ? to(page - 1, 'Before') : ''}${total > offset + size ? to(page + 1, 'Next') : ''}</p>`,
  }
}
