import { expect, test } from 'vitest'
import { directionOf, type ValueChange } from '../../src/drawing/patch/direction.ts'

const change = (before: unknown, after: unknown, path = '/a'): ValueChange => ({ path, before, after })

test.each([
  ['up', [change(4, 6), change('Deals +5% damage', 'Deals +7% damage')]],
  ['up', [change(-7, -5)]],
  ['up', [change(['Range: 10-20', 'same 3'], ['Range: 12-20', 'same 3'])]],
  ['up', [change('Costs 7 mana', 'Costs 5 mana'), change(-5, -7, '/identifications/raw1stSpellCost/max')]],
  ['down', [change(40, 45, '/requirements/strength')]],
  ['up', [change(['Cooldown: 12 s', 'Deals 5'], ['Cooldown: 10 s', 'Deals 6'])]],
  ['other', [change(['Cooldown: 12 s', 'Deals 5'], ['Cooldown: 14 s', 'Deals 6'])]],
  ['other', [change('one\ntwo 2', 'one two 3')]],
  ['other', [change(4, 6), change(6, 4)]],
  ['other', [change('Deals 5 for 3 s', 'Deals 7 for 2 s')]],
  ['other', [change('Deals 5', 'Gives 7')]],
  ['other', [change(null, 5)]],
  ['other', [change('5', '5.0')]],
  ['added', [change(null, true, ''), change(4, 5)]],
  ['removed', [change(true, null, '')]],
  ['other', [change(null, true, ''), change(true, null, '')]],
])('a change is %s', (direction, changes) => {
  expect(directionOf(changes)).toBe(direction)
})
