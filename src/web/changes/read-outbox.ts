import type { Clock } from '../../base/clock.ts'
import type { Reader } from '../reading.ts'

/** One numbered change; `change` as it was written. */
export interface NumberedChange {
  readonly number: number
  readonly at: Date
  readonly change: Readonly<Record<string, unknown>>
}

/** The numbers that can be read; `first` is above `last` when there is none. */
interface Numbers {
  readonly first: number
  readonly last: number
}

/** Changes of one read. */
const batch = 500

/** The first and the last number. */
export async function readNumbers(reader: Reader): Promise<Numbers> {
  const [row] = await reader.read((sql) =>
    sql.query<Numbers>(
      `select coalesce((select min(number) from sync.outbox), head.last + 1) as first, head.last
         from (select coalesce(max(last), 0) as last from sync.outbox_head) head`,
    ),
  )
  return row ?? { first: 1, last: 0 }
}

/** Changes above a number, in order; not all when there are many. */
export async function readAfter(reader: Reader, after: number): Promise<NumberedChange[]> {
  return await reader.read((sql) =>
    sql.query<NumberedChange>(
      `select number, at, change from sync.outbox where number > $1 order by number limit ${batch}`,
      [after],
    ),
  )
}

/**
 * `readAfter` for many who follow: those who ask for the same within a second share one read, as all do who have seen the last
 * number. One read is kept.
 */
export function createSharedRead(reader: Reader, clock: Clock): (after: number) => Promise<NumberedChange[]> {
  let kept: { readonly after: number; readonly at: number; readonly changes: Promise<NumberedChange[]> } | undefined
  return (after) => {
    const at = clock.now()
    if (kept?.after !== after || Math.abs(at - kept.at) >= 900) kept = { after, at, changes: readAfter(reader, after) }
    return kept.changes
  }
}

/** The change as one document: the same text whenever it is asked for. */
export function changeText({ number, at, change }: NumberedChange): string {
  return JSON.stringify({ number, writtenAt: at.toISOString(), ...change })
}
