import type { Sql } from '../../db/database.ts'
import type { ResourceBase } from '../declare/resource.ts'
import { accepted } from '../sql/accepted.ts'
import { iso, type ReceivedResponse } from './validate-snapshot.ts'

/** A response in time, ms since the epoch: the instant that it speaks for, and when it came by the clock of this machine. */
export interface Dated {
  readonly observedAt: number
  readonly receivedAt: number
}

/** An earlier response of a resource, of any key. */
export interface Point extends Dated {
  readonly accepted: boolean
}

/** Whether the clocks agree with a response. */
export type ClockVerdict =
  | { readonly kind: 'fine' }
  | { readonly kind: 'rejected'; readonly reason: string }
  /** It contradicts the stored instant, and no other response agrees with it yet. */
  | { readonly kind: 'contradicts'; readonly reason: string }
  | { readonly kind: 'agreed'; readonly reason: string }
  /** What speaks for instants after `after` (ms since the epoch) is given up. */
  | { readonly kind: 'give-up'; readonly after: number; readonly reason: string }

/** The game began in 2013: nothing speaks for an earlier instant. */
export const earliest = Date.UTC(2013, 0, 1)

const hour = 3_600_000
/** Two clocks that tell the same time do so within minutes, ms. */
const tolerance = 15 * 60_000
/** By so much a response may be ahead of the last one beyond its pace; a sandbox may be moved by hand. ms. */
const jump = 36 * hour
/** So many responses with one wrong clock are given up with all that they showed. */
const few = 2

const fine: ClockVerdict = { kind: 'fine' }

/**
 * Whether the clocks agree with a response, before its age is judged: its own `Date` header, this machine's clock, and the pace
 * of the responses before it. Reads the ledger only where something does not fit.
 */
export async function judgeClock(sql: Sql, resource: ResourceBase, incoming: ReceivedResponse): Promise<ClockVerdict> {
  const { extraction, last, guards } = incoming
  const { observedFrom, observedAt, clockError } = extraction
  const response: Dated = { observedAt, receivedAt: incoming.receivedAt }
  const accept = guards.accept ?? false
  if (observedFrom < earliest)
    return { kind: 'rejected', reason: `response speaks for ${iso(observedFrom)}, before the game began` }
  const isOlder = last !== undefined && observedFrom < last.observedAt
  if (clockError !== undefined)
    return isOlder || accept || last?.observedAt === observedAt ? fine : { kind: 'rejected', reason: clockError }
  const lifetime = 1000 * resource.cacheSeconds
  const slack = tolerance + lifetime
  if (isOlder) {
    // Anything else is an older copy, and its resource goes on as soon as a newer one comes.
    if (last.observedAt - observedAt <= slack) return fine
  } else if (agrees(response, slack) && !(last && observedAt - last.observedAt > jump)) return fine
  const trail = await readTrail(sql, resource.name, incoming)
  // Of many keys, two responses may be copies of one moment.
  const apart = incoming.scope === undefined ? 1 : lifetime
  const known = { trail, slack, apart, accept }
  if (!isOlder && !agrees(response, slack)) return judgeJump(response, known)
  const stored = last && (await readStored(sql, resource.name, incoming, { at: last.observedAt, slack }))
  return stored ? judgeStored(response, { ...known, stored }) : fine
}

interface Known {
  /** Newest first. */
  readonly trail: readonly Point[]
  /** How far two clocks that tell the same time may be apart, ms. */
  readonly slack: number
  /** How far two responses of different cache windows are apart at least, ms. */
  readonly apart: number
  readonly accept: boolean
}

/** Of a response that is newer than the last one, and does not agree with this machine's clock. */
export function judgeJump(response: Dated, { trail, slack, apart, accept }: Known): ClockVerdict {
  const before = trail.find((point) => point.accepted)
  const paced = { trail: trail.filter((point) => point.accepted), slack }
  if (!before || accept || ahead(before, response) <= jump || goesOn(before, response, paced)) return fine
  const previous = trail.find((point) => point.accepted && before.observedAt - point.observedAt >= apart)
  const isSteady = previous !== undefined && goesOn(previous, before, { trail: [], slack })
  // In the machine's past, and without a pace to compare with: a sandbox that is moved from moment to moment.
  if (response.observedAt - response.receivedAt <= jump && !isSteady) return fine
  const pending = trail.slice(0, trail.indexOf(before))
  const second = pending.find((point) => isApart(point, response, apart) && goesOn(point, response, { trail, slack }))
  const days = Math.round(ahead(before, response) / (24 * hour))
  const what = `response speaks for ${iso(response.observedAt)}, ${days} days ahead of the pace of the last one`
  if (second) return { kind: 'agreed', reason: `${what}; accepted, because a second one agrees` }
  return { kind: 'rejected', reason: `${what}; accepted when a second one agrees` }
}

/** The stored instant, and what the ledger has of accepted responses. */
export interface Stored extends Dated {
  /** How many there are; a few are enough. */
  readonly accepted: number
  /** The earliest instant that one of them speaks for, ms since the epoch. */
  readonly since: number
  /** Whether this machine's clock agreed with one of them: then not all that is stored is wrong. */
  readonly hasAgreed: boolean
}

