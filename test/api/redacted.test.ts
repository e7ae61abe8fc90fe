import { expect, test } from 'vitest'
import {
  addRedacted,
  dropRedacted,
  mayHoldRedacted,
  redactedField,
  redactedIn,
  revealRedacted,
} from '../../src/api/schemas/people/redacted.ts'

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

test('a body that is a list holds nothing that was removed, whatever is written in it; one that is an object may', () => {
  const written = JSON.stringify({ [redactedField]: {} })
  expect(mayHoldRedacted(Buffer.from(written))).toBe(true)
  expect(mayHoldRedacted(Buffer.from(` ${written}`))).toBe(true)
  expect(mayHoldRedacted(Buffer.from('{}'))).toBe(false)
  const list = Buffer.from(`[${written}]`)
  expect([mayHoldRedacted(list), dropRedacted(JSON.parse(list.toString()))]).toEqual([false, false])
})
