import type { Database } from '../../../src/db/database.ts'
import type { Claim } from './witness.ts'

/** A resource that is asked for all the time. Seconds. */
export interface Live {
  readonly resource: string
  readonly path: string
  readonly everySeconds: number
}

export const live: readonly Live[] = [
  { resource: 'territories', path: '/guild/list/territory', everySeconds: 10 },
  { resource: 'online-players', path: '/player', everySeconds: 30 },
]

interface Span {
  readonly from: number
  readonly to: number
}

/** An answer is on time until half its time has passed again; copies may be as old as one lives, and headers count seconds. */
const onTime = ({ everySeconds }: Live) => 2.5 * everySeconds * 1000 + 6000

/**
 * Stretches of the time that a resource was watched in which no answer that claims to speak for then was delivered, and of
 * which no gap tells: seconds that pass for observed.
 */
export async function untoldBlindTimes(db: Database, one: Live, claims: readonly Claim[]): Promise<unknown[]> {
  const { first, last } = await watched(db, one)
  const instants = spokenFor(claims).filter((at) => at >= first && at <= last)
  const gaps = await gapsOf(db, one)
  return instants.flatMap((at, nth) => {
    const before = instants[nth - 1] ?? first
    if (at - before <= onTime(one)) return []
    const blind = { from: before + onTime(one), to: at - 1000 }
    return uncovered(blind, gaps).map(shown)
  })
}

/** Stretches that pass for observed, or for a gap, although the ledger of accepted answers says otherwise. */
export async function unledgered(db: Database, one: Live): Promise<unknown[]> {
  const { runs } = await watched(db, one)
  const gaps = await gapsOf(db, one)
  return runs.flatMap((at, nth) => {
    const before = runs[nth - 1]
    if (before === undefined || at - before <= onTime(one)) return []
    return uncovered({ from: before + onTime(one), to: at - 1000 }, gaps).map(shown)
  })
}

/** What `analytics.coverage` says of some days, added up, beside what the ledger and the delivered answers come to. */
export async function coverageSums(db: Database, one: Live, claims: readonly Claim[]) {
  const { resource, everySeconds } = one
  const { runs, first, last } = await watched(db, one)
  const begins = Math.floor(first / HOUR) * HOUR
  const ends = begins + 48 * HOUR
  const [sum] = await db.query<Record<'expected' | 'observed' | 'missed', number>>(
    `select sum(expected)::int as expected, sum(observed)::int as observed, sum(missed)::int as missed
       from analytics.coverage($1, $2, $3)`,
    [resource, new Date(begins), new Date(ends)],
  )
  const [told] = await db.query<{ missed: number }>(
    'select coalesce(sum(missed), 0)::int as missed from sync.gap where resource = $1',
    [resource],
  )
  const delivered = spokenFor(claims).filter((at) => at >= first && at <= last)
  const pauses = delivered.map((at, nth) => at - (delivered[nth - 1] ?? first))
  return {
    sum,
    /** Of answers that were accepted. */
    accepted: runs.length,
    /** Periods in these days, from the first answer on. */
    periods: Math.round((ends - begins) / 1000 / everySeconds),
    /** By the gaps, and by the time since the last answer. */
    missed: (told?.missed ?? 0) + Math.floor((ends - last) / 1000 / everySeconds),
    gaps: told?.missed ?? 0,
    /** What nobody could have: no answer was delivered. */
    undelivered: pauses
      .filter((pause) => pause > onTime(one))
      .reduce((total, pause) => total + Math.floor((pause - onTime(one)) / 1000 / everySeconds), 0),
  }
}

const HOUR = 3_600_000

/** The instants that answers speak for, in order. A copy that is handed out again says that nothing is newer. */
function spokenFor(claims: readonly Claim[]): number[] {
  const firstAt = new Map<number, number>()
  const instants = claims.map(({ claimed, at }) => {
    const first = firstAt.get(claimed) ?? at
    firstAt.set(claimed, first)
    return claimed + at - first
  })
  return instants.sort((a, b) => a - b)
}

async function watched(db: Database, { resource }: Live) {
  const rows = await db.query<{ claimed: Date; at: Date }>(
    `select observed_at as claimed, finished_at as at from sync.run
      where resource = $1 and status in ('ok', 'unchanged', 'partial') order by finished_at`,
    [resource],
  )
  const runs = spokenFor(rows.map(({ claimed, at }) => ({ claimed: claimed.getTime(), at: at.getTime() })))
  return { runs, first: runs[0] ?? 0, last: runs.at(-1) ?? 0 }
}

async function gapsOf(db: Database, { resource }: Live): Promise<Span[]> {
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
