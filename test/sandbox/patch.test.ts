import { describe, expect, it } from 'vitest'
import { type Item, type ItemWorld, patchItems, shiftModelNumbers } from '../../src/sandbox/index.ts'
import { world } from './given.ts'

const byName = ({ items }: ItemWorld) => new Map(items.map((item) => [item.internalName, item]))
const differs = (a: Item | undefined, b: Item | undefined) => JSON.stringify(a) !== JSON.stringify(b)

describe('a balance patch', () => {
  const patch = patchItems(world, 7, 54)
  const before = byName(world)
  const after = byName(patch)

  it('changes exactly the items it names', () => {
    const kept = [...before.keys()].filter((name) => after.has(name))
    const changed = kept.filter((name) => differs(before.get(name), after.get(name)))
    expect(changed.sort()).toEqual([...patch.changed].sort())
    expect(patch.changed).toHaveLength(55)
    expect([...after.keys()].filter((name) => !before.has(name))).toEqual(patch.added)
    expect([...before.keys()].filter((name) => !after.has(name))).toEqual(patch.removed)
    expect([patch.added.length, patch.removed.length]).toEqual([5, 1])
  })

  it('corrects one spelling mistake in a lore text', () => {
    const corrected = patch.changed.filter((name) => before.get(name)?.lore !== after.get(name)?.lore)
    expect(corrected).toHaveLength(1)
  })

  it('is the same for the same seed and leaves the world it was given alone', () => {
    const text = JSON.stringify(world)
    expect(JSON.stringify(patchItems(world, 7, 54))).toBe(JSON.stringify(patch))
    expect(JSON.stringify(patchItems(world, 8, 54))).not.toBe(JSON.stringify(patch))
    expect(JSON.stringify(world) === text).toBe(true)
  })

  it('can follow another one', () => {
    const third = patchItems(patchItems(patch, 8, 20), 9, 20)
    expect(new Set(third.items.map((item) => item.internalName)).size).toBe(third.items.length)
  })
})

describe('a new resource pack', () => {
  it('moves the high model numbers and nothing else', () => {
    const strip = (value: unknown) =>
      JSON.stringify(value, (key, inner) => (key === 'customModelData' ? undefined : inner))
    const shifted = shiftModelNumbers(world)
    expect(JSON.stringify(shifted)).not.toBe(JSON.stringify(world))
    expect(strip(shifted) === strip(world)).toBe(true)
  })
})
