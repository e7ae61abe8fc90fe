import { html, raw } from 'hono/html'
import { territoryVocabulary } from '../../api/schemas/territories.ts'
import { visibleLine } from '../../base/terminal-text.ts'
import { INSTANT, instantOf } from '../../base/text/instants.ts'
import { mapFigure } from '../../drawing/map/map.ts'
import { mapFrameOf } from '../../drawing/map/map-frame.ts'
import { readMoments } from '../../drawing/moments.ts'
import { observedOf, type Period } from '../../drawing/period.ts'
import { instant } from '../../drawing/words.ts'
import { csvLink, pathOf } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { latestResources } from '../html/places-map.ts'
import { Problem } from '../http/problems.ts'

/** `/map?at=`: who holds what at an instant, and in the seven days before it; or in a period. */
export async function mapPage(visit: Visit): Promise<Page> {
  const { sql, now, query } = visit
  const text = query.get('at') ?? ''
  const at = text === '' ? undefined : shownInstant(text, now)
  // The period ends before its end.
  const { frame: period, control } = await shownPeriod(visit, {
    path: '/map',
    of: ['territories'],
    ...(at && { to: new Date(at.getTime() + 1) }),
  })
  const isLive = !at && !query.has('to')
  const [mapFrame, rows, moments] = await Promise.all([
    mapFrameOf(sql, period),
    observedOf(sql, 'territories').then((seen) => readStanding(sql, seen !== null && seen.last <= period.to)),
    readMoments(sql, 'territories', period),
  ])
  const frame = {
    ...mapFrame,
    routes: new Map(rows.map(({ territory, links }) => [territory, links ?? []])),
    headquarters: new Set(rows.flatMap(({ territory, hq }) => (hq ? [territory] : []))),
    pageOf: (name: string) => pathOf('territories', name),
    guildPageOf: (uuid: string) => pathOf('guilds', uuid),
    tools,
    room: FIGURE_BYTES,
    overlay: (steps: readonly Date[], isBrief: boolean) => {
      const places = placesOf(isBrief ? rows.map((row) => ({ ...row, stored: null })) : rows)
      return overlayWith({ ...places, levels, blind: blindAt(steps, moments?.blind ?? []) })
    },
    listAt: (at: Date) => csvLink('map_at', { at }),
    ...(isLive ? { aside: liveCaptures } : {}),
  }
  const map = await mapFigure(sql, frame)
  return {
    path: at ? `/map?at=${encodeURIComponent(at.toISOString())}` : '/map',
    title: map.title,
    lead: `The map ${at ? `at ${instant(at)} UTC` : 'as last seen'}, and the days before.`,
    layout: 'wide',
    control: html`${control}<details class="at"><summary>at a moment</summary><form action="/map"><label>At <input name="at" size="32" value="${text}" placeholder="2026-05-01T20:00Z, -12h, yesterday">
</label><button>Show</button></form></details>`,
    chapters: [chapterOf('territories', 'Territories', { ...map, title: 'The map through these days' })],
  }
}

/** Bytes of the figure: with its style, its script and what stands around it the page has less than 300,000. */
const FIGURE_BYTES = 245_000

/** At which steps nothing was observed. */
function blindAt(steps: readonly Date[], blind: readonly Period[]): number[] {
  return steps.flatMap((at, place) => (blind.some(({ from, to }) => from <= at && at < to) ? [place] : []))
}

/** Shown by the script of the page. */
const tools = html`<div class="map-tools" hidden><label>Colours <select id="map-mode">${[
  ['guild', 'guilds'],
  ['patterns', 'guilds, by lines'],
  ...['treasury', 'defences', 'resources', 'age', 'heat'].map((mode) => [mode, mode]),
].map(([mode, name]) => html`<option value="${mode}">${name}</option>`)}</select></label>
<label><input type="checkbox" id="map-routes" checked> routes</label>
<button type="button" id="map-before" aria-label="Capture before">&#9664; capture</button><button type="button" id="map-next" aria-label="Next capture">capture &#9654;</button>
<svg id="map-strip" preserveAspectRatio="none" role="img" aria-label="Captures over time; filled where nothing was observed"></svg><span id="map-said" class="note" role="status"></span></div>`

