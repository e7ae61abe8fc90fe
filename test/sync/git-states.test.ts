import { describe, expect, test } from 'vitest'
import { STORED_BODY, type StoredBody, textOfBody } from '../../src/sync/archive/bodies.ts'
import { closed, commits, gear, load, tomes } from '../support/git-loading.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { instantOf, worldOf } from '../support/world.ts'

describe.each(kindsOfPart)('responses that git has in one file, on the %s database', (kind) => {
  const world = worldOf(kind)

  describe.each([
    ['a record in each line', 'items.jsonl', (names: readonly string[]) => Object.values(gear(...names))],
    [
      'a record in each line, and empty ones',
      'items.ndjson',
      (names: readonly string[]) => Object.values(gear(...names)).flatMap((one) => [one, '']),
    ],
  ])('of which a file has %s', (_what, path, linesOf) => {
    test('is what a list of them is', async () => {
      const text = (...names: string[]) =>
        [...linesOf(names), ...Object.values(tomes('Ode'))]
          .map((one) => (one === '' ? one : JSON.stringify(one)))
          .join('\n')
      const repository = await commits({
        '10:00': { [path]: text('Ash', 'Oak', 'Elm') },
        '12:00': { [path]: `${text('Ash', 'Elm')}\r\n` },
        '14:00': { [path]: text('Ash', 'Elm', 'Fir') },
        '16:00': { [path]: `${text('Ash', 'Elm')}\n{"internalName": ` },
      })
      const { resources, broken } = await load(world, repository, `${path}=items`)
      expect(resources).toMatchObject([{ answers: 3, inserted: 5, closed: 1 }])
      expect(broken).toEqual([expect.stringMatching(/^items: items\.\w+ of commit \w+ is not JSON/)])
      expect(await world.rows(closed)).toEqual([['Oak', '12:00']])
      const stored = await world.db.query<StoredBody>(
        `select ${STORED_BODY.columns} from sync.raw_body ${STORED_BODY.join} order by raw_body.first_at`,
      )
      const [first] = await Promise.all(stored.map(textOfBody))
      expect(JSON.parse(String(first))).toHaveLength(4)
    })
  })

  const state = (...names: string[]) => ({ ...gear(...names), ...tomes('Ode') })
  const other = (all: Record<string, object>) =>
    Object.fromEntries(Object.entries(all).map(([name, one]) => [name, { ...one, lore: 'another' }]))
  const iso = (at: string) => new Date(instantOf(at)).toISOString()
  const timedStates = { '10:00': ['Ash', 'Oak', 'Elm'], '12:00': ['Ash', 'Elm'], '14:00': ['Ash', 'Elm', 'Fir'] }
  type Timed = readonly (readonly [at: string, body: object])[]
  const timedForms: Readonly<Record<string, readonly [path: string, text: (all: Timed) => unknown]>> = {
    'a map by time': ['all-items.json', (all) => Object.fromEntries(all)],
    'a map by seconds': [
      'all-items.json',
      (all) => Object.fromEntries(all.map(([at, body]) => [Date.parse(at) / 1000, body])),
    ],
    'an envelope with such a map': ['all-items.json', (all) => ({ version: 1, snapshots: Object.fromEntries(all) })],
    'an envelope with a list': ['all-items.json', (all) => ({ history: all.map(([time, data]) => ({ time, data })) })],
    pairs: ['all-items.json', (all) => all],
    'lines, each by its time': [
      'all-items.ndjson',
      (all) => all.map(([at, body]) => JSON.stringify({ [at]: body })).join('\n'),
    ],
  }
  test.each(Object.keys(timedForms))('is each of the states in %s, as of its time', async (form) => {
    const [path, text] = timedForms[form] ?? ['', () => '']
    const all = Object.entries(timedStates).map(([at, names]) => [iso(at), state(...names)] as const)
    const repository = await commits({ '12:30': { [path]: text(all.slice(0, 2)) }, '18:00': { [path]: text(all) } })
    const { resources, broken } = await load(world, repository, `${path}=items`)
    expect([resources, broken]).toMatchObject([[{ answers: 3, inserted: 5, closed: 1 }], []])
    expect(await world.rows(closed)).toEqual([['Oak', '12:00']])
  })

  test('is each of the states that have a time; how many have none is said', async () => {
    const all = Object.entries(timedStates).map(([at, names]) => [iso(at), state(...names)] as const)
    const repository = await commits({
      '18:00': { 'all-items.json': { ...Object.fromEntries(all), latest: state('Yew'), note: 'none' } },
    })
    const { resources, skipped } = await load(world, repository, 'all-items.json=items')
    expect(resources).toMatchObject([{ answers: 3, inserted: 5, closed: 1 }])
    expect(skipped).toEqual(['all-items.json: 1 of 4 entries have no time of their own, and are left out'])
  })

  test.each([
    ['two states without times', { yesterday: state('Ash', 'Oak'), today: other(state('Ash', 'Oak')) }],
    ['states by version', { '2.0.1': state('Ash', 'Oak'), '2.0.2': other(state('Ash', 'Oak')) }],
    ['states by day and hour', { '2026-06-01': { '07:30': state('Ash'), '08:30': other(state('Ash')) } }],
    ['a list of states', [state('Ash'), other(state('Ash'))]],
    ['states of months that are none', { '2026-13-01T00:00Z': state('Ash'), '2026-14-01T00:00Z': other(state('Ash')) }],
  ])('is none where a file has %s', async (_what, content) => {
    const repository = await commits({ '12:00': { 'all.json': content } })
    const { resources, broken } = await load(world, repository, 'all.json=items')
    expect([resources, broken]).toEqual([[], [expect.stringContaining('or several states without a time of each')]])
    const guild = { uuid: '00000000-0000-4000-8000-00000000000a', name: 'A', prefix: 'AAA', members: { total: 0 } }
    const ofGuild = { 'a.json': { monday: { ...guild, level: 1 }, tuesday: { ...guild, level: 2 } } }
    const keyed = await load(world, await commits({ '12:00': ofGuild }), 'a.json=guilds')
    expect([keyed.resources, keyed.broken]).toEqual([[], [expect.stringContaining('or several states')]])
  })

  test('counts at the last second of its day where only that is known, and at its commit where that was before', async () => {
    const day = (all: object) => ({ 'all.json': all })
    const repository = await commits({
      '12:00': day({ '2026-05-31': state('Ash', 'Oak'), '2026-06-01': state('Ash', 'Elm') }),
    })
    expect((await load(world, repository, 'all.json=items')).broken).toEqual([])
    expect(await world.db.query('select observed_at from sync.run order by 1')).toEqual([
      { observed_at: new Date('2026-05-31T23:59:59Z') },
      { observed_at: new Date(instantOf('12:00')) },
    ])
  })

  const seconds = (at: string) => instantOf(at) / 1000
  const listed = [
    ['a list', 'all-items.json', (all: readonly object[]) => JSON.stringify(all, null, 2)],
    ['lines', 'all-items.jsonl', (all: readonly object[]) => all.map((one) => JSON.stringify(one)).join('\n')],
  ] as const
  test.each(listed)('is each response in %s of them, as of its own time, once', async (_what, path, text) => {
    const all = [
      { time: iso('10:00'), data: state('Ash', 'Oak', 'Elm') },
      { fetched_at: seconds('12:00'), data: state('Ash', 'Elm') },
      { time: iso('14:00').replace('T', ' ').slice(0, 19), body: { items: state('Ash', 'Elm', 'Yew') } },
      { time: iso('16:00'), data: state('Ash', 'Yew') },
      { time: iso('18:00'), data: state('Ash', 'Yew', 'Fir') },
    ]
    const repository = await commits({
      '10:10': { [path]: text(all.slice(0, 1)) },
      '15:00': { [path]: text(all.slice(0, 3)) },
      // The oldest ones go.
      '18:30': { [path]: text(all.slice(2)) },
    })
    const { resources, broken, skipped } = await load(world, repository, `${path}=items`)
    expect([resources, broken, skipped]).toMatchObject([[{ answers: 5, inserted: 6, closed: 2 }], [], []])
    expect(await world.rows(closed)).toEqual([
      ['Elm', '16:00'],
      ['Oak', '12:00'],
    ])
    expect(await load(world, repository, `${path}=items`)).toMatchObject({ resources: [], broken: [] })
  })
})
