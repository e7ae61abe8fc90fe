import type { GameHistory } from '../../src/sandbox/index.ts'

/** When a player really was online, in ms; the logout is infinity when it is still to come. */
export interface TrueSession {
  readonly login: number
  readonly logout: number
}

/** Everybody's sessions by player, in order of time. */
export function trueSessions({ sessions }: Pick<GameHistory, 'sessions'>): Map<string, TrueSession[]> {
  const truth = new Map<string, TrueSession[]>()
  for (const { player, login, logout } of sessions) {
    const one = { login: Date.parse(login), logout: logout === null ? Number.POSITIVE_INFINITY : Date.parse(logout) }
    truth.set(player, [...(truth.get(player) ?? []), one])
  }
  return truth
}

/** An instant of a row in ms; `otherwise` where it has none. */
export const ms = (value: unknown, otherwise: number) => (value instanceof Date ? value.getTime() : otherwise)

/**
 * The rows of `analytics.player_session` that cannot be true: those whose bounds no login or logout fits, or that take
 * several sessions for one although an answer between them could tell.
 * @param accepted instants of the accepted lists, ms
 */
export function untrueSessions(
  rows: readonly Record<string, unknown>[],
  truth: ReadonlyMap<string, readonly TrueSession[]>,
  accepted: readonly number[],
): Record<string, unknown>[] {
  const last = accepted.reduce((latest, at) => Math.max(latest, at), 0)
  return rows.filter((row) => {
    const mine = truth.get(String(row.player_uuid)) ?? []
    const first = mine.findLast(
      ({ login }) => login >= ms(row.login_earliest, Number.NEGATIVE_INFINITY) && login <= ms(row.login_latest, 0),
    )
    const ends = mine.filter(
      ({ logout }) =>
        logout >= ms(row.logout_earliest, Number.NEGATIVE_INFINITY) &&
        logout <= ms(row.logout_latest, Number.POSITIVE_INFINITY),
    )
    if (row.is_open === true && !mine.some(({ login, logout }) => login <= last && logout > last)) return true
    // A session is one unless the player came back between two responses.
    return !ends.some((end) => {
      const between = mine.filter(({ login }) => first && login > first.login && login <= end.login)
      return (
        first &&
        between.every(({ login }) => {
          const before = Math.max(...mine.filter((one) => one.login < login).map(({ logout }) => logout))
          return !accepted.some((at) => at >= before && at < login)
        })
      )
    })
  })
}

/** How long a player was really online in some stretches [from, to) of time, in seconds. */
export function secondsPlayed(
  sessions: readonly TrueSession[],
  stretches: readonly { readonly from: number; readonly until: number }[],
): number {
  let sum = 0
  for (const { from, until } of stretches)
    for (const { login, logout } of sessions) sum += Math.max(0, Math.min(logout, until) - Math.max(login, from)) / 1000
  return sum
}
