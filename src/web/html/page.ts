import { html } from 'hono/html'
import type { Sql } from '../../db/database.ts'
import { documentText, policyOf } from '../../drawing/document.ts'
import { type Chapter, chapterMarkup, type Figure } from '../../drawing/figure.ts'
import type { Markup } from '../../drawing/html-table.ts'
import { style } from '../../drawing/style.ts'
import type { NameFinders } from '../../questions/asking/names.ts'
import type { PatchesOf } from '../known-patches.ts'
import { homeScript, liveScript } from '../live/live-script.ts'
import type { Health } from './health.ts'
import { siteScript } from './site-script.ts'
import { listedFigure } from './sorted-table.ts'

export interface Visit {
  readonly sql: Sql
  readonly now: Date
  /** The part of the path that names something; empty for lists. */
  readonly name: string
  readonly query: URLSearchParams
  /** Whether single players are shown. */
  readonly people: boolean
  readonly finders: NameFinders
  /** Makes the parts of the page that name no player, or has them from seconds ago, as of pages that name none. Left out: makes them. */
  readonly kept?: <T extends object>(make: () => Promise<T>) => Promise<T>
  /** Every patch, the last one first. */
  readonly patchesOf: PatchesOf
  /** Left out: what each page shows is read by itself. */
  readonly ahead?: Ahead | undefined
}

/**
 * Reads what the page of one thing shows, and where it knows which pages are made next, the same for these.
 * @param folder the first part of the path of such pages
 */
export type Ahead = <T>(
  folder: string,
  name: string,
  readSome: (names: readonly string[]) => Promise<ReadonlyMap<string, T>>,
) => Promise<T>

export const alone: Ahead = async (_, name, readSome) => foundIn(await readSome([name]), name)

/** @throws Error where nothing was read of it */
export function foundIn<T>(some: ReadonlyMap<string, T>, name: string): T {
  const found = some.get(name)
  if (found === undefined) throw new Error(`nothing was read of ${name}`)
  return found
}

export interface Page {
  /** The finding. */
  readonly title: string
  /** Below the title, and what a link to the page says. */
  readonly lead: string
  /** A form or links, before the pictures. */
  readonly control?: Markup
  /** To the other pages of a long list: above it, and where it ends. */
  readonly links?: Markup
  readonly chapters: readonly Chapter[]
  /** The one path of this content. */
  readonly path: string
  /** Whether it takes all of the window, as a map does, or is laid out as the first page. */
  readonly layout?: 'wide' | 'home'
  /** Path of the Atom feed of the same. */
  readonly feed?: string
}

/** Makes a page; a text is the path of another one that the visit belongs to. */
export type Build = (visit: Visit) => Promise<Page | string>

/** A page about nothing but its figures, under one heading. */
export function chapterOf(id: string, heading: string, ...figures: readonly Figure[]): Chapter {
  return { id, heading, figures }
}

