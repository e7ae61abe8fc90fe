import { describe, expect, test } from 'vitest'
import { type Random, seededRandom } from '../../src/base/clock.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { compactObservations } from '../../src/sync/retention/compaction.ts'
import { givenGame, hour, start } from '../sandbox/game/given-game.ts'
import { effort } from '../support/effort.ts'
import { syncPlayers } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { ms, secondsPlayed, type TrueSession, trueSessions, untrueSessions } from '../support/true-sessions.ts'
import { headersOf, type World, worldOf } from '../support/world.ts'

/** How badly answers travel: shares of those that are lost, late, or come twice; and times when none comes. */
interface Weather {
  readonly lost: number
  readonly late: number
  readonly twice: number
  readonly outages: number
}

const weathers: Readonly<Record<string, Weather>> = {
  fine: { lost: 0, late: 0, twice: 0, outages: 0 },
  rough: { lost: 0.15, late: 0.15, twice: 0.1, outages: 3 },
}

/** An answer on its way. */
interface Delivery {
  readonly path: string
  readonly body: object
  readonly at: number
  readonly maxAge: number
  readonly due: number
}

/** Every 30 seconds a list, every minute some profiles; each may be lost, late, or come twice. */
function deliveries(game: ReturnType<typeof givenGame>, until: number, weather: Weather, random: Random): Delivery[] {
  const sent: Delivery[] = []
  const outages = Array.from({ length: weather.outages }, () => start + random() * (until - start))
  const send = (path: string, key: string, asked: number, maxAge: number) => {
    // The game serves a copy until it expires: an answer speaks for the instant that it was made.
    const body = game.ask<object>(path, asked)
    const at = game.copy(path, asked).producedAt
    if (random() < weather.lost || outages.some((begin) => at > begin && at < begin + 12 * 60_000)) return
    const due = at + (random() < weather.late ? random() * 5 * 60_000 : 0)
    sent.push({ path: key, body, at, maxAge, due })
    if (random() < weather.twice) sent.push({ path: key, body, at, maxAge, due: due + random() * 90_000 })
  }
  const people = [...game.game.realm.players.keys()]
  for (let at = Math.ceil(start / 1000) * 1000; at < until; at += 30_000) {
    send('/player?identifier=uuid', '/player', at, 30)
    if (at % 60_000 < 30_000) continue
    const { realm } = game.game
    const online = [...realm.online].map(({ uuid }) => uuid)
    const left = game.game.history(at - 300_000, at).sessions.flatMap(({ player, logout }) => (logout ? [player] : []))
    for (const group of [online, left, left, people]) {
      const uuid = group[Math.floor(random() * group.length)]
      if (uuid === undefined) continue
      send(`/player/${uuid}`, `/player/${uuid}`, at + 7000, 120)
    }
  }
  return sent.sort((a, b) => a.due - b.due)
}

async function deliver(world: World, { path, body, at, maxAge, due }: Delivery): Promise<void> {
  if (due > world.clock.now()) await world.clock.advanceTo(due)
  const headers = headersOf(at, maxAge)
  world.sandbox.setAnswer(path, () => ({ headers, body }))
  if (path === '/player') await world.syncNow(onlinePlayers)
  else await syncPlayers(world, { keys: [path.slice('/player/'.length)] })
  world.sandbox.setAnswer(path, null)
}

const hours = effort.gameHours

