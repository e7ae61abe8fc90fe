import { reach } from '../../base/errors.ts'
import type { Sql } from '../../db/database.ts'
import { type ClaimKind, type Guards, type PolicyName, policiesOf } from './policies.ts'

/** The response that makes a claim. */
export interface Witness {
  /** The resource, or `resource/history`. */
  readonly resource: string
  /** The instant that it speaks for. */
  readonly at: Date
  /** When it was received, by the clock of this machine. */
  readonly receivedAt: Date
  /** The instant says that it comes after the response before, and not how long after: the clock of this machine alone says that. */
  readonly isOrderOnly?: boolean
  /** How long the API may send the same copy, seconds. */
  readonly cacheSeconds: number
  readonly runId: string
  readonly guards: Pick<Guards, 'absences' | 'shrunkenHours'>
  /** What there are claims of, as `openClaimsSql` names it: nothing else is looked up. Default: that is not known. */
  readonly open?: Set<string>
}

/** What one response says that must not be believed from one response. */
export interface Claim {
  /** A key, a place, or empty for the whole response. */
  readonly subject: string
  /** What responses must agree in; default: empty. */
  readonly value?: string
}

export interface PendingClaim extends Required<Claim> {
  readonly firstAt: Date
  readonly times: number
}

/** Claims that are in the tables: SQL that selects subject and value, of the keys `$9`. */
interface SelectedClaims {
  readonly select: string
  readonly keys: readonly string[]
}

/** Claims that a response makes, and those of the same kind that enough responses agree in now. */
interface Corroborated {
  readonly confirmed: readonly PendingClaim[]
  readonly pending: readonly PendingClaim[]
}

/** Copies of earlier cache windows are no older than that, ms; what is, shows that the clock of the claim was wrong. */
const clockTolerance = 15 * 60_000

const inScope = (parameter: string) => `(subject = ${parameter} or starts_with(subject, ${parameter} || '/'))`

/**
 * Counts what a response claims: the only counter of evidence. A response counts where it is of another cache window than the last one
 * that counted, by the instant that it speaks for and by this machine's clock; by the latter, half a window is enough, since polls do
 * not come to the second. Where one of the clocks was ahead and is right again, it counts from there; while instants are but an order,
 * it takes a whole window by this machine's clock. Confirmed claims are removed, unless their policy says that they stand.
 *
 * @param claims `span`: how long ago the first response that made it must be, ms; default: as the policy says. `responses`: as many must agree at
 * least, where it is more than the policy says
 * @param name of the policy; default: that of the kind
 */
export async function corroborate(
  sql: Sql,
  witness: Witness,
  kind: ClaimKind,
  claims: readonly (Claim & { readonly span?: number; readonly responses?: number })[] | SelectedClaims,
  name: PolicyName = kind,
): Promise<Corroborated> {
  const isSelected = 'select' in claims
  if ((isSelected ? claims.keys : claims).length === 0) return { confirmed: [], pending: [] }
  const { resource, at, receivedAt, runId, isOrderOnly = false } = witness
  witness.open?.add(openName(resource, kind))
  const policy = policiesOf(witness.guards)[name]
  const apart = policy.apart === 'cache' ? 1000 * witness.cacheSeconds : policy.apart
  const counts = 'claim.last_at <= $4 and claim.last_received_at <= $6'
  // Only a response that was rejected can claim for later than what follows: its clock was ahead.
  const restarts = 'claim.last_at > $8'
  const claimed = isSelected ? `(${claims.select})` : 'unnest($9::text[], $10::text[])'
  // Where the clock was set back since the first response, what it said before would count for nothing until it is as late again.
  const counted = await sql.query<PendingClaim & { readonly firstReceivedAt: Date }>(
    `insert into sync.claim
       (resource, kind, subject, value, first_at, last_at, first_received_at, last_received_at, times, run_id)
     select $1, $2, subject, value, $3, $3, $5, $5, 1, $7 from ${claimed} as claimed(subject, value)
     on conflict (resource, kind, subject, value) do update
       set times = case when ${restarts} then 1 else claim.times + (${counts})::int end,
           first_at = case when ${restarts} then $3 else claim.first_at end,
           last_at = case when ${counts} or ${restarts} then $3 else claim.last_at end,
           last_received_at = case when ${counts} then $5 else least(claim.last_received_at, $5) end,
           first_received_at = least(claim.first_received_at, $5)
     returning subject, value, first_at as "firstAt", first_received_at as "firstReceivedAt", times`,
    [
      resource,
      kind,
      at,
      isOrderOnly ? at : new Date(at.getTime() - apart),
      receivedAt,
      new Date(receivedAt.getTime() - (isOrderOnly ? apart : apart / 2)),
      runId,
      new Date(at.getTime() + apart + clockTolerance),
      ...(isSelected ? [claims.keys] : [claims.map(({ subject }) => subject), claims.map(({ value = '' }) => value)]),
    ],
  )
  const { responses, stands = false } = policy
  const spans = new Map(isSelected ? [] : claims.flatMap(({ subject, span }) => (span ? [[subject, span]] : [])))
  const least = new Map(
    isSelected ? [] : claims.flatMap((one) => (one.responses ? [[one.subject, one.responses]] : [])),
  )
  const isConfirmed = ({ subject, times, firstAt, firstReceivedAt }: (typeof counted)[number]) => {
    const span = Math.min(spans.get(subject) ?? policy.span ?? 0, policy.longestSpan ?? Infinity)
    return (
      times >= Math.max(responses, least.get(subject) ?? 0) &&
      (isOrderOnly || at.getTime() - firstAt.getTime() >= span) &&
      receivedAt.getTime() - firstReceivedAt.getTime() >= span
    )
  }
  const confirmed = counted.filter(isConfirmed)
  reach(`claim ${name}: made`)
  if (confirmed.length > 0) reach(`claim ${name}: confirmed`)
  if (!stands) await forgetClaims(sql, resource, kind, confirmed)
  return { confirmed, pending: counted.filter((one) => !isConfirmed(one)) }
}