const css = `${style}
body { max-width: 1160px } .said { display: none } .guild { display: inline-flex; align-items: baseline } .guild .dot { flex: none } h2 { margin-top: 34px } figure { margin-top: 20px }
.top { display: flex; flex-wrap: wrap; gap: 8px 18px; align-items: center; margin-bottom: 10px } .top b { font-size: 18px }
.top b a { color: var(--ink); text-decoration: none } .top form { margin: 0; flex: 1; min-width: 12em; max-width: 24em } .top input { width: 100%; text-overflow: ellipsis }
.health { margin-left: auto; font-size: 14px; color: var(--soft); text-decoration: none; white-space: nowrap }
.health circle { fill: #2f9e5f } .late circle { fill: #e0a100 } .silent circle { fill: #d64545 } .health:hover { text-decoration: underline }
.banner { margin: 0 0 16px; padding: 8px 12px; border: 1px solid #d64545; border-left-width: 6px; border-radius: 4px; font-size: 15px }
.site { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-bottom: 22px; font-size: 15px }
.site details { margin: 0 } .site summary { font-size: 15px; color: var(--link) } .site details[open] { flex-basis: 100% } .site details[open] summary { float: left; margin-right: 14px } .site a { white-space: nowrap } .site details a { display: inline-block; margin-right: 14px } .site a { text-decoration: none } .site a:hover { text-decoration: underline }
.period { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin-top: 14px; font-size: 14px }
.period > a { padding: 2px 10px; border: 1px solid var(--rule); border-radius: 99px; text-decoration: none }
.period > a[aria-current] { background: var(--ink); color: var(--paper); border-color: var(--ink) }
.period details { margin: 0 } .period summary { font-size: 14px; padding: 2px 10px } .period form { margin-top: 8px }
time[data-local]::after { content: ' · ' attr(data-local); color: var(--soft); font-size: 0.85em }
.site a[aria-current] { color: var(--ink); text-decoration: none; font-weight: 600 }
form { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 16px; align-items: center }
form label { display: flex; gap: 6px; align-items: center; font-size: 15px; min-width: 0; max-width: 100%; overflow-wrap: normal } form label > * { min-width: 0 } input[type=number] { width: 5.5em }
@media screen and (max-width: 900px) { th, td { padding-left: 6px; padding-right: 6px } }
@media screen and (max-width: 740px) { td time[data-local]::after { content: none } .health { margin-left: 0 } }
@media print { #map-live, form, .site, .parts, .period, .health { display: none } time[data-local]::after { content: none } }
form[role=search] input { max-width: 11em } .top form[role=search] input { max-width: none } code:target { outline: 2px solid var(--ink); outline-offset: 3px }
.at { font-size: 14px }
rect.taken { stroke: var(--ink); stroke-width: 3 }
.scroll { max-height: none } .resources { list-style: none; margin: 0; padding: 0 } .resources p { grid-column: 1 / -1; font-size: 13px; color: var(--soft) }
.resources li { display: grid; grid-template-columns: 11em minmax(0, 1fr) minmax(0, 300px) 3.6em; gap: 2px 14px; align-items: center; padding: 7px 0; border-top: 1px solid var(--rule); font-size: 14px }
.resources b::before { content: ''; display: inline-block; margin-right: 6px; border: 4.5px solid #2f9e5f; border-radius: 50% } .resources .late b::before { border-color: #e0a100 } .resources .silent b::before { border-color: #d64545 } .resources .unscheduled b::before { border-color: var(--unknown) }
.resources b a { color: inherit; text-decoration: none } .resources b a:hover { text-decoration: underline } .resources span { color: var(--soft) }
.bars { display: block; width: 100%; height: 20px } .bars rect { width: 100%; height: 100%; fill: url(#unknown) } .bars path { stroke: var(--cover); stroke-width: 10 }
@media screen and (max-width: 740px) { .resources li { grid-template-columns: minmax(0, 1fr) 3.6em; gap: 2px 10px } .resources b, .resources li > span:not(.n) { grid-column: 1 / -1 } }
:is(.home-page, .wide-page) h2 { position: absolute; margin: 0; clip-path: inset(50%) }
.places { display: block; width: 100%; height: auto; max-height: 82vh; font: 11px system-ui, sans-serif }
.places rect, .places path { stroke: var(--paper) } .places a:hover rect { stroke: var(--ink); stroke-width: 2 } .places text { fill: var(--on-guild); pointer-events: none }
.chip { display: inline-flex; align-items: center; padding: 0 9px; border: 1px solid var(--rule); border-radius: 99px; font-weight: 600; font-size: 13px; line-height: 1.6; text-decoration: none; color: var(--ink) } a.chip:hover { border-color: var(--ink) }
.numbers { list-style: none; margin: 0; padding: 0; display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 14px } .numbers a { display: block; height: 100%; padding: 12px 14px; border: 1px solid var(--rule); border-radius: 8px; color: inherit; text-decoration: none }
.numbers a:hover, .numbers a:focus-visible { border-color: var(--ink) } .numbers b { font-size: 30px; line-height: 1.1; font-variant-numeric: tabular-nums } .numbers span { color: var(--soft); font-size: 14px }
.spark { display: block; width: 100%; height: 34px; margin-top: 8px } .spark path { fill: var(--cover) } td .spark { width: 180px; height: 20px; margin: 0 } @media screen and (max-width: 740px) { td .spark { width: 100px } } #peaks .numbers { grid-template-columns: repeat(3, minmax(0, 1fr)) }
.days { list-style: none; margin: 0; padding: 0; font-size: 13px } .days li { display: grid; grid-template-columns: 4.2em minmax(0, 1fr) 5.4em; gap: 10px; align-items: center } .days svg { display: block; width: 100%; height: 16px; border: 1px solid var(--rule); border-width: 0 1px 1px } .days .n { color: var(--soft) } .days .maybe { fill-opacity: 0.4 } .days .axis { color: var(--soft) } .days .axis span:nth-child(2) { display: flex; justify-content: space-between }
@media screen and (max-width: 900px) { .numbers { grid-template-columns: repeat(2, minmax(0, 1fr)) } .numbers b { font-size: 24px } }
@media screen and (max-width: 740px) { .places text { display: none } }
th a { color: inherit; text-decoration: none } th a:hover { text-decoration: underline } th a[aria-current] { color: var(--ink) }
.facts { margin: 0 0 12px; display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 4px 14px; font-size: 14px } .facts dt { color: var(--soft) } .facts dd { margin: 0 } .facts a { margin-left: 6px; overflow-wrap: anywhere }
.parts { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-top: 12px; font-size: 15px } .standing { display: grid; grid-template-columns: auto minmax(0, 1fr) minmax(0, 380px); gap: 10px 22px; align-items: start } .standing code span { white-space: nowrap } .standing p { margin-bottom: 8px }
.standing > div { grid-column: 2 } .standing > .places { grid-column: 3; grid-row: 1 } .standing:not(:has(.guild-banner)) > div { grid-column: 1 / 3 } .guild-banner { width: 74px; border: 1px solid var(--rule) } .standing .places { max-height: 340px } progress { accent-color: var(--link); vertical-align: middle }
@media screen and (max-width: 900px) { .standing { grid-template-columns: auto minmax(0, 1fr) } .standing > .places { grid-column: 1 / -1; grid-row: auto } .guild-banner { width: 52px } }
@media screen { .stacked { &, tbody { display: block } thead:not(:has(a)), td:empty { display: none } tr { display: flex; flex-wrap: wrap; gap: 1px 16px; padding: 6px 8px } tbody tr { border-top: 1px solid var(--rule) } th { margin-right: -8px }
  td, th { position: static; max-width: 100%; padding: 0; border: 0; box-shadow: none } td { display: flex; gap: 6px; white-space: normal } td::before { content: attr(data-of); color: var(--soft); flex: none }
  td:first-child { flex-basis: 100%; font-weight: 600 } td:first-child:not(.n)::before { content: none } td time[data-local]::after { content: ' · ' attr(data-local) } } }
#members-list :is(th, td) { padding-inline: 6px } #members-list td:last-child { min-width: 8em } del { color: var(--soft) } ins { text-decoration: none; font-weight: 600 }
`

