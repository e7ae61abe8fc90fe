import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/base/clock.ts'
import type { GameHistory } from '../../../src/sandbox/index.ts'
import { type GuildBody, type MapBody, membersOf, type OnlineBody } from './bodies.ts'
import { givenGame, hour, start } from './given-game.ts'

const ms = (text: string) => Date.parse(text)

/** Random instants of three days, rising. */
function instants(seed: number, count: number): number[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, () => Math.floor(start + random() * 72 * hour)).sort((a, b) => a - b)
}

function byTerritoryName<T extends { readonly territory: string }>(entries: readonly T[]): T[][] {
  const series = new Map<string, T[]>()
  for (const entry of entries) series.set(entry.territory, [...(series.get(entry.territory) ?? []), entry])
  return [...series.values()]
}

/** Who is in which guild with which rank at an instant, by following the history from its beginning. */
function membersAt({ memberships }: GameHistory, at: number): Map<string, { guild: string; rank: string }> {
  const members = new Map<string, { guild: string; rank: string }>()
  for (const change of memberships) {
    if (ms(change.at) > at) break
    const { player, guild, event, toRank, otherGuild } = change
    const before = members.get(player)
    if (event === 'joined') expect(before).toBeUndefined()
    else expect(before).toEqual({ guild: otherGuild ?? guild, rank: change.fromRank })
    if (toRank === null) members.delete(player)
    else members.set(player, { guild, rank: toRank })
  }
  return members
}

