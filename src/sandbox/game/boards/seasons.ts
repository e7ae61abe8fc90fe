import type { Guild, Realm, Season } from '../state.ts'
import { day, hour, lastTick, minute, planTick } from '../time.ts'

const firstNumber = 28
const length = 63 * day
const pause = 9 * hour

/** Writes down the seasons up to the running one, which ends between one and two days after the start. */
export function createSeasons(realm: Realm): void {
  const ends = onTheMinute(realm.startedAt + (26 + 14 * realm.random()) * hour)
  for (let back = 3; back >= 0; back--) {
    const end = ends - back * (length + 14 * day)
    realm.seasons.push(season(firstNumber + 3 - back, end - length, end))
  }
  realm.runningSeason = realm.seasons.at(-1) ?? null
  for (const guild of realm.guilds.values()) {
    if (!guild.fights) continue
    guild.held = guild.holdings.size * 30 * day
    guild.seasonWars = guild.holdings.size * 40
    for (const { number } of realm.seasons.slice(0, -1))
      guild.pastSeasons.set(number, { rating: Math.floor(realm.random() * 9e6), finalTerritories: number % 40 })
  }
  planEnd(realm)
}

/** Brings a guild's territory time up to `at`; to be called before its holdings change. */
export function accrue(guild: Guild, at: number): void {
  guild.held += guild.holdings.size * (at - guild.heldUntil)
  guild.heldUntil = at
}

/** A guild's rating in the running season at an instant (ms), from territory time and wars. */
export function ratingAt(guild: Guild, season: Season, at: number): number {
  const until = Math.min(at, season.ends)
  const held = guild.held + guild.holdings.size * Math.max(0, until - guild.heldUntil)
  return Math.floor((held / hour) * season.ratingPerHour) + guild.seasonWars * season.ratingPerWar
}

function planEnd(realm: Realm): void {
  const running = realm.runningSeason
  if (!running) return
  planTick(realm.events, running.ends, (at) => {
    const ratings: Record<string, { rating: number; finalTerritories: number }> = {}
    for (const guild of realm.guilds.values()) {
      const result = { rating: ratingAt(guild, running, at), finalTerritories: guild.holdings.size }
      if (result.rating === 0 && result.finalTerritories === 0) continue
      guild.pastSeasons.set(running.number, result)
      ratings[guild.uuid] = result
    }
    realm.runningSeason = null
    realm.log.seasons.push({ season: running.number, at, event: 'ended', ratings })
    planTick(realm.events, running.ends + pause, (then) => begin(realm, running, then))
  })
}

function begin(realm: Realm, last: Season, at: number): void {
  const begins = last.ends + pause
  const next = season(last.number + 1, begins, begins + length)
  realm.seasons.push(next)
  realm.runningSeason = next
  for (const guild of realm.guilds.values()) {
    guild.held = 0
    guild.heldUntil = at
    guild.seasonWars = 0
  }
  realm.log.seasons.push({ season: next.number, at, event: 'began' })
  planEnd(realm)
}

function season(number: number, begins: number, ends: number): Season {
  return { number, begins, ends, ratingPerHour: 120, ratingPerWar: 40 }
}

/** A full minute whose tick lies in it. */
function onTheMinute(at: number): number {
  return Math.floor(lastTick(at) / minute) * minute
}
