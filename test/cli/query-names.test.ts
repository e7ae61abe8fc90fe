import { beforeAll, describe, expect, test } from 'vitest'
import { instantText } from '../../src/base/text/instants.ts'
import { withHolders } from '../../src/cli/commands/query/query-command.ts'
import { formatTable } from '../../src/cli/output/table.ts'
import { FOREVER } from '../../src/db/bulk/values.ts'
import type { Database } from '../../src/db/database.ts'
import { shownStatement, statementFor } from '../../src/questions/asking/ask.ts'
import { resolveName } from '../../src/questions/asking/names.ts'
import { formatCsv, formatJson, formatNdjson } from '../../src/questions/asking/rows-text.ts'
import { argumentsOf, type Question } from '../../src/questions/questions.ts'
import { findGuilds } from '../../src/resources/guilds/keys.ts'
import { nameFinders } from '../../src/resources/key-names.ts'
import { findPlayers } from '../../src/resources/players/keys.ts'
import { bothKinds, testDatabase } from '../support/postgres.ts'

const id = (number: number) => `00000000-0000-4000-8000-00000000000${number}`

describe.each(bothKinds)('names in questions, on the %s database,', (kind) => {
  let db: Database
  beforeAll(async () => {
    db = await testDatabase(kind)
    const listed = `insert into game.guild_listing (guild_uuid, name, prefix, valid_from, valid_until, hash) values`
    // Oak was renamed to Elm; another guild took the prefix that it had.
    await db.query(`${listed}
      ('${id(1)}', 'Oak', 'OAK', '2026-01-01Z', '2026-02-01Z', '\\x00'), ('${id(2)}', 'Old Oaks', 'OAK', '2026-03-01Z', 'infinity', '\\x00'),
      ('${id(3)}', 'Ash', 'ASH', '2026-01-01Z', 'infinity', '\\x00')`)
    await db.query(`insert into game.guild_listing (guild_uuid, name, prefix, valid_from, previous_until, hash)
      values ('${id(1)}', 'Elm', 'ELM', '2026-02-01Z', '2026-02-01Z', '\\x00')`)
    await db.query(`insert into game.guild_member (guild_uuid, player_uuid, username, rank, valid_from, valid_until, hash) values
      ('${id(1)}', '${id(5)}', 'Birch', 'recruit', '2026-01-01Z', '2026-02-01Z', '\\x00'), ('${id(1)}', '${id(6)}', 'Birch', 'recruit', '2026-03-01Z', 'infinity', '\\x00'),
      ('${id(1)}', '${id(7)}', 'Willow', 'recruit', '2026-01-01Z', '2026-02-01Z', '\\x00')`)
  })
  const uuidOf = async (name: string, value: string) =>
    (await withHolders(resolveName(db, { name, type: 'uuid', value }, nameFinders))).value

  test('mean whoever bears or bore them', async () => {
    expect(await uuidOf('guild', 'Ash')).toBe(id(3))
    expect(await uuidOf('guild', 'ASH')).toBe(id(3))
    expect(await uuidOf('guild', 'ELM')).toBe(id(1))
    expect(await uuidOf('guild', 'Oak')).toBe(id(1))
    expect(await uuidOf('guild_uuid', 'Elm')).toBe(id(1))
    expect(await uuidOf('player', 'willow')).toBe(id(7))
    // Nothing is known of it, and yet it is one.
    expect(await uuidOf('player', id(9))).toBe(id(9))
    expect(await resolveName(db, { name: 'counter', type: 'text', value: 'Ash' }, nameFinders)).toMatchObject({
      value: 'Ash',
    })
  })

  test('that several bear or bore are told with all of them', async () => {
    await expect(uuidOf('guild', 'OAK')).rejects.toThrow(
      `several guilds have or had the name OAK; use a uuid:
uuid                                  name      prefix  since                 until
${id(2)}  Old Oaks  OAK     2026-03-01T00:00:00Z
${id(1)}  Oak       OAK     2026-01-01T00:00:00Z  2026-02-01T00:00:00Z`,
    )
    await expect(uuidOf('player', 'Birch')).rejects.toThrow(new RegExp(`several.*\n.*\n${id(6)} .*\n${id(5)} `))
  })

  test('that nobody bears are told with those that are close', async () => {
    await expect(uuidOf('guild', 'oak')).rejects.toThrow('guild not found: oak; did you mean Old Oaks [OAK]?')
    await expect(uuidOf('player', 'will')).rejects.toThrow('player not found: will; did you mean Willow?')
    await expect(uuidOf('guild', 'Ols Oaks')).rejects.toThrow('did you mean Old Oaks [OAK]?')
    await expect(uuidOf('player', 'Wlilow')).rejects.toThrow('did you mean Willow?')
    await expect(uuidOf('player', '%')).rejects.toThrow(/player not found: %$/)
  })

  test('are found in other spaces and forms of their letters, where one alone has them', async () => {
    await db.query(`insert into game.guild_listing (guild_uuid, name, prefix, valid_from, valid_until, hash) values
      ('${id(4)}', 'Caf\u00e9  of  Two', 'CFE', '2026-01-01Z', 'infinity', '\\x00')`)
    for (const wrong of [
      'Cafe\u0301 of Two',
      ' Caf\u00e9 of\u00a0Two ',
      'Caf\u00e9\u200b of Two',
      '\uff23\uff26\uff25',
    ])
      expect([wrong, await uuidOf('guild', wrong)]).toEqual([wrong, id(4)])
    expect(await uuidOf('guild', ' Ash\u200d')).toBe(id(3))
    expect(await uuidOf('player', '\u2060willow ')).toBe(id(7))
    await expect(uuidOf('guild', 'CAFE\u0301 OF TWO')).rejects.toThrow(/did you mean Caf\u00e9 {2}of {2}Two \[CFE\]/)
    await expect(uuidOf('guild', '\u200b')).rejects.toThrow('guild not found')
    await db.query(`update game.guild_listing set name = 'Ash ' where guild_uuid = '${id(4)}'`)
    await expect(uuidOf('guild', 'Ash  ')).rejects.toThrow('several guilds have or had the name')
    await db.query(`delete from game.guild_listing where guild_uuid = '${id(4)}'`)
  })

  test('are read by syncs as before: who bears one now goes before who bore it', async () => {
    expect(await findGuilds(db, 'OAK')).toEqual([{ key: id(2), label: 'Old Oaks [OAK]' }])
    expect(await findGuilds(db, 'Oak')).toEqual([])
    expect(await findPlayers(db, 'birch')).toEqual([{ key: id(6), label: 'Birch' }])
    expect(await findPlayers(db, 'Willow')).toEqual([{ key: id(7), label: 'Willow' }])
  })

  test('a whole number is exact, however long', async () => {
    const [row] = await db.query(
      `select 9007199254740993::int8 as n, 12345678901234567890::numeric as m, 2::int8 as small`,
    )
    expect(formatJson([row ?? {}])).toBe('[{"n":"9007199254740993","m":"12345678901234567890","small":2}]')
    expect(formatCsv(['n', 'm'], [row ?? {}])).toBe('n,m\r\n9007199254740993,12345678901234567890\r\n')
  })
})