describe('every answer agrees with the true history', () => {
  const { game, ask, copy } = givenGame()
  // One after the other: a game is never asked about its past.
  const seen = instants(3, 60).map((at) => {
    const map = ask<MapBody>('/guild/list/territory', at)
    const online = ask<OnlineBody>('/player?identifier=uuid', at)
    const guilds = [...game.realm.guilds.values()]
      .slice(0, 4)
      .map(({ uuid }) => ask<GuildBody>(`/guild/uuid/${uuid}?identifier=uuid`, at))
    const list = ask<Record<string, unknown>>('/guild/list/guild?identifier=uuid', at)
    // The list lives for an hour, so it may be older than the others.
    const listed = copy('/guild/list/guild?identifier=uuid', at).producedAt
    return { at: Math.floor(at / 1000) * 1000, map, online, guilds, list, listed }
  })
  const history = game.history(0, start + 73 * hour)

  it('about who holds what since when', () => {
    for (const { at, map } of seen) {
      const running = history.holds.filter(({ from, until }) => ms(from) <= at && (until === null || ms(until) > at))
      const shown = Object.entries(map).flatMap(([territory, { guild, acquired }]) =>
        guild.uuid === null || acquired === null
          ? []
          : [`${territory} ${guild.uuid} ${new Date(acquired).toISOString()}`],
      )
      // A place that was renamed has two holds of one beginning: the one of the name it then had shows.
      const expected = running
        .filter(({ territory }) => territory in map)
        .map((hold) => `${hold.territory} ${hold.guild} ${hold.from}`)
      expect(shown.sort()).toEqual(expected.sort())
    }
  })

  it('about one owner at a time per territory, without gaps but for losses', () => {
    for (const holds of byTerritoryName(history.holds))
      holds.forEach((hold, nth) => {
        const next = holds[nth + 1]
        if (next) expect(hold.until !== null && ms(hold.until) <= ms(next.from)).toBe(true)
      })
    for (const series of byTerritoryName(history.captures))
      series.forEach((capture, nth) => {
        const next = series[nth + 1]
        if (next) expect([next.from, ms(next.at) > ms(capture.at)]).toEqual([capture.to, true])
      })
  })

  it('about who is online where, with the hidden ones in the total only', () => {
    for (const { at, online } of seen) {
      const open = history.sessions.filter(
        ({ login, logout }) => ms(login) <= at && (logout === null || ms(logout) > at),
      )
      expect(online.total).toBe(open.length)
      const visible = open.filter(
        ({ hidden }) => !hidden.some(({ from, until }) => ms(from) <= at && (until === null || ms(until) > at)),
      )
      const expected = visible.map(({ player, login, world }) => {
        const last = history.hops.findLast(
          (hop) => hop.player === player && ms(hop.at) >= ms(login) && ms(hop.at) <= at,
        )
        // The list does not say yet where somebody is who has just logged in.
        return [player, at - ms(login) < 5000 ? null : (last?.to ?? world)]
      })
      expect(Object.entries(online.players).sort()).toEqual(expected.sort())
      expect(Object.keys(online.players).length).toBeLessThanOrEqual(online.total)
    }
  })

  it('about one session at a time per player, with the hidden spells inside', () => {
    const ends = new Map<string, string | null>()
    for (const { player, login, logout, hidden } of history.sessions) {
      const last = ends.get(player)
      if (last !== undefined) expect(last !== null && last <= login).toBe(true)
      ends.set(player, logout)
      for (const { from, until } of hidden) {
        expect(from >= login).toBe(true)
        if (logout !== null) expect(until !== null && until <= logout).toBe(true)
      }
    }
  })

  it('about members, ranks and the time they joined', () => {
    for (const { at, guilds } of seen) {
      const members = membersAt(history, at)
      for (const guild of guilds) {
        const expected = [...members].filter(([, one]) => one.guild === guild.uuid)
        expect(
          membersOf(guild)
            .map(({ key, rank }) => `${key} ${rank}`)
            .sort(),
        ).toEqual(expected.map(([player, { rank }]) => `${player} ${rank}`).sort())
        expect(guild.members.total).toBe(expected.length)
      }
    }
  })

  it('about the guilds that exist', () => {
    let checked = 0
    for (const { list, listed } of seen) {
      const since = history.guilds.filter(({ at }) => ms(at) > (seen[0]?.listed ?? 0) && ms(at) <= listed)
      const expected = new Map(Object.entries(seen[0]?.list ?? {}))
      for (const { guild, event, name, prefix } of since)
        if (event === 'disbanded') expected.delete(guild)
        else expected.set(guild, { name, prefix })
      expect(list).toEqual(Object.fromEntries(expected))
      checked += since.length
    }
    expect(checked).toBeGreaterThan(0)
  })

  it('about counters: what a profile shows is what was flushed', () => {
    const last = seen.at(-1)
    const guild = last?.guilds[0]
    if (!last || !guild) throw new Error('nothing was asked')
    const spoken = game.realm.guilds.get(guild.uuid)
    for (const { key, member } of membersOf(guild)) {
      expect(member.contributed).toBe(game.counterAt(key, 'contributed', last.at))
      if (member.globalData && (spoken?.glitchUntil ?? 0) <= last.at)
        expect(member.globalData.guildRaids.total).toBe(game.counterAt(key, 'guildRaids', last.at))
    }
  })

  it('counts a member who hides as online in the guild, but says offline in the record', () => {
    let hiding = 0
    for (const { guilds, at } of seen)
      for (const guild of guilds) {
        const shown = membersOf(guild).filter(({ member }) => member.online).length
        const hidden = membersOf(guild).filter(({ key, member }) => {
          const session = history.sessions.find(
            ({ player, login, logout }) => player === key && ms(login) <= at && (logout === null || ms(logout) > at),
          )
          if (!session || !member.restrictions.online_status) return false
          expect([member.online, member.server]).toEqual([false, null])
          return true
        }).length
        expect(guild.online).toBe(shown + hidden)
        hiding += hidden
      }
    expect(hiding).toBeGreaterThan(0)
  })

  it('about the seat: it is a place on the map, or one just lost', () => {
    for (const { map } of seen) {
      const seats = Object.entries(map).filter(([, { hq }]) => hq)
      for (const [name, { guild }] of seats) expect(guild.hq).toBe(name)
      expect(seats.length).toBeGreaterThan(5)
    }
  })
})

describe('counters', () => {
  it('begin again at 0 when somebody joins a guild', () => {
    const { game } = givenGame()
    game.advanceTo(start + 24 * hour)
    const { memberships } = game.history(start, start + 24 * hour)
    const joined = memberships.filter(({ event }) => event === 'joined' || event === 'transferred')
    expect(joined.length).toBeGreaterThan(10)
    for (const { player, at } of joined) expect(game.counterAt(player, 'contributed', ms(at))).toBe(0)
  })

  it('rise only now and then while somebody plays, far beyond 32 bits', () => {
    const { game } = givenGame()
    game.advanceTo(start + 24 * hour)
    const people = [...game.realm.players.values()]
    expect(people.filter(({ rises }) => rises.length > 5).length).toBeGreaterThan(300)
    expect(people.some(({ uuid }) => (game.counterAt(uuid, 'contributed', start) ?? 0) > 2 ** 32)).toBe(true)
    expect(game.counterAt('nobody', 'wars', start)).toBeUndefined()
    expect(game.counterAt(people[0]?.uuid ?? '', 'nothing', start)).toBeUndefined()
  })
})
