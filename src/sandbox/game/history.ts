import type { GameLog, HistoryLists } from './log.ts'

/** The true history between two instants; instants are ISO text with milliseconds. */
export interface GameHistory extends HistoryLists<string> {
  /** Included. */
  readonly from: string
  /** Not included. */
  readonly to: string
}

type Lasting = 'holds' | 'sessions' | 'glitches'
type Events = { readonly [name in Exclude<keyof GameLog, Lasting>]: GameHistory[name] }

/**
 * What happened in [from, to) (ms since the epoch): events in it, and holds, sessions and glitches that overlap it, those
 * whole. An end that is still to come is null.
 */
export function historyBetween(log: GameLog, from: number, to: number): GameHistory {
  const overlaps = (begin: number, end: number | null) => begin < to && (end === null || end > from)
  const { holds, sessions, glitches, ...events } = log
  const happened = Object.entries(events).map(([name, list]: [string, readonly { readonly at: number }[]]) => [
    name,
    list.filter(({ at }) => at >= from && at < to).map((entry) => ({ ...entry, at: iso(entry.at) })),
  ])
  return {
    from: iso(from),
    to: iso(to),
    ...(Object.fromEntries(happened) as Events),
    holds: holds.filter(({ from, until }) => overlaps(from, until)).map((hold) => ({ ...hold, ...span(hold) })),
    sessions: sessions
      .filter(({ login, logout }) => overlaps(login, logout))
      .map((session) => ({
        ...session,
        login: iso(session.login),
        logout: session.logout === null ? null : iso(session.logout),
        hidden: session.hidden.map(span),
      })),
    glitches: glitches
      .filter((glitch) => overlaps(glitch.from, glitch.until))
      .map((glitch) => ({ ...glitch, from: iso(glitch.from), until: iso(glitch.until) })),
  }
}

function span({ from, until }: { readonly from: number; readonly until: number | null }) {
  return { from: iso(from), until: until === null ? null : iso(until) }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
