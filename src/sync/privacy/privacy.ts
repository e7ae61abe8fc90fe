import { and, eq, sql as text } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/held-locks.ts'
import { anyOf, typed } from '../../db/typed.ts'
import type { Target } from '../archive/erase-archived.ts'
import { everything, type Person, type Personal } from '../declare/personal.ts'
import type { Extraction, ResourceBase } from '../declare/resource.ts'
import { corroborate, forgetClaims } from '../evidence/claims.ts'
import { copySecondsOf } from '../evidence/policies.ts'
import type { GuardAction } from '../respond/guard-actions.ts'
import { privacyRestriction } from '../tables/privacy.ts'
import { erase } from './erase-person.ts'
import { actionsSince, hashOf } from './privacy-actions.ts'
import {
  addPending,
  concludeRestrictions,
  countRestricting,
  eraseGrown,
  peopleOf,
  type RestrictingResponse,
} from './restrictions/pending-restrictions.ts'
import {
  amongClaims,
  claimAbout,
  claimsOf,
  notYet,
  ownOf,
  type Restriction,
  reloadAbout,
  restrictionsOf,
} from './restrictions/restrictions.ts'
import { type CredentialKind, nameOf, type PrivacyPolicy, type RuleSource } from './restrictions/rule-source.ts'

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
 * removed, and what it shows itself is written anew. A restriction stands until responses about the same resource and key
 * say that it is none any more, whatever other responses show.
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
  const isSure = sureAmong(people)
  const repeated = own.filter((one) => one.isPending && isSure(one))
  await lockForTransaction(sql, privacyLock, fresh.length + repeated.length > 0 ? 'exclusive' : 'shared')
  const standing = await restrictionsOf(sql, people, source)
  const ended = await endRestrictions(sql, personal, standing, people, source)
  const inForce = standing.filter((one) => !one.isPending && !ended.includes(one))
  const hidden = await findRestrictedFields(sql, people, inForce, source)
  const { restrictions, hidesKept, guarded } = await addPending(sql, personal, fresh, { standing, people }, source)
  const confirmed = await countRestricting(sql, { fresh: restrictions.filter(isSure), repeated }, source)
  await concludeRestrictions(sql, personal, peopleOf(confirmed, people), source)
  const grown = [...ownOf(inForce, source), ...confirmed]
  return {
    isNews: fresh.length + confirmed.length + ended.length > 0,
    hidden,
    hidesKept,
    guarded,
    eraseHidden: async () => {
      await erase(sql, personal, hidden)
      await eraseGrown(sql, personal, peopleOf(grown, people), source)
    },
  }
}

/** Whether a response surely says of a restriction that it hides something: what hides in doubt removes nothing. */
function sureAmong(people: readonly Person[]): (one: Restriction) => boolean {
  const said = new Set(
    people.flatMap(({ playerUuid, restricted, unsure = [] }) =>
      restricted.flatMap((group) => (unsure.includes(group) ? [] : [`${playerUuid} ${group}`])),
    ),
  )
  return ({ player, group }) => said.has(`${player} ${group}`)
}

/** What a response that is not loaded shows although it is hidden. */
export async function hiddenIn(sql: Sql, resource: ResourceBase, input: PrivacyInput): Promise<readonly Target[]> {
  const people = resource.personal?.peopleIn(input.extraction) ?? []
  if (people.length === 0) return []
  const source = sourceOf(resource, input)
  const inForce = (await restrictionsOf(sql, people, source)).filter(({ isPending }) => !isPending)
  return await findRestrictedFields(sql, people, inForce, source)
}

/**
 * Hides at once what a response that is not loaded restricts for the first time: how its clock is set, or what else it lacks, says nothing
 * against what people wish. It confirms nothing, and removes nothing.
 */
export async function hideUnloaded(
  sql: Sql,
  resource: ResourceBase,
  input: PrivacyInput,
): Promise<Pick<PrivacyOutcome, 'hidesKept' | 'guarded'>> {
  const { personal } = resource
  const people = personal?.peopleIn(input.extraction) ?? []
  if (!personal || input.isReplay || people.every(({ restricted }) => restricted.length === 0)) return nothingRestricted
  // Its own instant may be any.
  const source = { ...sourceOf(resource, input), at: new Date(input.receivedAt) }
  const own = ownOf(await restrictionsOf(sql, people, source), source)
  const said = new Set(people.flatMap((one) => one.restricted.map((group) => `${one.playerUuid} ${group}`)))
  await keepRepeated(
    sql,
    own.filter(({ player, group }) => said.has(`${player} ${group}`)),
    source,
  )
  if (notYet(own, people).length === 0) return nothingRestricted
  await lockPrivacy(sql)
  const standing = await restrictionsOf(sql, people, source)
  return await addPending(sql, personal, notYet(ownOf(standing, source), people), { standing, people }, source)
}

