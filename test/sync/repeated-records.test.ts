import { describe, expect, test } from 'vitest'
import { addRedacted, revealRedacted } from '../../src/api/schemas/people/redacted.ts'
import { RecordError } from '../../src/base/errors.ts'
import { items } from '../../src/resources/items/index.ts'
import { seasons } from '../../src/resources/seasons/index.ts'
import type { Extraction } from '../../src/sync/declare/resource.ts'
import { fingerprintOf, oddOf, type Prepared, prepare } from '../../src/sync/normalize/prepare.ts'
import { notLoadedBefore, PreparedBefore, placesOfOthers } from '../../src/sync/normalize/prepared-before.ts'
import { item } from '../support/world.ts'

const body = { initDate: '2026-05-01T00:00:00Z', endDate: '2026-06-01T00:00:00Z', srPerWar: 3 }
/** A record of the list of seasons; always another object. */
const season = (number: string, fields: object = {}) => ({ season: number, record: { ...body, ...fields } })
const level = (name: string, at: unknown) => item(name, { requirements: { level: at } })
const keysOf = (entities: readonly Prepared[]) => entities.map(({ key }) => key)

describe('records that were in the response before', () => {
  /** Which keys were looked up, and which records normalized, of each response. */
  function watched() {
    const before = new PreparedBefore()
    let [looked, normalized]: [string[], string[]] = [[], []]
    const resource = {
      ...seasons,
      keyOf: (record: unknown) => {
        const key = seasons.keyOf(record)
        looked.push(key ?? '')
        return key
      },
      normalize: (record: unknown) => {
        const entity = seasons.normalize(record)
        normalized.push(entity.key)
        return entity
      },
    }
    return (records: readonly unknown[]) => {
      ;[looked, normalized] = [[], []]
      prepare(resource, records, undefined, before)
      return { looked, normalized }
    }
  }

  test('are the same at a glance where they stand about where they stood', () => {
    const records = Array.from({ length: 40 }, (_, nth) => season(String(nth)))
    const keys = records.map((one) => one.season)
    const respond = watched()
    expect(respond(records)).toEqual({ looked: keys, normalized: keys })
    expect(respond(records.slice(16))).toEqual({ looked: [], normalized: [] })
    // So many at once are looked for by their keys, and are the same all the same.
    expect(respond(records.slice(33))).toEqual({ looked: keys.slice(33), normalized: [] })
    expect(respond([season('new'), ...records.slice(33)]).looked).toEqual(['new'])
  })

  test('are looked for at a glance from where the last one stood', () => {
    const records = Array.from({ length: 40 }, (_, nth) => season(String(nth)))
    const [first, ...others] = records
    const keys = others.map((one) => one.season)
    for (const [missing, looked] of [
      [16, []],
      [17, keys.slice(17)],
    ] as const) {
      const respond = watched()
      respond(records)
      expect(respond([first, ...others.slice(missing)]).looked).toEqual(looked)
    }
  })

  test('are the same by their content, and another one is made of another content', () => {
    const respond = watched()
    respond([season('3'), season('4')])
    expect(respond([season('3'), season('4')])).toEqual({ looked: ['3', '4'], normalized: [] })
    expect(respond([season('3'), season('4', { srPerWar: 4 })]).normalized).toEqual(['4'])
  })

  test('are remembered while at least half of what is remembered is in the latest', () => {
    const [once, gone] = [watched(), watched()]
    for (const respond of [once, gone]) respond([season('3'), season('4'), season('5')])
    once([season('3'), season('4')])
    gone([season('3')])
    const all = [season('3'), season('4'), season('5')]
    expect([once(all).normalized, gone(all).normalized]).toEqual([[], ['4', '5']])
    const half = watched()
    half(['3', '4'].map((number) => season(number)))
    half([season('3')])
    expect(half(['3', '4'].map((number) => season(number))).normalized).toEqual([])
  })

  test('are made anew where that depends on the response', () => {
    const before = new PreparedBefore()
    expect(before.begin({ ...seasons, normalize: (record, _context) => seasons.normalize(record) })).toBeUndefined()
  })

  test('are compared once for each object: the same object again is known at a glance', () => {
    const before = new PreparedBefore()
    let reads = 0
    const get = () => {
      reads += 1
      return 1
    }
    const counted = () => Object.defineProperty({ ...level('Ash', 1) }, 'odd', { enumerable: true, get })
    const respond = (record: unknown) => {
      const known = before.begin(items)
      if (!known?.again(record) && !known?.find('Ash', record))
        known?.add({ key: 'Ash', record, prepared: { key: 'Ash' } as never })
      return reads
    }
    const [first, again] = [counted(), counted()]
    expect(respond(first)).toBe(0)
    const once = respond(again)
    expect(once).toBeGreaterThan(0)
    expect(respond(again)).toBe(once)
  })

  test('are not even looked at where others stand in the places of some, with the same keys', () => {
    const before = new PreparedBefore()
    const whole = { complete: true } as Extraction
    const looked: unknown[] = []
    const resource = {
      ...items,
      keyOf: (record: unknown) => {
        looked.push(record)
        return items.keyOf(record)
      },
    }
    const all = ['Ash', 'Elm', 'Oak', 'Yew'].map((name) => level(name, 1))
    const respond = (records: readonly unknown[]) => {
      looked.length = 0
      const made = prepare(resource, records, undefined, before)
      const alone = prepare(items, records)
      expect([made.entities, made.seen]).toEqual([alone.entities, alone.seen])
      expect(new Set(made.presence)).toEqual(new Set(alone.presence))
      // The content hash is that of all of it.
      expect(fingerprintOf(whole, made)).toEqual(fingerprintOf(whole, alone))
      return looked.length
    }
    const replaced = (at: number, one: object) => all.with(at, one)
    expect(respond(all)).toBe(4)
    expect(respond(all)).toBe(0)
    expect(respond(replaced(2, level('Oak', 2)))).toBe(1)
    expect(respond(replaced(1, level('Elm', 3)))).toBe(2)
    // Another key, a value that is odd, and a record that is none: all are looked at again, but for those that stand where they stood.
    expect(respond(replaced(3, level('Fir', 1)))).toBeGreaterThan(1)
    expect(respond(replaced(3, level('Fir', 'high')))).toBe(1)
    expect(respond(replaced(0, { type: 'material' }))).toBeGreaterThan(1)
    expect(respond(all.toReversed())).toBeGreaterThan(1)
  })

  test('are those of their own keys where another one stands in the place of one of them', () => {
    const before = new PreparedBefore()
    const keys = (...names: string[]) => {
      const { entities, seen } = prepare(
        seasons,
        names.map((name) => season(name)),
        undefined,
        before,
      )
      return [keysOf(entities), [...seen]]
    }
    for (const names of [
      ['3', '4', '5'],
      ['3', '6', '5'],
      ['3', '4', '5'],
      ['5', '4', '3'],
      ['3', '03', '5'],
    ]) {
      const once = [...new Set(names.map(Number).map(String))]
      expect(keys(...names)).toEqual([once, once])
    }
  })

  test('are normalized again where a piece of them, or an instant, was left out', () => {
    const piece = { key: '3/1', raw: 1, path: '/1', reason: 'is odd' }
    const instant = { field: 'endDate' }
    for (const [quarantined, ignored] of [
      [[piece], []],
      [[], [instant]],
      [[piece], [instant]],
    ] as const) {
      const normalize = (record: unknown) => {
        const entity = seasons.normalize(record)
        return entity.root.srPerWar === 9 ? { ...entity, ignored, quarantined } : entity
      }
      const before = new PreparedBefore()
      const found = (...records: unknown[]) => {
        const made = prepare({ ...seasons, normalize }, records, undefined, before)
        return [keysOf(made.entities), made.quarantined.length, made.ignored.length]
      }
      const [three, four, odd] = [season('3'), season('4'), season('4', { srPerWar: 9 })]
      const expected = [['3', '4'], quarantined.length, ignored.length]
      expect(found(three, four)).toEqual([['3', '4'], 0, 0])
      // In its place, once more, as another object, and where other records stand elsewhere.
      for (const one of [odd, odd, season('4', { srPerWar: 9 })]) expect(found(three, one)).toEqual(expected)
      expect(found(odd, three)).toEqual([['4', '3'], quarantined.length, ignored.length])
      expect(found(three, four)).toEqual([['3', '4'], 0, 0])
    }
  })

  test('stay what they are where one that cannot be understood stands in the place of another', () => {
    const normalize = (record: unknown) => {
      const entity = seasons.normalize(record)
      if (entity.root.srPerWar === 9) throw new RecordError('is odd')
      if (entity.root.srPerWar === 10) throw new TypeError('no function')
      return entity
    }
    const before = new PreparedBefore()
    const respond = (srPerWar: number) =>
      prepare({ ...seasons, normalize }, [season('3'), season('4', { srPerWar })], undefined, before)
    expect(keysOf(respond(3).entities)).toEqual(['3', '4'])
    expect(respond(9)).toMatchObject({ entities: [{ key: '3' }], quarantined: [{ key: '4', reason: 'is odd' }] })
    expect(keysOf(respond(3).entities)).toEqual(['3', '4'])
    expect(() => respond(10)).toThrow(new TypeError('no function'))
  })

  test('are told to have odd values, those that stay and those that come', () => {
    const before = new PreparedBefore()
    const all = ['3', '4', '5', '6'].map((number) => season(number))
    const odd = (number: string, srPerWar: string) => season(number, { srPerWar })
    for (const [records, keys] of [
      [all, []],
      [all.with(1, odd('4', 'many')).with(2, season('5', { srPerWar: 8 })), ['4']],
      [all.with(1, odd('4', 'many')).with(3, season('6', { srPerWar: 8 })), ['4']],
      [all.with(1, odd('4', 'more')).with(0, odd('3', 'few')), ['3', '4']],
      [all, []],
    ] as const) {
      const [made, alone] = [prepare(seasons, records, undefined, before), prepare(seasons, records)]
      expect(keysOf(oddOf(made.entities))).toEqual(keys)
      expect(new Set(made.presence)).toEqual(new Set(alone.presence))
    }
  })

  test('are not counted as lacking what was removed from them in the archive', () => {
    const before = new PreparedBefore()
    const [ash, elm, oak] = ['Ash', 'Elm', 'Oak'].map((name) => ({ internalName: name, type: 'weapon', lore: 'x' }))
    const archived = { internalName: 'Elm', type: 'weapon' }
    addRedacted(archived, {})
    const removed = revealRedacted(archived)
    for (const [records, counted] of [
      [[ash, elm, oak], 3],
      [[ash, removed, oak], 2],
      [[ash, removed, oak], 2],
      [[ash, removed, { ...oak, lore: 'y' }], 2],
      [[ash, elm, oak], 3],
    ] as const) {
      const { presence = [] } = prepare(items, records, undefined, before)
      expect(presence.filter(({ field }) => field === '/lore')).toEqual([{ field: '/lore', had: counted, of: counted }])
    }
  })

  test('are seen under both of their keys where a resource names them otherwise than their place', () => {
    const normalize = (record: unknown) => {
      const entity = seasons.normalize(record)
      return entity.root.srPerWar === 9 ? { ...entity, key: '7', root: { ...entity.root, season: 7 } } : entity
    }
    const before = new PreparedBefore()
    const other = season('4', { srPerWar: 9 })
    const [three, four] = [season('3'), season('4')]
    for (const records of [
      [three, four],
      [three, other],
      [three, other],
      [three, four],
    ]) {
      const { entities, seen } = prepare({ ...seasons, normalize }, records, undefined, before)
      expect(keysOf(entities)).toEqual(records[1] === other ? ['3', '7'] : ['3', '4'])
      expect([...seen].sort()).toEqual(records[1] === other ? ['3', '4', '7'] : ['3', '4'])
    }
  })

  test('have places of their own after a response that had others in some of them', () => {
    const respond = watched()
    const all = ['3', '4', '5'].map((number) => season(number))
    const changed = all.with(1, season('4', { srPerWar: 8 }))
    expect(respond(all).looked).toEqual(['3', '4', '5'])
    expect(respond(changed)).toEqual({ looked: ['4'], normalized: ['4'] })
    expect(respond([...changed, season('6')])).toEqual({ looked: ['6'], normalized: ['6'] })
    expect(placesOfOthers(['a', 'b'], ['a', 'b', 'c'])).toEqual([])
    expect(placesOfOthers(['a', 'c', 'b'], ['a', 'b'])).toEqual([1, 2])
  })

  test('bring what the response before was loaded as, and only that one', () => {
    const before = new PreparedBefore()
    const respond = () => {
      const preparation = prepare(seasons, [season('3')], undefined, before)
      fingerprintOf({ records: [], complete: true, pages: 1, observedFrom: 0, observedAt: 0 }, preparation)
      return preparation
    }
    const first = respond()
    expect([first.repetition?.before, first.repetition?.linesBefore]).toEqual([undefined, undefined])
    const loaded = { contentHash: Buffer.of(1), entities: first.entities }
    first.repetition?.remember({ loaded })
    const second = respond()
    expect(second.repetition?.before).toBe(loaded)
    expect(second.repetition?.linesBefore?.entities).toBe(first.entities)
    expect(respond().repetition?.before).toBeUndefined()
  })

  test('are not loaded again', () => {
    const { entities } = prepare(
      seasons,
      Array.from({ length: 500 }, (_, nth) => season(String(nth))),
    )
    const loaded = { contentHash: Buffer.of(), entities }
    const other = { ...(entities[0] as Prepared) }
    expect(notLoadedBefore(entities, loaded)).toEqual([])
    expect(notLoadedBefore([other, ...entities.slice(1)], loaded)).toEqual([other])
    // A few that moved, and all of them.
    expect(notLoadedBefore([...entities.slice(0, 400), ...entities.slice(450), other], loaded)).toEqual([other])
    expect(notLoadedBefore([...entities.toReversed(), other], loaded)).toEqual([other])
  })
})
