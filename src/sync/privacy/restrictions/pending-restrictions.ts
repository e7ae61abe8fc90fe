import { FOREVER } from '../../../db/bulk/values.ts'
import type { Sql } from '../../../db/database.ts'
import { typed } from '../../../db/typed.ts'
import type { Target } from '../../archive/erase-archived.ts'
import { everything, type KeptTable, type Person, type Personal } from '../../declare/personal.ts'
import { corroborate, forgetClaims, type Witness } from '../../evidence/claims.ts'
import { HIDING_AT_ONCE, isBurst } from '../../evidence/policies.ts'
import type { GuardAction } from '../../respond/guard-actions.ts'
import { privacyRestriction } from '../../tables/privacy.ts'
import { erase, eraseVanished, own, whoFrom, whoseRows } from '../erase-person.ts'
import { namedPlayers, removeNames } from '../named-columns.ts'
import { recordActions } from '../privacy-actions.ts'
import { amongClaims, claimAbout, claimsOf, type Restriction, reloadAbout } from './restrictions.ts'
import { type CredentialKind, nameOf, type RuleSource } from './rule-source.ts'

/** A person with one rule that hides something. */
type RestrictedPerson = Person & { readonly group: string }

/** The same people by the rules that pending restrictions of theirs name. */
export function peopleOf(restrictions: readonly Restriction[], people: readonly Person[]): RestrictedPerson[] {
  const byUuid = new Map(people.map((person) => [person.playerUuid, person]))
  return restrictions.flatMap(({ player, group }) => {
    const person = byUuid.get(player)
    return person ? [{ ...person, group }] : []
  })
}

/** Marks pending restrictions of the source as confirmed and removes what falls under them. */
export async function concludeRestrictions(
  sql: Sql,
  personal: Personal,
  confirmed: readonly RestrictedPerson[],
  source: RuleSource,
): Promise<void> {
  if (confirmed.length === 0) return
  await sql.query(
    `update sync.privacy_restriction restriction set is_pending = false, is_held = false
       from unnest($1::uuid[], $2::text[]) as confirmed(player_uuid, field_group)
      where restriction.player_uuid = confirmed.player_uuid and restriction.field_group = confirmed.field_group
        and told_by = $3`,
    [confirmed.map((one) => one.playerUuid), confirmed.map((one) => one.group), nameOf(source)],
  )
  await forgetClaims(
    sql,
    claimsOf(source.resource),
    'restricted',
    confirmed.map(({ playerUuid: player, group }) => claimAbout({ player, group, setBy: nameOf(source) })),
  )
  const forgets = source.policy === 'delete'
  const restricted = [...new Map(confirmed.map((person) => [person.playerUuid, person])).values()]
  const uuids = restricted.map(({ playerUuid }) => playerUuid)
  const targets: readonly Target[] = forgets
    ? uuids.map((playerUuid) => ({ playerUuid, fieldGroup: everything }))
    : confirmed
        .filter(({ group }) => !personal.growing.includes(group))
        .map(({ playerUuid, group }) => ({ playerUuid, fieldGroup: group }))
  if (forgets) await reloadAbout(sql, personal, uuids)
  const kept = forgets ? await namedPlayers(sql, personal, uuids) : undefined
  const removed = await erase(sql, personal, targets)
  if (kept) removed.push(...(await removeNames(sql, personal, kept.named, { isPurge: false, keys: kept.keys })))
  const extra = forgets ? [] : await eraseVanished(sql, personal, source, restricted)
  // Of several rules at once, the first one counts as the one that hides what no rule is known for.
  const groupOf = new Map([...confirmed].reverse().map((one) => [one.playerUuid, one.group]))
  const actions = [...removed, ...extra.map((one) => ({ ...one, fieldGroup: groupOf.get(one.playerUuid) ?? '' }))]
  await recordActions(sql, actions, { ...source, reason: reasonOf(source), isNamed: !forgets })
}

/** Removes what falls under confirmed rules whose rows grow by themselves, also when the rules are not new. */
export async function eraseGrown(
  sql: Sql,
  personal: Personal,
  confirmed: readonly RestrictedPerson[],
  source: RuleSource,
): Promise<void> {
  const targets = confirmed
    .filter(({ group }) => personal.growing.includes(group))
    .map(({ playerUuid, group }) => ({ playerUuid, fieldGroup: group }))
  const removed = await erase(sql, personal, targets)
  await recordActions(sql, removed, { ...source, reason: reasonOf(source), isNamed: true })
}

/** How `sync.privacy_action` explains a removal. */
function reasonOf({ resource }: RuleSource): string {
  return `a response of ${resource} restricts it`
}

/** What of a response decides whether it confirms a restriction. */
export interface RestrictingResponse extends RuleSource {
  readonly witness: Witness
  readonly credential: CredentialKind
  /** A person accepts whatever comes. */
  readonly accept: boolean
  /** A replay removes nothing: what was removed is gone from the archive too. */
  readonly isReplay: boolean
}

/**
 * Counts a response for what it restricts: for what is new, and for what was pending and it repeats.
 * @returns what is confirmed by it
 */
export async function countRestricting(
  sql: Sql,
  { fresh, repeated }: { readonly fresh: readonly Restriction[]; readonly repeated: readonly Restriction[] },
  source: RestrictingResponse,
): Promise<readonly Restriction[]> {
  if (source.isReplay || fresh.length + repeated.length === 0) return []
  const again = source.accept ? [] : repeated.filter((one) => isCounted(one, source))
  const isMass = again.some(({ isHeld }) => !isHeld) && (await holdMass(sql, source))
  const confirmed = source.accept ? [...repeated] : []
  for (const policy of ['restricted', 'restricted in mass'] as const) {
    const ofPolicy = [...fresh, ...again].filter((one) => (one.isHeld || isMass) === (policy === 'restricted in mass'))
    const claims = ofPolicy.map(claimAbout)
    const agreed = (await corroborate(sql, source.witness, 'restricted', claims, policy)).confirmed
    for (const one of amongClaims(ofPolicy, agreed)) confirmed.push(one)
  }
  return confirmed
}

