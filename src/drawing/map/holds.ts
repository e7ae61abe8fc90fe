import type { Sql } from '../../db/database.ts'
import { expectedEvery } from '../frame.ts'
import { type Period, stepOf, stepsOf } from '../period.ts'
import { seriesStep } from '../time-axis.ts'

/**
 * Called for a hold that some instants show.
 * @param began the place of the first one
 * @param ended the place after the last one
 * @param guild its uuid
 */
export type VisitHold = (began: number, ended: number, guild: string) => void

/** Visits the holds of a territory, in order. */
export type VisitHolds = (territory: string, visit: VisitHold) => void

export interface Holds {
  /** Every guild that a step shows, with its latest name then, in the order of what it held on average. */
  readonly guilds: readonly Holder[]
  /** The instants of the map: about 170 steps, and the last moment. */
  readonly steps: readonly Date[]
  /** The instants of series: fewer steps, in each of which an observation is expected, and the last moment. */
  readonly moments: readonly Date[]
  /** From one of those to the next but the last, ms. */
  readonly between: number
  /** How many holds each territory had in the period. */
  readonly amounts: ReadonlyMap<string, number>
  /** The holds that one of `instants` shows; these are `steps` or `moments`. */
  over(instants: readonly Date[]): VisitHolds
}

/** A guild with its latest name in a period. */
export interface Holder {
  readonly uuid: string
  readonly name: string
  readonly prefix: string
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
  const known = await readHolders(sql, period.to)
  // An instant shows what began at it or before: after it is a microsecond later. Postgres would take longer to compute that for each hold.
  const after = all.map((at) => at.toISOString().replace('Z', '001Z'))
  const middle = new Date((period.from.getTime() + period.to.getTime()) / 2)
  const given = [after, known.map(({ uuid }) => uuid)]
  // Two sessions share the work where there are two.
  const rows = (
    await Promise.all([
      sql.query<Row>(laidStatement, [period.from, middle, ...given, null, period.from, period.to]),
      sql.query<Row>(laidStatement, [middle, period.to, ...given, middle, period.from, period.to]),
    ])
  ).flat()
  const laid = new Map<string, Float64Array[]>()
  const amounts = new Map<string, number>()
  for (const { territory, shown, holds } of rows) {
    const [before] = laid.get(territory) ?? []
    const numbers = numbersOf(shown)
    if (before) endWith(before, numbers)
    laid.set(territory, before ? [before, numbers] : [numbers])
    amounts.set(territory, (amounts.get(territory) ?? 0) + holds)
  }
  const over = (instants: readonly Date[]): VisitHolds => {
    const before = countBefore(all, instants)
    return (territory, visit) => {
      for (const numbers of laid.get(territory) ?? [])
        for (const number of numbers) {
          const guild = number % GUILD_FACTOR
          const span = (number - guild) / GUILD_FACTOR
          const began = before[Math.floor(span / INSTANT_FACTOR)] ?? 0
          const ended = before[span % INSTANT_FACTOR] ?? 0
          if (began < ended) visit(began, ended, known[guild - 1]?.uuid ?? '')
        }
    }
  }
  return {
    steps,
    moments,
    between: series * 1000,
    guilds: biggestFirst(known, laid.keys(), over(steps)),
    amounts,
    over,
  }
}

/** Guilds that a step shows, in the order of what they held at all of them. */
function biggestFirst(known: readonly Holder[], territories: Iterable<string>, visitHolds: VisitHolds): Holder[] {
  const sizes = new Map<string, number>()
  const add: VisitHold = (began, ended, guild) => sizes.set(guild, (sizes.get(guild) ?? 0) + ended - began)
  for (const territory of territories) visitHolds(territory, add)
  const size = ({ uuid }: Holder) => sizes.get(uuid) ?? 0
  return known
    .filter((guild) => size(guild) > 0)
    .sort((one, other) => size(other) - size(one) || (one.name < other.name ? -1 : 1))
}

/** Every guild that held something before an instant, with its latest name then, in the order of uuids. */
export async function readHolders(sql: Sql, before: Date): Promise<Holder[]> {
  return await sql.query<Holder>(
    `select holder.guild_uuid::text as uuid, last.guild_name as name, coalesce(last.guild_prefix, last.guild_name) as prefix
       from analytics.territory_holder holder
      cross join lateral (select guild_name, guild_prefix from analytics.territory_hold own
                           where own.guild_uuid = holder.guild_uuid and own.held_from < $1
                           order by own.held_from desc, own.held_until desc limit 1) last
      order by holder.guild_uuid`,
    [before],
  )
}

/** More than there are instants, and than there are guilds. */
const INSTANT_FACTOR = 1_000
const GUILD_FACTOR = 1_000_000

