import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { openServer } from '../../src/db/server/server.ts'
import { pageStatements, readOrder, statementFor } from '../../src/questions/asking/ask.ts'
import { topics } from '../../src/questions/catalogue.ts'
import { exampleValues } from '../../src/questions/examples.ts'
import { type Question, readQuestions } from '../../src/questions/questions.ts'
import { guildsCalled, prefixesStarting } from '../../src/resources/guilds/keys.ts'
import { playersCalled, playersLike, playersStarting } from '../../src/resources/players/keys.ts'
import { afterwards } from '../support/afterwards.ts'
import { guildId } from '../support/guild-answers.ts'
import { migrateAll } from '../support/postgres.ts'
import { serve } from '../support/web-world.ts'
import { liveWholeWorld } from '../support/whole-world.ts'
import { openWorld, type World } from '../support/world.ts'

const given: Readonly<Record<string, string>> = {
  guild: guildId('a'),
  player: '00000000-0000-4000-8000-000000000001',
  territory: 'Oak',
  resource: 'territories',
  kind: 'guild',
  counter: 'wars',
  entity_name: guildId('a'),
  what: 'guild',
  value: '1',
  owner: guildId('a'),
  part: guildId('a'),
  fields: '{/guild}',
  relation: 'item',
  document: '{"lore":"a"}',
  steps: '{lore}',
  begins: '{2026-05-01T00:00Z}',
  ends: '{2026-06-02T00:00Z}',
  key: guildId('a'),
  history: 'territories',
  sample_table: 'game.guild_sample',
  unsent: '{}',
  guilds: `{${guildId('a')}}`,
  players: '{00000000-0000-4000-8000-000000000001}',
  times: '{2026-05-01T00:00Z,2026-05-02T00:00Z}',
  numbers: '{1,2}',
  highest_before: '1',
  is_whole: 'true',
  type: 'guildLevel',
  entity: guildId('a'),
  step: '1 day',
  season: '1',
  rank: 'chief',
  is_since_joining: 'true',
  internal_name: 'bow',
  material: 'Bow',
  changes: '100',
  since: '2026-05-01T00:00Z',
  at: '2026-06-01T20:00Z',
  origin: '2026-05-01T00:00Z',
  observed_at: '2026-06-01T20:00Z',
  path: '/lore',
  old_value: '"a b"',
  new_value: '"a<b>b</b>"',
  name: 'mage',
  near_x: '0',
  near_z: '0',
  n: '5',
  from_territory: 'Oak',
  to_territory: 'Elm',
  ended_at: '2026-06-01T21:00Z',
  valid_until: '2026-06-01T21:00Z',
  field: 'contributed',
  // The clocks of many zones changed within it.
  from_time: '2026-03-01T00:00Z',
  to_time: '2026-06-02T00:00Z',
}

/** A migrated database of its own with another order of texts, in which the same has happened. */
async function databaseOf(locale: string): Promise<Database> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const admin = await openServer(inject('serverUrl'))
  await admin.query(`create database ${name} template template0 ${locale}`)
  const url = new URL(inject('serverUrl'))
  url.pathname = `/${name}`
  const db = await openServer(url.href)
  afterwards(async () => {
    await db.close()
    await admin.query(`drop database ${name} with (force)`)
    await admin.close()
  })
  await migrateAll(db)
  const world = await openWorld(db)
  await liveWholeWorld(world)
  await world.api.close()
  await world.sandbox.close()
  // Ranks and names as the API may send them any day.
  const places = ['ivy', 'Ivy', 'ÉTÉ', 'zoo', 'Zoo', '_low', 'two words', 'twowords']
  for (const [index, place] of places.entries()) {
    const uuid = `00000000-0000-4000-8000-0000000001${String(index).padStart(2, '0')}`
    const member = [guildId('a'), uuid, place, index % 2 === 0 ? 'CHIEF' : 'RECRUIT']
    await db.query(
      `insert into game.guild_member (guild_uuid, player_uuid, username, rank, joined, valid_from, valid_until, hash)
       values ($1, $2, $3, $4, '2026-05-02Z', '2026-06-01T11:00Z', 'infinity', '\\x00')`,
      member,
    )
    await db.query(
      `insert into game.territory_hold (territory, valid_from, valid_until, guild_uuid, guild_name, guild_prefix, observed_at, hash, document)
       values ($1, '2026-06-01T09:00Z', 'infinity', $2, $1, 'X', '2026-06-01T10:00Z', '\\x00', '{}')`,
      [place, uuid],
    )
    await db.query(
      `insert into game.guild_listing (guild_uuid, name, prefix, valid_from, valid_until, hash)
       values ($1, $2, $3, '2026-05-02Z', 'infinity', '\\x00')`,
      [uuid, place, `I${place.slice(0, 2)}`],
    )
    await db.query(
      `insert into game.item (internal_name, display_name, type, tier, valid_from, valid_until, hash, document)
       values ($1, $2, 'WEAPON', 'MYTHIC', '2026-05-02Z', 'infinity', '\\x00', '{}')`,
      [`${place} I`, place],
    )
  }
  return db
}

