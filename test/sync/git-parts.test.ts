import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { resourcesNamed } from '../../src/resources/index.ts'
import { STORED_BODY, type StoredBody, textOfBody } from '../../src/sync/archive/bodies.ts'
import { openGitSource } from '../../src/sync/backfill/git-source.ts'
import { sha256 } from '../../src/sync/normalize/hash.ts'
import { replay } from '../../src/sync/replay/replay.ts'
import {
  braces,
  charms,
  closed,
  commits,
  current,
  type Files,
  gear,
  guards,
  history,
  load,
  log,
  mappingsOf,
  runs,
  tomes,
} from '../support/git-loading.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { instantOf, item, worldOf } from '../support/world.ts'

describe.each(kindsOfPart)('a response that git has in several files, on the %s database', (kind) => {
  const world = worldOf(kind)

  test('is the union of their latest versions at each commit, and only what left it ends', async () => {
    const { resources, broken, skipped } = await load(world, await commits(history), braces)
    expect([broken, resources]).toMatchObject([[], [{ answers: 7, rejected: 0, quarantined: 0, closed: 2 }]])
    // The first two commits have not all files: nothing follows from what they lack.
    expect(await world.rows(runs)).toEqual([
      ['10:00', 'partial', false, 4],
      ['12:00', 'partial', false, 6],
      ['14:00', 'ok', true, 8],
      ['16:00', 'unchanged', true, 7],
      ['18:00', 'ok', true, 8],
      ['20:00', 'ok', true, 7],
      ['22:00', 'ok', true, 8],
    ])
    expect(await world.rows(closed)).toEqual([
      ['Moved', '20:00'],
      ['Oak', '16:00'],
      ['Ode', '20:00'],
    ])
    expect(await world.rows(current)).toEqual([
      ['Ash', 'weapon'],
      ['Elm', 'weapon'],
      ['Epic', 'tome'],
      ['Fir', 'weapon'],
      ['Lay', 'tome'],
      ['Moved', 'tome'],
      ['Ring', 'charm'],
      ['Yew', 'weapon'],
    ])
    expect(skipped).toEqual([expect.stringMatching(/^items: 2 of 7 commits have not all of its files/)])
  })

  test('is read in turn: two that are asked for at once, on a machine that is busy, are what each is alone', async () => {
    const repository = await commits({
      '10:00': { 'gear.json': gear('Ash', 'Oak', 'Elm', 'Fir') },
      '11:00': { 'tomes.json': tomes('Lay') },
      '16:00': { 'gear.json': gear('Ash', 'Elm', 'Fir') },
      '18:00': { 'tomes.json': tomes('Ode') },
    })
    const source = await openGitSource(undefined, repository, mappingsOf('{gear,tomes}.json=items'), Date.now())
    const read = async (line: (typeof source.lines)[number]) => {
      const body = await source.read(line)
      return 'parsed' in body
        ? Object.values(body.parsed as object[]).map((one) => Reflect.get(one, 'internalName'))
        : []
    }
    for (const line of source.lines.slice(0, 2)) await read(line)
    const both = source.lines.slice(2).map(read)
    // What git says of both comes at once then.
    for (const until = performance.now() + 50; performance.now() < until; );
    expect(await Promise.all(both)).toEqual([
      ['Ash', 'Elm', 'Fir', 'Lay'],
      ['Ash', 'Elm', 'Fir', 'Ode'],
    ])
    source.close()
  })

  test('is the same when each file is mapped by itself', async () => {
    const repository = await commits(history)
    const { resources } = await load(
      world,
      repository,
      ...['gear', 'tomes', 'charms'].map((one) => `Reference/${one}.json=items`),
    )
    expect(resources).toMatchObject([{ answers: 7, closed: 2 }])
    expect(await load(world, repository, braces)).toMatchObject({ resources: [] })
  })

  test('counts each file once where another has the same records in another form', async () => {
    const expanded = Object.fromEntries(
      Object.entries(history).map(([at, files]) => {
        const twins = Object.entries(files).map(([path, body]) => [
          path.replace('.json', '_expanded.json'),
          Object.fromEntries(
            Object.entries(body as Files).map(([name, one]) => [name, { ...(one as object), lore: 'long' }]),
          ),
        ])
        return [at, { ...files, ...Object.fromEntries(twins) }]
      }),
    )
    const { resources, skipped } = await load(world, await commits(expanded), 'Reference/*.json=items')
    expect(resources).toMatchObject([{ answers: 7, closed: 2 }])
    expect(skipped).toEqual([expect.stringMatching(/^items: 2 of 7/)])
    expect(await world.rows('select count(*)::int from game.item where lore is not null')).toEqual([[0]])
  })

  test('ends nothing where a file is mapped alone that has only a part', async () => {
    const repository = await commits(history)
    const alone = await load(world, repository, 'Reference/gear.json=items')
    expect(alone.resources).toMatchObject([{ answers: 3, closed: 0, rejected: 0 }])
    expect(alone.skipped).toEqual([
      expect.stringMatching(/^items: Reference\/(charms|tomes)\.json has records that Reference\/gear\.json have not/),
    ])
    expect(await world.rows(closed)).toEqual([])
  })

  test('ends nothing where the only file there is has few kinds of records', async () => {
    const repository = await commits({
      '10:00': { 'gear.json': gear('Ash', 'Oak') },
      ...Object.fromEntries(['12:00', '14:00', '16:00'].map((at) => [at, { 'gear.json': gear('Ash', `Elm ${at}`) }])),
    })
    const { resources, skipped } = await load(world, repository, 'gear.json=items')
    expect(resources).toMatchObject([{ answers: 4, closed: 0 }])
    expect(skipped).toEqual([expect.stringMatching(/^items: gear\.json has no armour, /)])
    const reason = `select distinct reason from sync.run where resource = 'items'`
    expect(await world.rows(reason)).toEqual([['not all of the response was recorded (2 records came)']])
  })

  test('ends nothing where a file was removed, became an error, or lost most of its records', async () => {
    const more = (...names: string[]) => ({ 'a/gear.json': gear('Ash', ...names) })
    const all = {
      'a/gear.json': gear('Ash'),
      'a/tomes.json': tomes('Ode', 'Epic', 'Lay'),
      'a/charms.json': charms('Ring'),
    }
    const repository = await commits({
      '05:30': all,
      '06:30': { 'a/tomes.json': { error: 'TooManyRequests', detail: 'x' } },
      '07:30': more('Elm'),
      '08:30': { 'a/tomes.json': '{"Ode": ' },
      '09:30': more('Elm', 'Fir'),
      '10:30': { 'a/tomes.json': tomes('Ode') },
      '11:30': more('Fir', 'Oak'),
      '12:30': more('Fir', 'Oak', 'Yew'),
      '13:30': { 'a/tomes.json': tomes('Ode', 'Epic', 'Lay') },
      '14:30': { 'a/charms.json': null },
      '15:30': more('Fir', 'Oak', 'Box'),
      '16:30': more('Fir', 'Oak', 'Box', 'Bay'),
      '17:30': more('Fir', 'Oak', 'Box', 'Bay', 'Ivy'),
    })
    const { resources, broken } = await load(world, repository, 'a/*.json=items')
    expect(broken).toEqual([
      expect.stringMatching(/^items: a\/tomes\.json of commit .* is no response that can be read$/),
      expect.stringMatching(/^items: a\/tomes\.json of commit .* is no response that can be read$/),
    ])
    expect(resources).toMatchObject([{ answers: 10, rejected: 0, quarantined: 0 }])
    expect(await world.rows(closed)).toEqual([])
  })

  test('goes on where files are renamed, split and put together', async () => {
    const repository = await commits({
      '10:00': { 'items.json': { ...gear('Ash', 'Oak', 'Elm', 'Fir'), ...tomes('Ode') } },
      '12:00': { 'items.json': gear('Ash', 'Oak', 'Elm', 'Fir'), 'tomes.json': tomes('Ode') },
      '14:00': { 'items.json': null, 'gear.json': gear('Ash', 'Oak', 'Elm', 'Fir', 'Yew') },
      '16:00': { 'gear.json': gear('Ash', 'Oak', 'Elm', 'Yew') },
      '18:00': { 'tomes.json': null, 'gear.json': { ...gear('Ash', 'Oak', 'Elm', 'Yew', 'Box'), ...tomes('Ode') } },
      '20:00': { 'gear.json': { ...gear('Ash', 'Oak', 'Yew', 'Box'), ...tomes('Ode') } },
      '22:00': { 'gear.json': { ...gear('Ash', 'Oak', 'Yew', 'Box', 'Bay'), ...tomes('Ode') } },
    })
    const { resources, skipped } = await load(world, repository, '{items,gear,tomes}.json=items')
    expect([resources, skipped]).toMatchObject([[{ answers: 7, closed: 2, rejected: 0 }], []])
    expect(await world.rows(closed)).toEqual([
      ['Elm', '20:00'],
      ['Fir', '16:00'],
    ])
    expect(await world.rows('select distinct complete from sync.run')).toEqual([[true]])
  })

  test('takes files beside each other, each of another day, as states of one', async () => {
    const day = (...names: string[]) => ({ ...gear(...names), ...tomes('Ode') })
    const repository = await commits({
      '10:00': { 'days/2000.json': day('Ash', 'Oak', 'Elm') },
      '12:00': { 'days/2001.json': day('Ash', 'Elm') },
      '14:00': { 'days/2002.json': day('Ash', 'Elm', 'Yew') },
    })
    const { resources } = await load(world, repository, 'days/*.json=items')
    expect(resources).toMatchObject([{ answers: 3, closed: 1 }])
    expect(await world.rows(closed)).toEqual([['Oak', '12:00']])
  })

  test('is of the commit where the name of its file has the same day, and of the name where it has an earlier one, or others', async () => {
    const today = new Date(instantOf('10:00')).toISOString().slice(0, 10)
    const day = (...names: string[]) => ({ ...gear(...names), ...tomes('Ode') })
    const repository = await commits({
      '10:00': { [`days/${today}.json`]: day('Ash', 'Elm', 'Fir') },
      // Of another time zone, or wrong.
      '12:00': { [`days/${today}T20.30.json`]: day('Ash', 'Elm') },
      '14:00': { 'days/2026-03.json': day('Ash', 'Oak', 'Elm'), 'days/20260401-0630.json': day('Ash', 'Elm', 'Fir') },
      '16:00': { [`days/${today}T1600.json`]: day('Ash', 'Elm') },
    })
    const { resources, skipped } = await load(world, repository, 'days/*.json=items')
    expect([resources, skipped]).toMatchObject([[{ answers: 5, closed: 2 }], []])
    expect(await world.rows(closed)).toEqual([
      ['Fir', '12:00'],
      ['Oak', '2026-04-01 06:30:59'],
    ])
  })

  test('is of the commit where a file in a folder with a date goes on to change, or has no other beside it', async () => {
    const file = (...names: string[]) => ({ 'v2026-01/items.json': { ...gear(...names), ...tomes('Ode') } })
    const alone = { '10:00': file('Ash', 'Oak'), '12:00': file('Ash'), '14:00': file('Ash', 'Elm') }
    const month = new Date(instantOf('18:00')).toISOString().slice(0, 7)
    const all = { ...alone, '16:00': file('Ash', 'Elm', 'Fir'), '18:00': { [`v${month}/items.json`]: tomes('Ode') } }
    for (const one of [alone, all]) {
      const source = await openGitSource(world.db, await commits(one), mappingsOf('*/items.json=items'), Date.now())
      const instants = source.lines.map(({ at }) => new Date(at).toISOString().slice(11, 16))
      source.close()
      expect(instants).toEqual(Object.keys(one))
    }
  })

  test('is none where most records have another form, such as one that was converted', async () => {
    const converted = (name: string) => ({ [name]: { ...item(name), type: 'outfit', base: { health: 5 } } })
    const repository = await commits({
      '10:00': { 'gear.json': { ...converted('Ash'), ...converted('Oak') } },
      '12:00': { 'gear.json': gear('Ash', 'Oak'), 'tomes.json': tomes('Ode') },
      '14:00': { 'all.json': converted('Ash') },
    })
    const parts = await load(world, repository, '{gear,tomes}.json=items')
    expect(parts.broken).toEqual([
      expect.stringMatching(/^items: gear\.json of commit \w{10} is no response that can be read$/),
    ])
    expect(parts.resources).toMatchObject([{ answers: 1, inserted: 3 }])
    const alone = await load(world, repository, 'all.json=items')
    expect(alone.broken).toEqual([
      expect.stringMatching(
        /^items: all\.json of commit \w{10} has records in a form that the API does not send, or several /,
      ),
    ])
  })

  test('is joined by key where its body is a map: territories, guilds, sets, seasons', async () => {
    const place = (name: string) => ({
      [name]: {
        guild: { uuid: '00000000-0000-4000-8000-00000000000a', name: 'A', prefix: 'AAA' },
        acquired: '2026-05-01T09:00:00Z',
      },
    })
    const repository = await commits({
      '10:00': { 'north.json': place('Oak'), 'south.json': place('Elm') },
      '10:10': { 'north.json': { ...place('Oak'), ...place('Ash') } },
      '10:20': { 'south.json': { ...place('Elm'), ...place('Fir') } },
    })
    const { resources } = await load(world, repository, '{north,south}.json=territories')
    expect(resources).toMatchObject([{ answers: 3, inserted: 4, closed: 0 }])
  })

  test.each([
    ['has one territory and is called an example', 'sdk/territory.example.json', 1, 6],
    ['has a few in a folder of examples', 'sdk/__fixtures__/territories.json', 3, 6],
  ])('ends nothing where a map %s', async (_what, path, count, versions) => {
    const guild = { uuid: '00000000-0000-4000-8000-00000000000a', name: 'A', prefix: 'AAA' }
    const map = (from: number, acquired: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, nth) => [`Place ${from + nth}`, { guild, acquired }]))
    const history = Array.from({ length: versions }, (_, nth) => [
      `1${nth}:00`,
      { [path]: map(nth === 0 ? 1 : 2, `2026-05-01T09:0${nth}:00Z`) },
    ])
    const { resources, skipped } = await load(world, await commits(Object.fromEntries(history)), `${path}=territories`)
    expect(resources).toMatchObject([{ answers: versions, inserted: count + (versions > 1 ? 1 : 0), closed: 0 }])
    expect(skipped).toEqual([
      `territories: ${path} has ${count} of about 400 records; nothing that is missing there ends`,
    ])
    expect(await world.rows(`select distinct status from sync.run where resource = 'territories'`)).toEqual([
      ['partial'],
    ])
  })

  test('is only the beginning of a leaderboard where a file has fewer places than a board, and ends nothing', async () => {
    const id = (nth: number) => `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`
    const board = (length: number) =>
      Object.fromEntries(
        Array.from({ length }, (_, nth) => [nth + 1, { uuid: id(nth + 1), name: `Player${nth}`, score: 900 - nth }]),
      )
    const repository = await commits({
      '10:00': { 'boards/totalGlobalLevel.json': board(100), 'boards/playerContent?resultLimit=5.json': board(5) },
      '11:00': { 'boards/totalGlobalLevel.json': board(10), 'boards/playerContent?resultLimit=5.json': board(4) },
      '12:00': { 'boards/totalGlobalLevel.json': board(11), 'boards/playerContent?resultLimit=5.json': board(3) },
    })
    const { resources } = await load(world, repository, 'boards/*.json=leaderboards')
    expect(resources).toMatchObject([{ answers: 6, quarantined: 0 }])
    const places = `select type, count(*)::int, count(*) filter (where reason = 'empty')::int from game.leaderboard_place group by 1 order by 1`
    expect(await world.rows(places)).toEqual([
      ['playerContent', 5, 0],
      ['totalGlobalLevel', 100, 0],
    ])
    const statuses = `select key, status, count(*)::int from sync.observation group by 1, 2 order by 1, 2`
    expect(await world.rows(statuses)).toEqual([
      ['playerContent', 'partial', 3],
      ['totalGlobalLevel', 'ok', 1],
      ['totalGlobalLevel', 'partial', 2],
    ])
  })

  test('is archived as it was written, also where later ones are changes of it', async () => {
    const { db } = world
    const lore = 'a'.repeat(3000)
    const gears = (level: number) =>
      Object.fromEntries(
        Array.from({ length: 50 }, (_, n) => [`G${n}`, item(`G${n}`, { level: n === 7 ? level : 1, lore })]),
      )
    const steps = Array.from({ length: 8 }, (_, n) => [`1${n}:00`, { 'Reference/gear.json': gears(n + 1) }] as const)
    await load(
      world,
      await commits({ '09:00': { 'Reference/tomes.json': tomes('Ode') }, ...Object.fromEntries(steps) }),
      'Reference/{gear,tomes}.json=items',
    )
    const bodies = await db.query<StoredBody & { hash: Uint8Array; base: unknown }>(
      `select raw_body.hash, raw_body.base, ${STORED_BODY.columns} from sync.raw_body ${STORED_BODY.join}`,
    )
    for (const body of bodies) expect(sha256(await textOfBody(body))).toEqual(Buffer.from(body.hash))
    expect(bodies.filter(({ base }) => base !== null).length).toBeGreaterThan(5)
  })

  test('is archived as it was written where a file is missing: the last response with it is read again beside each', async () => {
    const { db } = world
    const gears = (level: number) =>
      Object.fromEntries(
        Array.from({ length: 50 }, (_, n) => [
          `G${n}`,
          item(`G${n}`, { level: n === 7 ? level : 1, lore: 'a'.repeat(3000) }),
        ]),
      )
    const steps = Array.from({ length: 9 }, (_, n) => [`1${n}:00`, { 'a/gear.json': gears(n + 2) }] as const)
    await load(
      world,
      await commits({
        '08:00': { 'a/gear.json': gears(1), 'a/tomes.json': tomes('Ode'), 'a/charms.json': charms('Ring') },
        '09:00': { 'a/tomes.json': null },
        ...Object.fromEntries(steps),
      }),
      'a/{gear,tomes,charms}.json=items',
    )
    const bodies = await db.query<StoredBody & { hash: Uint8Array }>(
      `select raw_body.hash, ${STORED_BODY.columns} from sync.raw_answer join sync.raw_body using (hash) ${STORED_BODY.join} order by answer_id`,
    )
    const texts = await Promise.all(bodies.map(textOfBody))
    expect(texts.map((text) => sha256(text))).toEqual(bodies.map(({ hash }) => Buffer.from(hash)))
    const found = texts.map((text) => JSON.parse(text.toString()) as { internalName: string; level?: number }[])
    const levels = found.map((all) => Object.values(all).find(({ internalName }) => internalName === 'G7')?.level)
    expect(levels).toEqual(Array.from({ length: 10 }, (_, n) => n + 1))
  })

  test('refuses what makes no response, and braces without a file', async () => {
    const id = (letter: string) => `00000000-0000-4000-8000-00000000000${letter}`
    const online = (letter: string, world: string) => ({ total: 1, players: { [id(letter)]: world } })
    const repository = await commits({ '10:00': { 'eu.json': online('a', 'EU1'), 'us.json': online('b', 'US1') } })
    await expect(load(world, repository, '*.json=online-players')).rejects.toThrow(/make no response together/)
    await expect(load(world, repository, '{eu,as}.json=online-players')).rejects.toThrow(/matches as\.json/)
    await expect(load(world, repository, `${'{a,b}'.repeat(11)}=items`)).rejects.toThrow(/more than 1000 globs/)
  })

  test('that is a part is a part when the archive is replayed', async () => {
    const [first, ...others] = ['10:00', '12:00', '14:00', '16:00']
    const repository = await commits({
      [`${first}`]: { 'gear.json': gear('Ash', 'Oak') },
      ...Object.fromEntries(others.map((at) => [at, { 'gear.json': gear('Ash', `Elm ${at}`) }])),
    })
    await load(world, repository, 'gear.json=items')
    const engine = { db: world.db, clock: systemClock, program: 'test', guards, log }
    const replayed = await replay(engine, { resources: resourcesNamed(['items']), swap: true })
    expect([replayed.swapped, replayed.lost]).toEqual([true, []])
    expect(await world.rows(closed)).toEqual([])
  })
})
