import { html, raw } from 'hono/html'
import { guildColour } from '../../drawing/colours.ts'
import type { Cell, Markup } from '../../drawing/html-table.ts'

export const pathOf = (folder: string, name: string, before = '/'): string =>
  `/${folder}${before}${encodeURIComponent(name)}`

/** A link to the page of something by its name. A link without a text could not be seen: a name may be empty. */
export function link(folder: string, name: string, text = name, before = '/'): Markup {
  return html`<a href="${pathOf(folder, name, before)}">${text.trim() === '' ? name : text}</a>`
}

/** The answer of a question as CSV. */
export function csvLink(
  question: string,
  given: Readonly<Record<string, string | number | Date>>,
  text = 'CSV',
): Markup {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given))
    query.set(name, value instanceof Date ? value.toISOString() : `${value}`)
  query.set('format', 'csv')
  return html`<a href="/api/v1/${question}?${query}" rel="nofollow">${text}</a>`
}

/** A guild in its colour, by its prefix where that is plain, else by its uuid. */
export function guildLink(uuid: string | null, name: string | null, prefix: string | null = null): Cell {
  if (uuid === null) return 'no owner'
  const place = link(
    'guilds',
    prefix !== null && /^\w+$/.test(prefix) ? prefix : uuid,
    name?.trim() ? name : (prefix ?? uuid),
  )
  return name === null ? place : html`<span class="guild">${guildDot(name)}${place}</span>`
}

/** A guild in few letters: its colour and prefix. */
export function guildChip(uuid: string | null, name: string | null, prefix: string | null): Markup {
  if (uuid === null) return html`<span class="chip">no owner</span>`
  const place = pathOf('guilds', prefix !== null && /^\w+$/.test(prefix) ? prefix : uuid)
  return html`<a class="chip" href="${place}" title="${name ?? uuid}">${name === null ? '' : guildDot(name)}${prefix?.trim() || name?.trim() || uuid.slice(0, 8)}</a>`
}

/** The colour of a guild as a little disc. */
function guildDot(name: string): Markup {
  return raw(
    `<svg class="dot" viewBox="0 0 9 9" aria-hidden="true"><circle cx="4.5" cy="4.5" r="4.5" fill="${guildColour(name)}"/></svg>`,
  )
}

/** A search form for a list; works without a script. */
export function searchForm(
  path: string,
  fields: readonly (readonly [string, string])[],
  query: URLSearchParams,
): Markup {
  return html`<form action="${path}" role="search">${fields.map(
    ([name, label]) => html`<label>${label} <input name="${name}" value="${query.get(name) ?? ''}"></label>`,
  )}<button>Search</button></form>`
}