const instant = 'timestamp with time zone'
const question: Question = {
  name: 'online',
  kind: 'function',
  comment: null,
  parameters: [
    { name: 'guild', type: 'uuid', optional: false },
    { name: 'from_time', type: instant, optional: false },
    { name: 'to_time', type: instant, optional: false },
    { name: 'step', type: 'interval', optional: false },
  ],
  columns: [],
}
const week = ['-7d', 'now'] as const

describe('arguments', () => {
  test.each([
    ['now', '2026-06-03T10:20:30.000Z'],
    ['today', '2026-06-03T00:00:00.000Z'],
    ['Yesterday', '2026-06-02T00:00:00.000Z'],
    ['-7d', '2026-05-27T10:20:30.000Z'],
    ['-12h', '2026-06-02T22:20:30.000Z'],
    ['-90m', '2026-06-03T08:50:30.000Z'],
    ['-2w', '2026-05-20T10:20:30.000Z'],
    ['2026-05-01', '2026-05-01'],
    ['-infinity', '-infinity'],
    ['soon', 'soon'],
  ])('that are instants: %s', (text, expected) => {
    expect(instantText(text, Date.parse('2026-06-03T10:20:30Z'))).toBe(expected)
  })

  test('may leave out both ends of an interval, wherever they stand, and nothing else', () => {
    const valuesOf = (given: string[]) => argumentsOf(question, given, week).map(({ value }) => value)
    expect(valuesOf(['g', '1 day'])).toEqual(['g', '-7d', 'now', '1 day'])
    expect(valuesOf(['g', 'a', 'b', '1 day'])).toEqual(['g', 'a', 'b', '1 day'])
    expect(() => valuesOf(['g', 'a', 'b'])).toThrow(
      /^online needs more arguments\nask: wynnsync query online <guild> \[from_time\] \[to_time\] <step>\n {2}guild: uuid, prefix or exact name\n/,
    )
    expect(() => valuesOf(['g', 'a', 'b', 'c', 'd'])).toThrow('online takes no further argument: d')
    const last = question.parameters.map((one) => (one.name === 'step' ? { ...one, optional: true } : one))
    const optionalOf = (given: string[]) =>
      argumentsOf({ ...question, parameters: last }, given, week).map(({ value }) => value)
    expect(optionalOf(['g'])).toEqual(['g', '-7d', 'now'])
    expect(optionalOf(['g', '1 day'])).toEqual(['g', '-7d', 'now', '1 day'])
    expect(optionalOf(['g', 'a', 'b'])).toEqual(['g', 'a', 'b'])
  })

  test('are shown in their places, as SQL that can be taken elsewhere', () => {
    const given = argumentsOf(question, [id(1), 'a', "b'c", '1 \\day'], week)
    expect(shownStatement(statementFor(question, { args: given }, 3))).toBe(
      `select * from analytics.online('${id(1)}'::uuid, 'a'::${instant}, 'b''c'::${instant}, E'1 \\\\day'::interval) limit 3;`,
    )
  })
})

