import type { GameLog, HistoryLists } from './log.ts'

/** The true history between two instants; instants are ISO text with milliseconds. */
export interface GameHistory extends HistoryLists<string> {
  /** Included. */
  readonly from: string
  /** Not included. */
  readonly to: string
}

/**
 * Tells what happened in [from, to) (ms since the epoch): events in it, and holds, sessions and glitches that overlap
 * it, those whole. An end that is still to come is null.
 */
export function tellHistory(log: GameLog, from: number, to: number): GameHistory {
  const within = ({ at }: { readonly at: number }) => at >= from && at < to
  const overlaps = (begin: number, end: number | null) => begin < to && (end === null || end > from)
  return {
    from: iso(from),
    to: iso(to),
    captures: log.captures.filter(within).map(dated),
    holds: log.holds
      .filter((hold) => overlaps(hold.from, hold.until))
      .map((hold) => ({ ...hold, from: iso(hold.from), until: isoOrNull(hold.until) })),
    map: log.map.filter(within).map(dated),
    seats: log.seats.filter(within).map(dated),
    sessions: log.sessions
      .filter(({ login, logout }) => overlaps(login, logout))
      .map((session) => ({
        ...session,
        login: iso(session.login),
        logout: isoOrNull(session.logout),
        hidden: session.hidden.map((one) => ({ from: iso(one.from), until: isoOrNull(one.until) })),
      })),
    hops: log.hops.filter(within).map(dated),
    worlds: log.worlds.filter(within).map(dated),
    memberships: log.memberships.filter(within).map(dated),
    guilds: log.guilds.filter(within).map(dated),
    playerRenames: log.playerRenames.filter(within).map(dated),
    privacy: log.privacy.filter(within).map(dated),
    seasons: log.seasons.filter(within).map(dated),
    glitches: log.glitches
      .filter((glitch) => overlaps(glitch.from, glitch.until))
      .map((glitch) => ({ ...glitch, from: iso(glitch.from), until: iso(glitch.until) })),
    itemPatches: log.itemPatches.filter(within).map(dated),
  }
}

function dated<E extends { readonly at: number }>(entry: E): Omit<E, 'at'> & { at: string } {
  return { ...entry, at: iso(entry.at) }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at)
}