/** Whether many of the keys that responded last hide something at once, of which nothing more is confirmed then: the end of a run may come too late. */
async function holdMass(sql: Sql, { resource, key, receivedAt }: RestrictingResponse): Promise<boolean> {
  if (key === '') return false
  return await holdWhere(sql, resource, { until: receivedAt, key }, (last) => {
    const others = last.filter((one) => one.key !== key)
    return isBurst(others.filter(({ hides }) => hides).length + 1, others.length + 1, HIDING_AT_ONCE)
  })
}

/** A key of a worklist, and whether it hides what it showed, which is pending. */
interface HidingKey {
  readonly key: string
  readonly hides: boolean
}

/**
 * Holds pending restrictions where too many hide something at once: what confirms them must be hours apart.
 * @param of.until by the clock of this machine
 * @param of.runId of a run: those that it saw are held, too, and other runs show what was before it
 * @param of.key whose restrictions are held, too
 * @param isMass judges the keys that responded last
 */
export async function holdWhere(
  sql: Sql,
  resource: string,
  { until, runId, key }: { readonly until: Date; readonly runId?: string; readonly key?: string },
  isMass: (last: readonly HidingKey[]) => boolean,
): Promise<boolean> {
  const last = await sql.query<HidingKey>(
    `select distinct one.key, exists (select from sync.privacy_restriction rule
                                       where rule.told_by = $1 || '/' || one.key and rule.is_pending and not rule.is_refusal
                                         and rule.needs_credential is null and rule.since > item.first_observed_at) as hides
       from (select key from sync.observation
              where resource = $1 and run_id is distinct from $2 and status in ('ok', 'unchanged', 'partial') and received_at <= $3
              order by received_at desc limit 20) one
       join sync.work_item item on item.resource = $1 and item.key = one.key`,
    [resource, runId ?? null, until],
  )
  if (!isMass(last)) return false
  const hiding = [key, ...last.flatMap((one) => (one.hides ? [one.key] : []))].flatMap((one) => one ?? [])
  await sql.query(
    `update sync.privacy_restriction set is_held = true
      where (run_id = $2 and split_part(told_by, '/', 1) = $1 or told_by = any($3::text[])) and is_pending and not is_held`,
    [resource, runId ?? null, hiding.map((one) => nameOf({ resource, key: one }))],
  )
  return true
}

/** Whether it came with the kind of credential that is shown most of the player. */
function isCounted({ credential, needsCredential }: Restriction, source: RestrictingResponse): boolean {
  const needed = needsCredential ?? (credential === 'token' ? 'token' : null)
  return needed === null || needed === source.credential
}

/** What of a response is restricted for the first time. */
interface NewlyPending {
  /** Whether anything that is kept falls under it. */
  readonly hidesKept: boolean
  readonly guarded: readonly GuardAction[]
  readonly restrictions: readonly Restriction[]
}

/** Records new restrictions as pending; removes nothing. */
export async function addPending(
  sql: Sql,
  personal: Personal,
  fresh: readonly RestrictedPerson[],
  others: { readonly standing: readonly Restriction[]; readonly people: readonly Person[] },
  source: RestrictingResponse,
): Promise<NewlyPending> {
  if (fresh.length === 0) return { hidesKept: false, guarded: [], restrictions: [] }
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
    isPending: true,
    isHeld: mass !== undefined,
    credential: source.credential,
    needsCredential: isLesser(person) ? 'token' : null,
    runId: source.runId,
  }))
  await typed(sql).insert(privacyRestriction).values(rows).onConflictDoNothing()
  const lesser = kept.filter(isLesser)
  const guarded: GuardAction[] = []
  if (mass !== undefined) guarded.push({ guard: 'mass-restriction', action: 'pending', reason: mass })
  if (lesser.length > 0) guarded.push({ guard: 'credential', action: 'pending', reason: asGuest })
  const restrictions = rows.map(({ playerUuid: player, fieldGroup: group, toldBy: setBy, ...row }) => {
    return { ...row, player, group, setBy, isRefusal: false }
  })
  return { hidesKept: kept.some((person) => !isLesser(person)), guarded, restrictions }
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
  const groups = [...new Set(people.map((one) => one.group))].filter((group) => !growing.includes(group))
  const ofGroup = (group: string) => people.flatMap((one) => (one.group === group ? [one.playerUuid] : []))
  const selects = groups.flatMap((group, nth) =>
    tables.flatMap((table) => {
      const condition = keptCondition(table, group)
      if (condition === undefined) return []
      // One row is enough: of a player there may be hundreds of thousands.
      const kept = `exists (select from ${table.table} kept where ${whoseRows(table)} and (${condition}))`
      const whose = `who.player_uuid = any($${nth + 3}::uuid[])`
      return [`select who.player_uuid::text as player, ${nth} as nth from ${whoFrom(table)} where ${whose} and ${kept}`]
    }),
  )
  if (selects.length === 0) return []
  const uuids = [...new Set(people.map(({ playerUuid }) => playerUuid))]
  const rows = await sql.query<{ player: string; nth: number }>(selects.join(' union '), [
    uuids,
    uuids.map(() => FOREVER),
    ...groups.map(ofGroup),
  ])
  const found = new Set(rows.map(({ player, nth }) => `${player} ${groups[nth]}`))
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