/** Applies a refused profile (403) as the restriction that it is. */
export async function applyRefusal(sql: Sql, personal: Personal, source: RuleSource): Promise<void> {
  if (personal.refusalHides.length === 0) return
  const hides = { restricted: personal.refusalHides, open: [], shows: [], sends: [], fields: [] }
  const people = [{ playerUuid: source.key, ...hides }]
  await lockPrivacy(sql)
  const own = ownOf(await restrictionsOf(sql, people, source), source)
  const fresh = notYet(own, people)
  const toldBy = nameOf(source)
  const refused = { toldBy, since: source.at, isRefusal: true }
  const rows = fresh.map(({ playerUuid, group }) => ({ playerUuid, fieldGroup: group, ...refused }))
  if (rows.length > 0) await typed(sql).insert(privacyRestriction).values(rows).onConflictDoNothing()
  const pending = own.filter(({ isPending, group }) => isPending && personal.refusalHides.includes(group))
  await concludeRestrictions(sql, personal, [...fresh, ...peopleOf(pending, people)], source)
}

/** Whether all that a refusal hides is restricted already by responses about the same key. */
export async function isRestrictedBy(
  sql: Sql,
  { refusalHides }: Personal,
  source: Pick<RuleSource, 'resource' | 'key'>,
): Promise<boolean> {
  if (refusalHides.length === 0) return false
  const { playerUuid, fieldGroup, toldBy, isPending } = privacyRestriction
  const isSource = and(eq(text`${playerUuid}::text`, source.key), eq(toldBy, nameOf(source)), eq(isPending, false))
  const restricted = await typed(sql).$count(privacyRestriction, and(isSource, anyOf(fieldGroup, refusalHides)))
  return restricted === refusalHides.length
}

/** A refused profile contradicts those that showed it: what it hides stays hidden until two in a row do. */
export async function contradictLifted(
  sql: Sql,
  { refusalHides }: Personal,
  { resource, key }: Pick<RuleSource, 'resource' | 'key'>,
): Promise<void> {
  const claims = refusalHides.map((group) => claimAbout({ player: key, group, setBy: nameOf({ resource, key }) }))
  await forgetClaims(sql, claimsOf(resource), liftingClaims, claims)
}

/** No other transaction loads a response about people until this one ends. */
export async function lockPrivacy(sql: Sql): Promise<void> {
  await lockForTransaction(sql, privacyLock, 'exclusive')
}

/**
 * Ends the restrictions of the people it mentions that the response says to be none: its own, and those of another key of its
 * resource that is not about the person any more. One ends when a response of another cache window says the same, with none between
 * that restricts it, and one that is merely missing among the rules when a response a week later lacks it, too. People that a response does
 * not mention, or of whom it does not say which rules hide something, keep theirs.
 */
async function endRestrictions(
  sql: Sql,
  personal: Personal,
  standing: readonly Restriction[],
  people: readonly Person[],
  source: RestrictingResponse,
): Promise<readonly Restriction[]> {
  const byUuid = new Map(people.map((one) => [one.playerUuid, one]))
  const isOwn = ({ setBy }: Restriction) => setBy === nameOf(source)
  const isRestricted = ({ player, group }: Restriction) => byUuid.get(player)?.restricted.includes(group) === true
  // A profile that is shown is not refused.
  const isOpen = ({ player, group, isRefusal }: Restriction) =>
    isRefusal || byUuid.get(player)?.open.includes(group) === true
  const isMissing = ({ player }: Restriction) => byUuid.get(player)?.namesRules === true
  const lifted = standing.filter(
    (one) => byUuid.has(one.player) && !isRestricted(one) && (isOpen(one) || isMissing(one)),
  )
  const others = lifted.filter(
    (one) => one.setBy.startsWith(`${source.resource}/`) && !isOwn(one) && one.since < source.at,
  )
  const repeated = standing.filter((one) => isOwn(one) && isRestricted(one))
  await keepRepeated(sql, repeated, source)
  const open = [...lifted.filter(isOwn), ...(await ofFormerKeys(sql, personal, others, source))]
  const named = open.filter(isOpen)
  const missing = open.filter((one) => !isOpen(one))
  // What responses say by turns is removed never.
  await forgetClaims(
    sql,
    claimsOf(source.resource),
    'restricted',
    open.filter(({ isPending }) => isPending).map(claimAbout),
  )
  const ended = [
    ...(await confirmLifted(sql, named, 'lifted', source)),
    ...(await confirmLifted(sql, missing, 'lifted by absence', source)),
  ]
  if (ended.length === 0) return []
  await sql.query(
    `delete from sync.privacy_restriction restriction
      using unnest($1::uuid[], $2::text[], $3::text[]) as ended(player_uuid, field_group, told_by)
      where restriction.player_uuid = ended.player_uuid and restriction.field_group = ended.field_group
        and restriction.told_by = ended.told_by`,
    [ended.map((one) => one.player), ended.map((one) => one.group), ended.map((one) => one.setBy)],
  )
  await forgetClaims(sql, claimsOf(source.resource), liftingClaims, ended.map(claimAbout))
  await reopen(sql, personal, ended)
  return ended
}