/** What single pages have beside it. */
const styles = {
  map: `
#map-live { font-size: 13px; margin-top: 12px } #map-live p { color: var(--soft) } #map-live ol { margin: 4px 0 0; padding: 0; list-style: none } #map-live div { max-height: 200px; overflow: auto }
body:has(.wide-page) { max-width: none; padding-top: 14px } body:has(.wide-page) h1 { font-size: 20px } body:has(.wide-page) h1 + .soft { display: none } body:has(.wide-page) .site { margin-bottom: 10px }
body:has(.wide-page) .period { display: inline-flex; margin: 8px 12px 0 0 } body:has(.wide-page) details.at { display: inline-block; margin-top: 8px }
.wide-page h3, .wide-page figcaption:not(:last-child) { display: none } .wide-page figure { margin-top: 12px }
.wide-page .map-body { grid-template-columns: minmax(0, 1fr) 300px; gap: 10px 20px } .map-side { max-height: calc(100vh - 266px); overflow: auto }
.map-tools { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; font-size: 14px } .map-tools .note { margin: 0 }
#map-strip { flex: 1 1 200px; height: 26px; min-width: 0; border-bottom: 1px solid var(--rule) }
.map-port { position: relative } .map-port.moves { height: calc(100vh - 266px); min-height: 340px; overflow: hidden; touch-action: none; cursor: grab; border: 1px solid var(--rule); border-radius: 6px }
.moves .scaled { height: 100% } .moves svg.plot { width: auto; max-width: 100%; height: 100%; transform-origin: 0 0 } .moving svg.plot { will-change: transform }
.map-buttons { display: none } .moves .map-buttons { position: absolute; right: 8px; bottom: 8px; display: grid; gap: 4px } .map-buttons button { width: 34px; height: 34px; padding: 0; font-size: 18px }
#map-card { position: absolute; left: 8px; top: 8px; width: min(300px, calc(100% - 16px)); max-height: calc(100% - 16px); overflow: auto; padding: 10px 12px; background: var(--paper); border: 1px solid var(--soft); border-radius: 6px; font-size: 13px; cursor: auto }
#map-card h4 { margin: 0 28px 6px 0; font-size: 15px } #map-card > button { position: absolute; right: 6px; top: 6px; padding: 0 8px }
#map-card dl { margin: 0; display: grid; grid-template-columns: auto 1fr; gap: 2px 10px } #map-card dt { color: var(--soft) } #map-card dd { margin: 0 }
.names { display: none } .near .names { display: block; fill: var(--on-guild); text-anchor: middle; pointer-events: none; stroke: none }
.names .levels { display: none } .nearer .names .levels { display: block }
.routes { fill: none; stroke: var(--ink); stroke-opacity: 0.45; stroke-width: 0.8; pointer-events: none } .near .routes { stroke-width: 0.3 }
.crowns { fill: #ffd84a; stroke: #1a1a1a; stroke-width: 1; stroke-linejoin: round; pointer-events: none } .without-routes .routes, .past .crowns { display: none }
@media screen and (max-width: 900px) { .wide-page .map-body { grid-template-columns: minmax(0, 1fr) } .map-side { max-height: none } .map-port.moves { height: 62vh } .moves .scaled text { display: block } }
@media print { .map-tools, .map-buttons, #map-card, .period, details.at { display: none !important } .map-port.moves { height: auto; border: 0 } .moves svg.plot { transform: none !important; width: 100%; height: auto } }
rect.chosen { stroke: var(--ink); stroke-width: 2 }
`,
  home: `
body:has(.home-page) { max-width: 1440px } .home-page figcaption:not(:last-child) { display: none } .home-page section, .home-page figure { margin-top: 18px }
.front { display: grid; grid-template-columns: minmax(0, 2fr) minmax(260px, 1fr); gap: 10px 28px }
#ticker { list-style: none; margin: 8px 0 0; padding: 0; font-size: 14px } #ticker li { padding: 6px 0; border-top: 1px solid var(--rule); line-height: 1.7 } #ticker time { display: block; font-size: 13px; color: var(--soft) }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); gap: 14px } .card { padding: 12px 14px; border: 1px solid var(--rule); border-radius: 8px; font-size: 14px; margin: 0 !important }
.card h3 { font-size: 16px; margin-bottom: 6px } .card ul { list-style: none; margin: 6px 0 0; padding: 0 } .card li { padding: 4px 0; border-top: 1px solid var(--rule) } .card li time { color: var(--soft) } .card li b, .card b + span { white-space: nowrap }
@media screen and (max-width: 900px) { #ticker li:nth-child(n + 7) { display: none } .front { grid-template-columns: minmax(0, 1fr) } }
`,
  item: `
.item { display: grid; grid-template-columns: minmax(0, 420px) minmax(0, 1fr); gap: 20px 32px; align-items: start } .item h4 { margin: 0 0 4px; font-size: 16px } .item > div > h4:not(:first-child) { margin-top: 20px }
.item-card { --tier: #f4f1f8; --good: #6fe06f; --bad: #ff8585; --faint: #b9b3c4; padding: 14px 16px; background: #17101f; color: #e9e5f0; border: 2px solid var(--tier); border-radius: 8px; font-size: 14px } .item-card h4 { color: var(--tier); font-size: 19px }
.item-card > p, .item-card thead th, .lore { color: var(--faint) } .item-card > div { margin-top: 10px; padding-top: 10px; border-top: 1px solid #4a4057 }
.item-card dl { margin: 0; display: grid; grid-template-columns: 1fr auto; gap: 2px 14px } .item-card dd { margin: 0; text-align: right }
.item-card th, .item-card td { position: static; padding: 2px 0; border: 0; background: none; box-shadow: none; color: inherit; font-size: 14px; font-weight: 400 } .item-card td, .item-card th + th { text-align: right; padding-left: 12px; white-space: nowrap; font-variant-numeric: tabular-nums }
.good td { color: var(--good) !important } .bad td { color: var(--bad) !important } .lore { font-style: italic }
.of-unique { --tier: #fcfc54 } .of-rare { --tier: #ff8aff } .of-set { --tier: #54fc54 } .of-legendary { --tier: #54fcfc } .of-fabled { --tier: #ff7777 } .of-mythic { --tier: #d693ff }
@media screen and (max-width: 740px) { .item { grid-template-columns: minmax(0, 1fr) } } @media print { .item-card { --good: #060; --bad: #900; --faint: #444; --tier: #000 !important; background: #fff; color: #000 } }
`,
}

