import * as Plot from '@observablehq/plot'
import { html, raw } from 'hono/html'
import { visibleLine } from '../../base/terminal-text.ts'
import type { Sql } from '../../db/database.ts'
import { drawScaled } from '../draw.ts'
import { type Figure, missing } from '../figure.ts'
import type { Roster } from '../guild/roster.ts'
import { type Markup, type Table, tableMarkup } from '../html-table.ts'
import { observedOf } from '../period.ts'
import { swatch } from '../swatch.ts'
import { count, instant, moment, number, shortened } from '../words.ts'
import type { Holds, VisitHolds } from './holds.ts'
import type { MapFrame } from './map-frame.ts'

/** A territory's place on the map, in blocks; y grows to the south. */
interface Place {
  readonly territory: string
  readonly minX: number
  readonly minZ: number
  readonly maxX: number
  readonly maxZ: number
}

interface MapHistory {
  readonly places: readonly Place[]
  readonly steps: readonly Date[]
  /** Of each place the holder's uuid from a step on, as [step, uuid]; null: no holder known. Only what changes. */
  readonly changes: readonly (readonly (readonly [number, string | null])[])[]
  /** Holds in the period of territories that are not on today's map. */
  readonly elsewhere: number
}

/** The holds of the territories that are on today's map. */
async function readMapHistory(sql: Sql, { steps, amounts, over }: Holds): Promise<(by: number) => MapHistory> {
  const places = await sql.query<Place>(
    `select territory, min_x as "minX", min_z as "minZ", max_x as "maxX", max_z as "maxZ" from analytics.territory
      where min_x is not null and min_z is not null and max_x is not null and max_z is not null
      -- Small places lie on top of large ones.
      order by (max_x - min_x)::bigint * (max_z - min_z) desc, territory collate "C"`,
  )
  const elsewhere = new Map(amounts)
  for (const { territory } of places) elsewhere.delete(territory)
  return (by) => {
    // The last moment is always there.
    const some = steps.filter((_, place) => (steps.length - 1 - place) % by === 0)
    const held = over(some)
    return {
      places,
      steps: some,
      changes: places.map(({ territory }) => changesOf(held, territory, some.length)),
      elsewhere: [...elsewhere.values()].reduce((sum, holds) => sum + holds, 0),
    }
  }
}

/** The past of the map: the guilds that some step shows, and what the script needs. */
interface Past {
  readonly history: MapHistory
  readonly guilds: Roster['shown']
  readonly text: string
}

function pastOf(history: MapHistory, { roster, writtenAt }: MapFrame): Past {
  const seen = new Set(history.changes.flatMap((list) => list.map(([, uuid]) => uuid)))
  const guilds = roster.shown.filter(({ uuid }) => seen.has(uuid))
  return { history, guilds, text: states(history, guilds, writtenAt) }
}

/** The whole past, or as many of its steps as there is room for, bytes; the last moment at least. */
function pastWithin(room: number, whole: Past, historyBy: (by: number) => MapHistory, frame: MapFrame): Past {
  let past = whole
  for (let by = 1; ; ) {
    const size = Buffer.byteLength(past.text)
    const steps = past.history.steps.length
    if (size <= room || steps <= 1) return past
    by = Math.min(Math.max(by + 1, Math.ceil((by * size) / Math.max(1, room))), by * steps)
    past = pastOf(historyBy(by), frame)
  }
}

/** Bytes of a past that is worth more than a list of what the map shows, and than all that is known of each place. */
const WORTH_BYTES = 60_000

/** How a figure becomes smaller: without the list, then without what the overlay can do without; then the past has fewer steps. */
const forms = [
  { hasList: true, isBrief: false },
  { hasList: false, isBrief: false },
  { hasList: false, isBrief: true },
] as const

const bytesOf = (markup: unknown) => Buffer.byteLength(String(markup ?? ''))

/** Neighbours of one guild are one; between two holds nothing is known. */
function changesOf(visitHolds: VisitHolds, territory: string, steps: number): [number, string | null][] {
  const changes: [number, string | null][] = []
  let holder: string | null | undefined
  const change = (step: number, uuid: string | null) => {
    if (step >= steps || holder === uuid) return
    changes.push([step, uuid])
    holder = uuid
  }
  let known = 0
  visitHolds(territory, (began, ended, guild) => {
    if (began > known) change(known, null)
    change(began, guild)
    known = ended
  })
  change(known, null)
  return changes
}

