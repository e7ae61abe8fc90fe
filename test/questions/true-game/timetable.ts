import { type Random, seededRandom } from '../../../src/base/clock.ts'

/** How often each resource is asked for, in seconds: what somebody tells the program to expect. */
export type Paces = Readonly<Record<Polled, number>>

/** What is asked for; of guilds and players one key at a time, in turn. */
export const polled = [
  'territories',
  'online-players',
  'guilds',
  'players',
  'guild-list',
  'seasons',
  'items',
  'recipes',
] as const
export type Polled = (typeof polled)[number]

/** One time that a resource was to be asked for. */
export interface Slot {
  readonly resource: Polled
  /** Counts the slots of a resource from 0. */
  readonly nth: number
  /** When it is asked for, ms since the epoch. */
  readonly at: number
  /** Its answer never came. */
  readonly isLost: boolean
}

/** A few hours are watched closely, a month as closely as its computing allows. */
export function pacesFor(hours: number): Paces {
  const isLong = hours > 24
  return {
    territories: isLong ? 1200 : 300,
    'online-players': isLong ? 90 : 75,
    guilds: isLong ? 600 : 240,
    players: isLong ? 1800 : 300,
    'guild-list': 3600,
    seasons: isLong ? 7200 : 1800,
    items: isLong ? 7200 : 3600,
    recipes: isLong ? 43_200 : 3600,
  }
}

const minute = 60_000

/** Of a month, who is online is looked at closely in the evening only; besides, at every tenth slot. */
function isSkipped({ resource, nth, at }: Omit<Slot, 'isLost'>, isLong: boolean): boolean {
  return isLong && resource === 'online-players' && nth % 10 !== 0 && new Date(at).getUTCHours() < 19
}

/**
 * Every slot of the time from `from` until `until` (ms), in order of time. One answer in twenty is lost, and now and then
 * nothing comes for 14 minutes; of what is asked for once an hour or less, nothing is lost but in such outages.
 */
export function timetable(from: number, until: number, paces: Paces, random: Random = seededRandom(20)): Slot[] {
  const outages = Array.from(
    { length: Math.ceil((until - from) / (8 * 60 * minute)) },
    () => from + 30 * minute + random() * (until - from - 60 * minute),
  )
  const slots = polled.flatMap((resource, place) => {
    const every = paces[resource] * 1000
    // Not on the full minute, where an answer that is a little older than the slot would lie in the hour before.
    const first = from + 20_000 + 3000 * place
    const count = Math.ceil((until - first) / every)
    return Array.from({ length: count }, (_, nth): Slot => {
      const at = first + nth * every
      const isOut = outages.some((begin) => at >= begin && at < begin + 14 * minute)
      const isMissed = every < 60 * minute && random() < 0.05
      const slot = { resource, nth, at }
      return { ...slot, isLost: nth > 0 && (isOut || isMissed || isSkipped(slot, until - from > 24 * 60 * minute)) }
    })
  })
  return slots.sort((one, other) => one.at - other.at)
}