/** Pages with a style, and most with a script, of their own. Such a script may ask this server. */
const scripts = { map: liveScript, home: homeScript, item: siteScript }

/** What a page is that has a style of its own. */
type Kind = keyof typeof styles

const cssOf = (kind: Kind | undefined) => (kind === undefined ? css : css + styles[kind])

const policies = {
  none: policyWith(css, siteScript),
  map: policyWith(cssOf('map'), liveScript, [`connect-src 'self'`]),
  home: policyWith(cssOf('home'), homeScript, [`connect-src 'self'`]),
  item: policyWith(cssOf('item'), siteScript),
}

export function pagePolicy(kind: Kind | undefined): string {
  return policies[kind ?? 'none']
}

function policyWith(css: string, script: string, further: readonly string[] = []): string {
  return [...policyOf(css, script), `form-action 'self'`, `frame-ancestors 'none'`, ...further].join('; ')
}

const sections = [
  ['/map', 'Map'],
  ['/captures', 'Captures'],
  ['/territories', 'Territories'],
  ['/guilds', 'Guilds'],
  ['/gained', 'Gains'],
  ['/items', 'Items'],
  ['/patches', 'Patches'],
  ['/pools', 'Loot pools'],
  ['/leaderboards', 'Leaderboards'],
  ['/worlds', 'Worlds'],
  ['/status', 'Status'],
  ['/api', 'API'],
] as const

