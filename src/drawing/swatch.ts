import { html } from 'hono/html'
import type { Markup } from './html-table.ts'

/** A little square in a fill of the page. */
export function swatch(fill: string, opacity = 1): Markup {
  return html`<svg class="swatch" viewBox="0 0 14 14" aria-hidden="true"><rect x="0.5" y="0.5" width="13" height="13" rx="2" fill="${fill}" fill-opacity="${opacity}"/></svg>`
}

/** What fills mean, in one line. */
export function legendLine(
  items: readonly { readonly fill: string; readonly label: string; readonly opacity?: number }[],
): Markup {
  return html`<ul class="legend line">${items.map(
    ({ fill, label, opacity }) => html`<li>${swatch(fill, opacity)}${label}</li>`,
  )}</ul>`
}

/** What the strength of a heat map's cells means: from the least to the most, and hatched for what is not known. */
export function heatLegend(most: number, unit: string, unknown: string | null = 'not known'): Markup {
  return legendLine([
    { fill: 'var(--heat)', opacity: heat(0, most), label: '0' },
    { fill: 'var(--heat)', opacity: heat(most / 2, most), label: String(Math.round(most / 2)) },
    { fill: 'var(--heat)', opacity: heat(most, most), label: `${Math.round(most)} ${unit}` },
    ...(unknown === null ? [] : [{ fill: 'url(#unknown)', label: unknown }]),
  ])
}

/** How strongly a cell is coloured: zero is seen, too. */
export function heat(value: number, most: number): number {
  return 0.06 + 0.94 * (most > 0 ? value / most : 0)
}
