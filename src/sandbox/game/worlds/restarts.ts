import { chance } from '../../generator/draw.ts'
import { hop, logIn, logOut, planLogin } from '../people/presence.ts'
import type { Realm, World } from '../state.ts'
import { hour, second, waiting } from '../time.ts'

/** Every world restarts about once a day. */
export function planRestarts(realm: Realm, from: number): void {
  for (const world of realm.worlds) {
    const restart = (at: number) => {
      takeDown(realm, world, at)
      realm.events.plan(at + (14 + 16 * realm.random()) * hour, restart)
    }
    realm.events.plan(from + 24 * realm.random() * hour, restart)
  }
}

function takeDown(realm: Realm, world: World, at: number): void {
  const { random, log } = realm
  world.up = false
  log.worlds.push({ world: world.name, at, event: 'down' })
  for (const player of [...world.players]) {
    if (chance(random, 0.6)) {
      hop(realm, player, at)
      continue
    }
    const back = chance(random, 0.6)
    logOut(realm, player, at)
    // Who was dropped often comes straight back, as a session of its own.
    if (back) realm.events.plan(at + (15 + 200 * random()) * second, (later) => logIn(realm, player, later))
    else planLogin(realm, player, at)
  }
  realm.events.plan(at + 60 * second + waiting(random, 90 * second), (later) => {
    world.up = true
    log.worlds.push({ world: world.name, at: later, event: 'up' })
  })
}
