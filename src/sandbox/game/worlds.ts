import { chance, pick } from '../generator/draw.ts'
import { hop, logIn, logOut, planLogin } from './presence.ts'
import type { Realm, World } from './state.ts'
import { hour, second, waiting } from './time.ts'

const regions = [
  ['EU', 10],
  ['NA', 12],
  ['AS', 4],
] as const

/** The worlds EU1 .. AS4, all up. */
export function createWorlds(): World[] {
  return regions.flatMap(([region, count]) =>
    Array.from({ length: count }, (_, nth) => ({
      name: `${region}${nth + 1}`,
      region,
      up: true,
      players: new Set<never>(),
    })),
  )
}

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

/** A world that is up: mostly one of the region, and rather one where somebody is. */
export function drawWorld(realm: Realm, region: string, except?: string): World {
  const { random } = realm
  const open = realm.worlds.filter((world) => world.up && world.name !== except)
  const near = open.filter((world) => world.region === region)
  const choice = near.length > 0 && chance(random, 0.8) ? near : open
  const [one, other] = [pick(random, choice), pick(random, choice)]
  return one.players.size >= other.players.size ? one : other
}
