import type { Sql } from '../../db/database.ts'
import type { Telling } from '../privacy/privacy.ts'

/** An answer in time, ms since the epoch: the instant that it speaks for, and when it came by the clock of this machine. */
export interface Dated {
  readonly observedAt: number
  readonly receivedAt: number
}

const day = 86_400_000
/** Clocks of small machines may be behind, and that of a simulated API may be moved or fast; a year is wrong. ms. */
const far = 180 * day
/** Two that tell the same time do so within minutes; ms. */
const tolerance = 15 * 60_000

/**
 * Why an answer is not to be believed that speaks for a far future: taken, it would make all later ones stale. But it may
 * be this machine whose clock is behind. So an answer is believed that goes on at the pace of the last accepted one, or of
 * one that was refused for this before: then two say so.
 */
export function farAhead(answer: Dated, last: Dated | undefined, refused: Dated | undefined): string | undefined {
  const ahead = answer.observedAt - answer.receivedAt
  if (ahead <= far) return undefined
  if (last && strayed(last, answer) <= far) return undefined
  const isCopy = refused?.observedAt === answer.observedAt
  if (refused && !isCopy && Math.abs(strayed(refused, answer)) <= tolerance) return undefined
  const instant = new Date(answer.observedAt).toISOString()
  return `answer speaks for ${instant}, ${Math.round(ahead / day)} days ahead of this machine's clock; taken when another one says so too`
}

/** By how much more the one clock went on than the other between two answers, ms. */
function strayed(before: Dated, answer: Dated): number {
  return answer.observedAt - before.observedAt - (answer.receivedAt - before.receivedAt)
}

/** The objection of `farAhead` to an answer, if it has one. Asks the ledger only for what is far ahead. */
export async function objectionToClock(
  sql: Sql,
  resource: string,
  { extraction, receivedAt, scope }: Telling & Pick<Dated, 'receivedAt'>,
): Promise<string | undefined> {
  const answer = { observedAt: extraction.observedAt, receivedAt }
  if (farAhead(answer, undefined, undefined) === undefined) return undefined
  const accepted = await latest(sql, resource, scope, ['ok', 'unchanged', 'partial'])
  // What is wrong with the clock of the API is so whatever key is asked for.
  const refused = await latest(sql, resource, scope === undefined ? undefined : null, ['rejected'])
  return farAhead(answer, accepted, refused)
}

/** @param key of a worklist; null: any; undefined: the resource is asked for as a whole */
async function latest(
  sql: Sql,
  resource: string,
  key: string | null | undefined,
  statuses: readonly string[],
): Promise<Dated | undefined> {
  const [row] =
    key === undefined
      ? await sql.query<{ observed: Date; received: Date }>(
          `select observed_at as observed, finished_at as received from sync.run
            where resource = $1 and status = any($2::text[]) and observed_at is not null order by started_at desc limit 1`,
          [resource, statuses],
        )
      : await sql.query<{ observed: Date; received: Date }>(
          `select observed_at as observed, received_at as received from sync.observation
            where resource = $1 and status = any($2::text[]) and observed_at is not null and ($3::text is null or key = $3)
            order by received_at desc limit 1`,
          [resource, statuses, key],
        )
  return row && { observedAt: row.observed.getTime(), receivedAt: row.received.getTime() }
}
