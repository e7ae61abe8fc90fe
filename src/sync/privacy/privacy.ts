import type { Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/held-locks.ts'
import { typed } from '../../db/typed.ts'
import { everything, type Person, type Personal } from '../declare/personal.ts'
import type { Extraction, ResourceBase } from '../declare/resource.ts'
import { copySecondsOf } from '../evidence/policies.ts'
import type { GuardAction } from '../respond/guard-actions.ts'
import { privacyRestriction } from '../tables/privacy.ts'
import { erase, type Target } from './erase-person.ts'
import { actionsSince, hashOf } from './privacy-actions.ts'
import { concludeRestrictions, eraseGrown, peopleOf } from './restrictions/conclude-restrictions.ts'
import {
  addPending,
  countAgreeing,
  judgePending,
  type RestrictingResponse,
} from './restrictions/pending-restrictions.ts'
import {
  areRestricted,
  nameOf,
  notYet,
  ownOf,
  type Restriction,
  reopen,
  restrictionsOf,
} from './restrictions/restrictions.ts'
import type { CredentialKind, PrivacyPolicy, RuleSource } from './restrictions/rule-source.ts'

interface PrivacyOutcome {
  /** Something is restricted that was not before, or the other way round: the response is not the same as before. */
  readonly isNews: boolean
  /** What the response shows although it is hidden. */
  readonly hidden: readonly Target[]
  /** Something that is kept is hidden for the first time, by a credential that was shown it. */
  readonly hidesKept: boolean
  readonly guarded: readonly GuardAction[]
  /** To be called once the response is loaded: removes what of it must not be kept. */
  eraseHidden(): Promise<void>
}

const nothingRestricted: PrivacyOutcome = {
  isNews: false,
  hidden: [],
  hidesKept: false,
  guarded: [],
  eraseHidden: async () => undefined,
}

/** While a transaction holds it alone, no response about people is loaded. */
export const privacyLock = 'privacy'

export interface PrivacyInput {
  readonly extraction: Extraction
  readonly runId: string
  /** By the clock of this machine, ms since the epoch. */
  readonly receivedAt: number
  /** The one key that the response is about, if it is about one. */
  readonly scope?: string
  readonly privacy?: PrivacyPolicy | undefined
  /** What it was requested with; by default as a guest. */
  readonly credential?: CredentialKind | undefined
  readonly guards?: { readonly accept?: boolean | undefined }
  /** Whether a replay loads it again. */
  readonly isReplay?: boolean
}

/**
 * Applies what a response says of privacy, before it is loaded and in its transaction. What is restricted for the first
 * time is pending: nothing is removed before a response of another cache window says the same. What that one confirms is
 * removed, and what it shows itself is written anew. A restriction stands until a response about the same resource and key
 * lifts it, whatever other responses show.
 */
export async function applyPrivacyRules(
  sql: Sql,
  resource: ResourceBase,
  input: PrivacyInput,
): Promise<PrivacyOutcome> {
  const { personal } = resource
  const people = personal?.peopleIn(input.extraction) ?? []
  if (!personal || people.length === 0) return nothingRestricted
  const source = sourceOf(resource, input)
  const restricts = people.some((one) => one.restricted.length > 0)
  // Only the source itself changes its own restrictions, so they may be read before the lock that depends on them.
  const own = restricts ? ownOf(await restrictionsOf(sql, people, source), source) : []
  const fresh = notYet(own, people)
  const { confirmed, counted } = judgePending(own, people, source)
  await lockForTransaction(sql, privacyLock, fresh.length + confirmed.length > 0 ? 'exclusive' : 'shared')
  const standing = await restrictionsOf(sql, people, source)
  const ended = await endRestrictions(sql, personal, standing, people, source)
  const hidden = await findRestrictedFields(sql, people, standing, source)
  const { hidesKept, guarded } = await addPending(sql, personal, fresh, { standing, people }, source)
  await countAgreeing(sql, counted, source)
  await concludeRestrictions(sql, personal, peopleOf(confirmed, people), source)
  const inForce = [...own.filter(({ awaits }) => awaits === 0), ...confirmed]
  const stillHides = ({ group, restricted }: { group: string; restricted: readonly string[] }) =>
    restricted.includes(group)
  return {
    isNews: fresh.length + confirmed.length + ended > 0,
    hidden,
    hidesKept,
    guarded,
    eraseHidden: async () => {
      await erase(sql, personal, hidden)
      await eraseGrown(sql, personal, peopleOf(inForce, people).filter(stillHides), source)
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
  const fresh = notYet(own, people)
  const toldBy = nameOf(source)
  const rows = fresh.map(({ playerUuid, group }) => ({ playerUuid, fieldGroup: group, toldBy, since: source.at }))
  if (rows.length > 0) await typed(sql).insert(privacyRestriction).values(rows).onConflictDoNothing()
  const pending = own.filter(({ awaits, group }) => awaits > 0 && personal.refusalHides.includes(group))
  await concludeRestrictions(sql, personal, [...fresh, ...peopleOf(pending, people)], source)
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

/**
 * Lifts the restrictions that the response does not repeat of the people it mentions, and returns how many: its own, and those
 * of another key of its resource that is not about the person any more. People it does not mention keep theirs.
 */
async function endRestrictions(
  sql: Sql,
  personal: Personal,
  standing: readonly Restriction[],
  people: readonly Person[],
  source: RuleSource,
): Promise<number> {
  const restricted = new Map(people.map((one) => [one.playerUuid, one.restricted]))
  const lifted = standing.filter(({ player, group }) => restricted.get(player)?.includes(group) === false)
  const isOwn = ({ setBy }: Restriction) => setBy === nameOf(source)
  const isOlder = ({ latestAt }: Restriction) => latestAt === null || latestAt < source.at
  const others = lifted.filter((one) => one.setBy.startsWith(`${source.resource}/`) && !isOwn(one) && isOlder(one))
  const ended = [...lifted.filter(isOwn), ...(await ofFormerKeys(sql, personal, others, source))]
  if (ended.length === 0) return 0
  await sql.query(
    `delete from sync.privacy_restriction restriction
      using unnest($1::uuid[], $2::text[], $3::text[]) as ended(player_uuid, field_group, told_by)
      where restriction.player_uuid = ended.player_uuid and restriction.field_group = ended.field_group
        and restriction.told_by = ended.told_by`,
    [ended.map((one) => one.player), ended.map((one) => one.group), ended.map((one) => one.setBy)],
  )
  await reopen(sql, personal, ended)
  return ended.length
}

/** Restrictions whose source is not about the person any more, while this one was so before this response. */
async function ofFormerKeys(
  sql: Sql,
  { answersAbout }: Personal,
  restrictions: readonly Restriction[],
  source: RuleSource,
): Promise<readonly Restriction[]> {
  if (restrictions.length === 0) return []
  const former = await sql.query<{ player: string; setBy: string }>(
    `select who.player_uuid::text as player, who.told_by as "setBy"
       from unnest($1::uuid[], $2::text[]) as who(player_uuid, told_by)
      cross join lateral (select array_agg(about.resource || '/' || about.key) as keys
                            from (${answersAbout}) about(resource, key)) known
      where $3 = any(known.keys) and who.told_by <> all(known.keys)`,
    [restrictions.map((one) => one.player), restrictions.map((one) => one.setBy), nameOf(source)],
  )
  const gone = new Set(former.map(({ player, setBy }) => `${player} ${setBy}`))
  return restrictions.filter(({ player, setBy }) => gone.has(`${player} ${setBy}`))
}

/** What a response shows although another one hides it, or although it is older than what was removed. */
async function findRestrictedFields(
  sql: Sql,
  people: readonly Person[],
  standing: readonly Restriction[],
  source: RuleSource,
): Promise<Target[]> {
  const others = standing.filter(({ awaits, setBy }) => awaits === 0 && setBy !== nameOf(source))
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
  resource: ResourceBase,
  {
    extraction,
    runId,
    receivedAt,
    scope = '',
    privacy = 'anonymize',
    credential = 'guest',
    guards,
    isReplay = false,
  }: PrivacyInput,
): RestrictingResponse {
  return {
    resource: resource.name,
    key: scope,
    at: new Date(extraction.observedAt),
    receivedAt: new Date(receivedAt),
    runId,
    policy: privacy,
    cacheMs: copySecondsOf(resource, extraction) * 1000,
    credential,
    accept: guards?.accept ?? false,
    isReplay,
  }
}
