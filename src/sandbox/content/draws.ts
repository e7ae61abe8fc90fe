import { type Random, seededRandom } from '../../app/clock.ts'

/** A random source for one thing by name: the same for the same seed and name, whatever else was drawn before. */
export function drawsFor(seed: number, name: string): Random {
  let mixed = seed
  for (const letter of name) mixed = Math.imul(mixed ^ (letter.codePointAt(0) ?? 0), 16777619)
  return seededRandom(mixed)
}

/** `aeon grove` -> `Aeon Grove`. */
export function titled(...words: readonly string[]): string {
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ')
}

/** Eight hex digits: how the API names aspects and world events inside (API reference 5.1). */
export function hexName(random: Random): string {
  return Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
}

/** Coloured text as the API sends it. */
export function coloured(colour: string, text: string): string {
  return `<span class='font-ascii' style='color:#${colour}'>${text}</span>`
}