/**
 * Forgets the claims of a kind that a response contradicts: all that it does not make itself.
 * @param scope only claims about this key and what hangs on it
 */
export async function forgetContradicted(
  sql: Sql,
  witness: Witness,
  kind: ClaimKind,
  claims: readonly Claim[],
  scope?: string,
): Promise<void> {
  const made = new Set(claims.map(({ subject, value = '' }) => `${subject} ${value}`))
  const contradicted = (await pendingClaims(sql, witness, kind, scope)).filter(
    ({ subject, value }) => !made.has(`${subject} ${value}`),
  )
  if (contradicted.length > 0) reach(`claim ${kind}: contradicted`)
  await forgetClaims(sql, witness.resource, kind, contradicted)
}

export async function forgetClaims(
  sql: Sql,
  resource: string,
  kind: ClaimKind | readonly ClaimKind[],
  claims: readonly Required<Claim>[],
): Promise<void> {
  if (claims.length === 0) return
  await sql.query(
    `delete from sync.claim using unnest($3::text[], $4::text[]) as over(subject, value)
      where claim.resource = $1 and claim.kind = any($2::text[]) and claim.subject = over.subject and claim.value = over.value`,
    [resource, [kind].flat(), claims.map(({ subject }) => subject), claims.map(({ value }) => value)],
  )
}

/** Forgets all that is claimed about a key of a resource that is over, and what hangs on it. */
export async function forgetClaimsAbout(sql: Sql, resource: string, key: string): Promise<void> {
  await sql.query(`delete from sync.claim where split_part(resource, '/', 1) = $1 and ${inScope('$2')}`, [
    resource,
    key,
  ])
}

/** Claims of a kind that are not confirmed yet. @param scope only about this key and what hangs on it */
export async function pendingClaims(
  sql: Sql,
  witness: Pick<Witness, 'resource' | 'open'>,
  kind: ClaimKind,
  scope?: string,
): Promise<PendingClaim[]> {
  if (!mayClaim(witness, kind)) return []
  const { resource } = witness
  return await sql.query<PendingClaim>(
    `select subject, value, first_at as "firstAt", times from sync.claim
      where resource = $1 and kind = $2 ${scope === undefined ? '' : `and ${inScope('$3')}`}`,
    scope === undefined ? [resource, kind] : [resource, kind, scope],
  )
}

/** Claims of a kind about some subjects, confirmed or not, with the last responses that made them. */
export async function claimsAbout(
  sql: Sql,
  resource: string,
  kind: ClaimKind,
  subjects: readonly string[],
): Promise<(PendingClaim & { readonly lastAt: Date; readonly lastReceivedAt: Date })[]> {
  return await sql.query(
    `select subject, value, first_at as "firstAt", times, last_at as "lastAt", last_received_at as "lastReceivedAt"
       from sync.claim where resource = $1 and kind = $2 and subject = any($3::text[])`,
    [resource, kind, subjects],
  )
}

/**
 * SQL: an array of what responses of a resource said and what waits for further ones, a name for each resource and kind of claim. Where
 * there is any, even a response that shows the same as the last one counts.
 * @param resources parameter of a statement: the resource and its histories, as claims name them
 * @param scope another parameter: key of a worklist
 */
export function openClaimsSql(resources: string, scope?: string): string {
  return `array(select maker || ' ' || said from unnest(${resources}::text[]) maker, unnest('{${waiting.join()}}'::text[]) said
     where exists (select from sync.claim where resource = maker and kind = said ${scope === undefined ? '' : `and ${inScope(scope)}`}))`
}

// What is volatile waits for nothing: it matters only where something has changed.
const waiting = Object.keys(policiesOf({ absences: 1 })).filter((kind) => kind !== 'volatile')

/** Whether there may be claims of a kind. */
export function mayClaim({ resource, open }: Pick<Witness, 'resource' | 'open'>, kind: ClaimKind): boolean {
  return open?.has(openName(resource, kind)) ?? true
}

const openName = (resource: string, kind: ClaimKind) => `${resource} ${kind}`
