import type { Sql } from '../../../db/database.ts'
import type { Period } from '../period.ts'

/** A reward in a pool at the end of a period. */
export interface PoolReward {
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
export interface Stay {
  readonly from: Date
  readonly to: Date
}

const tiers = ['SET', 'FABLED', 'MYTHIC']

/** What is in the pools at the end of a period, the least often seen within it first, of these the higher tier. */
export async function readPools(sql: Sql, { from, to }: Period): Promise<PoolReward[]> {
  const rows = await sql.query<PoolReward & { stays: readonly { from: string; to: string }[] }>(
    `select pool.pool, pool.kind, pool.reward_type as type, pool.reward, pool.tier, pool.amount, pool.shiny as "isShiny",
            pool.always, pool.since, stay.stays
       from analytics.loot_pool_at($3) pool
      cross join lateral (
        select coalesce(jsonb_agg(jsonb_build_object('from', greatest(span.since, $1), 'to', least(span.until, $2))
                                  order by span.since), '[]') as stays
          from analytics.reward_span span
         where span.level = 0 and span.pool = pool.pool and span.kind is not distinct from pool.kind
           and span.reward_type is not distinct from pool.reward_type and span.reward is not distinct from pool.reward
           and span.tier is not distinct from pool.tier and span.since < $2 and span.until > $1) stay`,
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
export function secondsIn({ stays }: PoolReward): number {
  return stays.reduce((sum, { from, to }) => sum + to.getTime() - from.getTime(), 0) / 1000
}

function rank({ tier }: PoolReward): number {
  return tiers.indexOf(String(tier))
}