const overlayWith = (
  known: object,
) => html`<div class="map-buttons"><button type="button" id="map-in" aria-label="Nearer">+</button><button type="button" id="map-out" aria-label="Farther">&minus;</button>
<button type="button" id="map-whole" aria-label="The whole map">&#9634;</button></div>
<section id="map-card" hidden aria-label="Territory"><h4 aria-level="3"><a href="/territories"></a></h4><button type="button" aria-label="Close">&times;</button><dl></dl></section>
<script type="application/json" id="map-places">${raw(JSON.stringify(known).replaceAll('<', '\\u003c'))}</script>`

interface PlaceRow {
  readonly territory: string
  /** Minutes since the epoch. */
  readonly since: number | null
  readonly hq: boolean | null
  readonly treasury: string | null
  readonly defences: string | null
  readonly links: readonly string[] | null
  /** Of each resource what it produces in an hour, stores, and has room for. */
  readonly stored: Readonly<Record<string, readonly (number | null)[]>> | null
}

const levels = ['VERY_LOW', 'LOW', 'MEDIUM', 'HIGH', 'VERY_HIGH']

/** A level as its place in their order; one that is new stays as it is. */
function levelOf(level: string | null): string | number | null {
  const place = levels.indexOf(level ?? '')
  return place < 0 ? level : place
}

/** Of a time before the last observation nothing of this is said. */
const unseen = { since: null, hq: null, treasury: null, defences: null, stored: null }

async function readStanding(sql: Visit['sql'], isLatest: boolean): Promise<readonly PlaceRow[]> {
  const known = await sql.query<PlaceRow>(
    `select place.territory, (extract(epoch from place.held_from) / 60)::int as since, place.is_hq as hq, place.treasury, place.defences,
            (select array_agg(links_to order by position) from analytics.territory_link link where link.territory = place.territory) as links,
            stored.stored
       from analytics.territory place
       left join (select place.territory, jsonb_object_agg(lower(kind.resource), jsonb_build_array(generation, stored, storage_limit)) as stored
                    from game.territory place ${latestResources('$1')} where place.valid_until = 'infinity' group by 1) stored on stored.territory = place.territory
      where place.min_x is not null and place.min_z is not null and place.max_x is not null and place.max_z is not null`,
    // Each of them is looked up for each place, many in months long ago.
    [isLatest ? territoryVocabulary.resourceType : []],
  )
  return isLatest ? known : known.map(({ territory, links }) => ({ ...unseen, territory, links }))
}

/** What is known of each territory of the map now, in the order of their names, which its script has. */
function placesOf(known: readonly PlaceRow[]): object {
  // Hundreds of names and levels would be most of the page.
  const shown = new Map(known.map((row) => [visibleLine(row.territory), row]))
  const rows = [...shown.keys()].sort().flatMap((name) => shown.get(name) ?? [])
  const names = new Map(rows.map(({ territory }, index) => [territory, index]))
  const resources = [...new Set(rows.flatMap(({ stored }) => Object.keys(stored ?? {})))].sort()
  const places = rows.map(({ since, hq, treasury, defences, links, stored }) => [
    since,
    hq ? 1 : 0,
    levelOf(treasury),
    levelOf(defences),
    links?.flatMap((name) => names.get(name) ?? []) ?? [],
    stored === null ? 0 : resources.map((resource) => stored[resource] ?? 0),
  ])
  return { resources, places }
}

/** Filled by the script of the page. */
const liveCaptures = html`<section id="map-live" hidden><p role="status"></p><div role="log" tabindex="0" aria-label="Captures since the page was opened"><ol></ol></div></section>`

function shownInstant(text: string, now: Date): Date {
  const at = instantOf(text, now.getTime())
  // Of years that can have been observed.
  if (at === undefined || at.getUTCFullYear() < 2000 || at.getUTCFullYear() > 9000)
    throw new Problem('bad-argument', { detail: `at must be ${INSTANT}`, argument: 'at' })
  // A minute more, as of a period.
  if (at.getTime() > now.getTime() + 60_000)
    throw new Problem('bad-argument', { detail: 'at must not be after now', argument: 'at' })
  return at
}
