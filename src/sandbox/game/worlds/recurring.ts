import type { Realm } from '../state.ts'
import { hour, planTick, waiting } from '../time.ts'

/**
 * Plans something rare, on game ticks: for the first time within `first` ms after the start (not in the first hour), so
 * that every few days show it, and then again and again with `mean` ms between.
 */
export function recurring(realm: Realm, first: number, mean: number, play: (at: number) => void): void {
  const again = (at: number) => {
    play(at)
    planTick(realm.events, at + waiting(realm.random, mean), again)
  }
  planTick(realm.events, realm.startedAt + hour + first * realm.random(), again)
}
