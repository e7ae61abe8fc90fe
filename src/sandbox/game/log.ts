import type { ItemPatch } from '../generator/patch.ts'
import type { Rank } from './guilds/ranks.ts'

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

/** One player's time online; `world` is the first one, hops are the rest. */
export interface Session<T> {
  readonly player: string
  readonly world: string
  readonly login: T
  logout: T | null
  /** When the online status was hidden during the session; empty when never. */
  readonly hidden: { readonly from: T; until: T | null }[]
}

/**
 * The true history, every list in time order; those who joined and what was acquired before the game began included. `T`
 * is an instant: ms since the epoch while it is written, ISO text when it is read. Guilds and players are named by uuid,
 * territories and worlds by name.
 */
export interface HistoryLists<T> {
  /** A territory changed hands, or was taken by its own guild again; `to` is null when it has no owner then. */
  readonly captures: {
    readonly territory: string
    readonly at: T
    readonly from: string | null
    readonly to: string | null
  }[]
  readonly holds: Hold<T>[]
  readonly map: {
    readonly territory: string
    readonly at: T
    readonly event: 'renamed' | 'retired' | 'new'
    readonly formerName?: string
  }[]
  /** A guild moved its headquarters, or lost them. */
  readonly seats: { readonly guild: string; readonly at: T; readonly territory: string | null }[]
  readonly sessions: Session<T>[]
  /** A player changed worlds without logging out. */
  readonly hops: { readonly player: string; readonly at: T; readonly from: string; readonly to: string }[]
  readonly worlds: { readonly world: string; readonly at: T; readonly event: 'up' | 'down' }[]
  /** A player's place in a guild changed. Transferred: left `otherGuild` for `guild` in one instant. */
  readonly memberships: {
    readonly guild: string
    readonly player: string
    readonly at: T
    readonly event: 'joined' | 'left' | 'promoted' | 'demoted' | 'transferred'
    readonly fromRank: Rank | null
    readonly toRank: Rank | null
    readonly otherGuild?: string
  }[]
  /** A guild's life. `name` and `prefix` are those after the event. */
  readonly guilds: {
    readonly guild: string
    readonly at: T
    readonly event: 'founded' | 'renamed' | 'retagged' | 'disbanded' | 'refounded'
    readonly name: string
    readonly prefix: string | null
    /** Name before a rename, prefix before a new tag, uuid before a refounding. */
    readonly former?: string
  }[]
  readonly playerRenames: { readonly player: string; readonly at: T; readonly from: string; readonly to: string }[]
  /** An access rule was turned on or off; those on from the beginning are dated a day before the start. */
  readonly privacy: {
    readonly player: string
    readonly at: T
    readonly rule: 'onlineStatus' | 'mainAccess'
    readonly restricted: boolean
  }[]
  /** A season began or ended, with the final ratings by guild. */
  readonly seasons: {
    readonly season: number
    readonly at: T
    readonly event: 'began' | 'ended'
    readonly ratings?: Readonly<Record<string, { readonly rating: number; readonly finalTerritories: number }>>
  }[]
  /** From `from` to before `until`, a guild's profile shows 0 guild raids for every member. */
  readonly glitches: { readonly guild: string; readonly from: T; readonly until: T }[]
  /** Items were patched; by internal name. */
  readonly itemPatches: ({ readonly at: T } & Pick<ItemPatch, 'changed' | 'added' | 'removed'>)[]
}

/** History as it is written. */
export type GameLog = HistoryLists<number>

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
