import type { Random } from '../../../base/clock.ts'
import { between, chance, drawUuid, pick, unused } from '../../generator/draw.ts'
import { adjectives, capital, codas, nouns, onsets, vowels } from '../../generator/words.ts'

const places = (
  'Crossing Ford Gate Landing Rest Hollow Outpost Plateau Bridge Camp Fields Cove Heights Ruins Lookout Farm Quarry ' +
  'Shrine Pass Village Basin Docks Path Orchard Hideout'
).split(' ')
const companies = 'Order Circle Company Wardens Children Council Embers Keepers League Lanterns Guard Choir'.split(' ')

/** Makes identities that are never given twice. @param random decides every name */
export function gameNames(random: Random) {
  const usernames = new Set<string>()
  const guilds = new Set<string>()
  const prefixes = new Set<string>()
  const territories = new Set<string>()

  const word = () => {
    const syllable = () => pick(random, onsets) + pick(random, vowels)
    return capital(syllable() + (chance(random, 0.6) ? syllable() : '') + pick(random, codas))
  }
  const adjective = () => capital(pick(random, adjectives))
  const noun = () => capital(pick(random, nouns))

  return {
    /** A random uuid (version 4). */
    uuid: () => drawUuid(random, pick(random, ['8', '9', 'a', 'b'])),
    /** 3 to 16 letters, digits and underscores. */
    username: () =>
      unused(usernames, () => {
        const name = chance(random, 0.4) ? `${adjective()}${noun()}` : word()
        const tail = chance(random, 0.5) ? '' : pick(random, ['_', '', 'x', '']) + between(random, 1, 9999)
        return (name.slice(0, 16 - tail.length) + tail).padEnd(3, '_')
      }),
    /** A guild's name; a few begin or end with a space (API reference 3.5). */
    guild: () =>
      unused(guilds, () => {
        const name = pick(random, [
          () => `${adjective()} ${noun()}`,
          () => `${pick(random, companies)} of ${word()}`,
          () => `${word()} ${pick(random, companies)}`,
          () => `${noun()}${noun().toLowerCase()}`,
          () => `The ${adjective()} ${noun()}s`,
        ])()
        if (chance(random, 0.004)) return ` ${name}`
        return chance(random, 0.006) ? `${name} ` : name
      }),
    /** A guild's prefix for a name: 3 or 4 letters; a few differ only in case. */
    prefix: (name: string) => {
      const letters = name.replaceAll(/[^A-Za-z]/g, '')
      return unused(prefixes, (attempt) => {
        if (attempt === 0 && chance(random, 0.7)) return letters.slice(0, 3).toUpperCase()
        const drawn = Array.from({ length: attempt > 40 ? 4 : between(random, 3, 4) }, () =>
          String.fromCodePoint(97 + Math.floor(random() * 26)),
        ).join('')
        return chance(random, 0.5) ? drawn.toUpperCase() : capital(drawn)
      })
    },
    /** A place; some carry an apostrophe, straight or typographic. */
    territory: () =>
      unused(territories, () => {
        if (chance(random, 0.05)) return `${word()}’s ${pick(random, places)}`
        if (chance(random, 0.06)) return `${word()}'s ${pick(random, places)}`
        return chance(random, 0.4) ? `${adjective()} ${pick(random, places)}` : `${word()} ${pick(random, places)}`
      }),
  }
}

export type GameNames = ReturnType<typeof gameNames>