/** Size of the labels on the map, in pixels. */
const labelSize = 8

/** Width of the map on wide screens, in pixels. */
const mapWidth = 620

const widest = /[mwMW@%]/
const padding = 2

/** What stands on a territory for the guild that holds it. */
export function labelOf(prefix: string): string {
  return shortened(visibleLine(prefix), 5)
}

/** How wide a label may become in any usual font, in pixels. */
export function labelWidth(label: string): number {
  const ems = [...label].map((letter) => {
    if (letter > '~') return 1.2
    return widest.test(letter) ? 1 : /[A-Z]/.test(letter) ? 0.8 : 0.65
  })
  return Math.ceil(ems.reduce((sum, one) => sum + one, padding / labelSize) * labelSize)
}

/** Width that a label may have inside each place, in pixels; 0 where the place is too low for one. */
function labelRooms(places: readonly Place[], [west, east]: readonly [number, number]): number[] {
  const scale = mapWidth / (east - west + 1)
  return places.map(({ minX, maxX, minZ, maxZ }) =>
    (maxZ - minZ) * scale > labelSize + padding ? Math.floor((maxX - minX) * scale) : 0,
  )
}

/** Keeps the place of a label that the slider may bring. */
const blank = ' '

/** a. Who holds what, with a slider through the period and a replay of it. */
export async function mapFigure(sql: Sql, frame: MapFrame): Promise<Figure> {
  const { roster, holds, guildPageOf, tools, overlay, aside, listAt, room = Infinity, ...period } = frame
  const historyBy = await readMapHistory(sql, holds)
  const whole = historyBy(1)
  const last = whole.steps.at(-1) ?? period.to
  const seen = await observedOf(sql, 'territories')
  const isOld = seen !== null && seen.last < period.from
  if (whole.places.length === 0) return missing('map', 'No territory is known yet', 'wynnsync sync territories')
  const holders = whole.changes.map((changes) => roster.of(changes.at(-1)?.[1] ?? null))
  const held = new Map<string | undefined, number>()
  for (const one of holders) held.set(one?.uuid, (held.get(one?.uuid) ?? 0) + 1)
  const title = mapTitle(held, whole.places.length, (uuid) => roster.of(uuid)?.name)
  const drawn = mapPicture(whole, frame)
  const table: Table = {
    columns: ['Territory', 'Held by', 'Prefix'],
    rows: whole.places
      .map(({ territory }, index) => [territory, holders[index]?.name ?? null, holders[index]?.prefix ?? null])
      .sort(([a], [b]) => String(a).localeCompare(String(b), 'en')),
  }
  const beside = [drawn, legendOf(roster.shown, held, guildPageOf), tools, aside].reduce<number>(
    (sum, one) => sum + bytesOf(one),
    0,
  )
  const roomOf = ({ hasList, isBrief }: (typeof forms)[number]) =>
    room - beside - (hasList ? bytesOf(tableMarkup(table)) : 0) - bytesOf(overlay?.(whole.steps, isBrief))
  const past = pastOf(whole, frame)
  const wanted = room === Infinity ? 0 : Math.min(WORTH_BYTES, bytesOf(past.text))
  const form = forms.find((one) => roomOf(one) >= wanted) ?? forms[2]
  const { history, guilds, text } = pastWithin(roomOf(form), past, historyBy, frame)
  return {
    id: 'map',
    title: isOld ? oldTitle(seen.last, [...held.keys()].some((uuid) => uuid !== undefined) ? title : undefined) : title,
    lead: html`Each rectangle is a territory in the colour of the guild that held it; hatched: no holder known. The ${form.hasList ? 'table' : 'list'}
has the last moment, ${instant(last)} UTC; no observation after ${instant(seen?.last ?? null)}.${whole.elsewhere > 0 ? ` ${count(whole.elsewhere, 'hold')} of territories that are not on the map any more are left out.` : ''}`,
    picture: html`${slider(history)}<div class="map-body">${tools ?? ''}<div class="map-port">${drawn}${overlay?.(history.steps, form.isBrief) ?? ''}</div><div class="map-side">${legendOf(guilds, held, guildPageOf)}${aside ?? ''}</div></div>
${form.hasList ? '' : html`<p class="note">So much changed hands that ${history.steps.length < whole.steps.length ? 'only some moments are shown, and ' : ''}the list has a place of its own: ${listAt?.(last) ?? ''}.</p>`}
<script type="application/json" id="map-states">${raw(text)}</script>`,
    ...(form.hasList && { table }),
  }
}

