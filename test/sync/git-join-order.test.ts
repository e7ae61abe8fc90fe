import { expect, test } from 'vitest'
import { readListing } from '../../src/api/read-listing.ts'
import { seededRandom } from '../../src/base/clock.ts'
import { items } from '../../src/resources/items/index.ts'
import { joinLists } from '../../src/resources/record.ts'
import { joinParts } from '../../src/sync/backfill/git-parts.ts'

/** The files of each response, in their order; a blob is the keys of its records. */
async function orders(...commits: Readonly<Record<string, string | null>>[]) {
  const changes = commits.map((files, nth) => {
    const [written, removed]: [[string, string][], string[]] = [[], []]
    for (const [path, blob] of Object.entries(files)) blob === null ? removed.push(path) : written.push([path, blob])
    return { versions: written.map(([path, blob]) => ({ commit: `${nth}`, at: nth, path, blob })), removed }
  })
  const { responses } = await joinParts(items, changes, async ({ blob }) => new Set(blob.split(' ')))
  return responses.map(({ parts }) => parts.map(({ path }) => path).join(' '))
}

test('files without a common record keep their places, whichever a commit changes', async () => {
  expect(
    await orders({ bb: 'Ash Elm', a: 'Ode Lay' }, { bb: 'Ash Oak' }, { a: 'Ode Epic' }, { bb: 'Ash Fir' }),
  ).toEqual(['bb a', 'bb a', 'bb a', 'bb a'])
})

test('where two files have the same record, the one that was changed last comes last', async () => {
  const common = { bb: 'Ash Elm Both', a: 'Ode Lay Epic Both' }
  expect(await orders(common, { bb: 'Ash Oak Both' }, { a: 'Ode Lay Both' })).toEqual(['bb a', 'a bb', 'bb a'])
  const gone = { bb: 'Ash Elm', a: 'Ode Lay Epic Both' }
  expect(await orders(common, gone, { bb: null }, { a: 'Ode Lay Epic Ash' }, { bb: 'Ash Elm' })).toEqual([
    'bb a',
    'bb a',
    'a',
    'a bb',
  ])
})

test('a record that got its name from its key is the same object the next time, under the same name', () => {
  const record = { level: 1 }
  const [first, again, other] = ['Ash', 'Ash', 'Elm'].map((name) => readListing({ [name]: record }).records[0])
  expect(first).toEqual({ level: 1, displayName: 'Ash' })
  expect(again).toBe(first)
  expect(other).toEqual({ level: 1, displayName: 'Elm' })
  expect(record).toEqual({ level: 1 })
})

test('lists are joined as if none had been joined before, whatever came, went and moved', () => {
  const random = seededRandom(7)
  const below = (n: number) => Math.floor(random() * n)
  const join = joinLists(null, 'key')
  const record = () => (random() < 0.1 ? { level: below(9) } : { key: `k${below(40)}`, level: below(9) })
  const change = (list: readonly object[]) => {
    const kept = list.flatMap((one) => (random() < 0.02 ? [] : [random() < 0.2 ? { ...one, level: below(9) } : one]))
    return random() < 0.2 ? [...kept, record()] : kept
  }
  let bodies = [0, 1, 2].map((file) => Array.from({ length: 4 }, (_, nth) => ({ key: `f${file}-${nth}` }) as object))
  let same = 0
  for (let nth = 0; nth < 2000; nth++) {
    // Most commits change one file, and hardly any makes it longer.
    bodies = bodies.map((list) => (random() < 0.4 ? change(list) : list))
    if (nth % 50 === 0)
      bodies = bodies.map((list, file) => list.slice(0, 4).map((one) => ({ ...one, key: `f${file}-${below(99)}` })))
    if (random() < 0.05) bodies.reverse()
    const joined = join(bodies)
    expect(joined).toEqual(joinLists(null, 'key')(bodies))
    if (joined.length === bodies.flat().length) same++
  }
  expect([same > 300, same < 1900]).toEqual([true, true])
})
