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
  /** Finds the holds of a territory that one of `instants` shows, in order; these are `steps` or `moments`. */
  over(instants: readonly Date[]): (territory: string) => Iterable<Laid>
}

interface Guild {
  readonly uuid: string
  readonly name: string
  readonly prefix: string | null
}

interface Row {
  readonly territory: string
  readonly holds: number
  /** Those that an instant shows, as whole numbers with commas between them: see `laidStatement`. */
  readonly shown: string | null
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
  const guilds = await sql.query<Guild>(guildStatement, [period.from, period.to])
  const uuids = guilds.map(({ uuid }) => uuid)
  // An instant shows what began at it or before: after it is a microsecond later. Postgres would take longer to compute that for each hold.
  const after = all.map((at) => at.toISOString().replace('Z', '001Z'))
  const rows = await sql.query<Row>(laidStatement, [period.from, period.to, after, uuids])
  const laid = new Map(rows.map(({ territory, shown }) => [territory, numbersOf(shown)]))
  return {
    steps,
    moments,
    between: series * 1000,
    guilds: guilds.map(({ uuid, name, prefix }) => ({ uuid, name, prefix: prefix ?? name })),
    amounts: new Map(rows.map(({ territory, holds }) => [territory, holds])),
    over: (instants) => {
      const before = countBefore(all, instants)
      return function* (territory) {
        for (const number of laid.get(territory) ?? []) {
          const guild = number % GUILDS
          const span = (number - guild) / GUILDS
          const began = before[Math.floor(span / INSTANTS)] ?? 0
          const ended = before[span % INSTANTS] ?? 0
          if (began < ended) yield { began, ended, guild: uuids[guild - 1] ?? '' }
        }
      }
    },
  }
}

const guildStatement = `
  select sum.guild_uuid::text as uuid, last.guild_name as name, last.guild_prefix as prefix
    from (select guild_uuid, sum(least(held_until, $2::timestamptz) - greatest(held_from, $1::timestamptz)) as held
            from analytics.territory_held_between($1, $2) group by guild_uuid) sum
   cross join lateral (select guild_name, guild_prefix from analytics.territory_hold own
                        where own.guild_uuid = sum.guild_uuid and own.held_from < $2
                        order by own.held_from desc, own.held_until desc limit 1) last
   order by sum.held desc, last.guild_name`

/** More than there are instants, and than there are guilds. */
const [INSTANTS, GUILDS] = [1_000, 1_000_000]

/**
 * What an instant shows of each territory: began, ended and the place of the guild in $4, as the digits of one number. A guild is
 * found by its place: a join would compare each hold with each guild. Three texts would take twice the time.
 */
const laidStatement = `
  select territory, count(*)::int as holds,
         array_to_string(array_agg((began::bigint * ${INSTANTS} + ended) * ${GUILDS} + array_position($4::uuid[], guild_uuid))
                           filter (where began < ended), ',') as shown
    from (select territory, guild_uuid, width_bucket(held_from, $3::timestamptz[]) as began, width_bucket(held_until, $3::timestamptz[]) as ended
            from analytics.territory_held_between($1, $2)) hold
   group by territory order by territory`

/** In the order of time; sorted here, since Postgres would sort on disk: it expects few. */
function numbersOf(shown: string | null): Float64Array {
  return Float64Array.from(shown?.split(',') ?? [], Number).sort()
}

/** Each once: the last moment may be the beginning of a step, too. */
function inOrder(instants: readonly Date[]): Date[] {
  const times = new Set(instants.map((at) => at.getTime()))
  return [...times].sort((a, b) => a - b).map((time) => new Date(time))
}

/** How many of `instants` are before each place in `all`, and before its end. */
function countBefore(all: readonly Date[], instants: readonly Date[]): number[] {
  const wanted = new Set(instants.map((at) => at.getTime()))
  const before = [0]
  for (const at of all) before.push((before.at(-1) ?? 0) + (wanted.has(at.getTime()) ? 1 : 0))
  return before
}
