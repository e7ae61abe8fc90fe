import type { Rank } from './guilds/ranks.ts'

/*
 * The true history. `T` is an instant: ms since the epoch while it is written, ISO text when it is read.
 * Guilds and players are named by uuid, territories and worlds by name.
 */

/** A territory changed hands, or was taken by its own guild again; `to` is null when it has no owner then. */
export interface Capture<T> {
  readonly territory: string
  readonly at: T
  readonly from: string | null
  readonly to: string | null
}

/**
 * One guild's time at one territory between two captures. A renamed territory begins a new hold with the same `from`;
 * holds are in the order in which they began to show.
 */
export interface Hold<T> {
  readonly territory: string
  readonly guild: string
  /** What the API calls `acquired`. */
  readonly from: T
  until: T | null
}

/** The map changed. */
export interface MapChange<T> {
  readonly territory: string
  readonly at: T
  readonly event: 'renamed' | 'retired' | 'new'
  readonly formerName?: string
}

/** A guild moved its headquarters, or lost them. */
export interface SeatMove<T> {
  readonly guild: string
  readonly at: T
  readonly territory: string | null
}

/** One player's time online; `world` is the first one, hops are the rest. */
export interface Session<T> {
  readonly player: string
  readonly world: string
  readonly login: T
  logout: T | null
  /** When the online status was hidden during the session; empty when never. */
  readonly hidden: { readonly from: T; until: T | null }[]
}

/** A player changed worlds without logging out. */
export interface Hop<T> {
  readonly player: string
  readonly at: T
  readonly from: string
  readonly to: string
}

/** A world went up or down. */
export interface WorldChange<T> {
  readonly world: string
  readonly at: T
  readonly event: 'up' | 'down'
}

/** A player's place in a guild changed. Transferred: left `otherGuild` for `guild` in one instant. */
export interface MembershipChange<T> {
  readonly guild: string
  readonly player: string
  readonly at: T
  readonly event: 'joined' | 'left' | 'promoted' | 'demoted' | 'transferred'
  readonly fromRank: Rank | null
  readonly toRank: Rank | null
  readonly otherGuild?: string
}

/** A guild's life. `name` and `prefix` are those after the event. */
export interface GuildChange<T> {
  readonly guild: string
  readonly at: T
  readonly event: 'founded' | 'renamed' | 'retagged' | 'disbanded' | 'refounded'
  readonly name: string
  readonly prefix: string | null
  /** Name before a rename, prefix before a new tag, uuid before a refounding. */
  readonly former?: string
}

/** A player took another name. */
export interface PlayerRename<T> {
  readonly player: string
  readonly at: T
  readonly from: string
  readonly to: string
}

/** An access rule was turned on or off; those on from the beginning are dated a day before the start. */
export interface PrivacyChange<T> {
  readonly player: string
  readonly at: T
  readonly rule: 'onlineStatus' | 'mainAccess'
  readonly restricted: boolean
}

/** A season began or ended, with the final ratings by guild. */
export interface SeasonChange<T> {
  readonly season: number
  readonly at: T
  readonly event: 'began' | 'ended'
  readonly ratings?: Readonly<Record<string, { readonly rating: number; readonly finalTerritories: number }>>
}

/** From `from` to before `until`, a guild's profile shows 0 guild raids for every member. */
export interface Glitch<T> {
  readonly guild: string
  readonly from: T
  readonly until: T
}

/** Items were patched; by internal name. */
export interface ItemPatched<T> {
  readonly at: T
  readonly changed: readonly string[]
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** Every list in time order; those who joined and what was acquired before the game began included. */
export interface HistoryLists<T> {
  readonly captures: Capture<T>[]
  readonly holds: Hold<T>[]
  readonly map: MapChange<T>[]
  readonly seats: SeatMove<T>[]
  readonly sessions: Session<T>[]
  readonly hops: Hop<T>[]
  readonly worlds: WorldChange<T>[]
  readonly memberships: MembershipChange<T>[]
  readonly guilds: GuildChange<T>[]
  readonly playerRenames: PlayerRename<T>[]
  readonly privacy: PrivacyChange<T>[]
  readonly seasons: SeasonChange<T>[]
  readonly glitches: Glitch<T>[]
  readonly itemPatches: ItemPatched<T>[]
}

/** History as it is written. */
export type GameLog = HistoryLists<number>

/** The counters of one player from `at` (ms) on. */
export interface Rise {
  readonly at: number
  readonly counters: Float64Array
}

/** A log in which nothing has happened. */
export function emptyLog(): GameLog {
  return {
    captures: [],
    holds: [],
    map: [],
    seats: [],
    sessions: [],
    hops: [],
    worlds: [],
    memberships: [],
    guilds: [],
    playerRenames: [],
    privacy: [],
    seasons: [],
    glitches: [],
    itemPatches: [],
  }
}