/** What is recorded beside these. */
const moreSections = [
  'records',
  'events',
  'quests',
  'raids',
  'camps',
  'nodes',
  'abilities',
  'aspects',
  'seasons',
  'runs',
].map((name) => [`/${name}`, `${name[0]?.toUpperCase()}${name.slice(1)}`] as const)

/** Works without a script; with one, / goes to it. */
function siteSearch(people: boolean): Markup {
  const what = `${people ? 'Player, guild' : 'Guild'}, item or territory`
  return html`<form action="/search" role="search" aria-label="Everything"><input id="search" type="search" name="q" placeholder="${what}  ( / )" aria-label="${what}"></form>`
}

interface Serving {
  readonly health: Health
  /** Whether single players are found. */
  readonly people: boolean
  readonly version: string
  /** The address of a picture of the page. */
  readonly picture?: string | undefined
  /** Needs its `pagePolicy`. */
  readonly kind?: Kind | undefined
  /** Whether search engines may keep it. */
  readonly isIndexed?: boolean
  /** What the address asks for; left out: no heading sorts. */
  readonly query?: URLSearchParams | undefined
}

/** One disc with words, which leads to the page of all resources. */
function healthMarkup({ level, text }: Health): Markup {
  return html`<a class="health ${level}" href="/status"><svg class="dot" viewBox="0 0 9 9" aria-hidden="true"><circle cx="4.5" cy="4.5" r="4.5"/></svg>${text}</a>`
}

