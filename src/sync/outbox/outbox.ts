import type { Database } from '../../db/database.ts'

/**
 * Writes the changes `$2` (JSON texts) at `$3` and sends the payloads `$1`, in one statement. It belongs at the end of a
 * transaction: from it to the commit, no other transaction gets a number. So numbers have no gap, and none is committed
 * after a higher one.
 */
export const publish = `with head as (
       insert into sync.outbox_head as head (id, last) values (0, cardinality($2::text[]))
           on conflict (id) do update set last = head.last + excluded.last returning last),
     written as (
       insert into sync.outbox (number, at, change)
       select head.last - cardinality($2::text[]) + one.position, $3::timestamptz, one.change::jsonb
         from head, unnest($2::text[]) with ordinality as one(change, position))
select pg_notify('wynnsync', payload) from unnest($1::text[]) as notification(payload)`

/** How long a change is kept, ms. */
const kept = 86_400_000

/**
 * Removes changes older than a day, the lowest numbers first and never one in between; returns how many. One whose clock was
 * days ahead counts as old.
 */
export async function pruneOutbox(db: Database, now: Date): Promise<number> {
  const [from, to] = [new Date(now.getTime() - kept), new Date(now.getTime() + kept)]
  const [row] = await db.query<{ removed: number }>(
    `with gone as (delete from sync.outbox where number < coalesce(
                     (select min(number) from sync.outbox where at between $1 and $2), 9223372036854775807) returning 1)
     select count(*)::int as removed from gone`,
    [from, to],
  )
  return row?.removed ?? 0
}
