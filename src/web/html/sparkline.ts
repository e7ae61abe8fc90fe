import { html, raw } from 'hono/html'
import type { Markup } from '../../analytics/report/drawing/html-table.ts'

const HEIGHT = 20

/** Bars from zero, one for each value; hatched where it is not known. */
export function sparkline(values: readonly (number | null)[], label: string): Markup {
  const most = Math.max(1, ...values.map((value) => value ?? 0))
  const bars = values.map((value, place) => {
    if (value === null || value <= 0) return ''
    const height = Math.round((value / most) * HEIGHT * 10) / 10
    return `M${place} ${HEIGHT}v-${height}h.85v${height}z`
  })
  const unknown = values.map((value, place) =>
    value === null ? `<rect x="${place}" width="1" height="${HEIGHT}" fill="url(#unknown)"/>` : '',
  )
  return html`<svg class="spark" viewBox="0 0 ${Math.max(1, values.length)} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${raw(`${unknown.join('')}<path d="${bars.join('')}"/>`)}</svg>`
}
