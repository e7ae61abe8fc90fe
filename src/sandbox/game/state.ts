import type { Random } from '../../base/clock.ts'
import type { Rank } from './guilds/ranks.ts'
import type { GameLog, Hold, Session } from './log.ts'
import type { GameNames } from './people/name-changes.ts'
import type { EventQueue } from './queue.ts'

/** When and how a player plays. */
export interface Habit {
  readonly sessionsPerDay: number
  readonly meanLength: number
  /** The hour of the day (UTC) at which this player most likely plays. */
  readonly peak: number
  readonly region: string
  /** How much of everything is reached per hour, about 1. */
  readonly drive: number
}

export interface Player {
  readonly uuid: string
  username: string
  /** Null for those who never play. */
  readonly habit: Habit | null
  readonly firstJoin: number
  lastJoin: number | null
  /** What a response shows as last login while the online status is hidden. */
  shownLastJoin: number | null
  membership: Membership | null
  session: Session<number> | null
  hidesOnline: boolean
  hidesMain: boolean
  readonly hidesCharacterList: boolean
  readonly hidesCharacterNumbers: boolean
  readonly hidesBuild: boolean
  /** By the order of `counterNames`, as last flushed. */
  readonly counters: Float64Array
  /** The counters from `at` (ms) on. */
  readonly rises: { readonly at: number; readonly counters: Float64Array }[]
  /** Until when playing is in the counters, ms. */
  flushedAt: number
  /** Wars fought since the last flush. */
  warsPending: number
  /** Decides everything that is only shown. */
  readonly salt: number
}

export interface Membership {
  readonly guild: Guild
  readonly player: Player
  rank: Rank
  readonly joined: number
}

/** One guild, alive while the realm lists it. */
export interface Guild {
  readonly uuid: string
  name: string
  /** Null in one old record (API reference 10). */
  prefix: string | null
  readonly created: number
  readonly members: Map<Player, Membership>
  level: number
  xpPercent: number
  /** Null where the API never counted (API reference 6.1). */
  wars: number | null
  raids: number
  readonly fights: boolean
  /** Name of the headquarters' territory; for a moment it may name one that was just lost. */
  seat: string | null
  readonly holdings: Set<Territory>
  /** Territory time of the running season, ms times territories, up to `heldUntil`. */
  held: number
  heldUntil: number
  seasonWars: number
  readonly pastSeasons: Map<number, { readonly rating: number; readonly finalTerritories: number }>
  /** Until when members' guild raids are shown as 0, ms. */
  glitchUntil: number
  readonly salt: number
}

/** In the order in which the API lists them. */
export const resourceTypes = ['EMERALD', 'ORE', 'WOOD', 'FISH', 'CROP'] as const
/** Treasury and defences, from low to high. */
export const levels = ['VERY_LOW', 'LOW', 'MEDIUM', 'HIGH', 'VERY_HIGH'] as const

export interface Territory {
  name: string
  readonly start: readonly [number, number]
  readonly end: readonly [number, number]
  /** Names, of which some may no longer exist. */
  links: string[]
  /** By the order of `resourceTypes`. */
  readonly baseGeneration: readonly number[]
  readonly produces: readonly boolean[]
  owner: Guild | null
  acquired: number | null
  /** When it last changed hands, ms. */
  changedAt: number
  /** Index into `levels`. */
  defences: number
  hold: Hold<number> | null
  readonly sheet: Sheet
  readonly salt: number
}

/** Some territories that are written together; `edition` rises when one of them changes. */
export interface Sheet {
  readonly territories: Territory[]
  edition: number
  readonly nth: number
}

/** One game server that players join. */
export interface World {
  readonly name: string
  readonly region: string
  up: boolean
  readonly players: Set<Player>
}

export interface Season {
  readonly number: number
  readonly begins: number
  readonly ends: number
  readonly ratingPerHour: number
  readonly ratingPerWar: number
}

/** Everything there is, and everything that will happen. Changed by happenings only, never by answers. */
export interface Realm {
  readonly startedAt: number
  readonly random: Random
  readonly names: GameNames
  readonly events: EventQueue
  readonly log: GameLog
  readonly players: Map<string, Player>
  /** The same players, in a list to draw from. */
  readonly people: Player[]
  readonly online: Set<Player>
  readonly worlds: readonly World[]
  readonly guilds: Map<string, Guild>
  readonly sheets: readonly Sheet[]
  readonly territories: Set<Territory>
  /** Those begun, oldest first; the newest may be over. */
  readonly seasons: Season[]
  runningSeason: Season | null
}