/** Of a response that is far from the stored instant: whether that is given up. */
export function judgeStored(response: Dated, known: Known & { readonly stored: Stored }): ClockVerdict {
  const { stored, trail, slack, apart, accept } = known
  const isWrong = agrees(stored, slack) ? isInFuture(stored, response, slack) : contradicts(stored, response, known)
  if (!isWrong) return fine
  const second = trail.find(
    (point) =>
      isApart(point, response, apart) &&
      goesOn(point, response, { trail: [], slack }) &&
      // One that was accepted before the stored instant agrees, too, where this machine's clock does.
      (contradicts(stored, point, known) || (point.accepted && isInFuture(stored, response, slack))),
  )
  const reason = `the stored instant ${iso(stored.observedAt)} is contradicted by ${iso(response.observedAt)}`
  // Of a clock that was behind, what the responses of the ledger showed: what is older than the ledger is not theirs.
  const after = stored.observedAt > response.observedAt ? response.observedAt : stored.since - 1
  if (accept) return { kind: 'give-up', after, reason: `${reason}; given up, because a person accepts it` }
  if (second) return { kind: 'give-up', after, reason: `${reason} and another response; given up` }
  return { kind: 'contradicts', reason: `${reason}; given up when another response agrees` }
}

/** Whether a stored instant lies in the future of a response that agrees with this machine's clock. */
function isInFuture(stored: Dated, response: Dated, slack: number): boolean {
  const isLater = response.receivedAt >= stored.receivedAt
  return isLater && agrees(response, slack) && stored.observedAt > response.receivedAt + slack
}

/** Whether a stored instant cannot be right when a response is; one that this machine's clock agreed with is not in doubt. */
function contradicts(stored: Stored, response: Dated, { slack }: Pick<Known, 'slack'>): boolean {
  // What was recorded earlier is older, and a clock that was set back says nothing.
  if (response.receivedAt < stored.receivedAt) return false
  if (stored.observedAt > response.observedAt) {
    // Where this machine's clock does not say so, what is wrong by less than a day heals before it matters.
    const far = agrees(response, slack) ? slack : 24 * hour
    return stored.observedAt - response.observedAt > far
  }
  // In the past, only where nothing but a few responses speaks for it, all of them wrong; and only where no clock was set in between.
  return (
    stored.accepted <= few &&
    !stored.hasAgreed &&
    stored.observedAt < stored.receivedAt - slack &&
    agrees(response, slack) &&
    ahead(stored, response) > jump
  )
}

/** Whether the server's clock and this machine's tell the same time. */
function agrees({ observedAt, receivedAt }: Dated, slack: number): boolean {
  return Math.abs(observedAt - receivedAt) <= slack
}

/** By how much more the server's clock went on than this machine's between two responses, ms. */
function ahead(before: Dated, response: Dated): number {
  return response.observedAt - before.observedAt - (response.receivedAt - before.receivedAt)
}

/** Whether a response goes on where another one was, at the pace of this machine's clock or at the server's own. */
function goesOn(before: Dated, response: Dated, { trail, slack }: Pick<Known, 'trail' | 'slack'>): boolean {
  if (Math.abs(ahead(before, response)) <= slack) return true
  const [late, early] = trail.filter((point, nth) => point.observedAt !== trail[nth + 1]?.observedAt)
  if (!late || !early) return false
  const pace = (late.observedAt - early.observedAt - slack) / (late.receivedAt - early.receivedAt)
  const [went, passed] = [response.observedAt - before.observedAt, response.receivedAt - before.receivedAt]
  return pace > 1 && passed > 0 && went >= 0 && went <= 2 * pace * passed + slack
}

function isApart(point: Dated, other: Dated, apart: number): boolean {
  return Math.abs(point.observedAt - other.observedAt) >= apart
}

/** The latest responses of a resource, of any key, that came before this one by this machine's clock. */
async function readTrail(sql: Sql, resource: string, { scope, receivedAt }: ReceivedResponse): Promise<Point[]> {
  const [table, received] = scope === undefined ? ['sync.run', 'finished_at'] : ['sync.observation', 'received_at']
  const rows = await sql.query<{ observed: Date; received: Date; accepted: boolean }>(
    `select observed_at as observed, ${received} as received, ${accepted} as accepted from ${table}
      where resource = $1 and observed_at is not null and ${received} <= $2 and status in ('ok', 'unchanged', 'partial', 'stale', 'rejected')
      order by ${received} desc limit 50`,
    [resource, new Date(receivedAt)],
  )
  return rows.map((row) => ({
    observedAt: row.observed.getTime(),
    receivedAt: row.received.getTime(),
    accepted: row.accepted,
  }))
}

/** When the response of the stored instant came; undefined where the ledger does not tell any more. */
async function readStored(
  sql: Sql,
  resource: string,
  { scope }: ReceivedResponse,
  { at, slack }: { readonly at: number; readonly slack: number },
): Promise<Stored | undefined> {
  const [table, received] = scope === undefined ? ['sync.run', 'finished_at'] : ['sync.observation', 'received_at']
  const mine = `resource = $1 and ${accepted}${scope === undefined ? '' : ' and key = $2'}`
  const params = scope === undefined ? [resource] : [resource, scope]
  const [instant, apart] = [`$${params.length + 1}`, `$${params.length + 2}::float8 * interval '1 ms'`]
  const [row] = await sql.query<{ received: Date | null; accepted: number; since: Date | null; agreed: boolean }>(
    `select (select min(${received}) from ${table} where ${mine} and observed_at = ${instant}) as received,
            (select count(*)::int from (select from ${table} where ${mine} limit ${few + 1}) counted) as accepted,
            (select min(observed_at) from ${table} where ${mine}) as since,
            exists (select from ${table} where ${mine} and ${received} between observed_at - ${apart} and observed_at + ${apart}) as agreed`,
    [...params, new Date(at), slack],
  )
  if (!row?.received || !row.since) return undefined
  const { accepted: amount, agreed: hasAgreed } = row
  return { observedAt: at, receivedAt: row.received.getTime(), accepted: amount, since: row.since.getTime(), hasAgreed }
}