/** Separate, so that responses that lack a rule do not count for one that says it is none. */
const liftingClaims = ['lifted', 'lifted by absence'] as const

/** Those of the restrictions that enough responses say to be none any more. */
async function confirmLifted(
  sql: Sql,
  open: readonly Restriction[],
  kind: (typeof liftingClaims)[number],
  source: RestrictingResponse,
): Promise<readonly Restriction[]> {
  // A replay counts nothing.
  if (source.isReplay && kind === 'lifted by absence') return []
  if (source.accept || source.isReplay) return open
  const { confirmed } = await corroborate(sql, source.witness, kind, open.map(claimAbout))
  return amongClaims(open, confirmed)
}

/** A response that repeats restrictions contradicts those that said them to be none; where one was a refusal, it names the rule. */
async function keepRepeated(sql: Sql, repeated: readonly Restriction[], source: RestrictingResponse): Promise<void> {
  await forgetClaims(sql, claimsOf(source.resource), liftingClaims, repeated.map(claimAbout))
  const named = repeated.filter(({ isRefusal }) => isRefusal)
  if (named.length === 0) return
  const { playerUuid, fieldGroup, toldBy } = privacyRestriction
  const whose = anyOf(
    playerUuid,
    named.map(({ player }) => player),
  )
  const which = anyOf(
    fieldGroup,
    named.map(({ group }) => group),
  )
  await typed(sql)
    .update(privacyRestriction)
    .set({ isRefusal: false })
    .where(and(whose, which, eq(toldBy, nameOf(source))))
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

/** What a response shows although it is hidden and stays so, or although it is older than what was removed. */
async function findRestrictedFields(
  sql: Sql,
  people: readonly Person[],
  inForce: readonly Restriction[],
  source: RuleSource,
): Promise<Target[]> {
  const barred = await actionsSince(sql, people, source)
  if (inForce.length === 0 && barred.length === 0) return []
  const hides = new Set(inForce.map(({ player, group }) => `${player} ${group}`))
  // What the response itself restricted before, it may show as what hiding looks like.
  const hidesSent = new Set(ownOf(inForce, source).map(({ player, group }) => `${player} ${group}`))
  const byHash = barred.some(({ hash }) => hash !== null)
  return people.flatMap(({ playerUuid, shows, sends, restricted }) => {
    const shown = shows.filter((group) => !restricted.includes(group))
    const sent = sends.filter((group) => !restricted.includes(group) && hidesSent.has(`${playerUuid} ${group}`))
    const hidden = new Set([...shown.filter((group) => hides.has(`${playerUuid} ${group}`)), ...sent])
    const whose = byHash ? hashOf(playerUuid) : null
    const late = barred.filter(
      ({ player, hash, group }) =>
        (hash === null ? player === playerUuid : hash === whose) && (group === everything || shown.includes(group)),
    )
    return [
      ...[...hidden].map((fieldGroup) => ({ playerUuid, fieldGroup })),
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
  const heading = { at: new Date(extraction.observedAt), receivedAt: new Date(receivedAt), runId }
  // A person's will does not take more responses where others are asked for.
  const { isOrderOnly = false } = extraction
  const counting = { cacheSeconds: copySecondsOf(resource, extraction), isOrderOnly }
  const evidence = { ...counting, guards: { absences: 2 } }
  return {
    ...heading,
    resource: resource.name,
    key: scope,
    witness: { ...heading, ...evidence, resource: claimsOf(resource.name) },
    policy: privacy,
    credential,
    accept: guards?.accept ?? false,
    isReplay,
  }
}

/**
 * Makes the next responses about these players be loaded again where no response hides the field group any more: what they
 * show was removed, or not kept, while they stayed the same.
 */
async function reopen(
  sql: Sql,
  personal: Personal,
  ended: readonly { readonly player: string; readonly group: string }[],
): Promise<void> {
  const { playerUuid, fieldGroup } = privacyRestriction
  const whose = ended.map(({ player }) => player)
  const others = await typed(sql)
    .select({ player: playerUuid, group: fieldGroup })
    .from(privacyRestriction)
    .where(anyOf(playerUuid, whose))
  const hidden = new Set(others.map(({ player, group }) => `${player} ${group}`))
  const open = ended.filter(({ player, group }) => !hidden.has(`${player} ${group}`))
  const uuids = [...new Set(open.map((one) => one.player))]
  if (uuids.length === 0) return
  await reloadAbout(sql, personal, uuids)
  for (const { table, versionsOf, blank = {} } of personal.tables) {
    for (const [group, { columns, where }] of Object.entries(blank)) {
      const again = open.filter((one) => one.group === group).map((one) => one.player)
      if (versionsOf === undefined || where !== undefined || again.length === 0) continue
      await sql.query(
        `update ${table} set hash = sha256(hash) where player_uuid = any($1::uuid[]) and valid_until = 'infinity'
            and ${columns.map((column) => `${column} is null`).join(' and ')}`,
        [again],
      )
    }
  }
}
