import { expect, test } from 'vitest'
import * as z from 'zod'
import { CountedRecords, sentFields } from '../../src/api/schemas/form/presence.ts'
import { seededRandom } from '../../src/base/clock.ts'

const part = z.object({ x: z.number().optional(), y: z.number().optional() })
const schema = z.object({
  name: z.string(),
  level: z.number().nullable(),
  parts: z.array(part),
  by: z.record(z.string(), part),
})

test('records of which most were counted before have the same counts', () => {
  const random = seededRandom(1)
  const maybe = <Value>(value: Value) => (random() < 0.7 ? value : undefined)
  const piece = () => JSON.parse(JSON.stringify({ x: maybe(1), y: maybe(null) }))
  const record = () =>
    JSON.parse(
      JSON.stringify({
        name: maybe('a'),
        level: maybe(null),
        parts: maybe([piece(), piece()]),
        by: maybe({ a: piece() }),
      }),
    )
  const counted = new CountedRecords()
  const sent = sentFields(schema)
  let records: unknown[] = Array.from({ length: 200 }, record)
  const versions = [
    () => [...records.slice(nth % 5), record(), 'no record', null],
    () => records.toSpliced(nth, 1),
    () => records.toSpliced(nth, 0, record(), record()),
    () => records.with(nth % records.length, record()),
    () => records.toReversed(),
    () => [records[0], ...records],
    () => records.slice(0, -2),
    () => records,
  ]
  let nth = 0
  for (; nth < 64; nth++) {
    records = versions[nth % versions.length]?.() ?? []
    expect(sent.count(records, counted)).toEqual(sent.count(records))
  }
  expect(counted.alike.size).toBeLessThan(200)
})