/** The title of a map that was last seen before the period. @param title what is known of it; undefined: nothing */
function oldTitle(seen: Date, title: string | undefined): string {
  return title === undefined
    ? `Not observed since ${instant(seen)} UTC`
    : `As last seen ${instant(seen)}, before this period: ${title}`
}

/** Who holds the most. @param held places by the uuid of their holder, undefined without a known one @param places how many there are */
export function mapTitle(
  held: ReadonlyMap<string | undefined, number>,
  places: number,
  nameOf: (uuid: string) => string | undefined,
): string {
  const all = count(places, 'territory', 'territories')
  const [first, second] = [...held].filter(([uuid]) => uuid).sort(([, a], [, b]) => b - a)
  const leader = first?.[0] && nameOf(first[0])
  if (!first || !leader) return `No owner is known of any of ${all}`
  const [, most] = first
  const share = `${number(most)} of ${all}`
  if (most * 2 > places) return `${leader} holds most of the map: ${share}`
  return most === second?.[1] ? `No guild holds more than ${leader}: ${share}` : `${leader} holds the most: ${share}`
}

function slider({ steps }: MapHistory): Markup {
  const end = steps.length - 1
  const last = steps[end]
  return html`<div id="map-control" hidden><button type="button" id="map-play">Play</button>
<label>Speed <select id="map-speed"><option value="1">1&times;</option><option value="2">2&times;</option><option value="4">4&times;</option></select></label>
<input type="range" id="map-slider" aria-label="Moment" min="0" max="${end}" step="1" value="${end}">
<output id="map-time" for="map-slider" aria-live="off">${last ? instant(last) : ''} UTC</output></div>`
}

/** From where to where the places reach: west to east, and north to south. */
function domainsOf(places: readonly Place[]): { x: [number, number]; y: [number, number] } {
  const least = (name: 'minX' | 'minZ') => places.reduce((edge, one) => Math.min(edge, one[name]), Infinity)
  const most = (name: 'maxX' | 'maxZ') => places.reduce((edge, one) => Math.max(edge, one[name]), -Infinity)
  return { x: [least('minX'), most('maxX')], y: [least('minZ'), most('maxZ')] }
}

function mapPicture({ places, changes }: MapHistory, { roster, pageOf, routes, headquarters }: MapFrame) {
  const holder = (index: number) => roster.of(changes[index]?.at(-1)?.[1] ?? null)
  const { x, y } = domainsOf(places)
  const rooms = labelRooms(places, x)
  const labelAt = (index: number) => {
    const label = shortened(holder(index)?.prefix ?? blank, 5)
    return labelWidth(label) <= (rooms[index] ?? 0) ? label : blank
  }
  const label = 'Map of the territories by the guild that holds them; the table below has the same.'
  return drawScaled(label, {
    width: mapWidth,
    height: Math.min(2000, Math.max(120, (mapWidth * (y[1] - y[0] + 1)) / (x[1] - x[0] + 1))),
    margin: 1,
    x: { domain: x, axis: null },
    y: { domain: [y[1], y[0]], axis: null },
    marks: [
      Plot.rect(places, {
        x1: 'minX',
        x2: 'maxX',
        y1: 'minZ',
        y2: 'maxZ',
        fill: places.map((_, index) => holder(index)?.fill ?? 'url(#unknown)'),
        stroke: 'var(--paper)',
        title: places.map(({ territory }, index) => `${territory}: ${holder(index)?.name ?? 'no holder known'}`),
        // Its title is the name of the link.
        ...(pageOf ? { href: ({ territory }: Place) => pageOf(territory) } : {}),
      }),
      ...(routes ? [linePath('routes', (at) => routesBetween(places, routes, at))] : []),
      // The style sheet leaves them out where they would be too small to read.
      Plot.text(places, {
        x: (one) => (one.minX + one.maxX) / 2,
        y: (one) => (one.minZ + one.maxZ) / 2,
        // In the middle; an offset of each label would be a fiftieth of the page.
        lineAnchor: 'bottom',
        dy: 0.32 * labelSize,
        text: places.map((_, index) => labelAt(index)),
        fontSize: labelSize,
        fill: 'var(--on-guild)',
        stroke: 'var(--halo)',
        strokeWidth: 2,
        pointerEvents: 'none',
      }),
      ...(headquarters ? [linePath('crowns', (at) => crownsOn(places, headquarters, at))] : []),
    ],
  })
}