/** The chapters without what the page says already: its title, and how to have what is missing. */
function saidOnce(chapters: readonly Chapter[], title: string): Chapter[] {
  const told = new Set<string>()
  const once = (figure: Figure): Figure[] => {
    const { command, lead, ...others } = { ...figure, isSaid: figure.title === title }
    if (command === undefined || !told.has(command)) {
      if (command !== undefined) told.add(command)
      return [{ ...others, ...(lead && { lead }) }]
    }
    return others.isSaid ? [] : [others]
  }
  return chapters
    .map((chapter) => ({ ...chapter, figures: chapter.figures.flatMap(once) }))
    .filter(({ figures }) => figures.length > 0)
}

/** The chapters with tables as the address wants them; where it wants one alone, that, and a link to the others. */
function shownChapters(
  chapters: readonly Chapter[],
  query: URLSearchParams | undefined,
  path: string,
): { readonly chapters: readonly Chapter[]; readonly alone?: Markup } {
  // The map has room for its list, or leads to it.
  if (!query) return { chapters }
  const listed = chapters.map((chapter) => ({
    ...chapter,
    figures: chapter.figures.map((figure) => listedFigure(figure, { path, query })),
  }))
  const wanted = query.get('table')
  const of = listed.flatMap(({ figures, ...chapter }) => {
    const alone = figures.filter(({ id, table }) => id === wanted && table)
    return alone.length === 0
      ? []
      : [{ ...chapter, figures: alone.map(({ picture: _, legend: __, ...figure }) => figure) }]
  })
  if (of.length === 0) return { chapters: listed }
  const others = new URLSearchParams([...query].filter(([name]) => name !== 'table' && name !== 'sort'))
  return {
    chapters: of,
    alone: html`<p class="at"><a href="${path}${others.size > 0 ? `?${others}` : ''}">The whole page</a></p>`,
  }
}

export async function pageText(
  { title, lead, control, links, chapters, path, feed, layout }: Page,
  { version, picture, health, people, kind, isIndexed = true, query }: Serving,
): Promise<string> {
  const [place = path] = path.split('?', 1)
  const shown = shownChapters(chapters, kind === 'map' ? undefined : query, place)
  const { alone } = shown
  const section = ([at, name]: readonly [string, string] | readonly string[]) =>
    html`<a href="${at}"${place === at || path.startsWith(`${at}/`) ? html` aria-current="page"` : ''}>${name}</a>`
  return await documentText({
    title: `${title} · wynnsync`,
    version,
    css: cssOf(kind),
    script: kind ? scripts[kind] : siteScript,
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
    body: html`<header><div class="top"><b><a href="/">wynnsync</a></b>${siteSearch(people)}${healthMarkup(health)}</div>
<nav class="site" aria-label="Pages">${sections.map(section)}<details${moreSections.some(([at]) => path === at) ? html` open` : ''}><summary>More</summary>${moreSections.map(section)}</details></nav>
${health.banner ? html`<p class="banner" role="status">${health.banner}</p>` : ''}
<h1>${title}</h1><p class="soft">${lead}</p>${control ?? ''}${alone ?? links ?? ''}</header>
<main${layout ? html` class="${layout}-page"` : ''}>${saidOnce(shown.chapters, title).map(chapterMarkup)}${alone ? '' : (links ?? '')}</main>
<footer>wynnsync ${version}. All times are UTC; after a dot, yours. Hatched (on paper, dashed) is unknown, not zero. Not affiliated with the makers
of the game or of its API.</footer>`,
  })
}
