import { FOREVER } from '../../../db/bulk/values.ts'
import type { Sql } from '../../../db/database.ts'
import { typed } from '../../../db/typed.ts'
import type { KeptTable, Person, Personal } from '../../declare/personal.ts'
import { isBurst } from '../../evidence/policies.ts'
import type { GuardAction } from '../../respond/guard-actions.ts'
import { privacyRestriction } from '../../tables/privacy.ts'
import { own, whoFrom, whoseRows } from '../erase-person.ts'
import type { RestrictedPerson } from './conclude-restrictions.ts'
import { nameOf, type Restriction } from './restrictions.ts'
import type { CredentialKind, RuleSource } from './rule-source.ts'

/** What of a response decides whether it confirms a restriction. */
export interface RestrictingResponse extends RuleSource {
  /** How long the API may send the same copy, ms. */
  readonly cacheMs: number
  readonly credential: CredentialKind
  /** A person accepts whatever comes. */
  readonly accept: boolean
  /** A replay removes nothing: what was removed is gone from the archive too. */
  readonly isReplay: boolean
}

/** How far apart responses are that confirm what the guard holds, or what the same run said first; ms. */
const heldSpacing = 2 * 3_600_000
/** Further responses that confirm a restriction, and one that the guard holds. */
const further = 1
const furtherOfHeld = 2
/** Which pending restrictions of its own a response repeats, and whether that confirms them. */
export function judgePending(
  own: readonly Restriction[],
  people: readonly Person[],
  source: RestrictingResponse,
): { readonly confirmed: readonly Restriction[]; readonly counted: readonly Restriction[] } {
  const nothing = { confirmed: [], counted: [] }
  if (source.isReplay) return nothing
  // What names no rule hides in doubt, and removes nothing.
  const sure = people.filter(({ isUnsure }) => !isUnsure)
  const repeated = new Set(sure.flatMap((one) => one.restricted.map((group) => `${one.playerUuid} ${group}`)))
  const pending = own.filter(({ awaits, player, group }) => awaits > 0 && repeated.has(`${player} ${group}`))
  if (source.accept) return { ...nothing, confirmed: pending }
  const agreeing = pending.filter((one) => isAnotherWindow(one, source))
  return {
    confirmed: agreeing.filter(({ awaits }) => awaits === 1),
    counted: agreeing.filter(({ awaits }) => awaits > 1),
  }
}

/** Apart by the clock of the service and by that of this machine: a single wrong one makes no copy another window. */
function isAnotherWindow(restriction: Restriction, source: RestrictingResponse) {
  const { needsCredential, isHeld, runId, latestAt, latestReceivedAt } = restriction
  if (needsCredential !== null && needsCredential !== source.credential) return false
  const spacing = isHeld || runId === source.runId ? heldSpacing : source.cacheMs
  const isApart = (at: Date, latest: Date | null) => at.getTime() - (latest?.getTime() ?? 0) >= spacing
  return isApart(source.at, latestAt) && isApart(source.receivedAt, latestReceivedAt)
}

/** Counts a response for restrictions that need yet another one. */
export async function countAgreeing(
  sql: Sql,
  counted: readonly Restriction[],
  source: RestrictingResponse,
): Promise<void> {
  if (counted.length === 0) return
  await sql.query(
    `update sync.privacy_restriction restriction set awaits = awaits - 1, latest_at = $4, latest_received_at = $5
       from unnest($1::uuid[], $2::text[]) as counted(player_uuid, field_group)
      where restriction.player_uuid = counted.player_uuid and restriction.field_group = counted.field_group
        and told_by = $3`,
    [counted.map((one) => one.player), counted.map((one) => one.group), nameOf(source), source.at, source.receivedAt],
  )
}

/** What of a response is restricted for the first time. */
interface NewlyPending {
  /** Whether anything that is kept falls under it. */
  readonly hidesKept: boolean
  readonly guarded: readonly GuardAction[]
}

