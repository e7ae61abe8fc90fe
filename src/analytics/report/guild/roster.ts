import type { Holder } from '../map/holds.ts'

/** A guild as the report shows it. */
export interface Shown extends Holder {
  /** What its places are filled with: a colour or pattern that the page defines, or `others`. */
  readonly fill: string
}

/** Who is shown in which colour, from the biggest empire to the smallest. */
export interface Roster {
  readonly shown: readonly Shown[]
  readonly of: (uuid: string | null) => Shown | undefined
}

/** Fills that differ without full colour vision: seven colours plain, seven striped, seven dotted. */
export const fills = 21
const others = 'var(--others)'

/** Guilds in the order of their colours. */
export function rosterOf(guilds: readonly Holder[]): Roster {
  const shown = guilds.map((guild, place) => ({ ...guild, fill: fillOf(place) }))
  const byUuid = new Map(shown.map((one) => [one.uuid, one]))
  return { shown, of: (uuid) => (uuid === null ? undefined : byUuid.get(uuid)) }
}

function fillOf(place: number): string {
  if (place >= fills) return others
  return place < 7 ? `var(--g${place})` : `url(#g${place})`
}
