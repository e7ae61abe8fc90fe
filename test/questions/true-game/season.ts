import { expect, test } from 'vitest'
import { hour, type Played } from './played.ts'
import { once } from './rows.ts'
import { stretchesSeen, TrueMap } from './true-map.ts'

type Row = Record<'guild_uuid' | 'reason', string | null> &
  Record<'reported_rating' | 'holding_estimate' | 'war_estimate' | 'coverage', number | null> & { as_of: Date | null }

/** Question 5: what explains the rating of a season. */
export function questionsOfSeasons(of: () => Played): void {
  const told = once(() => {
    const played = of()
    const truth = new TrueMap(played)
    const answers = played.accepted.territories.map(({ at }) => at)
    return { played, db: played.db, truth, answers, stretches: stretchesSeen(truth, answers) }
  })
  const ratingsOf = async (season: number) =>
    await told().db.query<Row>(
      `select guild_uuid::text, reported_rating, holding_estimate, war_estimate, as_of, coverage, reason
         from analytics.season_rating($1)`,
      [season],
    )

  test('5: holding and wars as far as answers show them, as of the last answer about the guild', async () => {
    const { played, stretches, answers } = told()
    let checked = 0
    for (const { number, begins, ends, ratingPerHour, ratingPerWar } of seasonsShown(played)) {
      const rows = new Map((await ratingsOf(number)).map((row) => [row.guild_uuid ?? '', row]))
      const holders = stretches.filter(
        ({ guild, from, until }) => guild !== null && from < ends && (until ?? Number.POSITIVE_INFINITY) > begins,
      )
      for (const guild of new Set(holders.map((one) => one.guild ?? ''))) {
        const asked = played.accepted.guilds.filter(({ key }) => key === guild).map(({ at }) => at)
        const asOf = Math.min(asked.at(-1) ?? answers.at(-1) ?? 0, ends)
        const row = rows.get(guild)
        expect([guild, row?.as_of?.getTime()]).toEqual([guild, asOf])
        if (asOf <= begins) continue
        const held = stretches
          .filter((one) => one.guild === guild)
          .map(({ from, until }) => Math.min(until ?? asOf, asOf) - Math.max(from, begins))
          .reduce((sum, time) => sum + Math.max(0, time), 0)
        expect(row?.holding_estimate).toBe(Math.floor((held / hour) * ratingPerHour))
        const before = asked.findLast((at) => at <= begins) ?? asked[0]
        const last = asked.findLast((at) => at <= asOf)
        const [base = null, fought = null] = [before, last].map((at) =>
          at === undefined ? null : warsAt(played, guild, at),
        )
        expect(row?.war_estimate).toBe(base === null || fought === null ? null : (fought - base) * ratingPerWar)
        checked += 1
      }
    }
    expect(checked).toBeGreaterThan(10)
  })

  test('5: the rating is what the game told last; of a season that was watched, holding and wars explain it', async () => {
    const { played, truth } = told()
    for (const { number, begins, ends } of seasonsShown(played)) {
      const rows = await ratingsOf(number)
      const final = played.history.seasons.find(({ season, event }) => season === number && event === 'ended')?.ratings
      let [reported, explained] = [0, 0]
      for (const {
        guild_uuid: guild,
        reported_rating: rating,
        holding_estimate: holding,
        war_estimate: wars,
      } of rows) {
        const asked = played.accepted.guilds.filter(({ key }) => key === guild).map(({ at }) => at)
        const last = asked.at(-1)
        if (guild === null || last === undefined) expect(rating).toBeNull()
        else if (final && last > ends) expect(rating).toBe(final[guild]?.rating ?? null)
        else if (begins > played.from) expect(rating).toBe(ratingAt(truth, played, guild, begins, last) || null)
        if (rating === null || holding === null) continue
        reported += rating
        explained += holding + (wars ?? 0)
      }
      if (begins < played.from || reported < 1000) continue
      expect(explained / reported).toBeGreaterThan(0.9)
      expect(explained / reported).toBeLessThan(1.1)
    }
  })

  test('5: coverage is the share of the season of which answers about the map speak', async () => {
    const { played } = told()
    const every = played.paces.territories * 1000
    for (const { number, begins } of seasonsShown(played)) {
      for (const { as_of: asOf, coverage } of await ratingsOf(number)) {
        const end = asOf?.getTime() ?? 0
        if (end <= begins) continue
        const made = played.accepted.territories.filter(({ at }) => at >= begins - every && at < end).length
        const slack = (2 * every) / (end - begins)
        const share = (made * every) / (end - begins)
        expect(coverage).toBeGreaterThan(share - slack - 0.001)
        expect(coverage).toBeLessThan(share + slack + 0.001)
      }
    }
  })
}

/** The seasons that an answer told of. */
function seasonsShown({ game, accepted }: Played) {
  const last = accepted.seasons.at(-1)?.at ?? 0
  return game.realm.seasons.filter(({ begins, ends }) => begins < last && ends > (accepted.territories[0]?.at ?? 0))
}

/** A guild's wars at an instant (ms): each capture is one; null where they were never counted. */
function warsAt({ first, history }: Played, guild: string, at: number): number | null {
  const won = history.captures.filter((one) => one.to === guild && Date.parse(one.at) <= at).length
  const before = first.wars.get(guild) ?? null
  return before === null && won === 0 ? null : (before ?? 0) + won
}

/** The rating that the game tells at an instant (ms) of a season that history knows from its beginning. */
function ratingAt(truth: TrueMap, { history, game }: Played, guild: string, begins: number, at: number): number {
  const season = game.realm.seasons.find((one) => one.begins === begins)
  const began = history.seasons.find(({ event, season: number }) => event === 'began' && number === season?.number)
  const from = Date.parse(began?.at ?? '')
  let held = 0
  for (const [territory, holds] of truth.holds) {
    const place = truth.places.get(territory)
    for (const hold of holds.filter((one) => one.guild === guild))
      held += Math.max(0, Math.min(hold.until, at) - Math.max(hold.from, place?.from ?? 0, from))
  }
  const wars = history.captures.filter(
    (one) => one.to === guild && Date.parse(one.at) >= from && Date.parse(one.at) <= at,
  )
  return Math.floor((held / hour) * (season?.ratingPerHour ?? 0)) + wars.length * (season?.ratingPerWar ?? 0)
}