/** Records new restrictions as pending; removes nothing. */
export async function addPending(
  sql: Sql,
  personal: Personal,
  fresh: readonly RestrictedPerson[],
  others: { readonly standing: readonly Restriction[]; readonly people: readonly Person[] },
  source: RestrictingResponse,
): Promise<NewlyPending> {
  if (fresh.length === 0) return { hidesKept: false, guarded: [] }
  const restricted = new Set(others.standing.map(({ player, group }) => `${player} ${group}`))
  const unknown = fresh.filter(({ playerUuid, group }) => !restricted.has(`${playerUuid} ${group}`))
  const kept = source.isReplay ? [] : await keptUnder(sql, personal, unknown)
  const mass = source.accept ? undefined : massIn(kept, others)
  const shownTo = await credentialsShown(sql, personal, fresh)
  const isLesser = ({ playerUuid }: Person) => shownTo.get(playerUuid) === 'token' && source.credential === 'guest'
  const toldBy = nameOf(source)
  const rows = fresh.map((person) => ({
    playerUuid: person.playerUuid,
    fieldGroup: person.group,
    toldBy,
    since: source.at,
    awaits: mass === undefined ? further : furtherOfHeld,
    isHeld: mass !== undefined,
    latestAt: source.at,
    latestReceivedAt: source.receivedAt,
    credential: source.credential,
    needsCredential: isLesser(person) ? 'token' : null,
    runId: source.runId,
  }))
  await typed(sql).insert(privacyRestriction).values(rows).onConflictDoNothing()
  const lesser = kept.filter(isLesser)
  const guarded: GuardAction[] = []
  if (mass !== undefined) guarded.push({ guard: 'mass-restriction', action: 'pending', reason: mass })
  if (lesser.length > 0) guarded.push({ guard: 'credential', action: 'pending', reason: asGuest })
  return { hidesKept: kept.some((person) => !isLesser(person)), guarded }
}

const asGuest =
  'came as a guest, and hides what a token was shown: hidden, and not removed before a response to the token says the same'

/** Why so many new restrictions of one response are not credible; undefined when they are. */
function massIn(
  kept: readonly RestrictedPerson[],
  { standing, people }: { readonly standing: readonly Restriction[]; readonly people: readonly Person[] },
): string | undefined {
  for (const group of new Set(kept.map((one) => one.group))) {
    const before = new Set(standing.filter((one) => one.group === group).map(({ player }) => player))
    const open = people.filter(({ playerUuid }) => !before.has(playerUuid)).length
    const count = kept.filter((one) => one.group === group).length
    if (isBurst(count, open))
      return `${count} of ${open} people hide ${group} at once; nothing is removed before responses hours apart say the same`
  }
  return undefined
}

/** Holds what the responses of a run restricted for the first time: too many at once. */
export async function holdRestrictions(sql: Sql, resource: string, runId: string): Promise<void> {
  await sql.query(
    `update sync.privacy_restriction set is_held = true, awaits = $3
      where run_id = $2 and awaits > 0 and not is_held and split_part(told_by, '/', 1) = $1`,
    [resource, runId, furtherOfHeld],
  )
}

/** The kind of credential that was shown most of what the worklists say of each player. */
async function credentialsShown(sql: Sql, personal: Personal, people: readonly Person[]): Promise<Map<string, string>> {
  const rows = await sql.query<{ player: string; credential: string }>(
    `select who.player_uuid::text as player, max(item.credential) as credential
       from unnest($1::uuid[]) as who(player_uuid)
      cross join lateral (${personal.answersAbout}) about(resource, key)
       join sync.work_item item on item.resource = about.resource and item.key = about.key
      where item.credential is not null group by 1`,
    [[...new Set(people.map(({ playerUuid }) => playerUuid))]],
  )
  return new Map(rows.map(({ player, credential }) => [player, credential]))
}

/** Those of whom anything is kept that falls under the rule. Rows that grow by themselves count as nothing. */
async function keptUnder(
  sql: Sql,
  { tables, growing }: Personal,
  people: readonly RestrictedPerson[],
): Promise<RestrictedPerson[]> {
  const found = new Set<string>()
  for (const group of new Set(people.map((one) => one.group))) {
    if (growing.includes(group)) continue
    for (const table of tables) {
      const condition = keptCondition(table, group)
      if (condition === undefined) continue
      const uuids = people
        .filter((one) => one.group === group && !found.has(`${one.playerUuid} ${group}`))
        .map(({ playerUuid }) => playerUuid)
      if (uuids.length === 0) break
      const rows = await sql.query<{ player: string }>(
        `select distinct who.player_uuid::text as player from ${table.table} kept, ${whoFrom(table)}
          where ${whoseRows(table)} and (${condition})`,
        [uuids, uuids.map(() => FOREVER)],
      )
      for (const { player } of rows) found.add(`${player} ${group}`)
    }
  }
  return people.filter(({ playerUuid, group }) => found.has(`${playerUuid} ${group}`))
}

/** Which rows of a table have something that a rule hides; undefined when none can. */
function keptCondition({ rows, blank }: KeptTable, group: string): string | undefined {
  const conditions: string[] = []
  const which = own(rows, group)
  if (which !== undefined) conditions.push(which)
  const blanked = own(blank, group)
  if (blanked) {
    const filled = blanked.columns.map((column) => `kept.${column} is not null`).join(' or ')
    conditions.push(`(${filled}) and ${blanked.where ?? 'true'}`)
  }
  return conditions.length > 0 ? conditions.map((one) => `(${one})`).join(' or ') : undefined
}
