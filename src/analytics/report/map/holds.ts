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

interface Row {
  readonly territory: string
  readonly holds: number
  /** `began ended guild` of those that an instant shows, with commas between them; `guild` is a place in the guilds. */
  readonly shown: string | null
}

/**
 * Lays every hold of the period over instants. What an instant shows is what was true at it; what came and went between two is left
 * out. Postgres does it, once for all pictures: a week may have 60,000 holds.
 * @param guilds uuid of every guild that held something in the period
 */
export async function readHolds(sql: Sql, period: Period, guilds: readonly string[]): Promise<Holds> {
  const last = new Date(period.to.getTime() - 1)
  const steps = inOrder([...stepsOf(period, stepOf(period, 170)), last])
  const series = seriesStep(period, await expectedEvery(sql, 'territories'))
  const moments = inOrder([...stepsOf(period, series), last])
  const all = inOrder([...steps, ...moments])
  const rows = await sql.query<Row>(
    `with hold as (
       select territory, guild.nth,
              width_bucket(held_from - interval '1 microsecond', $3::timestamptz[]) as began,
              coalesce(width_bucket(held_until - interval '1 microsecond', $3::timestamptz[]), cardinality($3::timestamptz[])) as ended
         from analytics.territory_hold
         join unnest($4::uuid[]) with ordinality guild(uuid, nth) on guild.uuid = guild_uuid
        where held_from < $2 and (held_until > $1 or held_until is null))
     select territory, count(*)::int as holds,
            string_agg(began || ' ' || ended || ' ' || nth - 1, ',') filter (where began < ended) as shown
       from hold group by territory`,
    [period.from, period.to, all, guilds],
  )
  const laid = rows.map(({ territory, shown }) => [territory, laidOf(shown, guilds)] as const)
  return {
    steps,
    moments,
    between: series * 1000,
    amounts: new Map(rows.map(({ territory, holds }) => [territory, holds])),
    over: (instants) => {
      const before = countBefore(all, instants)
      const over = ({ began, ended, guild }: Laid) => ({ began: before[began] ?? 0, ended: before[ended] ?? 0, guild })
      return new Map(
        laid.map(([territory, list]) => [territory, list.map(over).filter(({ began, ended }) => began < ended)]),
      )
    },
  }
}

/** Each once: the last moment may be the beginning of a step, too. */
function inOrder(instants: readonly Date[]): Date[] {
  const times = new Set(instants.map((at) => at.getTime()))
  return [...times].sort((a, b) => a - b).map((time) => new Date(time))
}

/** Sorted here: Postgres would sort on disk, since it expects few. */
function laidOf(shown: string | null, guilds: readonly string[]): Laid[] {
  const laid = (shown?.split(',') ?? []).map((hold) => {
    const [began = 0, ended = 0, guild = 0] = hold.split(' ').map(Number)
    return { began, ended, guild: guilds[guild] ?? '' }
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
