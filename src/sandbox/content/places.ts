import { between, chance, drawsFor, pick } from '../generator/draw.ts'
import { place } from '../generator/places.ts'
import { adjectives, nouns, titled } from '../generator/words.ts'

const services = 'Blacksmith,Potion Merchant,Item Identifier,Trade Market,Bank,Cave,Boss Altar,Dungeon'.split(',')
const resources = ['ALDERIN', 'RUSSET', 'TAMRITE', 'ORRIC', 'SWEETGRASS', 'BLUECORN', 'MINNOW', 'BROOKFIN']
const grounds = ['NODE', 'NODE', 'NODE', 'WALL', 'CORNER'] as const

/** The body of `/map/locations/markers`; coordinates are numbers as text (API reference 3.6). */
export function markersBody(seed: number) {
  const random = drawsFor(seed, 'markers')
  return Array.from({ length: 420 }, () => {
    const name = pick(random, services)
    const icon = `Content_${name.replaceAll(' ', '')}.png`
    const { x, y, z } = place(random)
    return { name, icon, x: String(x), y: String(y), z: String(z) }
  })
}

/** The body of `/map/gathering-nodes`: about as many as the live game has (API reference 11). */
export function gatheringNodesBody(seed: number) {
  const random = drawsFor(seed, 'gathering nodes')
  return Array.from({ length: 16_000 }, () => ({
    ...place(random),
    angle: 45 * between(random, 0, 7),
    type: pick(random, grounds),
    resource: pick(random, resources),
    level: 10 * between(random, 0, 11) || 1,
  }))
}

/** Discoveries as the search shows them: a name and two corners. */
export function discoveries(seed: number) {
  const random = drawsFor(seed, 'discoveries')
  return Array.from({ length: 150 }, () => {
    const { x, z } = place(random)
    const name = `${titled(pick(random, adjectives), pick(random, nouns))}${chance(random, 0.2) ? ' Ruins' : ''}`
    return { name, start: [x, z] as const, end: [x + between(random, 10, 120), z + between(random, 10, 120)] as const }
  })
}
