import type { Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/transaction-locks.ts'
import type { Extraction, ResourceBase } from '../resource.ts'
import { erase, eraseVanished, type Target } from './erase-person.ts'
import { namedPlayers, removeNames } from './named-columns.ts'
import { everything, type Person, type Personal } from './personal.ts'
import { actionsSince, hashOf, noteActions } from './privacy-actions.ts'
import { askAnew, reopen } from './reopen.ts'
import { nameOf, notYet, ownOf, type Restriction, restrictionsOf } from './restrictions.ts'

/**
 * What is removed when a player restricts something. `anonymize`: the values of that field group. `delete`: everything
 * that was kept of the player until then.
 */
export type PrivacyPolicy = 'anonymize' | 'delete'

/** Who says something about people, and when. */
export interface RuleSource {
  readonly resource: string
  /** The key that the answer is about; empty for a resource that is asked for as a whole. */
  readonly key: string
  /** The instant that the answer speaks for; of a refusal, when it came. */
  readonly at: Date
  readonly runId: string
  readonly policy: PrivacyPolicy
}

/** What came of what an answer says of privacy. */
export interface PrivacyOutcome {
  /** Something is restricted that was not before, or the other way round: the answer is not the same as before. */
  readonly isNews: boolean
  /** What the answer shows although it is hidden. */
  readonly hidden: readonly Target[]
  /** Once the answer is loaded: removes what of it must not be there. */
  settle(): Promise<void>
}

/** In a transaction that holds it alone, nobody takes in an answer about people. */
export const privacyLock = 'privacy'

/** What of an answer tells who says what about whom. */
export interface PrivacyInput {
  readonly extraction: Extraction
  readonly runId: string
  /** The one key that the answer is about, if it is about one. */
  readonly scope?: string
  readonly privacy?: PrivacyPolicy | undefined
}

/**
 * Removes what an answer restricts and earlier ones showed, before the answer is loaded and in its transaction: what the
 * answer shows itself is written anew. A restriction stands until the same resource and key says otherwise, whatever
 * other answers show.
 */
export async function applyPrivacyRules(
  sql: Sql,
  resource: ResourceBase,
  telling: PrivacyInput,
): Promise<PrivacyOutcome> {
  const { personal } = resource
  const people = personal?.peopleIn(telling.extraction) ?? []
  if (!personal || people.length === 0) return { isNews: false, hidden: [], settle: async () => undefined }
  const teller = sourceOf(resource, telling)
  const restricts = people.some((one) => one.restricted.length > 0)
  // Only the teller itself changes its own restrictions, so they may be read before the lock that depends on them.
  const own = restricts ? ownOf(await restrictionsOf(sql, people, teller), teller) : []
  const fresh = notYet(own, people)
  await lockForTransaction(sql, privacyLock, fresh.length > 0 ? 'exclusive' : 'shared')
  const standing = await restrictionsOf(sql, people, teller)
  const ended = await endRestrictions(sql, personal, standing, people, teller)
  const hidden = await findRestrictedFields(sql, people, standing, teller)
  await restrict(sql, personal, fresh, teller)
  return {
    isNews: fresh.length > 0 || ended > 0,
    hidden,
    settle: async () => {
      await erase(sql, personal, hidden)
      await eraseGrown(sql, personal, people, teller)
    },
  }
}

/** What an answer that is not taken in shows although it is hidden. */
export async function hiddenIn(sql: Sql, resource: ResourceBase, telling: PrivacyInput): Promise<readonly Target[]> {
  const people = resource.personal?.peopleIn(telling.extraction) ?? []
  if (people.length === 0) return []
  const teller = sourceOf(resource, telling)
  return await findRestrictedFields(sql, people, await restrictionsOf(sql, people, teller), teller)
}

/** Takes a refusal to tell anything of a player (403) for the restriction that it is. */
export async function applyRefusal(sql: Sql, personal: Personal, teller: RuleSource): Promise<void> {
  if (personal.refusalHides.length === 0) return
  const people = [{ playerUuid: teller.key, restricted: personal.refusalHides, shows: [], fields: [] }]
  await lockPrivacy(sql)
  const own = ownOf(await restrictionsOf(sql, people, teller), teller)
  await restrict(sql, personal, notYet(own, people), teller)
}

/** Whether all that a refusal hides is restricted already by answers about the same key. */
export async function isRestrictedBy(
  sql: Sql,
  { refusalHides }: Personal,
  source: Pick<RuleSource, 'resource' | 'key'>,
): Promise<boolean> {
  if (refusalHides.length === 0) return false
  const rows = await sql.query(
    `select from sync.privacy_restriction where player_uuid::text = $1 and told_by = $2 and field_group = any($3::text[])`,
    [source.key, nameOf(source), refusalHides],
  )
  return rows.length === refusalHides.length
}

/** Keeps everybody else from taking in answers about people until the transaction ends. */
export async function lockPrivacy(sql: Sql): Promise<void> {
  await lockForTransaction(sql, privacyLock, 'exclusive')
}

/** Writes down new restrictions and removes what falls under them. */
async function restrict(
  sql: Sql,
  personal: Personal,
  fresh: readonly (Person & { readonly group: string })[],
  teller: RuleSource,
): Promise<void> {
  if (fresh.length === 0) return
  await sql.query(
    `insert into sync.privacy_restriction (player_uuid, field_group, told_by, since)
     select player_uuid, field_group, $3, $4 from unnest($1::uuid[], $2::text[]) as fresh(player_uuid, field_group)
     on conflict do nothing`,
    [fresh.map((one) => one.playerUuid), fresh.map((one) => one.group), nameOf(teller), teller.at],
  )
  const forgets = teller.policy === 'delete'
  const players = [...new Map(fresh.map((one) => [one.playerUuid, one])).values()]
  const targets: readonly Target[] = forgets
    ? players.map(({ playerUuid }) => ({ playerUuid, fieldGroup: everything }))
    : fresh
        .filter(({ group }) => !personal.growing.includes(group))
        .map(({ playerUuid, group }) => ({ playerUuid, fieldGroup: group }))
  if (forgets)
    await askAnew(
      sql,
      personal,
      players.map((one) => one.playerUuid),
    )
  const named = forgets
    ? await namedPlayers(
        sql,
        personal,
        players.map((one) => one.playerUuid),
      )
    : undefined
  const removed = await erase(sql, personal, targets)
  if (named) removed.push(...(await removeNames(sql, personal, named.players, { isPurge: false, keys: named.keys })))
  const extra = forgets ? [] : await eraseVanished(sql, personal, teller, players)
  // Of several rules at once, whichever comes first is taken for the one that hides what no rule is known for.
  const groupOf = new Map([...fresh].reverse().map((one) => [one.playerUuid, one.group]))
  const actions = [...removed, ...extra.map((one) => ({ ...one, fieldGroup: groupOf.get(one.playerUuid) ?? '' }))]
  await noteActions(sql, actions, {
    ...teller,
    reason: reasonOf(teller),
    isNamed: !forgets,
  })
}

/** Removes what falls under rules to which more comes by itself, also when they are not new. */
async function eraseGrown(sql: Sql, personal: Personal, people: readonly Person[], teller: RuleSource): Promise<void> {
  const targets = people.flatMap(({ playerUuid, restricted }) =>
    personal.growing.filter((group) => restricted.includes(group)).map((fieldGroup) => ({ playerUuid, fieldGroup })),
  )
  const removed = await erase(sql, personal, targets)
  await noteActions(sql, removed, { ...teller, reason: reasonOf(teller), isNamed: true })
}

/** Ends what the teller said before and does not say any more, and returns how much that is. Whom it does not mention, it says nothing of. */
async function endRestrictions(
  sql: Sql,
  personal: Personal,
  standing: readonly Restriction[],
  people: readonly Person[],
  teller: RuleSource,
): Promise<number> {
  const said = new Set(people.flatMap((one) => one.restricted.map((group) => `${one.playerUuid} ${group}`)))
  const ended = ownOf(standing, teller).filter(({ player, group }) => !said.has(`${player} ${group}`))
  if (ended.length === 0) return 0
  await sql.query(
    `delete from sync.privacy_restriction restriction using unnest($1::uuid[], $2::text[]) as ended(player_uuid, field_group)
      where restriction.player_uuid = ended.player_uuid and restriction.field_group = ended.field_group and told_by = $3`,
    [ended.map((one) => one.player), ended.map((one) => one.group), nameOf(teller)],
  )
  await reopen(sql, personal, ended)
  return ended.length
}

/** What an answer shows although another one hides it, or although it is older than what was removed. */
async function findRestrictedFields(
  sql: Sql,
  people: readonly Person[],
  standing: readonly Restriction[],
  teller: RuleSource,
): Promise<Target[]> {
  const others = standing.filter((one) => one.teller !== nameOf(teller))
  const barred = await actionsSince(sql, people, teller)
  if (others.length === 0 && barred.length === 0) return []
  const hides = new Set(others.map(({ player, group }) => `${player} ${group}`))
  const byHash = barred.some(({ hash }) => hash !== null)
  return people.flatMap(({ playerUuid, shows, restricted }) => {
    const shown = shows.filter((group) => !restricted.includes(group))
    const hidden = shown.filter((group) => hides.has(`${playerUuid} ${group}`))
    const whose = byHash ? hashOf(playerUuid) : null
    const late = barred.filter(
      ({ player, hash, group }) =>
        (hash === null ? player === playerUuid : hash === whose) && (group === everything || shown.includes(group)),
    )
    return [
      ...hidden.map((fieldGroup) => ({ playerUuid, fieldGroup })),
      ...late.map(({ group, at }) => ({ playerUuid, fieldGroup: group, until: at })),
    ]
  })
}

function sourceOf(
  { name }: ResourceBase,
  { extraction, runId, scope = '', privacy = 'anonymize' }: PrivacyInput,
): RuleSource {
  return { resource: name, key: scope, at: new Date(extraction.observedAt), runId, policy: privacy }
}

function reasonOf({ resource }: RuleSource): string {
  return `an answer of ${resource} restricts it`
}