test('answers show what there is: no date for the end of time, nothing for NULL, a text as it is', () => {
  const row = { at: FOREVER, since: new Date(0), none: null, empty: '', lore: 'a\n"b"', document: { a: [1] } }
  expect(formatTable(Object.keys(row), [row])).toBe(
    'at        since                 none  empty  lore   document\ninfinity  1970-01-01T00:00:00Z               a "b"  {"a":[1]}\n',
  )
  expect(formatCsv(Object.keys(row), [row])).toBe(
    'at,since,none,empty,lore,document\r\ninfinity,1970-01-01T00:00:00.000Z,,"","a\n""b""","{""a"":[1]}"\r\n',
  )
  expect(formatNdjson([row, { at: [new Date(0), FOREVER] }])).toBe(
    `${JSON.stringify({ ...row, at: 'infinity', since: '1970-01-01T00:00:00.000Z' })}\n{"at":["1970-01-01T00:00:00.000Z","infinity"]}\n`,
  )
  expect(formatCsv(['at'], [{ at: [FOREVER] }])).toBe('at\r\n"[""infinity""]"\r\n')
  expect(JSON.parse(formatJson([row]))).toEqual([{ ...row, at: 'infinity', since: '1970-01-01T00:00:00.000Z' }])
})

test('bytes are spelled as filters read them, whatever a driver makes of them', () => {
  for (const hash of [new Uint8Array([0, 255, 16]), Buffer.from([0, 255, 16])]) {
    expect(formatTable(['hash'], [{ hash }])).toBe('hash\n\\x00ff10\n')
    expect(formatCsv(['hash'], [{ hash }])).toBe('hash\r\n\\x00ff10\r\n')
    expect(JSON.parse(formatJson([{ hash, all: [hash] }]))).toEqual([{ hash: '\\x00ff10', all: ['\\x00ff10'] }])
  }
})

test('A table of 130,000 rows is printed: more than a call takes as arguments', () => {
  const rows = Array.from({ length: 130_000 }, (_, index) => ({ level: index }))
  const lines = formatTable(['level'], rows).split('\n')
  expect(lines).toHaveLength(130_002)
  expect(lines.slice(0, 3)).toEqual([' level', '     0', '     1'])
  expect(lines.at(-2)).toBe('129999')
})
