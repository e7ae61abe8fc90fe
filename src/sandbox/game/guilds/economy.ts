import { resourceTypes, type Territory } from '../state.ts'
import { hour } from '../time.ts'

const treasuryAfter = [hour, 24 * hour, 120 * hour, 288 * hour]

/** Index into `levels`: the treasury grows with the time held (after 1 h, 24 h, 120 h, 288 h). */
export function treasury({ acquired }: Territory, at: number): number {
  if (acquired === null) return 0
  return treasuryAfter.filter((after) => at - acquired >= after).length
}

/** The instant (ms) at which the treasury grows next; Infinity when it does not. */
export function treasuryGrowsAt({ acquired }: Territory, at: number): number {
  if (acquired === null) return Number.POSITIVE_INFINITY
  return acquired + (treasuryAfter.find((after) => at - acquired < after) ?? Number.POSITIVE_INFINITY)
}

/** How a guild runs a territory it holds: storage and production, by how much it invested. */
const investments = [
  { factor: 1, limits: [3000, 300] },
  { factor: 1, limits: [3000, 300] },
  { factor: 1, limits: [3000, 300] },
  { factor: 1.17, limits: [3000, 1200] },
  { factor: 1.6, limits: [3000, 1200] },
  { factor: 1.04, limits: [6000, 600] },
  { factor: 3.2, limits: [12000, 2400] },
] as const
const seatInvestment = { factor: 4.8, limits: [400000, 120000] } as const

/**
 * What a territory produces and stores, computed from its salt, its hold and the number of the resource tick alone, so
 * that asking changes nothing. Little is stored in most places; headquarters fill and empty slowly and now and then
 * hold more than their limit.
 */
export function stores(territory: Territory, tick: number) {
  const { salt, acquired, owner, baseGeneration, produces } = territory
  const isSeat = owner !== null && owner.seat === territory.name
  const run = mix(salt, acquired === null ? 0 : Math.floor(acquired / 1000))
  const investment = isSeat ? seatInvestment : (investments[run % investments.length] ?? investments[0])
  return resourceTypes.map((type, place) => {
    const base = baseGeneration[place] ?? 0
    const limit = investment.limits[place === 0 ? 0 : 1]
    const generation = owner && produces[place] ? Math.round(base * investment.factor) : 0
    return { type, generation, baseGeneration: base, stored: owner ? stored(place) : 0, limit }

    function stored(nth: number): number {
      const drawn = mix(salt + nth, tick)
      if (!isSeat) return drawn % 45
      const fill = 0.45 + 0.4 * Math.sin((tick + (mix(salt, nth) % 300)) / (7 + nth)) + 0.0002 * (drawn % 1000)
      return Math.floor(limit * fill)
    }
  })
}

/** Mixes two numbers into one of 32 bits. */
export function mix(one: number, other: number): number {
  let mixed = Math.imul(one ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(other + 0x7f4a7c15, 0xc2b2ae35)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39)
  return (mixed ^ (mixed >>> 15)) >>> 0
}
