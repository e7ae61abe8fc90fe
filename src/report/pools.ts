import * as Plot from '@observablehq/plot'
import type { Sql } from '../db/database.ts'
import { draw } from '../drawing/draw.ts'
import { type Figure, missing } from '../drawing/figure.ts'
import type { Frame } from '../drawing/frame.ts'
import { observedOf, type Period } from '../drawing/period.ts'
import { legendLine } from '../drawing/swatch.ts'
import { readWatched, timeAxis, unknownBands, type Watched } from '../drawing/time-axis.ts'
import { count, day, instant, length, number, percent, shortened } from '../drawing/words.ts'

const week = 7 * 86_400
const weeks = 8
/** Seconds that a step of the coverage behind the picture takes. */
const step = 86_400

/** g. What is in the loot pools, and which of it is rare. */
export async function poolsFigure(sql: Sql, { to }: Frame): Promise<Figure> {
  const seen = await observedOf(sql, 'loot-pools')
  if (!seen || seen.first >= to) return missing('pools', 'No loot pool was seen yet', 'wynnsync sync loot-pools')
  // What the last response showed holds for a day; after that it is not known.
  const ends = to.getTime() - seen.last.getTime() < step * 1000 ? to : seen.last
  const period = { from: new Date(to.getTime() - weeks * week * 1000), to }
  const begins = seen.first > period.from ? seen.first : period.from
  const rewards = await readPools(sql, { from: begins, to: ends })
  const drawn = rewards.filter(({ always }) => !always).slice(0, 14)
  const known = (ends.getTime() - begins.getTime()) / 1000
  const cells = await readWatched(sql, 'loot-pools', { from: begins, to: ends }, step)
  return {
    id: 'pools',
    title: titleOf(rewards, drawn[0], known),
    lead: `What the pools have at the end of the period, the rarest first: when it was in them within ${weeks} weeks. The pools were first seen ${instant(seen.first)}.`,
    legend: legendLine([
      { fill: 'var(--g4)', label: 'in the pool' },
      { fill: 'url(#unknown)', label: 'not known' },
    ]),
    picture: picture(drawn, {
      period,
      unknown: [
        { from: period.from, to: begins },
        { from: ends, to },
      ],
      cells,
    }),
    table: {
      columns: ['Reward', 'Tier', 'Type', 'Pool', 'Kind', 'Amount', 'Since (UTC)', 'Share of the time'],
      rows: rewards.map((one) => [
        `${one.reward}${one.isShiny ? ' (shiny)' : ''}`,
        one.tier ?? '',
        one.type.toLowerCase(),
        one.pool,
        one.kind.toLowerCase(),
        one.amount,
        one.since,
        shareOf(one, known),
      ]),
      note: 'A share counts from the first observation of the pools, at most eight weeks back; gaps count as what was seen before them.',
    },
  }
}

function titleOf(rewards: readonly PoolReward[], rarest: PoolReward | undefined, known: number): string {
  const pools = new Set(rewards.map(({ pool, kind }) => `${kind} ${pool}`)).size
  const all = `${count(pools, 'pool')} with ${count(rewards.length, 'reward')}`
  if (!rarest) return all
  const mythic = rewards.filter(({ tier }) => tier === 'MYTHIC').length
  // Before pools have changed, all of it seems to be as rare.
  if (known - secondsIn(rarest) < 3600) return `${all}, ${mythic === 0 ? 'none' : number(mythic)} of them mythic`
  return `${all}; the rarest is ${rarest.reward} in ${rarest.pool}, there ${shareOf(rarest, known)} of the last ${length(known)}`
}

function shareOf(reward: PoolReward, known: number): string {
  return percent(known > 0 ? secondsIn(reward) / known : null)
}

/** Midnights, so many weeks apart; none at an edge, where its label would be cut. */
function ticksOf({ from }: Period, apart: number): Date[] {
  const first = Math.ceil(from.getTime() / 86_400_000) * 86_400_000
  return Array.from({ length: weeks / apart - 1 }, (_, nth) => new Date(first + (nth + 1) * apart * week * 1000))
}

interface Seen {
  readonly period: Period
  readonly unknown: readonly Stay[]
  readonly cells: readonly Watched[]
}

