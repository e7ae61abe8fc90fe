import { html } from 'hono/html'
import type { Picture } from './draw.ts'
import { type Markup, type Table, tableMarkup } from './html-table.ts'

/** One finding: a sentence, the picture that shows it, and the numbers of the picture. */
export interface Figure {
  /** For links and tests. */
  readonly id: string
  /** The finding in a sentence. */
  readonly title: string
  /** How to read the picture: units, what the colours say. */
  readonly lead?: Markup | string
  readonly legend?: Markup
  readonly picture?: Picture | Markup
  readonly table?: Table
  /** Show the table itself instead of folding it away. */
  readonly isTableShown?: boolean
  /** Whether the title of the page says the same. */
  readonly isSaid?: boolean
  /** Of something that is missing: the command that brings it. */
  readonly command?: string
}

/** A group of figures under one heading. */
export interface Chapter {
  readonly id: string
  readonly heading: string
  readonly figures: readonly Figure[]
}

/** What is said where nothing is known: what is missing, and the command that brings it. */
export function missing(id: string, title: string, command: string): Figure {
  return { id, title, command, lead: html`To have it from now on: <code>${command}</code>` }
}

/** A finding that its table alone shows. */
export function listFigure(id: string, title: string, table: Table): Figure {
  return { id, title, table, isTableShown: true }
}

export function chapterMarkup({ id, heading, figures }: Chapter): Markup {
  return html`<section id="${id}"><h2>${heading}</h2>${figures.map(figureMarkup)}</section>`
}

function figureMarkup({ id, title, lead, legend, picture, table, isTableShown, isSaid }: Figure): Markup {
  return html`<figure id="${id}"><figcaption><h3${isSaid ? html` class="said"` : ''}>${title}</h3>${lead ? html`<p class="lead">${lead}</p>` : ''}</figcaption>
${legend ?? ''}${picture ?? ''}${table ? numbers(table, isTableShown) : ''}</figure>
`
}

function numbers(table: Table, isShown = false): Markup {
  if (table.rows.length === 0) return html``
  if (isShown) return tableMarkup(table)
  return html`<details><summary>The numbers (${table.rows.length})</summary>${tableMarkup(table)}</details>`
}
