import { type Random, seededRandom } from '../../base/clock.ts'

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

export function chance(random: Random, probability: number): boolean {
  return random() < probability
}

/** Weights by name, from a text such as `bow:3 wand:1`. */
export function weights(text: string): Readonly<Record<string, number>> {
  return Object.fromEntries(
    text
      .split(' ')
      .map((pair) => pair.split(':'))
      .map(([name, weight]) => [name, Number(weight)]),
  )
}

/** Draws by weight; the function it returns gives one value per call. */
export function weighted<T extends string>(weightOf: Readonly<Record<T, number>>): (random: Random) => T {
  const names = Object.keys(weightOf) as T[]
  let sum = 0
  const bounds = names.map((name) => {
    sum += weightOf[name]
    return sum
  })
  return (random) => {
    const drawn = random() * sum
    return names[bounds.findIndex((bound) => drawn < bound)] as T
  }
}

/**
 * The first text that `make` gives, of three letters at least, that is not among those `given`; adds it to them.
 * @param keyOf what two texts may not have in common (default: all of it)
 */
export function unused(
  given: Set<string>,
  make: (attempt: number) => string,
  keyOf = (text: string): string => text,
): string {
  for (let attempt = 0; ; attempt++) {
    const text = make(attempt)
    const key = keyOf(text)
    if (text.length < 3 || given.has(key)) continue
    given.add(key)
    return text
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

/** Mixes a name into a number of 32 bits (FNV-1a); `start` tells one series of names from another. */
export function hashOf(name: string, start = 0x811c9dc5): number {
  let mixed = start
  for (const letter of name) mixed = Math.imul(mixed ^ (letter.codePointAt(0) ?? 0), 0x01000193)
  return mixed
}

/** A random source for one thing by name: the same for the same seed and name, whatever else was drawn before. */
export function drawsFor(seed: number, name: string): Random {
  return seededRandom(hashOf(name, seed))
}

export function hex(random: Random, digits: number): string {
  return Math.floor(random() * 16 ** digits)
    .toString(16)
    .padStart(digits, '0')
}

/** A uuid of version 4; `variant` is 8, 9, a or b. */
export function drawUuid(random: Random, variant: string): string {
  const digits = (count: number) => hex(random, count)
  return `${digits(8)}-${digits(4)}-4${digits(3)}-${variant}${digits(3)}-${digits(6)}${digits(6)}`
}
