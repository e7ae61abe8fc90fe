import type { Sql } from '../../../db/database.ts'
import { everything, type Person, type Personal } from '../../declare/personal.ts'
import { forgetClaims } from '../../evidence/claims.ts'
import { erase, eraseVanished, type Target } from '../erase-person.ts'
import { namedPlayers, removeNames } from '../named-columns.ts'
import { recordActions } from '../privacy-actions.ts'
import { claimAbout, claimsOf, nameOf, type Restriction, reloadAbout } from './restrictions.ts'
import { type RuleSource, reasonOf } from './rule-source.ts'

/** A person with one rule that hides something. */
export type RestrictedPerson = Person & { readonly group: string }

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
