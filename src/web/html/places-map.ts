import { html } from 'hono/html'
import { visibleLine } from '../../base/terminal-text.ts'
import type { Sql } from '../../db/database.ts'
import { guildColour } from '../../drawing/colours.ts'
import type { Markup } from '../../drawing/html-table.ts'
import { labelOf, labelWidth, mapTitle } from '../../drawing/map/map.ts'
import { asSeen } from '../../drawing/words.ts'
import { grouped } from './grouped.ts'
import { pathOf } from './links.ts'

/** A territory as last seen, and who holds it. */
export interface HeldPlace {
  readonly territory: string
  readonly uuid: string | null
  readonly name: string | null
  readonly prefix: string | null
  /** When it was captured. */
  readonly since: Date | null
  readonly hq: boolean | null
  readonly treasury: string | null
  readonly defences: string | null
  /** When the last response confirmed it; null of a time before. */
  readonly observed: Date | null
  /** Its corners; null where the API does not say them: then no map has it. */
  readonly x1: number | null
  readonly z1: number | null
  readonly x2: number | null
  readonly z2: number | null
}

type Placed = HeldPlace & { readonly [Corner in 'x1' | 'z1' | 'x2' | 'z2']: number }

const isPlaced = (place: HeldPlace): place is Placed =>
  place.x1 !== null && place.z1 !== null && place.x2 !== null && place.z2 !== null

/**
 * SQL to join to territories, `place`: `latest`, what each made in an hour, stored and had room for of each resource by its latest sample; NULL
 * where the API does not send that. The list of all latest samples would read the beginning of every month of each territory.
 * @param resources the parameter with their names
 */
export const latestResources = (resources: string) => `
     cross join analytics.not_sent('territory_resource') lacking
     cross join unnest(${resources}::text[]) kind(resource)
     cross join lateral (select case when not lacking.columns && '{*,generation}' then kept.generation end as generation,
                                case when not lacking.columns && '{*,stored}' then kept.stored end as stored,
                                case when not lacking.columns && '{*,storage_limit}' then kept.storage_limit end as storage_limit
                           from game.territory_resource kept
                          where kept.territory = place.territory and kept.resource = kind.resource
                          order by kept.observed_at desc limit 1) latest`

/** Every place and who holds it, or held it at an instant; of then nothing else is said. */
export async function readPlaces(sql: Sql, at?: Date): Promise<HeldPlace[]> {
  const known = at
    ? `select place.territory, held.guild_uuid, held.guild_name, held.guild_prefix, held.held_from, null::boolean as is_hq, null as treasury,
              null as defences, null::timestamptz as observed_at, min_x, max_x, min_z, max_z
         from analytics.territory place left join analytics.map_at($1) held using (territory)`
    : 'select * from analytics.territory'
  return await sql.query<HeldPlace>(
    `select territory, guild_uuid::text as uuid, guild_name as name, guild_prefix as prefix, held_from as since,
            is_hq as hq, treasury, defences, observed_at as observed,
            least(min_x, max_x) as x1, least(min_z, max_z) as z1, greatest(min_x, max_x) as x2, greatest(min_z, max_z) as z2
       from (${known}) known order by territory collate "C"`,
    at ? [at] : [],
  )
}

/** Whether the API says now who holds places: else those without a holder are not free. */
export async function areHoldersSent(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ sent: boolean }>(
    `select not exists (select from sync.unsent span where span.resource = 'territories' and span.field in ('/guild', '/guild/uuid')
                           and span.until_at is null) as sent`,
  )
  return row?.sent ?? true
}

/** ` (as seen 3 May, 10:00)` where the map was last seen more than an hour ago; else nothing. */
export function seenText(places: readonly Pick<HeldPlace, 'observed'>[], now: Date): string {
  const last = places.reduce((latest, { observed }) => Math.max(latest, observed?.getTime() ?? 0), 0)
  return asSeen(last > 0 ? new Date(last) : null, now)
}

/** Who holds the most of the places on the map. */
export function placesTitle(known: readonly HeldPlace[]): string {
  const places = known.filter(isPlaced)
  const held = new Map<string | undefined, number>()
  for (const { uuid } of places) held.set(uuid ?? undefined, (held.get(uuid ?? undefined) ?? 0) + 1)
  return mapTitle(held, places.length, (uuid) => places.find((one) => one.uuid === uuid)?.name ?? undefined)
}

