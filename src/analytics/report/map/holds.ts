import type { Sql } from '../../../db/database.ts'
import { expectedEvery } from '../drawing/frame.ts'
import { seriesStep } from '../drawing/time-axis.ts'
import { type Period, stepOf, stepsOf } from '../period.ts'

/** A hold that some instants show: `began` is the place of the first one, `ended` the one after the last. */
export interface Laid {
  readonly began: number
  readonly ended: number
  /** Uuid of the guild. */
  readonly guild: string
}

/** Who held what in a period. */
export interface Holds {
  /** Every guild that held something, with its latest name then, in the order of what it held on average. */
  readonly guilds: readonly { readonly uuid: string; readonly name: string; readonly prefix: string }[]
  /** The instants of the map: about 170 steps, and the last moment. */
  readonly steps: readonly Date[]
  /** The instants of series: fewer steps, in each of which an observation is expected, and the last moment. */
  readonly moments: readonly Date[]
  /** From one of those to the next but the last, ms. */
  readonly between: number
  /** How many holds each territory had in the period. */
  readonly amounts: ReadonlyMap<string, number>
  /** The holds of each territory that one of `instants` shows, in order; these are `steps` or `moments`. */
  over(instants: readonly Date[]): ReadonlyMap<string, readonly Laid[]>
}

/** A territory with its holds, or a guild: then `territory` is null. */
interface Row {
  readonly territory: string | null
  readonly holds: number
  /** `began ended guild` of those that an instant shows, with commas between them; `guild` is a place in the guilds, from 1. */
  readonly shown: string | null
  readonly uuid: string
  readonly name: string
  readonly prefix: string | null
}

/**
 * Lays every hold of the period over instants. What an instant shows is what was true at it; what came and went between two is left
 * out. Postgres does it, once for all pictures: a week may have 60,000 holds.
 */
export async function readHolds(sql: Sql, period: Period): Promise<Holds> {
  const last = new Date(period.to.getTime() - 1)
  const steps = inOrder([...stepsOf(period, stepOf(period, 170)), last])
  const series = seriesStep(period, await expectedEvery(sql, 'territories'))
  const moments = inOrder([...stepsOf(period, series), last])
  const all = inOrder([...steps, ...moments])
  const rows = await sql.query<Row>(statement, [period.from, period.to, all])
  const guilds = rows.filter(({ territory }) => territory === null)
  const laid = rows.flatMap(({ territory, shown, holds }) =>
    territory === null ? [] : [{ territory, holds, laid: laidOf(shown, guilds) }],
  )
  return {
    steps,
    moments,
    between: series * 1000,
    guilds: guilds.map(({ uuid, name, prefix }) => ({ uuid, name, prefix: prefix ?? name })),
    amounts: new Map(laid.map(({ territory, holds }) => [territory, holds])),
    over: (instants) => {
      const before = countBefore(all, instants)
      const over = ({ began, ended, guild }: Laid) => ({ began: before[began] ?? 0, ended: before[ended] ?? 0, guild })
      return new Map(
        laid.map(({ territory, laid: list }) => [
          territory,
          list.map(over).filter(({ began, ended }) => began < ended),
        ]),
      )
    },
  }
}

/** Guilds first, in their order. A guild is found by its place: a join would compare each hold with each guild. */
const statement = `
  with hold as materialized (
    select territory, guild_uuid, held_from, held_until from analytics.territory_held_between($1, $2)
  ), held as materialized (
    select sum.guild_uuid, last.guild_name as name, last.guild_prefix as prefix,
           row_number() over (order by sum.held desc, last.guild_name)::int as place
      from (select guild_uuid, sum(least(held_until, $2::timestamptz) - greatest(held_from, $1::timestamptz)) as held
              from hold group by guild_uuid) sum
     cross join lateral (select guild_name, guild_prefix from analytics.territory_hold own
                          where own.guild_uuid = sum.guild_uuid and own.held_from < $2
                          order by own.held_from desc, own.held_until desc limit 1) last
  ), guilds as materialized (
    select array_agg(guild_uuid order by place) as uuids from held
  ), laid as (
    select territory, guild_uuid, width_bucket(held_from - interval '1 microsecond', $3::timestamptz[]) as began,
           width_bucket(held_until - interval '1 microsecond', $3::timestamptz[]) as ended
      from hold
  )
  select null as territory, place as holds, null as shown, guild_uuid::text as uuid, name, prefix from held
   union all
  select territory, count(*)::int,
         string_agg(began || ' ' || ended || ' ' || array_position((select uuids from guilds), guild_uuid), ',')
           filter (where began < ended), null, null, null
    from laid group by territory
   order by territory nulls first, holds`

/** Each once: the last moment may be the beginning of a step, too. */
function inOrder(instants: readonly Date[]): Date[] {
  const times = new Set(instants.map((at) => at.getTime()))
  return [...times].sort((a, b) => a - b).map((time) => new Date(time))
}

/** Sorted here: Postgres would sort on disk, since it expects few. */
function laidOf(shown: string | null, guilds: readonly Row[]): Laid[] {
  const laid = (shown?.split(',') ?? []).map((hold) => {
    const [began = 0, ended = 0, guild = 0] = hold.split(' ').map(Number)
    return { began, ended, guild: guilds[guild - 1]?.uuid ?? '' }
  })
  return laid.sort((a, b) => a.began - b.began)
}

/** How many of `instants` are before each place in `all`, and before its end. */
function countBefore(all: readonly Date[], instants: readonly Date[]): number[] {
  const wanted = new Set(instants.map((at) => at.getTime()))
  const before = [0]
  for (const at of all) before.push((before.at(-1) ?? 0) + (wanted.has(at.getTime()) ? 1 : 0))
  return before
}
