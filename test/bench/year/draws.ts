import type { Sql } from '../../../src/db/database.ts'

/** How much of a year is made. */
export interface Extent {
  /** What the year ends with: just before this instant. */
  readonly until: Date
  readonly days: number
  /** Guilds whose members are asked for; the busiest twenty-fifth of them is large. */
  readonly guilds: number
  readonly territories: number
  /** How many items of the game there are, of which a patch a week changes some. */
  readonly items: number
  /** Another number, another year. */
  readonly seed: number
  /**
   * As if a token's whole budget went into it: of every answer about a guild, as many numbers as change in an hour of play, and
   * what territories store by the minute all the time. With 2,600 guilds that is about five million rows a day.
   */
  readonly isWhole?: boolean
}

/**
 * Schema `year`: what the statements of the generator draw from. Every draw is a hash of what it is for, so that the same
 * extent gives the same rows, in whatever order statements run.
 */
export async function createDraws(
  sql: Sql,
  { until, days, guilds, territories, seed, isWhole = false }: Extent,
): Promise<void> {
  const constant = (name: string, type: string, value: string) =>
    `create function year.${name}() returns ${type} language sql immutable parallel safe return ${value}`
  const first = new Date(until.getTime() - days * 86_400_000)
  for (const statement of [
    'create schema year',
    constant('first', 'timestamptz', `timestamptz '${first.toISOString()}'`),
    constant('until', 'timestamptz', `timestamptz '${until.toISOString()}'`),
    constant('days', 'double precision', `${Number(days)}`),
    constant('guilds', 'int', `${Math.trunc(guilds)}`),
    constant('territories', 'int', `${Math.trunc(territories)}`),
    // How many members an answer about a large guild and about another shows with another number.
    `create function year.stirred(is_large boolean) returns int language sql immutable parallel safe
     return case when is_large then ${isWhole ? 60 : 8} else ${isWhole ? 12 : 1} end`,
    // For how long what territories store is there by the minute.
    constant('fine', 'interval', `interval '1 minute' * ${Math.round(days * (isWhole ? 1440 : 12))}`),
    // In [0, 1), evenly.
    `create function year.draw(number bigint, purpose int) returns double precision language sql immutable parallel safe
     return (hashint8extended(number, purpose * 1000003::bigint + ${Math.trunc(seed)}) & 9007199254740991) / 9007199254740992::double precision`,
    `create function year.id(kind text, number bigint) returns uuid language sql immutable parallel safe
     return md5(kind || ' ' || number)::uuid`,
    `create function year.fingerprint(told text) returns bytea language sql immutable parallel safe
     return sha256(convert_to(told, 'UTF8'))`,
    // Nobody looked for twenty minutes, about once in ten days.
    `create function year.watched(at timestamptz) returns boolean language sql immutable parallel safe
     return year.draw(floor(extract(epoch from at) / 1200)::bigint, 90) > 0.0014`,
    // Guilds that fight, some much more than others.
    `create function year.holder(number bigint, purpose int) returns int language sql immutable parallel safe
     return floor(least(60, year.guilds()) * year.draw(number, purpose) ^ 2)::int`,
    // The busiest guilds are large, and there is always somebody.
    `create function year.is_large(guild int) returns boolean language sql immutable parallel safe
     return guild < greatest(1, year.guilds() / 25)`,
    `create function year.members(guild int) returns int language sql immutable parallel safe
     return case when year.is_large(guild) then 120 + floor(30 * year.draw(guild, 80))::int
                 else 20 + floor(40 * year.draw(guild, 80))::int end`,
  ]) {
    await sql.query(statement)
  }
}

/** Removes what `createDraws` made. */
export async function dropDraws(sql: Sql): Promise<void> {
  await sql.query('drop schema if exists year cascade')
}
