import type { Random } from '../../base/clock.ts'
import { between, chance, pick, unused } from './draw.ts'
import { adjectives, capital, codas, kinds, nouns, onsets, vowels } from './words.ts'

/** Makes names that are never given twice by the same maker. @param random decides every name */
export function nameMaker(random: Random) {
  const given = new Set<string>()

  // Names equal but for case would be one set's display and internal name at once.
  const unique = (make: () => string) => unused(given, make, (name) => name.toLowerCase())
  const invented = () => {
    let word = ''
    for (let syllables = between(random, 1, 2); syllables > 0; syllables--)
      word +=
        pick(random, onsets) + pick(random, vowels) + (syllables > 1 && chance(random, 0.5) ? '' : pick(random, codas))
    return capital(word)
  }
  const adjective = () => capital(pick(random, adjectives))
  const noun = () => capital(pick(random, nouns))
  const gearForms = [
    () => invented(),
    (kind: string) => `${adjective()} ${kind}`,
    (kind: string) => `${noun()} ${kind}`,
    () => `${adjective()} ${noun()}`,
    () => `${noun()}${pick(random, nouns)}`,
    (kind: string) => `${invented()}'s ${kind}`,
    () => `${noun()} of the ${adjective()} ${noun()}`,
    (kind: string) => `${adjective()} ${noun()} ${kind}`,
  ]

  return {
    /** A name for gear of a sub-type (or `ingredient`), such as "Misty Grove Helm". */
    gear: (subType: string) => unique(() => pick(random, gearForms)(pick(random, kinds[subType] ?? ['Thing']))),
    /** A person, place or creature. */
    being: () => (chance(random, 0.4) ? `${adjective()} ${invented()}` : `${invented()} ${noun()}`),
    /** Two words as a title, such as a major id or a set. */
    title: () => unique(() => (chance(random, 0.25) ? noun() : `${adjective()} ${noun()}`)),
  }
}

export type NameMaker = ReturnType<typeof nameMaker>

/** `Night's Tall Vow` -> `nightsTallVow`: how the API writes a label as an identifier. */
export function camelCase(label: string): string {
  const words = label.replaceAll(/[^A-Za-z0-9 -]/g, '').split(/[ -]+/)
  return words
    .map((word, index) => (index === 0 ? word.charAt(0).toLowerCase() + word.slice(1) : capital(word)))
    .join('')
}
