import type { Random } from '../../../base/clock.ts'
import { between, chance, hashOf, pick } from '../draw.ts'
import type { Icon, Sprite } from '../records.ts'

const plain = ['Wood', 'Iron', 'Gold', 'Bone']
const worn = new Set(['helmet', 'chestplate', 'leggings', 'boots'])

/** The icon of gear. Every armour piece has one; a few are of older forms (API reference 5.2). */
export function gearIcon(random: Random, subType: string, element: string | undefined, nth: number): Icon {
  if (subType === 'helmet') {
    if (nth === 11 || nth === 22) return { value: `helmet.${nth === 11 ? 'gourd' : 'bucket'}`, format: 'attribute' }
    if (nth === 33 || nth === 44)
      return {
        value: { id: 'minecraft:skull_item', name: `helmet.skull${nth}`, customModelData: nth / 11 },
        format: 'attribute',
      }
    if (nth % 16 === 3) return skin(random)
  }
  const kind = element && chance(random, 0.7) ? `${element}${between(random, 1, 3)}` : `basic${pick(random, plain)}`
  return attribute(`${subType}.${kind}`, worn.has(subType) ? `minecraft:leather_${subType}` : 'minecraft:potion')
}

/** A plain icon; the model number follows from the name, so that equal names have equal numbers. */
export function attribute(name: string, id = 'minecraft:potion', select?: string): Icon {
  const rangeDispatch = [modelNumber(name)]
  const customModelData = select === undefined ? { rangeDispatch } : { select: [select], rangeDispatch }
  return { value: { id, name, customModelData }, format: 'attribute' }
}

/** An icon that is a player's skin: the value is the texture's hash. */
export function skin(random: Random): Icon {
  return { value: Array.from({ length: 64 }, () => between(random, 0, 15).toString(16)).join(''), format: 'skin' }
}

export function sprite(name: string, model: string, id = 'minecraft:potion'): Sprite {
  return {
    format: 'attribute',
    name,
    value: { customModelData: { rangeDispatch: [modelNumber(model)] }, id, name: model },
  }
}

function modelNumber(name: string): number {
  return 1 + ((hashOf(name) >>> 0) % 2900)
}