interface Drawing {
  /** Of the element. */
  readonly id: string
  /** The guild whose places stand out; without it, all do. */
  readonly guild?: string
  readonly label: string
}

/** So many places of one guild are links, each with its name. */
const LINKED_PLACES = 100
/** So many holders around them have a shape of their own. */
const SHAPED_HOLDERS = 40

/** Width of the drawing, in its own pixels. */
const WIDTH = 800
const LABEL_SIZE = 11

/** The map as it is, each territory a link to its page. */
export function placesMap(known: readonly HeldPlace[], { id, guild, label }: Drawing): Markup | '' {
  const places = known.filter(isPlaced)
  if (places.length === 0) return ''
  const least = (of: 'x1' | 'z1') => places.reduce((edge, place) => Math.min(edge, place[of]), Infinity)
  const most = (of: 'x2' | 'z2') => places.reduce((edge, place) => Math.max(edge, place[of]), -Infinity)
  const west = least('x1')
  const north = least('z1')
  const east = most('x2')
  const south = most('z2')
  const scale = WIDTH / Math.max(1, east - west)
  const height = Math.min(1200, Math.max(100, Math.round((south - north) * scale)))
  const down = height / Math.max(1, south - north)
  const boxOf = (at: Placed) => ({
    x: Math.round((at.x1 - west) * scale),
    y: Math.round((at.z1 - north) * down),
    width: Math.max(1, Math.round((at.x2 - at.x1) * scale)),
    tall: Math.max(1, Math.round((at.z2 - at.z1) * down)),
  })
  const isOne = guild !== undefined && places.filter(({ uuid }) => uuid === guild).length > LINKED_PLACES
  const isShown = ({ uuid }: HeldPlace) => guild === undefined || (uuid === guild && !isOne)
  const rects = places.filter(isShown).map((place) => {
    const { territory, name, prefix } = place
    const { x, y, width, tall } = boxOf(place)
    const text = labelOf(prefix ?? name ?? '')
    const hasRoom =
      guild === undefined && name !== null && tall > LABEL_SIZE + 2 && (labelWidth(text) * LABEL_SIZE) / 8 <= width
    return html`<a href="${pathOf('territories', territory)}" tabindex="-1"><rect x="${x}" y="${y}" width="${width}" height="${tall}" fill="${fillOf(place)}"${guild === undefined ? html` data-place="${visibleLine(territory)}"` : ''}><title>${guild === undefined ? `${territory}: ${name ?? 'no holder known'}` : territory}</title></rect>${
      hasRoom ? html`<text x="${x + width / 2}" y="${y + tall / 2}">${text}</text>` : ''
    }</a>`
  })
  // What surrounds the places of a guild: of each holder of many one shape, and one of all others; and the guild's own, where they are too many for links.
  const around = groupsOf(places.filter((place) => !isShown(place))).map((others) => {
    const boxes = others.map(boxOf).map(({ x, y, width, tall }) => `M${x} ${y}h${width}v${tall}h-${width}z`)
    const [first] = others
    const isMixed = others.some(({ uuid }) => uuid !== first?.uuid)
    const isOwn = first?.uuid === guild
    return html`<path fill="${!first ? '' : isMixed ? 'var(--soft)' : fillOf(first)}"${isOwn ? '' : html` fill-opacity=".12"`} d="${boxes.join('')}"><title>${isMixed ? 'other guilds' : (first?.name ?? 'no holder known')}</title></path>`
  })
  return html`<svg id="${id}" class="places" text-anchor="middle" dominant-baseline="central" viewBox="0 0 ${WIDTH} ${height}" role="group" aria-label="${label}">${around}${rects}</svg>`
}

/** The places of each of those who hold most, and of all others together. */
function groupsOf(places: readonly Placed[]): Placed[][] {
  const groups = [...grouped(places, ({ uuid }) => uuid).values()].sort((one, other) => other.length - one.length)
  const others = groups.slice(SHAPED_HOLDERS).flat()
  return others.length > 0 ? [...groups.slice(0, SHAPED_HOLDERS), others] : groups
}

function fillOf({ name }: HeldPlace): string {
  return name === null ? 'url(#unknown)' : guildColour(name)
}
