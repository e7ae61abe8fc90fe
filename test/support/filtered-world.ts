import { items } from '../../src/resources/items/index.ts'
import { hostile, liveSevenHours } from './report-world.ts'
import { item, type World } from './world.ts'

/** Names that mean something to a filter, a pattern, a spreadsheet or SQL. */
export const names = [
  'a,b',
  '"q"',
  '100%',
  'under_score',
  'back\\slash',
  'eq.5',
  'in.(x)',
  '=1+1',
  'two\nlines',
  'null',
  "o'k",
]
const tiers = ['mythic', 'fabled', 'rare', undefined]

export const bows = names.map((name, index) => ({
  name,
  level: index % 3 === 0 ? undefined : 70 + index,
  tier: tiers[index % 4],
  strength: index - 3,
}))

/** Seven hours, and bows by these names. */
export async function live(world: World): Promise<void> {
  await liveSevenHours(world)
  const records = bows.map(({ name, level, tier, strength }) =>
    item(name, {
      type: 'weapon',
      subType: 'bow',
      displayName: name,
      identifications: { rawStrength: strength },
      ...(tier && { tier }),
      ...(level && { requirements: { level } }),
    }),
  )
  // So many new ones at once wait for a second response.
  for (const at of ['18:00', '20:00'])
    await world.sync(items, [item('bow', { displayName: hostile.item }), ...records], at)
}

/** The address of a question. */
export const path = (question: string, given: Record<string, string> | [string, string][] = {}) =>
  `/api/v1/${question}?${new URLSearchParams(given)}`