/** The rows of a question in their order; asked under some settings, shown under the usual ones. */
async function rowsOf(db: Database, question: Question, settings: readonly string[]): Promise<string[]> {
  const asked = question.parameters.map(({ name, type }) => ({ name, type, value: given[name] ?? '' }))
  const isView = question.kind === 'view'
  const isAsked = topics.some(({ names }) => names.includes(question.name))
  // Unasked, a view comes in the database's own order of its first column.
  const byFirst = () => readOrder(question, question.columns[0]?.name ?? '')
  const [statement = statementFor(question, { args: asked }, 0)] = isView
    ? pageStatements(question, { args: [], filters: [], order: byFirst(), select: [] }, { limit: 10_000 })
    : []
  // What depends on the clock of the server.
  const clock = ['age', 'until', 'last_at', 'is_late']
  return await db.transaction(async (sql) => {
    for (const setting of settings) await sql.query(`set local ${setting}`)
    const literals = statement.text.replace(
      /\$(\d+)/g,
      (_, at) => `'${(statement.values[Number(at) - 1] ?? '').replaceAll("'", "''")}'`,
    )
    await sql.query(
      `create temporary table answers on commit drop as select row_number() over () as "nth answer", one.* from (${literals}) one`,
    )
    for (const setting of settings) await sql.query(`set local ${setting.split('=')[0]} to default`)
    const rows = await sql.values('select (to_jsonb(answers) - $1::text[])::text from answers order by "nth answer"', [
      [...clock, 'sort keys', 'nth answer'],
    ])
    // Parts of questions have no order of their own.
    return isAsked ? rows.map(String) : rows.map(String).sort()
  })
}

const pages = [
  '/',
  '/guilds',
  '/guilds?q=IVY',
  '/guilds?q=iiv',
  '/items',
  '/items?q=IVY',
  '/items?type=weapon&tier=mythic',
  '/items?q=TWO%20I',
  '/territories',
  '/captures',
  '/leaderboards',
  '/patches',
  '/pools',
  '/worlds',
  `/guilds/${guildId('a').toUpperCase()}`,
  '/players/IVY',
  '/items/bow',
  '/feeds/news.atom',
  '/api/v1',
]

/** What the pages show, and what the finders of names find, in their order. */
async function shownIn(db: Database) {
  const { ask } = await serve({ db, clock: virtualClock(Date.parse('2026-06-01T20:00:00Z')) } as World)
  const shown: unknown[] = []
  for (const page of pages) {
    const { status, text } = await ask(page)
    // Each server has a port of its own.
    shown.push([page, status, text.replaceAll(/127\.0\.0\.1:\d+/g, 'here')])
  }
  for (const name of ['IVY', 'ivy', 'ıvy', 'ZOO', guildId('a').toUpperCase()])
    shown.push([name, await playersCalled(db, name), await playersLike(db, name), await guildsCalled(db, name)])
  shown.push(await prefixesStarting(db, 'I', 20), await playersStarting(db, 'i', 20), await exampleValues(db))
  return shown
}

const hostile = [
  [
    `timezone = 'America/New_York'`,
    `datestyle = 'SQL, DMY'`,
    `intervalstyle = 'sql_standard'`,
    'extra_float_digits = -10',
  ],
  [
    `timezone = 'Pacific/Chatham'`,
    `datestyle = 'German'`,
    `intervalstyle = 'iso_8601'`,
    `bytea_output = 'escape'`,
    'search_path = nothing',
  ],
]

describe('the same history has the same answers', () => {
  let usual: Database
  let questions: Question[]
  beforeAll(async () => {
    usual = await databaseOf('')
    questions = await readQuestions(usual)
  })

  test.each(hostile.map((settings) => [settings]))('under %j', async (settings) => {
    for (const one of questions) {
      expect([one.name, await rowsOf(usual, one, settings)]).toEqual([one.name, await rowsOf(usual, one, [])])
    }
  })

  test.each([
    `locale_provider icu icu_locale 'tr-TR' lc_collate 'C' lc_ctype 'C'`,
    `locale_provider icu icu_locale 'en-US' lc_collate 'C' lc_ctype 'C'`,
  ])('in a database with %s', async (locale) => {
    const db = await databaseOf(locale)
    for (const one of questions) {
      expect([one.name, await rowsOf(db, one, [])]).toEqual([one.name, await rowsOf(usual, one, [])])
    }
    const [shown, expected] = [await shownIn(db), await shownIn(usual)]
    for (const [index, one] of expected.entries()) expect(shown[index]).toEqual(one)
    const [ranks] = await db.values(
      `select string_agg(distinct rank, ',') from analytics.membership where rank in ('chief', 'recruit')`,
    )
    expect(String(ranks)).toBe('chief,recruit')
  })
})
