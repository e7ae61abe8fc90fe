import type { Item } from '../records.ts'
import { capital } from '../words.ts'
import { attribute } from './icons.ts'

/** 4 kinds of gathering tools, 13 grades each; shown and internal names differ. */
export function createTools(): Item[] {
  return (['axe', 'pickaxe', 'rod', 'scythe'] as const).flatMap((subType) =>
    Array.from({ length: 13 }, (_, index): Item => {
      const grade = index + 1
      const name = capital(subType)
      return {
        displayName: `Working ${name} T${grade}`,
        internalName: `Working ${name} ${grade}`,
        type: 'tool',
        subType,
        icon: attribute(`gatheringTool.${subType}${grade}`),
        emblem: 'square',
        tier: 'normal',
        gatheringSpeed: 40 + grade * 13,
        durability: 80 + grade * 20,
        restriction: 'none',
        dropRestriction: 'never',
        identified: true,
        allowCraftsman: true,
        requirements: { level: Math.max(1, (grade - 1) * 10 - (grade > 7 ? 5 : 0)) },
      }
    }),
  )
}
