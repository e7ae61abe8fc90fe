import { html } from 'hono/html'
import type { NameFinders } from '../../analytics/asking/names.ts'
import { documentText, policyOf } from '../../analytics/report/document.ts'
import { type Chapter, chapterMarkup, type Figure } from '../../analytics/report/drawing/figure.ts'
import type { Frame } from '../../analytics/report/drawing/frame.ts'
import type { Markup } from '../../analytics/report/drawing/html-table.ts'
import { style } from '../../analytics/report/drawing/style.ts'
import { type Period, periodOf } from '../../analytics/report/period.ts'
import type { Sql } from '../../db/database.ts'
import { liveScript } from '../live/live-script.ts'

export interface Visit {
  readonly sql: Sql
  readonly now: Date
  /** The part of the path that names something; empty for lists. */
  readonly name: string
  readonly query: URLSearchParams
  /** Whether single players are shown. */
  readonly people: boolean
  readonly finders: NameFinders
}

export interface Page {
  /** The finding. */
  readonly title: string
  /** Below the title, and what a link to the page says. */
  readonly lead: string
  /** A form or links, before the pictures. */
  readonly control?: Markup
  readonly chapters: readonly Chapter[]
  /** The one path of this content. */
  readonly path: string
  /** Path of the Atom feed of the same. */
  readonly feed?: string
}

export type Build = (visit: Visit) => Promise<Page>

/** A page about nothing but its figures, under one heading. */
export function chapterOf(id: string, heading: string, ...figures: readonly Figure[]): Chapter {
  return { id, heading, figures }
}

/** What all pictures of a page are about: the last seven days, or those before an instant. */
export async function frameOf({ sql, now }: Visit, wanted: Partial<Period> = {}, guild: string | null = null) {
  const period = await periodOf(sql, wanted, now)
  const frame: Frame = { ...period, guild, writtenAt: now }
  return frame
}

const css = `${style}
.site { display: flex; flex-wrap: wrap; gap: 4px 18px; margin-bottom: 22px; font-size: 15px } .site b { margin-right: 6px }
.site a[aria-current] { color: var(--ink); text-decoration: none; font-weight: 600 }
form { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 16px; align-items: center }
form label { display: flex; gap: 6px; align-items: center; font-size: 15px }
#map-live { font-size: 13px; margin-top: 12px } #map-live p { color: var(--soft) } #map-live ol { margin: 4px 0 0; padding: 0; list-style: none; max-height: 200px; overflow: auto }
@media print { #map-live { display: none } }
code:target { outline: 2px solid var(--ink); outline-offset: 3px }
rect.taken { stroke: var(--ink); stroke-width: 3 }
del { color: var(--soft) } ins { text-decoration: none; font-weight: 600 }
`

export const pagePolicy = policyWith()

/** The same for a page with a script of its own, which may ask this server. */
export const livePolicy = policyWith(liveScript, [`connect-src 'self'`])

function policyWith(script?: string, further: readonly string[] = []): string {
  return [...policyOf(css, script), `form-action 'self'`, `frame-ancestors 'none'`, ...further].join('; ')
}

const sections = [
  ...[
    ['/map', 'Map'],
    ['/captures', 'Captures'],
    ['/territories', 'Territories'],
    ['/guilds', 'Guilds'],
    ['/items', 'Items'],
  ],
  ...[
    ['/patches', 'Patches'],
    ['/pools', 'Loot pools'],
    ['/leaderboards', 'Leaderboards'],
  ],
  ...[
    ['/worlds', 'Worlds'],
    ['/status', 'Status'],
    ['/api', 'API'],
  ],
] as const

interface Serving {
  readonly version: string
  /** The address of a picture of the page. */
  readonly picture?: string | undefined
  /** Whether it follows what happens; needs `livePolicy`. */
  readonly isLive?: boolean
  /** Whether search engines may keep it. */
  readonly isIndexed?: boolean
}

export async function pageText(
  { title, lead, control, chapters, path, feed }: Page,
  { version, picture, isLive = false, isIndexed = true }: Serving,
): Promise<string> {
  const section = ([at, name]: readonly [string, string] | readonly string[]) =>
    html`<a href="${at}"${path === at || path.startsWith(`${at}/`) ? html` aria-current="page"` : ''}>${name}</a>`
  return await documentText({
    title: `${title} · wynnsync`,
    version,
    css,
    ...(isLive ? { script: liveScript } : {}),
    head: html`<meta name="description" content="${lead}"><link rel="canonical" href="${path}">${isIndexed ? '' : html`<meta name="robots" content="noindex">`}
${feed === undefined ? '' : html`<link rel="alternate" type="application/atom+xml" href="${feed}">`}
<meta property="og:type" content="website"><meta property="og:site_name" content="wynnsync">
<meta property="og:title" content="${title}"><meta property="og:description" content="${lead}">
${
  picture === undefined
    ? ''
    : html`<meta property="og:image" content="${picture}"><meta property="og:image:type" content="image/png">
<meta property="og:image:width" content="1200"><meta property="og:image:height" content="630">
<meta property="og:image:alt" content="${title}"><meta name="twitter:card" content="summary_large_image">`
}`,
    body: html`<header><nav class="site" aria-label="Pages"><b><a href="/">wynnsync</a></b>${sections.map(section)}</nav>
<h1>${title}</h1><p class="soft">${lead}</p>${control ?? ''}</header>
<main>${chapters.map(chapterMarkup)}</main>
<footer>wynnsync ${version}. All times are UTC. Hatched (on paper, dashed) is unknown, not zero. Not affiliated with the makers
of the game or of its API.</footer>`,
  })
}
