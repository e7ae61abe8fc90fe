import { describe, expect, test } from 'vitest'
import { filterBounds, filterOf, filterText } from '../../src/questions/asking/filters.ts'
import { isAsked } from '../../src/questions/catalogue.ts'
import { readQuestions } from '../../src/questions/questions.ts'
import { formats } from '../../src/web/api/arguments.ts'
import { bows, live, path } from '../support/filtered-world.ts'
import { guildId } from '../support/guild-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { hostile } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'

test('filters are spelled as they are read', () => {
  for (const type of ['text', 'integer', 'boolean', 'uuid']) {
    for (const text of [
      '5',
      'eq.eq.5',
      'not.eq.a',
      'neq.5',
      'in.(a,b)',
      'in.("a,b"," c",d"e,"")',
      'in.("")',
      'not.is.null',
    ]) {
      const filter = filterOf({ name: 'x', type }, text)
      expect([filterText(filter), filterOf({ name: 'x', type }, filterText(filter))]).toEqual([text, filter])
    }
  }
  expect(filterOf({ name: 'x', type: 'text' }, 'in.( a , "b\\\\" )').values).toEqual(['a', 'b\\'])
  // What would take quadratic time reads at once.
  const begun = performance.now()
  for (const hard of [`in.(${' '.repeat(16_000)}"`, `in.(${'"\\'.repeat(8000)})`, `like.${'*'.repeat(16_000)}`])
    expect(() => filterOf({ name: 'x', type: 'text' }, hard)).toThrow()
  expect(performance.now() - begun).toBeLessThan(500)
})

