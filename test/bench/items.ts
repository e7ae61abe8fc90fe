import { items } from '../../src/resources/items/index.ts'
import type { Item } from '../../src/sandbox/generator/records.ts'
import { createItemWorld } from '../../src/sandbox/generator/world.ts'

/** Answers of the item database, made one at a time so that only one is in memory. */
export interface Answers {
  readonly count: number
  /** Records of the nth answer (from 0) as JSON.parse gives them; no key occurs in two answers. */
  records(nth: number): unknown[]
}

/** Answers of the generated world under ever new names, as many as it takes to give at least that many rows. */
export function itemAnswers(rows: number): Answers {
  const world = createItemWorld(1).items
  const perAnswer = world.reduce((sum, item) => sum + rowsOf(item), 0)
  return {
    count: Math.ceil(rows / perAnswer),
    records: (nth) => JSON.parse(JSON.stringify(world.map((item) => renamed(item, nth)))),
  }
}

/** One answer with every item of the game, as text: what the API sends in one body. */
export function answerBody(): string {
  return JSON.stringify(createItemWorld(1).items)
}

function renamed(item: Item, nth: number): Item {
  return { ...item, internalName: `${item.internalName} ${nth}` }
}

function rowsOf(item: Item): number {
  const { parts } = items.normalize(item)
  return 1 + Object.values(parts).reduce((sum, rows) => sum + rows.length, 0)
}
