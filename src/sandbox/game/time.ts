import type { Random } from '../../base/clock.ts'
import type { EventQueue, Happening } from './queue.ts'
import type { Realm } from './state.ts'

/** Lengths of time, ms. */
export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

const tickLength = 3 * second
const tickOffset = 417

/** The last game tick at or before `at` (ms since the epoch). The map and the guilds change on ticks only. */
export function lastTick(at: number): number {
  return Math.floor((at - tickOffset) / tickLength) * tickLength + tickOffset
}

/** Plans a happening for the first game tick at or after `at`. */
export function planTick(events: EventQueue, at: number, happening: Happening): void {
  events.plan(lastTick(at + tickLength - 1), happening)
}

/** Plans something on game ticks: for the first time at `first` (ms), and then again and again with `mean` ms between. */
export function repeating(realm: Realm, first: number, mean: number, play: Happening): void {
  const again = (at: number) => {
    play(at)
    planTick(realm.events, at + waiting(realm.random, mean), again)
  }
  planTick(realm.events, first, again)
}

/** The same for something rare: first within `first` ms after the start (not in the first hour), so that every few days show it. */
export function recurring(realm: Realm, first: number, mean: number, play: Happening): void {
  repeating(realm, realm.startedAt + hour + first * realm.random(), mean, play)
}

/** A waiting time with the given mean (ms), as between independent happenings. */
export function waiting(random: Random, mean: number): number {
  return -mean * Math.log(1 - random())
}

/** How lively it is at an instant, 0.2 .. 1, liveliest at `peak` o'clock UTC. */
export function liveliness(at: number, peak = 19): number {
  const away = ((at / hour - peak) % 24) * (Math.PI / 12)
  return 0.6 + 0.4 * Math.cos(away)
}

/** `2026-05-01T02:08:47.123000Z`: how the API writes an instant. */
export function stamp(at: number): string {
  return `${new Date(at).toISOString().slice(0, -1)}000Z`
}