describe.each(kindsOfLongTests)(`what is made of ${hours} h of the game, on the %s database,`, (kind) => {
  const world = worldOf(kind)

  test.each(Object.keys(weathers))(
    'is true in %s weather',
    async (name) => {
      const random = seededRandom(7)
      const weather = weathers[name] ?? { lost: 0, late: 0, twice: 0, outages: 0 }
      const until = start + hours * hour
      const game = givenGame({ seed: 11, guilds: 60, players: 500 })
      for (const one of deliveries(game, until, weather, random)) await deliver(world, one)
      const truth = trueSessions(game.game.history(0, until))
      const accepted = (
        await world.db.query<{ at: Date }>(
          `select distinct observed_at as at from sync.run where resource = 'online-players' and status in ('ok', 'unchanged')`,
        )
      ).map(({ at }) => at.getTime())
      const last = Math.max(...accepted)

      const sessions = () => world.db.query<Record<string, unknown>>('select * from analytics.player_session')
      const rows = await sessions()
      expect(untrueSessions(rows, truth, accepted)).toEqual([])
      expect(rows.length).toBeGreaterThan(hours * 20)
      // The bounds are worth something: many logouts are known, and many logins exactly.
      const exact = rows.filter((row) => ms(row.login_earliest, 0) === ms(row.login_latest, 1))
      expect(exact.length).toBeGreaterThan(hours * 5)
      const logins = exact.map((row) => `${row.player_uuid} ${ms(row.login_latest, 0)}`)
      expect(logins.filter((one) => !truthLogins(truth).has(one))).toEqual([])
      expect(rows.filter((row) => row.is_open === false).length).toBeGreaterThan(hours * 5)

      const hops = await world.db.query<Record<string, unknown>>('select * from game.player_hop')
      const moves = game.game.history(0, until)
      const untrue = hops.filter((hop) => {
        const inside = (at: string) => Date.parse(at) > ms(hop.earliest, 0) && Date.parse(at) <= ms(hop.latest, 0)
        const moved = moves.hops.some(({ player, at }) => player === hop.player_uuid && inside(at))
        return !moved && !moves.sessions.some(({ player, login }) => player === hop.player_uuid && inside(login))
      })
      expect(untrue).toEqual([])
      expect(hops.length).toBeGreaterThan(0)

      const [from, to] = [new Date(accepted[0] === undefined ? start : Math.min(...accepted)), new Date(last)]
      const checkPlaytime = async () => {
        let sum = 0
        const hiding = new Set(
          (
            await world.db.values(
              `select player_uuid::text from sync.privacy_restriction where field_group = 'onlineStatus'
                union select player_uuid::text from sync.privacy_action where field_group = 'onlineStatus'`,
            )
          ).flat(),
        )
        for (const [player, sessions] of [...truth].slice(0, 60)) {
          const days = await world.db.query<{
            seconds_min: number
            seconds_max: number
            seconds_estimate: number | null
          }>('select * from analytics.player_playtime($1::uuid, $2, $3)', [player, from, to])
          const [least = 0, most = 0] = [
            days.reduce((sum, day) => sum + day.seconds_min, 0),
            days.reduce((sum, day) => sum + day.seconds_max, 0),
          ]
          const played = secondsPlayed(sessions, [{ from: from.getTime(), until: to.getTime() }])
          sum += least
          for (const { seconds_min, seconds_max, seconds_estimate } of days) {
            // There is no likely number of a day of which the player hides a part.
            if (hiding.has(player)) expect(seconds_estimate).toBeNull()
            else expect(seconds_estimate).toBeGreaterThanOrEqual(seconds_min - 0.001)
            expect(seconds_estimate ?? 0).toBeLessThanOrEqual(seconds_max + 0.001)
          }
          expect(least).toBeLessThanOrEqual(played + 0.001)
          if (name === 'fine') expect(most).toBeGreaterThanOrEqual(played - 0.001)
        }
        return sum
      }
      const seconds = await checkPlaytime()

      // Long after, when of the answers only spans are left, the bounds are as true, and little wider.
      const tomorrow = new Date(start + 86_400_000)
      await world.db.query(
        `insert into sync.coverage_reach (resource, counted_until, thinned_until) values ('online-players', $1, $1)`,
        [tomorrow],
      )
      expect(await compactObservations(world.db, onlinePlayers, tomorrow)).toBeGreaterThan(accepted.length / 2)
      const later = await sessions()
      expect(untrueSessions(later, truth, accepted)).toEqual([])
      expect(later.length).toBe(rows.length)
      expect(await checkPlaytime()).toBeGreaterThan(0.97 * seconds)
    },
    Math.max(1, hours) * 300_000,
  )

  test('is true of lists hours apart, which have few players in common', async () => {
    const until = start + 5 * 24 * hour
    const game = givenGame({ seed: 12, guilds: 20, players: 200 })
    const path = '/player?identifier=uuid'
    for (let at = start + hour; at < until; at += 3.25 * hour) {
      const body = game.ask<object>(path, at)
      await deliver(world, { path: '/player', body, at: game.copy(path, at).producedAt, maxAge: 30, due: at })
    }
    const accepted = await world.db.query<{ at: Date }>(
      `select observed_at as at from sync.run where resource = 'online-players' and status in ('ok', 'unchanged')`,
    )
    const rows = await world.db.query<Record<string, unknown>>('select * from analytics.player_session')
    const instants = accepted.map(({ at }) => at.getTime())
    expect(untrueSessions(rows, trueSessions(game.game.history(0, until)), instants)).toEqual([])
    expect(instants.length).toBeGreaterThan(30)
    expect(rows.length).toBeGreaterThan(200)
  })
})

function truthLogins(truth: ReadonlyMap<string, readonly TrueSession[]>): Set<string> {
  return new Set([...truth].flatMap(([player, mine]) => mine.map(({ login }) => `${player} ${login}`)))
}
