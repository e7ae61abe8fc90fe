import { chance, pick } from '../../generator/draw.ts'
import type { Realm, World } from '../state.ts'

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

/** A world that is up: mostly one of the region, and rather one with players. */
export function drawWorld(realm: Realm, region: string, except?: string): World {
  const { random } = realm
  const open = realm.worlds.filter((world) => world.up && world.name !== except)
  const near = open.filter((world) => world.region === region)
  const choice = near.length > 0 && chance(random, 0.8) ? near : open
  const one = pick(random, choice)
  const other = pick(random, choice)
  return one.players.size >= other.players.size ? one : other
}
