import { between, drawsFor } from '../generator/draw.ts'
import { titled } from '../generator/words.ts'

/** The five classes; their paths are in lower case (API reference 3.4). */
export const classNames = ['archer', 'warrior', 'assassin', 'mage', 'shaman'] as const
export type ClassName = (typeof classNames)[number]

export interface Archetype {
  readonly id: string
  readonly name: string
  /** Six hex digits, and the same as a letter of the game's colour codes. */
  readonly colour: string
  readonly code: string
}

/** Invented, but for the class names themselves. */
const lore: Readonly<Record<ClassName, { readonly other: string; readonly text: string; readonly ways: string }>> = {
  archer: {
    other: 'Strider',
    text: 'Keeps away from trouble and sends arrows into it.',
    ways: 'Galeshot Thornsetter Farsight',
  },
  warrior: {
    other: 'Bulwark',
    text: 'Stands where the others would rather not stand.',
    ways: 'Ironvow Rampart Stormheel',
  },
  assassin: {
    other: 'Shade',
    text: 'Is already behind you, and leaves as quickly.',
    ways: 'Gloamstep Mirrorer Venomist',
  },
  mage: {
    other: 'Kindler',
    text: 'Mends friends and unmakes everything else.',
    ways: 'Dawncaller Hourbender Emberwise',
  },
  shaman: {
    other: 'Rootspeaker',
    text: 'Lets totems and masks do the work.',
    ways: 'Maskbearer Bonesinger Callwarden',
  },
}

const colours = [
  ['55FF55', 'a'],
  ['FF55FF', 'd'],
  ['FFAA00', '6'],
] as const

export function archetypesOf(name: ClassName): Archetype[] {
  return lore[name].ways.split(' ').map((way, nth) => {
    const [colour = 'FFFFFF', code = 'f'] = colours[nth] ?? []
    return { id: way.toLowerCase(), name: way, colour, code }
  })
}

/** The body of `/classes` (API reference 3.4). */
export function classesBody(seed: number) {
  return Object.fromEntries(
    classNames.map((name) => {
      const { name: shown, overallDifficulty } = classBody(seed, name)
      return [name, { name: shown, overallDifficulty }]
    }),
  )
}

/** The body of `/classes/{class}` (API reference 8). */
export function classBody(seed: number, name: ClassName) {
  const random = drawsFor(seed, `class ${name}`)
  const { other, text } = lore[name]
  const upTo3 = () => between(random, 1, 3)
  return {
    id: name,
    name: `${titled(name)} (${other})`,
    lore: text,
    overallDifficulty: upTo3(),
    overallMax: 3,
    archetypes: Object.fromEntries(
      archetypesOf(name).map(({ id, name: shown, code }) => [
        id,
        {
          name: `&${code}&l${shown}`,
          difficulty: upTo3(),
          max: 3,
          icon: `abilityTree.${id}`,
          damage: upTo3(),
          defence: upTo3(),
          range: upTo3(),
          speed: upTo3(),
        },
      ]),
    ),
  }
}
