import type { Dialect, Refusal } from './answer.ts'

/** How a collection is cut: `firstPage` is the number of the first page, 0 or 1. */
export interface PageForm {
  readonly size: number
  readonly firstPage: 0 | 1
}

export interface AnswerForm extends PageForm {
  readonly dialect: Dialect
  readonly seed: number
  /** When the sandbox begins, ms since the epoch. */
  readonly now: number
}

/** Reads `?page`: a number of an existing page, the first one when it is missing, otherwise a PaginationError. */
export function pageNumber(query: URLSearchParams, count: number, form: PageForm): number | Refusal {
  const asked = query.get('page')
  if (asked === null) return form.firstPage
  const last = form.firstPage + pageCount(count, form.size) - 1
  const page = /^-?\d{1,9}$/.test(asked) ? Number(asked) : Number.NaN
  if (page >= form.firstPage && page <= last) return page
  const detail = Number.isNaN(page)
    ? 'Page must be a number.'
    : `Page out of range, it must be ${form.firstPage}..${last}.`
  return { status: 400, error: 'PaginationError', detail }
}

/** One page of a collection as the API sends it (API reference 4.1). */
export function cutPage<T>(records: readonly T[], page: number, form: PageForm) {
  const from = (page - form.firstPage) * form.size
  const results = records.slice(from, from + form.size)
  const pages = pageCount(records.length, form.size)
  const last = form.firstPage + pages - 1
  return {
    controller: {
      count: records.length,
      current_count: results.length,
      pages,
      prev: page > form.firstPage ? page - 1 : null,
      current: page,
      next: page < last ? page + 1 : null,
    },
    results,
  }
}

function pageCount(count: number, size: number): number {
  return Math.max(1, Math.ceil(count / size))
}
