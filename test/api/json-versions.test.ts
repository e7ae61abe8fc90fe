import { expect, test } from 'vitest'
import { versionMemory, versionParser, versionWriter } from '../../src/api/recordings/json-versions.ts'
import { seededRandom } from '../../src/base/clock.ts'

const mark = Buffer.from('\ufeff')
const bytesOf = (value: unknown, space?: number) => Buffer.from(JSON.stringify(value, null, space))

/** What parsing comes to: a value with its order, or that it is none. */
function outcomeOf(parse: () => unknown): string {
  try {
    return JSON.stringify(parse())
  } catch (error) {
    return (error as Error).name
  }
}

test('values with the same bytes as in the version before are the same objects', () => {
  const parse = versionParser()
  const before = [{ name: 'Ash', text: `a, "b" \\ ]}${'-'.repeat(64)}` }, { name: 'Elm' }, 7, 'x', null, [[]]]
  const [ash, elm] = parse(bytesOf(before)) as object[]
  const after = [{ name: 'Oak' }, before[0], { name: 'Elm', level: 2 }, 7, 'x', null, [[]]]
  const parsed = parse(bytesOf(after)) as object[]
  expect(parsed).toEqual(after)
  expect(parsed[1]).toBe(ash)
  expect(parsed[2]).not.toBe(elm)
  // A byte order mark belongs to the encoding.
  const [, marked] = parse(Buffer.concat([mark, bytesOf(after)])) as object[]
  expect(marked).toBe(ash)
})

test('versions are written as JSON.stringify does, whatever came, went and moved', () => {
  const random = seededRandom(3)
  const names = ['a', 'b', '10', '\u00e4"\\', '__proto__', '']
  const value = () => [{ x: random() }, [random(), null], 'text "q"', 7, null, {}, []][Math.floor(7 * random())]
  const [writeList, writeMap] = [versionWriter(), versionWriter()]
  let list: unknown[] = []
  let map: Record<string, unknown> = {}
  for (let nth = 0; nth < 500; nth++) {
    list = list.flatMap((one) => (random() < 0.1 ? [] : random() < 0.1 ? [value(), one] : [one]))
    if (random() < 0.3) list = [...list.slice(1), value(), ...list.slice(0, 1)]
    if (nth % 100 === 0) list = []
    const [name = ''] = names.slice(Math.floor(names.length * random()))
    map = Object.fromEntries([...Object.entries(map), [name, value()]].filter(() => random() < 0.95))
    expect(writeList(list).toString()).toBe(JSON.stringify(list))
    expect(writeMap(map).toString()).toBe(JSON.stringify(map))
  }
})

test('of a version only what is new is written anew, though a few before records that moved', () => {
  let written = 0
  const records: object[] = Array.from({ length: 100 }, (_, nth) => ({
    toJSON: () => {
      written++
      return { nth }
    },
  }))
  const write = versionWriter()
  const anew = (list: readonly object[]) => {
    const expected = JSON.stringify(list)
    written = 0
    expect(write(list).toString()).toBe(expected)
    return written
  }
  expect(anew(records)).toBe(100)
  expect(anew(records.with(10, { changed: true }).toSpliced(40, 1))).toBe(0)
  expect(anew([...records.slice(50), ...records.slice(0, 50)])).toBeLessThan(20)
})

test('a version is written where the third before it was, and the two before it stay', () => {
  const write = versionWriter()
  const text = 'x'.repeat(100_000)
  const written: Buffer[] = []
  for (let nth = 0; nth < 8; nth++) {
    written.push(write([nth, text]))
    expect(written.slice(-3).map(String)).toEqual(
      [nth - 2, nth - 1, nth].filter((one) => one >= 0).map((one) => `[${one},"${text}"]`),
    )
  }
  expect(new Set(written.slice(2).map(({ buffer }) => buffer)).size).toBe(3)
})

test('a version is read into the memory of the one before as many as are to stay, unless it is longer', () => {
  const memory = versionMemory(1)
  const [first, second, third] = [memory(1000), memory(900), memory(1010)]
  expect([first, second, third].map(({ length }) => length)).toEqual([1000, 900, 1010])
  expect(second.buffer).not.toBe(first.buffer)
  expect(third.buffer).toBe(first.buffer)
  expect(memory(2000).buffer).not.toBe(second.buffer)
  expect(memory(5).buffer).toBe(third.buffer)
})

test.each([undefined, 2])(
  'random versions, whole and broken, are parsed as JSON.parse does (indented by %s)',
  (space) => {
    const random = seededRandom(1)
    const below = (n: number) => Math.floor(random() * n)
    const names = ['a', 'b', '10', '2', 'ä"\\', '\u2028', 'toString', '__proto__', '']
    const leaves = [
      0,
      -1.5e300,
      true,
      null,
      '',
      'plain',
      'quote " and \\',
      '\\"',
      '\u0000 \ud83d\ude00',
      [],
      {},
      [[1], {}],
    ]
    const value = (depth: number): unknown => {
      if (depth === 0 || random() < 0.3) return leaves[below(leaves.length)]
      if (random() < 0.5) return Array.from({ length: below(5) }, () => value(depth - 1))
      return Object.fromEntries(Array.from({ length: below(5) }, () => [names[below(names.length)], value(depth - 1)]))
    }
    const parse = versionParser()
    let document: unknown[] = Array.from({ length: 20 }, () => value(3))
    let [whole, broken] = [0, 0]
    for (let nth = 0; nth < 3000; nth++) {
      document = document.flatMap((one) => {
        if (random() < 0.9) return [one]
        return random() < 0.5 ? [] : [value(3), one]
      })
      if (document.length < 5) document.push(value(3), value(3))
      const isList = random() < 0.5
      let bytes = bytesOf(isList ? document : Object.fromEntries(document.map((one, at) => [`${at % 15}`, one])), space)
      // A byte that is another one, is missing or is doubled; or the end that is.
      const at = below(bytes.length)
      const harm = below(6)
      if (harm === 0)
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from('{}[],:"\\ 1'[below(10)] ?? ''),
          bytes.subarray(at + 1),
        ])
      if (harm === 1) bytes = bytes.subarray(0, at)
      if (harm === 2) bytes = Buffer.concat([bytes, Buffer.from([',', ']', ' ', 'null'][below(4)] ?? '')])
      const expected = outcomeOf(() => JSON.parse(bytes.toString('utf8')))
      expect(outcomeOf(() => parse(bytes))).toBe(expected)
      if (expected === 'SyntaxError') broken++
      else whole++
    }
    expect([whole > 500, broken > 500]).toEqual([true, true])
  },
)