function picture(rewards: readonly PoolReward[], { period, unknown, cells }: Seen) {
  return draw('When the rarest rewards were in their pools.', (sheet) => {
    const { isNarrow } = sheet
    const stays = rewards.flatMap((one, place) => one.stays.map((stay) => ({ ...stay, one, place })))
    const places = rewards.map((_, place) => place)
    return {
      height: rewards.length * (isNarrow ? 36 : 22) + 28,
      marginLeft: isNarrow ? 8 : 300,
      marginRight: isNarrow ? 8 : 16,
      marginTop: 2,
      x: { ...timeAxis(period, sheet), tickFormat: day, ticks: ticksOf(period, isNarrow ? 2 : 1) },
      y: { domain: places, axis: null },
      marks: [
        unknownBands(cells, step, period),
        Plot.rect(
          unknown.filter(({ from, to }) => to.getTime() - from.getTime() > 3_600_000),
          { x1: 'from', x2: 'to', fill: 'url(#unknown)', title: () => 'not known' },
        ),
        Plot.barX(stays, {
          x1: 'from',
          x2: 'to',
          y: 'place',
          fill: 'var(--g4)',
          insetTop: isNarrow ? 18 : 3,
          insetBottom: 3,
          title: ({ one, from, to }: (typeof stays)[number]) =>
            `${one.reward} in ${one.pool}: ${instant(from)} to ${instant(to)}`,
        }),
        Plot.text(rewards, {
          y: (_: PoolReward, place: number) => place,
          frameAnchor: 'left',
          text: ({ reward, pool }: PoolReward) => shortened(`${reward}, ${pool}`, isNarrow ? 46 : 44),
          textAnchor: isNarrow ? 'start' : 'end',
          dx: isNarrow ? 0 : -10,
          dy: isNarrow ? -9 : 0,
          fill: 'var(--ink)',
          ...(isNarrow && { stroke: 'var(--paper)', strokeWidth: 4 }),
        }),
      ],
    }
  })
}

/** A reward in a pool at the end of a period. */
interface PoolReward {
  readonly pool: string
  readonly kind: string
  readonly type: string
  readonly reward: string
  readonly tier: string | null
  readonly amount: number | null
  readonly isShiny: boolean | null
  /** Everybody gets it. */
  readonly always: boolean | null
  readonly since: Date
  /** When it was in the pool within the period, in order of time. */
  readonly stays: readonly Stay[]
}

/** A stretch of time without a gap. */
interface Stay {
  readonly from: Date
  readonly to: Date
}

const tiers = ['SET', 'FABLED', 'MYTHIC']

/** What is in the pools at the end of a period, the least often seen within it first, of these the higher tier. */
async function readPools(sql: Sql, { from, to }: Period): Promise<PoolReward[]> {
  const rows = await sql.query<PoolReward & { stays: readonly { from: string; to: string }[] }>(
    `select pool.pool, pool.kind, pool.reward_type as type, pool.reward, pool.tier, pool.amount, pool.shiny as "isShiny",
            pool.always, pool.since, stay.stays
       from analytics.loot_pool_at((select least($3::timestamptz, last_at, now()) from analytics.watch('loot-pools'))) pool
      cross join lateral (
        select coalesce(jsonb_agg(jsonb_build_object('from', greatest(span.since, $1), 'to', least(span.until, $2))
                                  order by span.since), '[]') as stays
          from analytics.reward_span span
         where span.level = 0 and span.pool = pool.pool and span.kind is not distinct from pool.kind
           and span.reward_type is not distinct from pool.reward_type and span.reward is not distinct from pool.reward
           and span.tier is not distinct from pool.tier and span.since < $2 and span.until > $1) stay
      where pool.reward is not null`,
    [from, to, new Date(to.getTime() - 1)],
  )
  return rows
    .map((row) => ({ ...row, stays: row.stays.map((stay) => ({ from: new Date(stay.from), to: new Date(stay.to) })) }))
    .sort(
      (a, b) =>
        secondsIn(a) - secondsIn(b) || rank(b) - rank(a) || (`${a.reward}${a.pool}` < `${b.reward}${b.pool}` ? -1 : 1),
    )
}

/** For how many seconds of the period it was in the pool. */
function secondsIn({ stays }: PoolReward): number {
  return stays.reduce((sum, { from, to }) => sum + to.getTime() - from.getTime(), 0) / 1000
}

function rank({ tier }: PoolReward): number {
  return tiers.indexOf(String(tier))
}
