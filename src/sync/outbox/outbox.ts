import { sql as text } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { together } from '../../db/typed.ts'

/**
 * Writes changes (JSON texts) and sends payloads, in one statement. It belongs at the end of a transaction: from it to the commit, no
 * other transaction gets a number. So numbers have no gap, and none is committed after a higher one.
 */
export function publishing(payloads: readonly string[], changes: readonly string[], at: Date) {
  const all = text`${text.param(changes)}::text[]`
  const parts = {
    head: text`insert into sync.outbox_head as head (id, last) values (0, cardinality(${all}))
               on conflict (id) do update set last = head.last + excluded.last returning last`,
    changes: text`insert into sync.outbox (number, at, change)
       select head.last - cardinality(${all}) + one.position, ${at}::timestamptz, one.change::jsonb
         from head, unnest(${all}) with ordinality as one(change, position)`,
  }
  return {
    parts,
    send: text`select pg_notify('wynnsync', payload) from unnest(${text.param(payloads)}::text[]) as notification(payload)`,
  }
}

/** Writes changes in a transaction of their own, and sends nothing. */
export async function publishChanges(db: Database, changes: readonly string[], at: Date): Promise<void> {
  const { parts, send } = publishing([], changes, at)
  await together(db, parts, send)
}

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