const COMMA = 44
const ZERO = 48

/**
 * SQL: the times between two instants in which it was not observed who held territories. What was last seen is shown to the end of its
 * minute, which is where periods end.
 */
const gaps = (from: string, to: string): string => `(
      select case when part.ends = 'infinity' then date_trunc('minute', part.begins, 'UTC') + interval '1 minute' else part.begins end as begins, part.ends
        from analytics.territory_gaps(${from}, ${to}) gap cross join lateral unnest(gap.begins, gap.ends) as part(begins, ends))`

/**
 * SQL: every hold that lasted at some instant between two. Of a place whose record could not be read until another holder was shown, or cannot
 * be, it is known that it was held until then. Of each place the spans are in order, so that one is found by halves; what two databases had may
 * lie within another one, which then says it.
 */
const held = (from: string, to: string): string => `(
      select hold.territory, hold.guild_uuid, hold.held_from,
             least(hold.held_until, unread.begins[width_bucket(hold.held_until, unread.over) + 1]) as held_until
        from analytics.territory_held_between(${from}, ${to}) hold
        left join (select key, array_agg(from_at order by from_at) as begins,
                          coalesce(array_agg(until_at + interval '1 microsecond' order by from_at) filter (where until_at < 'infinity'), '{}') as over
                     from (select key, from_at, until_at, max(until_at) over (partition by key order by from_at
                                                                              rows between unbounded preceding and 1 preceding) as before
                             from (select key, from_at, coalesce(until_at, 'infinity') as until_at
                                     from sync.unread where resource = 'territories/holds') each) span
                    where until_at > before or before is null group by key) unread on unread.key = hold.territory)`

/** Pieces of SQL about a period, of its parameters. */
export const mapSql = { gaps, held }

/**
 * What an instant shows of each territory: began, ended and the place of the guild in $4, as the digits of one number. A guild is
 * found by halves in $4, which is in order: a join would compare each hold with each guild. Three texts would take twice the time,
 * and so would rows in the order of their names. Holds that began before $5 are left out. Of what ended in a gap is known that it lasted until
 * that began, as `map_at` says it.
 */
const laidStatement = `
  with gap as materialized (
    select array_agg(begins order by begins) as begins, array_agg(ends order by begins) as ends from ${gaps('$6', '$7')} each)
  select territory, count(*)::int as holds,
         array_to_string(array_agg((began::bigint * ${INSTANT_FACTOR} + ended) * ${GUILD_FACTOR} + width_bucket(guild_uuid, $4::uuid[]))
                           filter (where began < ended), ',') as shown
    from (select territory, guild_uuid, width_bucket(held_from, $3::timestamptz[]) as began,
                 width_bucket(least(held_until, analytics.territory_unknown_from(held_until, gap.begins, gap.ends)), $3::timestamptz[]) as ended
            from ${held('$1', '$2')} known cross join gap where held_from >= coalesce($5::timestamptz, '-infinity')) hold
   group by territory`

/** In the order of time; sorted here, since Postgres would sort on disk: it expects few. `split` would make a text of each. */
function numbersOf(shown: string | null): Float64Array {
  if (shown === null) return new Float64Array()
  const numbers: number[] = []
  let number = 0
  for (let at = 0; at < shown.length; at++) {
    const code = shown.charCodeAt(at)
    if (code !== COMMA) number = number * 10 + code - ZERO
    else {
      numbers.push(number)
      number = 0
    }
  }
  numbers.push(number)
  return Float64Array.from(numbers).sort()
}

/** Each once: the last moment may be the beginning of a step, too. */
function inOrder(instants: readonly Date[]): Date[] {
  const times = new Set(instants.map((at) => at.getTime()))
  return [...times].sort((a, b) => a - b).map((time) => new Date(time))
}

/** Ends the last hold where the first one of the other half begins: a response between the two statements may have ended it. */
function endWith(before: Float64Array, next: Float64Array): void {
  const last = before.at(-1)
  const first = next[0]
  if (last === undefined || first === undefined) return
  const span = Math.floor(last / GUILD_FACTOR)
  const began = Math.floor(first / GUILD_FACTOR / INSTANT_FACTOR)
  if (span % INSTANT_FACTOR > began) before[before.length - 1] = last - ((span % INSTANT_FACTOR) - began) * GUILD_FACTOR
}

/** How many of `instants` are before each place in `all`, and before its end. */
function countBefore(all: readonly Date[], instants: readonly Date[]): number[] {
  const wanted = new Set(instants.map((at) => at.getTime()))
  const before = [0]
  for (const at of all) before.push((before.at(-1) ?? 0) + (wanted.has(at.getTime()) ? 1 : 0))
  return before
}
