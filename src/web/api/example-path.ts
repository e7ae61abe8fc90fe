import type { Question } from '../../analytics/questions.ts'
import type { Sql } from '../../db/database.ts'

/** What arguments may be in an example, by name; null where the database has none. */
export type ExampleValues = Readonly<Record<string, string | null>>

/** Values from the database, so that examples have answers. Players are not named. */
export async function exampleValues(sql: Sql): Promise<ExampleValues> {
  const [found] = await sql.query<Record<string, string | null>>(
    `select held.territory, held.guild_uuid::text as guild, held.guild_uuid::text as entity,
            (select internal_name from analytics.item limit 1) as internal_name,
            (select material_1 from analytics.recipe where material_1 is not null limit 1) as material,
            (select max(season)::text from analytics.season) as season,
            (select min(type) from game.leaderboard where valid_until = 'infinity') as type
       from (select) one
       left join (select territory, guild_uuid from analytics.territory
                   order by guild_uuid is null, territory limit 1) held on true`,
  )
  return { ...found, counter: 'wars', resource: 'territories', step: '1 day' }
}

/** Path of the question with an answer to look at; undefined when it needs a value that is not there. */
export function examplePath({ name, kind, parameters }: Question, values: ExampleValues): string | undefined {
  const query = new URLSearchParams()
  if (kind === 'view') query.set('limit', '10')
  for (const one of parameters) {
    if (one.optional || /^(from|to)_time$/.test(one.name)) continue
    const value = values[one.name]
    if (value === null || value === undefined) return undefined
    query.set(one.name, value)
  }
  return `/api/v1/${name}${query.size > 0 ? `?${query}` : ''}`
}
