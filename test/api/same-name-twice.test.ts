import { describe, expect, test } from 'vitest'
import { versionParser } from '../../src/api/recordings/json-versions.ts'
import { parseJson } from '../../src/api/schemas/form/bodies.ts'
import { parseJsonBytes } from '../../src/base/text/decode.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { place } from '../support/guild-answers.ts'
import { worldOf } from '../support/world.ts'

describe('an object with two fields of one name', () => {
  test.each([
    ['{"a":1,"b":2,"a":3}', { a: [1, 3], b: 2 }],
    ['{"a" : {"x":1}, "b":[{"c":1,"c":2,"c":3}], "a"\n:{"x":1}}', { a: { x: 1 }, b: [{ c: [1, 2, 3] }] }],
    ['{"a":"\\"a\\":","\\u0061":"\\\\"}', { a: ['"a":', '\\'] }],
    ['{"twin":1,"twin":2,"":3,"":4}', { twin: [1, 2], '': [3, 4] }],
    ['{"\\u0074win0 1 a":5,"a":1,"a":2}', { 'twin0 1 a': 5, a: [1, 2] }],
    ['[{"a":1},{"a":2}]', [{ a: 1 }, { a: 2 }]],
    ['{"a":"b: c","b":{"a":"\\\\\\""}}', { a: 'b: c', b: { a: '\\"' } }],
    ['"a:"', 'a:'],
  ])('has both values where they differ: %s', (text, value) => {
    expect(parseJson(text)).toEqual(value)
    expect(parseJsonBytes(Buffer.from(text))).toEqual(value)
    expect(versionParser()(Buffer.from(text))).toEqual(value)
  })

  test('takes no more time for what is written to make it long', () => {
    const many = Array.from({ length: 50_000 }, (_, nth) => `"a":${nth}`).join()
    const pluses = JSON.stringify(`twin${'+'.repeat(500_000)}`)
    const marks = Array.from({ length: 50_000 }, (_, nth) => `"twin${nth} 1 a":0`).join()
    const quoted = JSON.stringify('\\"'.repeat(500_000))
    const began = performance.now()
    const read = parseJson(`{${many},"b":${pluses},${marks},"c":${quoted}}`) as Record<string, unknown[]>
    expect([read.a?.length, Object.keys(read).length]).toEqual([50_000, 50_003])
    expect(performance.now() - began).toBeLessThan(5000)
  })

  test('may nest however deep', () => {
    const deep = `${'{"a":0,"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    expect(parseJson(deep)).toMatchObject({ a: [0, { a: [0, { a: [0, {}] }] }] })
    expect(parseJson(`[${deep}, {"b":1,"b":2}]`)).toMatchObject([{}, { b: [1, 2] }])
  })

  const world = worldOf('server')

  test('captures nothing: its record is in quarantine, a field of it is unknown, and the others load', async () => {
    const names = Array.from({ length: 12 }, (_, nth) => `Place ${nth}`)
    const text = (more: readonly (readonly [string, object])[]) =>
      `{${[...names.map((name) => [name, place('a', '08:00')] as const), ...more].map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`).join(',')}}`
    await world.sync(territories, parseJson(text([])), '10:00')
    const twice = parseJson(text([['Place 3', place('b', '10:30')]]))
    for (const at of ['11:00', '11:05', '11:10'])
      expect(await world.sync(territories, twice, at)).toMatchObject({
        status: 'partial',
        quarantined: 1,
        events: 0,
        closed: 0,
      })
    expect(await world.rows('select distinct key from sync.quarantine')).toEqual([['Place 3']])
    expect(await world.rows('select count(*)::int from game.territory_hold')).toEqual([[12]])
    await world.sync(territories, parseJson(text([])), '11:15')
    expect(await world.rows('select count(*)::int from game.territory_hold')).toEqual([[12]])
  })
})
