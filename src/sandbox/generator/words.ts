import type { Random } from '../../base/clock.ts'
import { between, chance, pick, unused } from './draw.ts'

/** Invented or common words; none of them is the name of a thing in the real game. */

export const onsets = 'b br c ch d dr f fl g gr h k kr l m mor n p qu r s sh sk st t th tr v val w y z'.split(' ')
export const vowels = 'a e i o u ae ai ea ei ia io ou y'.split(' ')
export const codas = 'l n r s th x nd rn lm sk rd st ll m k v dor len mir ric tas vash wen'.split(' ')

export const adjectives = (
  'amber ancient arid ashen autumn bitter bleak blunt brazen bright brittle broken burnished calm carved cinder clouded ' +
  'coiled cold copperbound cracked crooked curved damp dappled dim distant drifting drowned dusty ebbing eager early ' +
  'fading fallow feathered feral fickle fleeting forgotten frayed frosted gilded gleaming gloomy glossy hallowed hazy ' +
  'hidden hollow humble hushed idle inky ivory jagged keen kindled lacquered late lean lofty lonely lunar marbled mellow ' +
  'midnight misty mossy muted narrow nimble nested oaken opal pale patient pearly pitted placid proud quiet ragged restless ' +
  'rough rugged rusted sable salted scarlet scorched shaded shivering silent slanted sleeping slender smouldering sodden ' +
  'solemn spiral splintered stray sunken swift tangled tarnished tempered tender thorned tidal twilit uneven veiled velvet ' +
  'verdant wakeful wandering waning weathered wicked wild windworn winter withered woven yonder zealous'
).split(' ')

export const nouns = (
  'acorn anchor antler arrow ash aurora banner bark barrow basin beacon bell berry blossom bough boulder bramble branch ' +
  'breeze briar brook candle canopy cairn chalice cliff cloak clover coal comet coral crest crow current dale dawn delta ' +
  'dew dune dusk echo eddy ember fang feather fern field fjord flame flint fog ford forge fountain fox frost gale garden ' +
  'gate glade glen glow gorge grove gull harbour hare harvest haven hawk hearth hedge heron hill hollow horizon horn ' +
  'isle ivy jade kelp lantern lark leaf ledge lichen lily loom lynx maple marsh meadow mirror mist moon moth mound ' +
  'needle nest oath ocean orchard otter owl pebble petal pine plume pond poppy prairie quarry quill rain raven reed reef ' +
  'ridge river root rose rune sail sand sedge seed shade shard shell shoal shore silk sky sleet smoke snare snow song ' +
  'spark spire spring star stone storm stream summit sun tarn tempest thicket thistle thorn thread tide timber torch tower ' +
  'trail tundra twig umbra vale vault vine vow wake wave wharf whisper willow wind wing wolf wood wren wreath yarrow zephyr'
).split(' ')

/** What stands at the end of a gear name, by sub-type. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  bow: ['Bow', 'Longbow', 'Arc', 'Shortbow', 'Stringer'],
  dagger: ['Dagger', 'Dirk', 'Knives', 'Stiletto', 'Edge'],
  spear: ['Spear', 'Pike', 'Lance', 'Halberd', 'Glaive'],
  wand: ['Wand', 'Stave', 'Rod', 'Sceptre', 'Branch'],
  relik: ['Totem', 'Idol', 'Effigy', 'Fetish', 'Carving'],
  helmet: ['Helm', 'Cap', 'Hood', 'Mask', 'Crown'],
  chestplate: ['Tunic', 'Cuirass', 'Robe', 'Plate', 'Vest'],
  leggings: ['Trousers', 'Greaves', 'Leggings', 'Skirt', 'Pants'],
  boots: ['Boots', 'Shoes', 'Treads', 'Sandals', 'Steps'],
  ring: ['Ring', 'Band', 'Loop', 'Signet', 'Circle'],
  bracelet: ['Bracelet', 'Cuff', 'Bangle', 'Wrap', 'Bracer'],
  necklace: ['Necklace', 'Pendant', 'Locket', 'Amulet', 'Chain'],
  ingredient: 'Dust Scale Essence Claw Husk Fragment Tooth Oil Spore Fibre Core Hide'.split(' '),
}

export const sentences = [
  'Found where the old road leaves the hills and nobody asks for the way.',
  'The smith who made it never signed a second one.',
  'It hums when rain is near, and is silent when it falls.',
  'Three owners kept it. Only one of them recieved it as a gift.',
  'Whoever carries it dreams of teh same lighthouse.',
  'Its weight changes with the season, though no scale agrees.',
  'They say the pattern on it is a map, but of where, nobody can tell.',
  'A merchant won it in a bet and lost it in the next.',
  'The inscription is worn away but for a single word.',
  'Made in the years of the long frost, when iron was dearer than gold.',
  'It was seperated from its twin at the river crossing.',
  'Carved by candlelight, for a patron who never came.',
  'The handle is younger than the rest of it by four hundred years.',
  'It is said to be lucky, though never for the one who says so.',
] as const

/** `aeon` -> `Aeon`. */
export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** `aeon grove` -> `Aeon Grove`. */
export function titled(...words: readonly string[]): string {
  return words.map(capital).join(' ')
}

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
