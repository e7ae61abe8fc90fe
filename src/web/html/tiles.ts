import { html, raw } from 'hono/html'
import type { Markup } from '../../drawing/html-table.ts'

/** A number with what it was before. */
export interface Tile {
  readonly value: string
  readonly label: string
  readonly href: string
  /** Null where it is not known; none: there is nothing to draw. */
  readonly bars: readonly (number | null)[]
  readonly barsLabel: string
}

/** Large numbers side by side, each a link. */
export function tilesMarkup(tiles: readonly Tile[]): Markup {
  const item = ({ value, label, href, bars, barsLabel }: Tile) =>
    html`<li><a href="${href}"><b>${value}</b> <span>${label}</span>${bars.length === 0 ? '' : sparkline(bars, barsLabel)}</a></li>`
  return html`<ul class="numbers">${tiles.map(item)}</ul>`
}

const BAR_HEIGHT = 20

/** Bars from zero, one for each value; hatched where it is not known. @param highest what the whole height stands for */
export function sparkline(
  values: readonly (number | null)[],
  label: string,
  highest = Math.max(1, ...values.map((value) => value ?? 0)),
): Markup {
  const bars = values.map((value, place) => {
    if (value === null || value <= 0) return ''
    const height = Math.round((value / highest) * BAR_HEIGHT * 10) / 10
    return `M${place} ${BAR_HEIGHT}v-${height}h.85v${height}z`
  })
  const unknown = values.map((value, place) =>
    value === null ? `<rect x="${place}" width="1" height="${BAR_HEIGHT}" fill="url(#unknown)"/>` : '',
  )
  return html`<svg class="spark" viewBox="0 0 ${Math.max(1, values.length)} ${BAR_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${raw(`${unknown.join('')}<path d="${bars.join('')}"/>`)}</svg>`
}
