import type { Database } from '../../../../src/db/database.ts'
import type { ResponseTime } from './delivered-facts.ts'

/** A resource that is polled all the time. */
export interface PolledResource {
  readonly resource: string
  readonly path: string
  readonly everySeconds: number
}

export const polledResources: readonly PolledResource[] = [
  { resource: 'territories', path: '/guild/list/territory', everySeconds: 10 },
  { resource: 'online-players', path: '/player', everySeconds: 30 },
]

interface Span {
  readonly from: number
  readonly to: number
}

/** The longest time between two polls without a gap, ms: half an interval late, copies as old as one lives, whole seconds in headers. */
const longestPause = ({ everySeconds }: PolledResource) => 2.5 * everySeconds * 1000 + 6000

/** Intervals for which no delivered response speaks, and which no row of sync.gap covers: seconds that pass for observed. */
export async function missingGaps(
  db: Database,
  one: PolledResource,
  responses: readonly ResponseTime[],
): Promise<unknown[]> {
  const { first, last } = await acceptedRuns(db, one)
  const instants = observedInstants(responses).filter((at) => at >= first && at <= last)
  const gaps = await gapsOf(db, one)
  return instants.flatMap((at, nth) => {
    const before = instants[nth - 1] ?? first
    if (at - before <= longestPause(one)) return []
    const unobserved = { from: before + longestPause(one), to: at - 1000 }
    return uncovered(unobserved, gaps).map(shown)
  })
}

/** Intervals without an accepted run that no row of sync.gap covers. */
export async function pausesWithoutGap(db: Database, one: PolledResource): Promise<unknown[]> {
  const { runs } = await acceptedRuns(db, one)
  const gaps = await gapsOf(db, one)
  return runs.flatMap((at, nth) => {
    const before = runs[nth - 1]
    if (before === undefined || at - before <= longestPause(one)) return []
    return uncovered({ from: before + longestPause(one), to: at - 1000 }, gaps).map(shown)
  })
}

/** The totals of `analytics.coverage` over two days, and the same from the ledger and the delivered responses. */
export async function coverageTotals(db: Database, one: PolledResource, responses: readonly ResponseTime[]) {
  const { resource, everySeconds } = one
  const { runs, first, last } = await acceptedRuns(db, one)
  const begins = Math.floor(first / HOUR) * HOUR
  const ends = begins + 48 * HOUR
  const [sum] = await db.query<Record<'expected' | 'observed' | 'missed', number>>(
    `select sum(expected)::int as expected, sum(observed)::int as observed, sum(missed)::int as missed
       from analytics.coverage($1, $2, $3)`,
    [resource, new Date(begins), new Date(ends)],
  )
  const [gaps] = await db.query<{ missed: number }>(
    'select coalesce(sum(missed), 0)::int as missed from sync.gap where resource = $1',
    [resource],
  )
  const delivered = observedInstants(responses).filter((at) => at >= first && at <= last)
  const pauses = delivered.map((at, nth) => at - (delivered[nth - 1] ?? first))
  return {
    sum,
    /** Responses that were accepted. */
    accepted: runs.length,
    /** Intervals in these days, from the first response on. */
    intervals: Math.round((ends - first) / 1000 / everySeconds),
    /** By the gaps, and by the time since the last response. */
    missed: (gaps?.missed ?? 0) + Math.floor((ends - last) / 1000 / everySeconds),
    inGaps: gaps?.missed ?? 0,
    /** Polls for which no response was delivered. */
    undelivered: pauses
      .filter((pause) => pause > longestPause(one))
      .reduce((total, pause) => total + Math.floor((pause - longestPause(one)) / 1000 / everySeconds), 0),
  }
}

const HOUR = 3_600_000

/** The instants that responses speak for, in order. A copy that is served again says that nothing is newer. */
function observedInstants(responses: readonly ResponseTime[]): number[] {
  const firstAt = new Map<number, number>()
  const instants = responses.map(({ observedAt, at }) => {
    const first = firstAt.get(observedAt) ?? at
    firstAt.set(observedAt, first)
    return observedAt + at - first
  })
  return instants.sort((a, b) => a - b)
}

async function acceptedRuns(db: Database, { resource }: PolledResource) {
  const rows = await db.query<{ observedAt: Date; at: Date }>(
    `select observed_at as "observedAt", finished_at as at from sync.run
      where resource = $1 and status in ('ok', 'unchanged', 'partial') order by finished_at`,
    [resource],
  )
  const runs = observedInstants(
    rows.map(({ observedAt, at }) => ({ observedAt: observedAt.getTime(), at: at.getTime() })),
  )
  return { runs, first: runs[0] ?? 0, last: runs.at(-1) ?? 0 }
}

async function gapsOf(db: Database, { resource }: PolledResource): Promise<Span[]> {
  const rows = await db.query<{ from: Date; to: Date }>(
    'select began_at as from, ended_at as to from sync.gap where resource = $1 order by began_at',
    [resource],
  )
  return rows.map(({ from, to }) => ({ from: from.getTime(), to: to.getTime() }))
}

function uncovered({ from, to }: Span, gaps: readonly Span[]): Span[] {
  const left: Span[] = []
  let at = from
  for (const gap of gaps) {
    if (gap.to <= at || gap.from >= to) continue
    if (gap.from > at) left.push({ from: at, to: gap.from })
    at = Math.max(at, gap.to)
  }
  if (at < to) left.push({ from: at, to })
  return left
}

function shown({ from, to }: Span): string {
  return `${new Date(from).toISOString()} ${Math.round((to - from) / 1000)} s`
}
