import type { Database } from '../../src/db/database.ts'
import { statementFor } from '../../src/questions/asking/ask.ts'
import { readQuestions } from '../../src/questions/questions.ts'

/** A value for each parameter that a function can have. */
export type Given = Readonly<Record<string, string>>

/**
 * Columns about one database: since when it waits, which of several responses of one instant was its last one, which lake it
 * read, and what its players hide (an export has no list of that).
 */
const ownColumns: Readonly<Record<string, readonly string[]>> = {
  freshness: ['age', 'last_status'],
  watch: ['until'],
  observed: ['last_at'],
  coverage: ['imported'],
  unobserved: ['reason'],
  player: ['restricted'],
  guild_member: ['restricted'],
  player_status: ['active_character'],
  player_status_sample: ['active_character'],
}

/** The answer to every question of the catalogue, as lines without order; functions are asked about what is given. */
export async function everyAnswer(db: Database, given: Given): Promise<Record<string, string[]>> {
  const answers: Record<string, string[]> = {}
  for (const question of await readQuestions(db)) {
    const asked = question.parameters.map(({ name, type }) => {
      const value = given[name]
      if (value === undefined) throw new Error(`${question.name} asks for ${name}, and none is given`)
      return { name, type, value }
    })
    const { text, values } = statementFor(question, { args: asked }, 0)
    const rows = await db.values(
      `select (to_jsonb(answer) - $${values.length + 1}::text[])::text from (${text}) answer`,
      [...values, ownColumns[question.name] ?? []],
    )
    answers[question.name] = rows.map(String).sort()
    for (const { name, values: closed } of question.columns) {
      if (!closed) continue
      const others = `select distinct ${name} from (${text}) answer where ${name} <> all($${values.length + 1}::text[])`
      const found = await db.values(others, [...values, closed])
      if (found.length > 0) throw new Error(`${question.name}.${name} is ${found.join(', ')}, which is not declared`)
    }
  }
  return answers
}

/** What to ask functions about: of each kind the one with the most rows. */
export async function givenOf(db: Database, from: Date, to: Date): Promise<Given> {
  const most = async (column: string, table: string) => {
    const [value] = await db.values(
      `select ${column}::text from ${table} where ${column} is not null group by 1 order by count(*) desc, 1 limit 1`,
    )
    return value === undefined ? '' : String(value)
  }
  const guild = (await most('guild_uuid', 'game.guild_member')) || (await most('guild_uuid', 'game.territory_hold'))
  const player = await most('player_uuid', 'game.player_listing')
  return {
    guild,
    player,
    entity: guild,
    resource: 'territories',
    kind: 'guild',
    counter: 'wars',
    rank: 'chief',
    entity_name: guild,
    what: 'guild',
    value: '1',
    owner: guild,
    part: guild,
    key: guild,
    sample_table: 'game.guild_sample',
    fields: '{/guild}',
    relation: 'item',
    document: '{"lore":"a"}',
    steps: '{lore}',
    begins: `{${from.toISOString()}}`,
    ends: `{${to.toISOString()}}`,
    unsent: '{}',
    guilds: `{${guild}}`,
    players: `{${player}}`,
    history: 'territories',
    highest_before: '1',
    is_whole: 'true',
    times: `{${from.toISOString()},${to.toISOString()}}`,
    numbers: '{1,2}',
    from_time: from.toISOString(),
    to_time: to.toISOString(),
    since: from.toISOString(),
    at: new Date((from.getTime() + to.getTime()) / 2).toISOString(),
    // Of a hold.
    observed_at: from.toISOString(),
    ended_at: to.toISOString(),
    valid_until: to.toISOString(),
    field: 'contributed',
    path: '/lore',
    old_value: '"a b"',
    new_value: '"a<b>b</b>"',
    name: 'archer',
    near_x: '0',
    near_z: '0',
    n: '5',
    origin: from.toISOString(),
    step: '1 hour',
    changes: '100',
    is_since_joining: 'true',
    type: 'guildLevel',
    territory: await most('territory', 'game.territory_hold'),
    from_territory: await most('territory', 'game.territory_link'),
    to_territory: await most('links_to', 'game.territory_link'),
    internal_name: await most('key', `(select key from game.field_change where resource = 'items') changed`),
    material: await most('item', 'game.recipe_material'),
    season: await most('season', 'game.season'),
  }
}
