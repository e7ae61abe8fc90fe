import type { Sql } from '../db/database.ts'
import { nameColumn, type Parameter, type Question } from './questions.ts'

/** What arguments may be in an example, by name; null where the database has none. */
export type ExampleValues = Readonly<Record<string, string | null>>

/** Values from the database, so that examples have answers. Players are not named. */
export async function exampleValues(sql: Sql): Promise<ExampleValues> {
  const [found] = await sql.query<Record<string, string | null>>(
    `select held.territory, held.guild_uuid::text as guild, held.guild_uuid::text as entity, held.guild_prefix,
            (select internal_name from analytics.item limit 1) as internal_name,
            (select internal_name from analytics.recipe limit 1) as recipe,
            (select material_1 from analytics.recipe where material_1 is not null limit 1) as material,
            (select min(world collate "C") from analytics.world) as world,
            (select max(season)::text from analytics.season) as season,
            (select min(type collate "C") from game.leaderboard where valid_until = 'infinity') as type,
            (select name from game.class where valid_until = 'infinity' and name <> '' limit 1) as class,
            (select name from game.ability where valid_until = 'infinity' and name <> '' limit 1) as ability,
            (select name from game.raid where valid_until = 'infinity' and name <> '' and level = 0 limit 1) as raid,
            (select name from game.camp where valid_until = 'infinity' and name <> '' and level = 0 limit 1) as camp,
            node.resource as gathered, node.x::int::text as near_x, node.z::int::text as near_z,
            held.territory as from_territory,
            (select links_to from game.territory_link link
              where link.territory = held.territory order by valid_from desc, links_to collate "C" limit 1) as to_territory
       from (select) one
       left join (select territory, guild_uuid, guild_prefix from analytics.territory
                   order by guild_uuid is null, territory collate "C" limit 1) held on true
       left join (select resource, x, z from game.gathering_node where valid_until = 'infinity' limit 1) node on true`,
  )
  return { ...found, kind: 'guild', counter: 'wars', value: '1', resource: 'territories', step: '1 day' }
}

/** The question as it can be asked in one line of a shell; what the database has none of is a placeholder. */
export function exampleOf({ kind, parameters, ...question }: Question, values: ExampleValues): string {
  const asked = ['wynnsync query', question.name]
  const known = valuesOf(question, values)
  if (kind === 'function') asked.push(...parameters.flatMap((parameter) => wordOf(parameter, known)))
  else asked.push(wordFor(nameColumn(question)?.name ?? '', known) ?? '')
  return asked.join(' ').trim()
}

/** What a question may be asked for, where its arguments are called as those of others are. */
export function valuesOf({ name }: Pick<Question, 'name'>, values: ExampleValues): ExampleValues {
  const { recipe = null, gathered = null } = values
  if (/^recipe(_at|_change)?$/.test(name)) return { ...values, internal_name: recipe }
  if (name === 'gathering_near') return { ...values, material: gathered }
  const [, content] = /^(class|ability|raid|camp)_at$/.exec(name) ?? []
  return content === undefined ? values : { ...values, name: values[content] ?? null }
}

/** Without both of its ends, an interval is the last seven days. */
function wordOf({ name, optional }: Parameter, values: ExampleValues): string[] {
  if (/^(from|to)_time$/.test(name)) return []
  const word = wordFor(name, values)
  if (word !== undefined) return [word]
  return optional ? [] : [`<${name}>`]
}

/** What a person may write for a parameter or column; undefined for one that no example has. */
function wordFor(name: string, values: ExampleValues): string | undefined {
  if (/^player(_uuid)?$/.test(name)) return '<player>'
  if (name === 'at') return 'yesterday'
  const isGuild = /^(guild(_uuid)?|entity(_name)?)$/.test(name)
  const value = isGuild ? values.guild_prefix : values[name]
  if (value === undefined) return undefined
  return value === null ? `<${isGuild ? 'guild' : name}>` : quoted(value)
}

/** As a word of a shell, which makes nothing of what is in a name. */
function quoted(value: string): string {
  if (/^[\w.-]+$/.test(value)) return value
  return /["$`\\!]/.test(value) ? `'${value.replaceAll("'", String.raw`'\''`)}'` : `"${value}"`
}
