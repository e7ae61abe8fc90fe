import type { Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/held-locks.ts'
import { typed } from '../../db/typed.ts'
import type { Extraction, ResourceBase } from '../resource.ts'
import { erase, eraseVanished, type Target } from './erase-person.ts'
import { namedPlayers, removeNames } from './named-columns.ts'
import { everything, type Person, type Personal } from './personal.ts'
import { actionsSince, hashOf, recordActions } from './privacy-actions.ts'
import {
  areRestricted,
  invalidateHashes,
  nameOf,
  notYet,
  ownOf,
  type Restriction,
  reopen,
  restrictionsOf,
} from './restrictions.ts'
import { privacyRestriction } from './tables.ts'

/**
 * What is removed when a player restricts something. `anonymize`: the values of that field group. `delete`: everything
 * that was kept of the player until then.
 */
export type PrivacyPolicy = 'anonymize' | 'delete'

/** Whose responses set rules, and when. */
export interface RuleSource {
  readonly resource: string
  /** The key that the response is about; empty where it holds all of a resource. */
  readonly key: string
  /** The instant that the response speaks for; of a refusal, when it came. */
  readonly at: Date
  readonly runId: string
  readonly policy: PrivacyPolicy
}

/** What the privacy rules of a response did. */
export interface PrivacyOutcome {
  /** Something is restricted that was not before, or the other way round: the response is not the same as before. */
  readonly isNews: boolean
  /** What the response shows although it is hidden. */
  readonly hidden: readonly Target[]
  /** To be called once the response is loaded: removes what of it must not be kept. */
  eraseHidden(): Promise<void>
}

/** While a transaction holds it alone, no response about people is loaded. */
export const privacyLock = 'privacy'

/** What of a response the privacy rules need. */
export interface PrivacyInput {
  readonly extraction: Extraction
  readonly runId: string
  /** The one key that the response is about, if it is about one. */
  readonly scope?: string
  readonly privacy?: PrivacyPolicy | undefined
}

/**
 * Removes what a response restricts and earlier ones showed, before the response is loaded and in its transaction: what it
 * shows itself is written anew. A restriction stands until a response about the same resource and key lifts it, whatever
 * other responses show.
 */
export async function applyPrivacyRules(
  sql: Sql,
  resource: ResourceBase,
  input: PrivacyInput,
): Promise<PrivacyOutcome> {
  const { personal } = resource
  const people = personal?.peopleIn(input.extraction) ?? []
  if (!personal || people.length === 0) return { isNews: false, hidden: [], eraseHidden: async () => undefined }
  const source = sourceOf(resource, input)
  const restricts = people.some((one) => one.restricted.length > 0)
  // Only the source itself changes its own restrictions, so they may be read before the lock that depends on them.
  const own = restricts ? ownOf(await restrictionsOf(sql, people, source), source) : []
  const fresh = notYet(own, people)
  await lockForTransaction(sql, privacyLock, fresh.length > 0 ? 'exclusive' : 'shared')
  const standing = await restrictionsOf(sql, people, source)
  const ended = await endRestrictions(sql, personal, standing, people, source)
  const hidden = await findRestrictedFields(sql, people, standing, source)
  await restrict(sql, personal, fresh, source)
  return {
    isNews: fresh.length > 0 || ended > 0,
    hidden,
    eraseHidden: async () => {
      await erase(sql, personal, hidden)
      await eraseGrown(sql, personal, people, source)
    },
  }
}

/** What a response that is not loaded shows although it is hidden. */
export async function hiddenIn(sql: Sql, resource: ResourceBase, input: PrivacyInput): Promise<readonly Target[]> {
  const people = resource.personal?.peopleIn(input.extraction) ?? []
  if (people.length === 0) return []
  const source = sourceOf(resource, input)
  return await findRestrictedFields(sql, people, await restrictionsOf(sql, people, source), source)
}

/** Applies a refused profile (403) as the restriction that it is. */
export async function applyRefusal(sql: Sql, personal: Personal, source: RuleSource): Promise<void> {
  if (personal.refusalHides.length === 0) return
  const people = [{ playerUuid: source.key, restricted: personal.refusalHides, shows: [], fields: [] }]
  await lockPrivacy(sql)
  const own = ownOf(await restrictionsOf(sql, people, source), source)
  await restrict(sql, personal, notYet(own, people), source)
}

/** Whether all that a refusal hides is restricted already by responses about the same key. */
export async function isRestrictedBy(
  sql: Sql,
  { refusalHides }: Personal,
  source: Pick<RuleSource, 'resource' | 'key'>,
): Promise<boolean> {
  return refusalHides.length > 0 && (await areRestricted(sql, source, refusalHides))
}

/** No other transaction loads a response about people until this one ends. */
export async function lockPrivacy(sql: Sql): Promise<void> {
  await lockForTransaction(sql, privacyLock, 'exclusive')
}

/** Records new restrictions and removes what falls under them. */
async function restrict(
  sql: Sql,
  personal: Personal,
  fresh: readonly (Person & { readonly group: string })[],
  source: RuleSource,
): Promise<void> {
  if (fresh.length === 0) return
  const toldBy = nameOf(source)
  const rows = fresh.map(({ playerUuid, group }) => ({ playerUuid, fieldGroup: group, toldBy, since: source.at }))
  await typed(sql).insert(privacyRestriction).values(rows).onConflictDoNothing()
  const forgets = source.policy === 'delete'
  const restricted = [...new Map(fresh.map((person) => [person.playerUuid, person])).values()]
  const uuids = restricted.map(({ playerUuid }) => playerUuid)
  const targets: readonly Target[] = forgets
    ? uuids.map((playerUuid) => ({ playerUuid, fieldGroup: everything }))
    : fresh
        .filter(({ group }) => !personal.growing.includes(group))
        .map(({ playerUuid, group }) => ({ playerUuid, fieldGroup: group }))
  if (forgets) await invalidateHashes(sql, personal, uuids)
  const kept = forgets ? await namedPlayers(sql, personal, uuids) : undefined
  const removed = await erase(sql, personal, targets)
  if (kept) removed.push(...(await removeNames(sql, personal, kept.named, { isPurge: false, keys: kept.keys })))
  const extra = forgets ? [] : await eraseVanished(sql, personal, source, restricted)
  // Of several rules at once, the first one counts as the one that hides what no rule is known for.
  const groupOf = new Map([...fresh].reverse().map((one) => [one.playerUuid, one.group]))
  const actions = [...removed, ...extra.map((one) => ({ ...one, fieldGroup: groupOf.get(one.playerUuid) ?? '' }))]
  await recordActions(sql, actions, { ...source, reason: reasonOf(source), isNamed: !forgets })
}

/** Removes what falls under rules whose rows grow by themselves, also when the rules are not new. */
async function eraseGrown(sql: Sql, personal: Personal, people: readonly Person[], source: RuleSource): Promise<void> {
  const targets = people.flatMap(({ playerUuid, restricted }) =>
    personal.growing.filter((group) => restricted.includes(group)).map((fieldGroup) => ({ playerUuid, fieldGroup })),
  )
  const removed = await erase(sql, personal, targets)
  await recordActions(sql, removed, { ...source, reason: reasonOf(source), isNamed: true })
}

/** Lifts the restrictions of the source that the response does not repeat, and returns how many. Those of people it does not mention stay. */
async function endRestrictions(
  sql: Sql,
  personal: Personal,
  standing: readonly Restriction[],
  people: readonly Person[],
  source: RuleSource,
): Promise<number> {
  const repeated = new Set(people.flatMap((one) => one.restricted.map((group) => `${one.playerUuid} ${group}`)))
  const ended = ownOf(standing, source).filter(({ player, group }) => !repeated.has(`${player} ${group}`))
  if (ended.length === 0) return 0
  await sql.query(
    `delete from sync.privacy_restriction restriction using unnest($1::uuid[], $2::text[]) as ended(player_uuid, field_group)
      where restriction.player_uuid = ended.player_uuid and restriction.field_group = ended.field_group and told_by = $3`,
    [ended.map((one) => one.player), ended.map((one) => one.group), nameOf(source)],
  )
  await reopen(sql, personal, ended)
  return ended.length
}

/** What a response shows although another one hides it, or although it is older than what was removed. */
async function findRestrictedFields(
  sql: Sql,
  people: readonly Person[],
  standing: readonly Restriction[],
  source: RuleSource,
): Promise<Target[]> {
  const others = standing.filter(({ setBy }) => setBy !== nameOf(source))
  const barred = await actionsSince(sql, people, source)
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
  return `a response of ${resource} restricts it`
}
