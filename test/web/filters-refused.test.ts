import { describe, expect, test } from 'vitest'
import { live, path } from '../support/filtered-world.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { webWorld } from '../support/web-world.ts'

describe.each(kindsAtNight)('filters of the read API on the %s database', (kind) => {
  const lived = webWorld(kind, live)
  const { served } = lived
  test('are a value of a statement, never its text: junk is refused or finds nothing', async () => {
    const { ask, json } = await served()
    const before = (await json('/api/v1/item')).rows
    const junk = [
      "'",
      '"',
      '\\',
      ';',
      '--',
      '/*',
      '*/',
      '(',
      ')',
      ',',
      '.',
      '%',
      '_',
      '*',
      '$1',
      '::',
      ' ',
      '\u0001',
      '\ud800',
      'eq',
      'not',
      'in',
      'is',
      'like',
      'null',
      'or 1=1',
      "'; drop view analytics.item; --",
      'pg_sleep(9)',
      '{',
      '}',
      'internal_name',
      'level',
      'desc',
      'nullslast',
      '1e999',
      'NaN',
      'infinity',
      '-0',
      '9'.repeat(40),
      'é',
      '\n',
    ]
    let seed = 11
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return Math.floor((seed / 2 ** 31) * below)
    }
    const places = [
      'internal_name',
      'level',
      'tier',
      'identified',
      'average_dps',
      'since',
      'order',
      'select',
      'cursor',
      'format',
    ]
    const statuses = new Map<number, number>()
    for (let round = 0; round < 200; round++) {
      const given: [string, string][] = Array.from({ length: 1 + random(2) }, () => {
        const words = Array.from({ length: 1 + random(5) }, () => junk[random(junk.length)]).join(
          ['', '.', ','][random(3)],
        )
        const begin = ['', 'eq.', 'in.(', 'like.', 'not.gte.', 'is.'][random(6)]
        return [places[random(places.length)] ?? '', `${begin}${words}${begin === 'in.(' ? ')' : ''}`]
      })
      const { status, text } = await ask(path('item', given))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      expect([given, status < 500, text.includes('syntax')]).toEqual([given, true, false])
    }
    expect([...statuses.keys()].sort()).toEqual([200, 400, 404])
    expect((await json('/api/v1/item')).rows).toEqual(before)
  })

  test('a cursor belongs to its filters and its order', async () => {
    const { ask, json } = await served()
    const { next } = await json('/api/v1/item?level=gte.70&order=level.desc&limit=2')
    for (const [from, to] of [
      ['gte.70', 'gte.71'],
      ['level.desc', 'level.asc'],
    ] as const)
      expect((await ask(next.replace(from, to))).status).toBe(400)
    expect((await ask(`${next}&select=level`)).status).toBe(200)
  })
})
