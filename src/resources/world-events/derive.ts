import type { Sql } from '../../db/database.ts'
import type { Answered } from '../../sync/resource.ts'

/**
 * Writes down which events a response announced, and for when. Returns how many occurrences are new. A date of another year is no
 * announcement: events come round within hours or days, and what is written down stays.
 */
export async function deriveOccurrences(sql: Sql, { at, recordFacts }: Answered): Promise<number> {
  const announced = [...recordFacts].filter(([, schedule]) => typeof schedule === 'string')
  const added = await sql.query(
    `insert into game.world_event_occurrence (internal_name, starts_at, announced_at)
     select internal_name, starts_at, $3 from unnest($1::text[], $2::timestamptz[]) as sent(internal_name, starts_at)
      where starts_at between $3::timestamptz - interval '31 days' and $3::timestamptz + interval '366 days'
     on conflict (internal_name, starts_at) do nothing
     returning 1`,
    [announced.map(([name]) => name), announced.map(([, schedule]) => schedule), at],
  )
  return added.length
}

/** Removes what was first announced after an instant. */
export async function giveUpOccurrences(sql: Sql, after: Date): Promise<void> {
  await sql.query('delete from game.world_event_occurrence where announced_at > $1', [after])
}
