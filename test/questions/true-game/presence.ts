import { expect, test } from 'vitest'
import { secondsPlayed, trueSessions, untrueSessions } from '../../support/true-sessions.ts'
import { hour, type Played } from './played.ts'
import { once } from './rows.ts'
import { holding } from './true-online.ts'

/** Question 12: when somebody was online, and for how long. */
export function questionsOfPresence(of: () => Played): void {
  const told = once(() => {
    const played = of()
    const truth = trueSessions(played.history)
    const accepted = played.accepted['online-players'].map(({ at }) => at)
    // Those whose profiles are asked for, and as many who are only listed.
    const others = [...truth.keys()]
      .filter((player) => !played.players.includes(player))
      .slice(0, played.players.length)
    return { played, db: played.db, truth, accepted, players: [...played.players, ...others] }
  })

  test('12: every session lies within its bounds, and none is made of two', async () => {
    const { db, truth, accepted, players, played } = told()
    const rows = await db.query<Record<string, unknown>>(
      'select * from analytics.player_session where player_uuid = any($1::uuid[])',
      [players],
    )
    expect(untrueSessions(rows, truth, accepted)).toEqual([])
    expect(rows.length).toBeGreaterThan(players.length / 4)
    // Whoever never hid, and was online when an answer came, has a session that holds that instant.
    const hiding = new Set(played.history.privacy.filter(({ restricted }) => restricted).map(({ player }) => player))
    for (const player of players.filter((one) => !hiding.has(one))) {
      const mine = rows.filter((row) => row.player_uuid === player)
      const seen = accepted.filter((at) => truth.get(player)?.some(({ login, logout }) => login <= at && at < logout))
      const missing = seen.filter(
        (at) => !mine.some(({ listed_from: from, listed_until: until }) => Number(from) <= at && at <= Number(until)),
      )
      expect([player, missing]).toEqual([player, []])
    }
  })

  test('12: the time played lies between its bounds on every day, of the time that somebody looked', async () => {
    const { db, truth, accepted, players, played } = told()
    const day = 24 * hour
    const [from = 0, to = 0] = [accepted[0], accepted.at(-1)]
    const known = holding(accepted.map((at) => ({ at })))
    let certain = 0
    for (const player of played.until - played.from > day ? players.slice(0, 20) : players) {
      const rows = await db.query<Record<'seconds_min' | 'seconds_max', number> & { day: string }>(
        'select day::text, seconds_min, seconds_max from analytics.player_playtime($1, $2, $3)',
        [player, new Date(from), new Date(to)],
      )
      expect(rows.length).toBe(Math.floor(to / day) - Math.floor(from / day) + 1)
      for (const { day: date, seconds_min: least, seconds_max: most } of rows) {
        const begin = Math.max(from, Date.parse(`${date}T00:00:00Z`))
        const end = Math.min(to, Date.parse(`${date}T00:00:00Z`) + day)
        const looked = known.map((one) => ({ from: Math.max(one.from, begin), until: Math.min(one.until, end) }))
        const sessions = truth.get(player) ?? []
        // Who came after an answer and went before the next is in none, whoever looked.
        const shown = sessions.filter(({ login, logout }) => accepted.some((at) => login <= at && at < logout))
        const whole = secondsPlayed(sessions, [{ from: begin, until: end }])
        const watched = secondsPlayed(
          shown,
          looked.filter((one) => one.from < one.until),
        )
        expect(least).toBeLessThanOrEqual(whole + 0.001)
        expect([player, date, most]).toEqual([player, date, expect.toSatisfy((one: number) => one >= watched - 0.001)])
        certain += least
      }
    }
    expect(certain).toBeGreaterThan(3600)
  })
}
