import type { Random } from '../../../base/clock.ts'
import { between } from '../../generator/draw.ts'
import type { Player } from '../state.ts'

/** What is counted per player. `contributed` and `currentGuildRaids` count one membership; `playtime` is hours. */
export const counterNames = [
  'contributed',
  'wars',
  'raids',
  'guildRaids',
  'currentGuildRaids',
  'dungeons',
  'mobsKilled',
  'chestsFound',
  'worldEvents',
  'lootruns',
  'caves',
  'completedQuests',
  'contentCompletion',
  'totalLevel',
  'playtime',
  'pvpKills',
  'pvpDeaths',
] as const
export type CounterName = (typeof counterNames)[number]

const places = new Map<string, number>(counterNames.map((name, place) => [name, place]))

/** Reads one counter as last flushed. */
export function counter(player: Player, name: CounterName): number {
  return player.counters[places.get(name) ?? -1] ?? 0
}

/** Raises a counter (lowers it when `by` is negative, never below 0), to hundredths, without an entry in the history; `keepRise` writes one. */
export function raise(player: Player, name: CounterName, by: number): void {
  player.counters[places.get(name) ?? -1] = Math.max(0, Math.round((counter(player, name) + by) * 100) / 100)
}

/** Sets a counter to 0 without an entry in the history. */
export function clear(player: Player, name: CounterName): void {
  player.counters[places.get(name) ?? -1] = 0
}

/** Remembers that the counters have these values from `at` (ms) on. */
export function keepRise(player: Player, at: number): void {
  player.rises.push({ at, counters: player.counters.slice() })
}

/** A counter's value at an instant (ms); undefined before the first and for unknown names. */
export function counterAt(player: Player, name: string, at: number): number | undefined {
  const place = places.get(name)
  return place === undefined ? undefined : player.rises.findLast((rise) => rise.at <= at)?.counters[place]
}

/** Counters of a player with `hours` of playing behind them. */
export function firstCounters(random: Random, hours: number, member: boolean): Float64Array {
  const per = (hourly: number) => Math.floor(hours * hourly * (0.3 + 1.4 * random()))
  const guildRaids = per(0.25)
  const values: Record<CounterName, number> = {
    // From a few thousand to 3 * 10^13, beyond 32 bits for most (API reference 6.2).
    contributed: member ? Math.floor(10 ** (3 + 10.5 * random() ** 0.7)) : 0,
    wars: random() < 0.4 ? per(2) : 0,
    raids: guildRaids + per(0.2),
    guildRaids,
    currentGuildRaids: member ? Math.floor(guildRaids * random()) : 0,
    dungeons: per(0.15),
    mobsKilled: per(190),
    chestsFound: per(1.2),
    worldEvents: per(0.1),
    lootruns: per(0.2),
    caves: per(0.02),
    completedQuests: Math.min(320, per(0.12)),
    contentCompletion: Math.min(1900, per(0.8)),
    totalLevel: between(random, 1, 400) + Math.min(4000, per(1.3)),
    playtime: Math.round(hours * 100) / 100,
    pvpKills: random() < 0.2 ? per(0.05) : 0,
    pvpDeaths: random() < 0.2 ? per(0.08) : 0,
  }
  return Float64Array.from(counterNames, (name) => values[name])
}