/** Where a place of the game lies in the picture. */
type At = (x: number, z: number) => string

/** One path: a thousand lines as elements of their own would slow the map down. */
function linePath(kind: string, lines: (at: At) => string): Plot.RenderFunction {
  return (_index, { x, y }, _values, _dimensions, { document: own }) => {
    const path = own.createElementNS('http://www.w3.org/2000/svg', 'path')
    path.setAttribute('class', kind)
    path.setAttribute(
      'd',
      lines((across, down) => `${Math.round(Number(x?.(across)))} ${Math.round(Number(y?.(down)))}`),
    )
    return path
  }
}

/** A line for each pair of places that a route joins, in either direction. */
function routesBetween(places: readonly Place[], routes: ReadonlyMap<string, readonly string[]>, at: At): string {
  const middles = new Map(
    places.map((one) => [one.territory, at((one.minX + one.maxX) / 2, (one.minZ + one.maxZ) / 2)]),
  )
  const ends = [...routes].flatMap(([from, targets]) =>
    targets
      .filter((to) => from < to || !routes.get(to)?.includes(from))
      .map((to) => [middles.get(from), middles.get(to)]),
  )
  return ends.flatMap(([from, to]) => (from && to ? `M${from}L${to}` : [])).join('')
}

/** A crown on the upper edge of each headquarters. */
function crownsOn(places: readonly Place[], headquarters: ReadonlySet<string>, at: At): string {
  return places
    .filter(({ territory }) => headquarters.has(territory))
    .map(({ minX, maxX, minZ }) => `M${at((minX + maxX) / 2, minZ)}m-6-5l3 4 3-6 3 6 3-4v9h-12z`)
    .join('')
}

/** The legend names so many guilds. */
const NAMED_GUILDS = 21

/** The biggest guilds, and the rest as one, with what each holds. */
function legendOf(
  guilds: Roster['shown'],
  held: ReadonlyMap<string | undefined, number>,
  pageOf: MapFrame['guildPageOf'],
): Markup {
  const item = (place: number, fill: string, prefix: string, name: string, amount: number, at?: string) =>
    html`<li data-guild="${place}" class="${amount === 0 ? 'none' : ''}">${swatch(fill)}<span class="prefix">${shortened(prefix, 6)}</span>
<span class="name">${at === undefined ? name : html`<a href="${at}">${name}</a>`}</span> <b>${amount}</b></li>`
  // What is held at the last moment is in order; the script counts by the place among all.
  const named = guilds
    .map((guild, place) => ({ ...guild, place, now: held.get(guild.uuid) ?? 0 }))
    .sort((one, other) => other.now - one.now)
    .slice(0, NAMED_GUILDS)
  const rest = guilds.length - named.length
  return html`<ul id="map-legend" class="legend">${named.map(({ uuid, fill, prefix, name, place, now }) =>
    item(place, fill, prefix, name, now, pageOf?.(uuid)),
  )}${item(-1, 'url(#unknown)', '', 'No holder known', held.get(undefined) ?? 0)}
${rest > 0 ? html`<li>${swatch('none')}<span class="rest">${count(rest, 'smaller guild')}, in colours of their own</span></li>` : ''}</ul>`
}

/** What the script needs, as JSON in which nothing can end the element it stands in. */
function states({ places, steps, changes }: MapHistory, shown: Roster['shown'], now: Date): string {
  const placeOf = new Map(shown.map(({ uuid }, place) => [uuid, place]))
  const labels = shown.map(({ prefix }) => labelOf(prefix))
  const json = JSON.stringify({
    times: steps.map((at) => moment(at, now)),
    instants: steps.map((at) => `${at.toISOString().slice(0, 16)}Z`),
    prefixes: shown.map(({ prefix }) => visibleLine(prefix)),
    fills: shown.map(({ fill }) => fill),
    labels,
    widths: labels.map(labelWidth),
    rooms: labelRooms(places, domainsOf(places).x),
    names: shown.map(({ name }) => visibleLine(name)),
    changes: changes.map((list, index) => [
      visibleLine(places[index]?.territory ?? ''),
      list.map(([step, uuid]) => [step, uuid === null ? -1 : (placeOf.get(uuid) ?? -1)]),
    ]),
  })
  return json.replaceAll('<', '\\u003c')
}
