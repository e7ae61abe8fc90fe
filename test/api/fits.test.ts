import { expect, test } from 'vitest'
import * as z from 'zod'
import { fitsOf } from '../../src/api/schemas/form/fits.ts'
import { recordParser } from '../../src/api/schemas/form/record.ts'
import { itemSchema } from '../../src/api/schemas/items.ts'
import { recipeSchema } from '../../src/api/schemas/recipes.ts'
import { seededRandom } from '../../src/base/clock.ts'
import { smallItemWorld } from '../support/item-world.ts'

const odd: readonly unknown[] = [
  null,
  true,
  -1.5,
  Infinity,
  '',
  'text',
  [],
  [null],
  {},
  { min: 1 },
  JSON.parse('{"__proto__":{"min":1},"max":2}'),
]
const random = seededRandom(3)
const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T

/** The value with one place in it replaced, removed or added. */
function mutated(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random() < 0.1) return pick(odd)
  if (Array.isArray(value)) return value.length === 0 ? [pick(odd)] : value.with(0, mutated(value[0]))
  const fields = Object.entries(value)
  if (fields.length === 0 || random() < 0.1) return { ...value, added: pick(odd) }
  const [name, inner] = pick(fields)
  return random() < 0.1
    ? Object.fromEntries(fields.filter(([other]) => other !== name))
    : { ...value, [name]: mutated(inner) }
}

const { items, recipes } = smallItemWorld()

test.each([
  ['items', itemSchema, items],
  ['recipes', recipeSchema, recipes],
])('what fits, of %s and of what is near them, is what the schema gives back', (_what, schema, records) => {
  const fits = fitsOf(schema)
  expect(records.every((record) => fits(record))).toBe(true)
  let refused = 0
  for (const record of records) {
    for (let nth = 0; nth < 60; nth++) {
      const near = mutated(record)
      if (fits(near)) expect(schema.parse(near)).toEqual(near)
      else refused++
    }
  }
  expect(refused).toBeGreaterThan(100)
})

test.each([
  ['a default', z.looseObject({ a: z.string().default('b') }), {}],
  ['a transformation', z.looseObject({ a: z.string().transform(Number) }), { a: '1' }],
  ['fields that are left out', z.object({ a: z.string() }), { a: '', b: 1 }],
  ['a check', z.number().min(3), 2],
  ['a whole number', z.int(), 1.5],
  ['a format', z.iso.datetime(), 'today'],
  ['names that are checked', z.record(z.string().min(2), z.string()), { a: '' }],
  ['a name that every object has', z.looseObject({}), JSON.parse('{"__proto__":1}')],
  ['one in a map', z.record(z.string(), z.number()), JSON.parse('{"__proto__":1}')],
  ['a number without end', z.number(), Infinity],
  ['a list', z.looseObject({}), []],
  ['a missing field', z.looseObject({ a: z.string() }), {}],
])('nothing fits that the schema refuses or changes: %s', (_what, schema, value) => {
  expect(fitsOf(schema)(value)).toBe(false)
})

test.each([
  ['that fits', 1],
  ['that does not', 'x'],
])('a parser keeps a field called __proto__ in a record %s otherwise', (_what, other) => {
  const schema = z.looseObject({
    map: z.record(z.string(), z.number()),
    other: z.union([z.number(), z.string().min(1)]),
  })
  const text = `{"map":{"__proto__":7},"other":${JSON.stringify(other)},"__proto__":{"deep":[{"__proto__":8}]}}`
  expect(JSON.stringify(recordParser('one', schema)(JSON.parse(text)))).toBe(text)
  const bad = JSON.parse('{"map":{"__proto__":"text"},"other":1}')
  expect(() => recordParser('one', schema)(bad)).toThrow('/map/__proto__ should be number, found "text"')
})