describe.each(kindsAtNight)('filters of the read API on the %s database', (kind) => {
  const lived = webWorld(kind, live)
  const { served } = lived

  const namesOf = (some: readonly { name: string }[]) => some.map(({ name }) => name).sort()
  test.each<[Record<string, string> | [string, string][], (one: (typeof bows)[number]) => unknown]>([
    [{ level: '71' }, ({ level }) => level === 71],
    [{ level: 'eq.71' }, ({ level }) => level === 71],
    [{ level: 'gte.75' }, ({ level = 0 }) => level >= 75],
    [{ level: 'not.gte.75' }, ({ level }) => level !== undefined && level < 75],
    [
      [
        ['level', 'gt.71'],
        ['level', 'lt.80'],
      ],
      ({ level = 0 }) => level > 71 && level < 80,
    ],
    [{ level: 'lte.72' }, ({ level }) => level !== undefined && level <= 72],
    [{ level: 'is.null' }, ({ level }) => level === undefined],
    [{ level: 'not.is.null' }, ({ level }) => level !== undefined],
    [{ tier: 'neq.mythic' }, ({ tier }) => tier !== undefined && tier !== 'mythic'],
    [{ tier: 'in.(mythic,fabled)' }, ({ tier }) => tier === 'mythic' || tier === 'fabled'],
    [{ tier: 'not.in.(mythic)' }, ({ tier }) => tier !== undefined && tier !== 'mythic'],
    [{ internal_name: 'in.("a,b","\\"q\\"",null)' }, ({ name }) => ['a,b', '"q"', 'null'].includes(name)],
    // A value that begins with an operator is one; the text itself is eq. and the text.
    [{ internal_name: 'eq.eq.5' }, ({ name }) => name === 'eq.5'],
    [{ internal_name: 'eq.in.(x)' }, ({ name }) => name === 'in.(x)'],
    [{ internal_name: 'null' }, ({ name }) => name === 'null'],
    [{ internal_name: 'like.*nder*' }, ({ name }) => name === 'under_score'],
    [{ internal_name: 'like.*NDER*' }, () => false],
    [{ internal_name: 'ilike.*NDER*' }, ({ name }) => name === 'under_score'],
    [{ internal_name: 'like.100\\%' }, ({ name }) => name === '100%'],
    [{ internal_name: 'like.*\\\\*' }, ({ name }) => name === 'back\\slash'],
    [{ internal_name: 'like.two*' }, ({ name }) => name.startsWith('two')],
    [{ internal_name: "in.(o'k)" }, ({ name }) => name === "o'k"],
    [{ internal_name: 'gte.o' }, ({ name }) => name >= 'o'],
  ])('answer the items of %j', async (given, fits) => {
    const { json } = await served()
    const { rows } = await json(`${path('item', given)}&sub_type=bow`)
    expect(rows.map((row: { internal_name: string }) => row.internal_name).sort()).toEqual(namesOf(bows.filter(fits)))
  })

  test('find the items of a level by the range of a stat', async () => {
    const { json } = await served()
    const wanted = { sub_type: 'bow', level: 'gte.75', identification: 'rawStrength', raw: 'gte.5' }
    const found = await json(
      path('item_identification', { ...wanted, order: 'raw.desc', select: 'internal_name,raw,level' }),
    )
    expect(found.rows).toEqual(
      bows
        .filter(({ level = 0, strength }) => level >= 75 && strength >= 5)
        .sort((one, other) => other.strength - one.strength)
        .map(({ name, strength, level }) => ({ internal_name: name, raw: strength, level })),
    )
    expect(found.rows.length).toBeGreaterThan(1)
    expect(found.arguments).toEqual(wanted)
  })

  test('take names and instants, say how they were read, and narrow down what functions answer', async () => {
    const { json } = await served()
    const captures = (await json('/api/v1/territory_capture')).rows
    const to = `in.(${JSON.stringify(hostile.prefix)})`
    const ofGuild = await json(path('territory_capture', { to_guild_uuid: to, captured_at: 'gte.-30d' }))
    expect(ofGuild.rows).toEqual(
      captures.filter((row: { to_guild_uuid: string }) => row.to_guild_uuid === guildId('a')),
    )
    expect(ofGuild.arguments).toEqual({
      to_guild_uuid: `in.(${guildId('a')})`,
      captured_at: `gte.${new Date(Math.floor(lived.world.clock.now() / 60_000) * 60_000 - 30 * 86_400_000).toISOString()}`,
    })
    const between = await json(
      path('territory_capture', [
        ['captured_at', 'gte.2026-06-01T10:00Z'],
        ['captured_at', 'lt.2026-06-01T11:00Z'],
      ]),
    )
    expect(between.arguments.captured_at).toEqual(['gte.2026-06-01T10:00Z', 'lt.2026-06-01T11:00Z'])
    const map = (await json('/api/v1/map_at?at=2026-06-01T10:45Z')).rows
    expect(map.length).toBeGreaterThan(2)
    const held = await json('/api/v1/map_at?at=2026-06-01T10:45Z&guild_uuid=not.is.null&order=territory.desc&limit=1')
    const expected = map.filter((row: { guild_uuid: string | null }) => row.guild_uuid !== null)
    const rest = await json(held.next)
    expect([...held.rows, ...rest.rows].map((row) => row.territory)).toEqual(
      expected
        .map((row: { territory: string }) => row.territory)
        .sort()
        .reverse()
        .slice(0, 2),
    )
    // A parameter goes before a column of its name.
    expect((await json('/api/v1/territory_owner_at?territory=Oak&at=2026-06-01T10:45Z')).rows).toHaveLength(1)
  })

  test('walk page by page to the same rows as at once, whatever is filtered, sorted and selected', async () => {
    const { json } = await served()
    const columns = ['internal_name', 'tier', 'level', 'identification', 'raw', 'is_fixed', 'observed_at']
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return Math.floor((seed / 2 ** 31) * below)
    }
    const one = <T>(list: readonly T[]) => list[random(list.length)] as T
    for (let round = 0; round < 25; round++) {
      const order = Array.from({ length: 1 + random(3) }, () => one(columns)).filter(
        (name, place, all) => all.indexOf(name) === place,
      )
      const sorted = order.map((name) => name + one(['', '.asc', '.desc']) + one(['', '.nullsfirst', '.nullslast']))
      const given = new URLSearchParams({ order: sorted.join() })
      if (random(2) === 0) given.set('tier', one(['is.null', 'neq.rare', 'in.(rare,mythic)']))
      if (random(2) === 0) given.set('raw', one(['gte.0', 'lt.4', 'not.in.(1,2)']))
      if (random(2) === 0) given.set('select', one(['raw', 'internal_name,raw', 'level,tier,internal_name']))
      const whole = (await json(`/api/v1/item_identification?${given}`)).rows
      const walked: object[] = []
      for (let next: string | null = `/api/v1/item_identification?${given}&limit=${1 + random(3)}`; next !== null; ) {
        const page: { rows: object[]; next: string | null } = await json(next)
        walked.push(...page.rows)
        next = page.next
      }
      expect([String(given), walked]).toEqual([String(given), whole])
      if (!given.has('select')) expect([String(given), whole]).toEqual([String(given), byKeys(whole, sorted)])
    }
  })

  /** The same rows by the keys, as they are compared in plain code. */
  function byKeys(rows: Record<string, string | number | boolean | null>[], sorted: string[]): object[] {
    const keys = sorted.map((key) => key.split('.'))
    const inOrder = (left: (typeof rows)[number], right: (typeof rows)[number]) => {
      for (const [name = '', ...how] of keys) {
        const [a = null, b = null] = [left[name], right[name]]
        if (a === b) continue
        const isDescending = how.includes('desc')
        const first = how.includes('nullsfirst') || (isDescending && !how.includes('nullslast'))
        if (a === null || b === null) return (a === null) === first ? -1 : 1
        return a < b === isDescending ? 1 : -1
      }
      return 0
    }
    return rows.toSorted(inOrder)
  }

  test('fit every column of every question', async () => {
    const { ask } = await served()
    const some: Record<string, string> = {
      guild: guildId('a'),
      player: '00000000-0000-4000-8000-000000000001',
      territory: 'Oak',
      step: '1 hour',
      relation: 'item',
      document: '{"lore":"a"}',
      steps: '{lore}',
      season: '1',
      internal_name: 'bow',
      material: 'x',
      counter: 'wars',
      resource: 'items',
      type: 'guildLevel',
      entity: guildId('a'),
      name: 'archer',
      near_x: '0',
      near_z: '0',
      from_territory: 'Oak',
      to_territory: 'Elm',
      kind: 'guild',
      value: '1',
      entity_name: guildId('a'),
    }
    const questions = (await readQuestions(lived.world.db)).filter(isAsked)
    expect(questions.length).toBeGreaterThan(150)
    for (const { name, parameters, columns } of questions) {
      const given = parameters.flatMap(({ name: one }): [string, string][] =>
        one in some ? [[one, some[one] ?? '']] : [],
      )
      const own = columns.filter((column) => !parameters.some((one) => one.name === column.name))
      const sortable = columns.filter(({ type }) => !/json|\[\]|bytea/.test(type)).map((one) => one.name)
      const all: [string, string][] = [
        ...given,
        ...own.map((one): [string, string] => [one.name, 'not.is.null']),
        ['select', columns.map((one) => one.name).join()],
        ...(sortable.length > 0 ? [['order', sortable.join('.desc,')] as [string, string]] : []),
      ]
      const { status, text } = await ask(path(name, all))
      expect([name, status, text]).toEqual([name, 200, expect.any(String)])
    }
  })

  test.each([
    ['item?level=gte.high', 'level', 'level must be a whole number such as 7, got high'],
    ['item?level=gte.', 'level', 'level must be a whole number'],
    ['item?level=in.(1,x)', 'level', 'level must be a whole number such as 7, got x'],
    ['item?level=in.1', 'level', 'level must be in.(a,b,"c,d")'],
    ['item?level=in.()', 'level', 'level has a list without a value'],
    ['item?tier=in.("a"b)', 'tier', 'tier must be in.(a,b,"c,d")'],
    ['item?level=is.5', 'level', 'level must be is.null, is.not_null'],
    ['item?level=is.true', 'level', 'level must be is.null, is.not_null'],
    ['item?level=like.7*', 'level', 'level is no text: like does not fit'],
    ['item?identified=gt.true', 'identified', 'identified has no order'],
    ['item?tier=like.a\\', 'tier', 'tier has a pattern that ends with a backslash'],
    [`item?tier=like.${'a*'.repeat(filterBounds.wildcards + 1)}`, 'tier', 'more than 10 wildcards'],
    [`item?tier=like.${'a'.repeat(filterBounds.pattern + 1)}`, 'tier', 'more than 200 characters'],
    [`item?tier=in.(${'a,'.repeat(filterBounds.values)}a)`, 'tier', 'more than 200 values'],
    [`item?tier=in.(${'a,'.repeat(150)}a)&type=in.(${'a,'.repeat(150)}a)`, undefined, 'at most 200 values together'],
    ['item?colour=gte.80', 'colour', 'item has no column colour; there are: internal_name, '],
    ['map_at?colour=red', 'colour', 'map_at has no argument or column colour; there are: at, territory'],
    ['item?order=up', 'order', 'order must be asc, desc, or columns'],
    ['item?order=level.down', 'order', 'order must be asc, desc, or columns'],
    ['item?order=level,level.desc', 'order', 'order has level twice'],
    ['item?order=', 'order', 'order must be asc, desc, or columns'],
    ['item_change?order=old_value', 'order', 'order cannot be by old_value'],
    ['item?select=level,colour', 'select', 'item has no column colour; there are: internal_name, '],
    ['item?select=', 'select', "item has no column ''; there are"],
    ['item?select=*', 'select', 'item has no column *; there are'],
    ['item?select=level,level', 'select', 'select has a column twice'],
    ['item?select=level::text', 'select', 'item has no column level::text'],
    ['item?select=level&select=tier', 'select', 'select is given twice'],
    ['item?format=xml', 'format', 'format must be json, csv, ndjson'],
    ['player_playtime?player=00000000-0000-4000-8000-000000000001&day=gte.soon', 'day', 'day must be a day such as'],
    ['territory_hold?held_from=gte.soon', 'held_from', 'held_from must be an instant such as'],
    ['territory_hold?guild_uuid=gt.x', 'guild_uuid', 'guild_uuid has no order'],
  ])('say of %s what is wrong', async (wrong, argument, detail) => {
    const { json } = await served()
    const problem = await json(`/api/v1/${wrong}`)
    expect(problem).toMatchObject({ status: 400, detail: expect.stringContaining(detail) })
    expect(problem.argument).toBe(argument)
  })

  test('answers have three formats, by name or by Accept', async () => {
    const { ask, json } = await served()
    const asked = '/api/v1/item?order=internal_name&select=internal_name,since&sub_type=bow'
    const { rows } = await json(asked)
    expect(rows[0]).toMatchObject({ since: expect.stringMatching(/^2026-06-01T\d\d:\d\d:\d\d\.\d{3}Z$/) })
    const lines = await ask(`${asked}&format=ndjson`)
    expect(lines.headers).toMatchObject({ 'content-type': 'application/x-ndjson' })
    expect(lines.text.endsWith('\n')).toBe(true)
    expect(
      lines.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(rows)
    expect((await ask(asked, { accept: 'application/x-ndjson' })).text).toBe(lines.text)
    const csv = await ask(`${asked}&format=csv`, { accept: 'application/json' })
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
    const cell = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
    expect(csv.text).toBe(
      `internal_name,since\r\n${rows
        .map((row: Record<string, string>) => `${cell(String(row.internal_name).replace(/^=/, "'="))},${row.since}\r\n`)
        .join('')}`,
    )
    const tags = new Set<unknown>()
    for (const format of Object.keys(formats)) tags.add((await ask(`${asked}&format=${format}`)).headers.etag)
    expect(tags.size).toBe(3)
    const page = await ask(`${asked}&format=csv&limit=1`)
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(String(page.headers.link)) ?? []
    expect((await ask(next)).text.split('\r\n')[0]).toBe('internal_name,since')
  })
})
