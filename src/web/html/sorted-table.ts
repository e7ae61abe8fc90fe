import { html } from 'hono/html'
import type { Cell, Table } from '../../analytics/report/drawing/html-table.ts'

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

interface Sorting {
  readonly path: string
  readonly query: URLSearchParams
  /** The key of the column that is sorted by without one in the address. */
  readonly usual: string
  /** The element that is shown after a click. */
  readonly anchor: string
}

/** A table whose headings are links that sort it; `-` before the key sorts the other way. What is not known comes last. */
export function sortedTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { path, query, usual, anchor }: Sorting,
): Table {
  const wanted = query.get('sort') ?? usual
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
  const heading = ({ key, heading }: Column<Row>) => {
    const others = [...query].filter(([name]) => name !== 'sort')
    const isBy = key === by?.key
    const address = new URLSearchParams([...others, ['sort', isBy && !isOther ? `-${key}` : key]])
    const arrow = isBy ? (sign > 0 ? ' ▲' : ' ▼') : ''
    return html`<a href="${path}?${address}#${anchor}" rel="nofollow"${isBy ? html` aria-current="true"` : ''}>${heading}${arrow}</a>`
  }
  return {
    columns: columns.map(heading),
    rows: sorted.map((row) => columns.map(({ value, cell }) => (cell ? cell(row) : value(row)))),
  }
}
