import { expect, test } from 'vitest'
import { addRedacted, redactedIn, revealRedacted } from '../../src/api/schemas/people/redacted.ts'

test('removed players are counted in a world of any name', () => {
  const body = {}
  for (const world of ['EU1', '__proto__', 'toString', '__proto__'])
    addRedacted(body, { worlds: Object.fromEntries([[world, 2]]) })
  const read = redactedIn(revealRedacted(JSON.parse(JSON.stringify(body))))
  expect(Object.entries(read.worlds)).toEqual([
    ['EU1', 2],
    ['__proto__', 4],
    ['toString', 2],
  ])
})
