import type { Random } from '../../app/clock.ts'

/** A whole number between `low` and `high`, both included. */
export function between(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1))
}

/** One of the list, all equally likely. */
export function pick<T>(random: Random, list: readonly T[]): T {
  const one = list[Math.floor(random() * list.length)]
  if (one === undefined) throw new RangeError('cannot pick from an empty list')
  return one
}

/** True with the given probability. */
export function chance(random: Random, probability: number): boolean {
  return random() < probability
}

/** Draws by weight; the function it returns gives one value per call. */
export function weighted<T extends string>(weights: Readonly<Record<T, number>>): (random: Random) => T {
  const names = Object.keys(weights) as T[]
  let sum = 0
  const bounds = names.map((name) => {
    sum += weights[name]
    return sum
  })
  return (random) => {
    const drawn = random() * sum
    let low = 0
    let high = bounds.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (drawn < (bounds[middle] ?? 0)) high = middle
      else low = middle + 1
    }
    return names[low] as T
  }
}

/** A copy in another order (Fisher-Yates). */
export function shuffled<T>(list: readonly T[], random: Random): T[] {
  const copy = [...list]
  for (let last = copy.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const kept = copy[last] as T
    copy[last] = copy[other] as T
    copy[other] = kept
  }
  return copy
}

/** A level of 1 to `highest`, a little more often high than low. */
export function level(random: Random, highest: number): number {
  return Math.max(1, Math.min(highest, Math.round(highest * random() ** 0.75)))
}
