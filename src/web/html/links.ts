import { html, raw } from 'hono/html'
import { guildColour } from '../../drawing/colours.ts'
import type { Cell, Markup } from '../../drawing/html-table.ts'
import { limits } from '../api/arguments.ts'

export const pathOf = (folder: string, name: string, before = '/'): string =>
  `/${folder}${before}${encodeURIComponent(name)}`

/**
 * A link to the page of something by its name, without the signs of the game's font, for which browsers have no picture. A link without a text could
 * not be seen: a name may be empty.
 */
export function link(folder: string, name: string, text = name, before = '/'): Markup {
  const shown = text.replace(/\p{Co}+/gu, '').trim()
  return html`<a href="${pathOf(folder, name, before)}">${shown === '' ? name : shown}</a>`
}

/** The answer of a question as CSV, as many rows as one answer may have. Of a pair of instants, a column lies between them, before the second. */
export function csvLink(
  question: string,
  given: Readonly<Record<string, string | number | Date | readonly [from: Date, to: Date]>>,
  text = 'CSV',
): Markup {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== 'object') query.set(name, `${value}`)
    else if (value instanceof Date) query.set(name, value.toISOString())
    else for (const [nth, by] of ['gte', 'lt'].entries()) query.append(name, `${by}.${value[nth]?.toISOString()}`)
  }
  query.set('limit', `${limits.most}`)
  query.set('format', 'csv')
  return html`<a href="/api/v1/${question}?${query}" rel="nofollow">${text}</a>`
}

/** A guild in its colour. By its uuid: others may have its prefix, or have it now. */
export function guildLink(uuid: string | null, name: string | null, prefix: string | null = null): Cell {
  if (uuid === null) return 'no owner'
  const place = link('guilds', uuid, name?.trim() ? name : (prefix ?? uuid))
  return name === null ? place : html`<span class="guild">${guildDot(name)}${place}</span>`
}

/** A guild in few letters: its colour and prefix. */
export function guildChip(uuid: string | null, name: string | null, prefix: string | null): Markup {
  if (uuid === null) return html`<span class="chip">no owner</span>`
  return html`<a class="chip" href="${pathOf('guilds', uuid)}" title="${name ?? uuid}">${name === null ? '' : guildDot(name)}${prefix?.trim() || name?.trim() || uuid.slice(0, 8)}</a>`
}

/** The colour of a guild as a little disc. */
function guildDot(name: string): Markup {
  return raw(
    `<svg class="dot" viewBox="0 0 9 9" aria-hidden="true"><circle cx="4.5" cy="4.5" r="4.5" fill="${guildColour(name)}"/></svg>`,
  )
}

/** A field of a form: its name in the address and its label; and what can be chosen, each with its words, or that it is a number. */
type Field = readonly [
  name: string,
  label: string,
  choices?: readonly (readonly [value: string, said: string])[] | 'number',
]

/** A search form for a list, which keeps its period and order; works without a script. */
export function searchForm(path: string, fields: readonly Field[], query: URLSearchParams): Markup {
  const kept = [...query].filter(([name]) => name !== 'page' && !fields.some(([field]) => field === name))
  const control = ([name, , choices]: Field) => {
    const value = query.get(name) ?? ''
    if (choices === 'number')
      return html`<input type="number" name="${name}" value="${value}" min="0" max="9999" step="1">`
    if (choices === undefined) return html`<input name="${name}" value="${value}">`
    const chosen = choices.find(([one]) => plain(one) === plain(value))?.[0]
    // What was typed before, and is no choice, stays what the list is narrowed by.
    const others: Field[2] = value === '' || chosen !== undefined ? [] : [[value, value]]
    return html`<select name="${name}"><option value="">any</option>${[...others, ...choices].map(
      ([one, said]) => html`<option value="${one}"${one === (chosen ?? value) ? html` selected` : ''}>${said}</option>`,
    )}</select>`
  }
  return html`<form action="${path}" role="search">${hiddenFields(kept)}${fields.map(
    (field) => html`<label>${field[1]} ${control(field)}</label>`,
  )}<button>Search</button></form>`
}

/** A name as it may be typed: in any case, in words or as one. */
const plain = (name: string) => name.toLowerCase().replaceAll(' ', '')

/** What a form keeps of an address. */
export function hiddenFields(kept: Iterable<readonly [string, string]>): Markup {
  return html`${[...kept].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`
}
