import type { Database } from '../../../src/db/database.ts'
import type { Game } from '../../../src/sandbox/game/game.ts'
import type { GameHistory, ItemWorld } from '../../../src/sandbox/index.ts'
import type { Paces, Polled, Slot } from './timetable.ts'

export const hour = 3_600_000

/** One answer that was taken in. */
export interface Accepted {
  /** The instant it speaks for, ms. */
  readonly at: number
  /** When it was asked for, ms. */
  readonly askedAt: number
  /** Of a guild or player. */
  readonly key?: string
}

/** A game that was played and watched, and everything that is true of it. */
export interface Played {
  readonly db: Database
  readonly game: Game
  /** Everything that happened, from before anybody watched. */
  readonly history: GameHistory
  /** When watching began and ended, ms. */
  readonly from: number
  readonly until: number
  readonly paces: Paces
  readonly slots: readonly Slot[]
  readonly accepted: Readonly<Record<Polled, readonly Accepted[]>>
  /** When a guild was asked for that is no more, or not yet. */
  readonly gone: readonly Required<Accepted>[]
  /** How things were when the game began, before any history. */
  readonly first: {
    readonly territories: readonly string[]
    readonly guilds: ReadonlyMap<string, { readonly name: string; readonly prefix: string | null }>
    readonly usernames: ReadonlyMap<string, string>
    readonly wars: ReadonlyMap<string, number | null>
    readonly lastJoin: ReadonlyMap<string, number | null>
  }
  /** Guilds and players that are asked for in turn. */
  readonly guilds: readonly string[]
  readonly players: readonly string[]
  /** The items from each instant (ms) on. */
  readonly itemWorlds: readonly { readonly at: number; readonly world: ItemWorld }[]
  /** What answers about the map said of a few territories. */
  readonly places: readonly PlaceAnswer[]
}

/** What one answer said of one territory that no history tells. */
export interface PlaceAnswer {
  readonly at: number
  readonly territory: string
  readonly hq?: boolean
  readonly treasury: string
  readonly defences: string
  readonly resources: readonly {
    readonly type: string
    readonly generation: number
    readonly stored: number
    readonly limit: number
  }[]
}
