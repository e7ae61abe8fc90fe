import type { Sql } from '../../db/database.ts'
import type { History, ResourceBase } from '../declare/resource.ts'
import { corroborate, forgetClaims, type PendingClaim, pendingClaims, type Witness } from '../evidence/claims.ts'
import { copySecondsOf } from '../evidence/policies.ts'
import type { Json } from '../normalize/hash.ts'
import type { Prepared } from '../normalize/prepare.ts'
import { bulkTable, historySql } from '../sql/history-sql.ts'
import { type JudgedOlder, type Loaded, loadVersions, type OlderKind, type Order, type Withdrawn } from './load.ts'
import type { Absence } from './missing-keys.ts'
import { volatileJudge } from './volatile-fields.ts'

/** The histories of a resource, each with the name under which claims about it are counted: the resource, or `resource/history`. */
function historiesOf({ name, history, relatedHistories = {} }: ResourceBase) {
  const related = Object.entries(relatedHistories).map(([other, one]) => ({
    counted: `${name}/${other}`,
    history: one,
  }))
  return [{ counted: name, history }, ...related]
}

/** Under which names claims about a resource are counted. */
export const countedOf = (resource: ResourceBase) => historiesOf(resource).map(({ counted }) => counted)

/** Whether a single response is not enough for some versions of a history. */
const waits = ({ compare, reopens = false }: History) => compare !== undefined || reopens

interface Loading extends Pick<Order, 'lastSeen' | 'judgeNew'> {
  /** Key of a worklist that the response is about. */
  readonly scope?: string | undefined
}

/** Loads entities, and remembers which versions this response alone shows so far. */
export async function loadAndRemember(
  sql: Sql,
  witness: Witness,
  history: History,
  entities: readonly Prepared[],
  { lastSeen, scope, ...order }: Loading,
): Promise<Loaded> {
  const { at } = witness
  const judging = { ...order, judgeVolatile: volatileJudge(sql, witness, lastSeen, scope) }
  if (!waits(history)) return await loadVersions(sql, history, entities, at, judging)
  let other: ReadonlySet<Prepared> = new Set()
  const judgeOlder = async (older: ReadonlyMap<Prepared, OlderKind>, less: readonly Prepared[]) => {
    other = new Set(older.keys())
    const confirmed = await confirmOlder(sql, witness, history, { older, less, entities })
    return await withdrawContradicted(sql, witness, history, { confirmed, older })
  }
  const reopened = new Set<string>()
  const beforeReopening = async (back: readonly Prepared[]) => {
    for (const { key } of back) reopened.add(key)
    await rememberEnds(sql, witness, history, back)
  }
  const loaded = await loadVersions(sql, history, entities, at, {
    ...judging,
    lastSeen,
    judgeOlder,
    beforeReopening,
  })
  const isNew = new Set([...loaded.inserted, ...loaded.changed.map(({ entity }) => entity)])
  for (const kind of ['shown', 'returned'] as const) {
    // Where versions say since when they are true, another one confirms none of those before; it confirms that the key is back.
    const isOther = (entity: Prepared) =>
      other.has(entity) || (kind === 'shown' && history.compare !== undefined && isNew.has(entity))
    const shown = new Set(entities.flatMap((entity) => (isOther(entity) ? [] : [entity.key])))
    const pending = await pendingClaims(sql, witness, kind)
    const tooMany = new Set(kind === 'shown' ? beyondTail(pending) : [])
    await forgetClaims(sql, witness.resource, kind, [...tooMany])
    await corroborate(
      sql,
      witness,
      kind,
      pending.filter((one) => shown.has(one.subject) && !tooMany.has(one)),
    )
  }
  // The first response is where history begins.
  if (lastSeen !== null) {
    const changed = loaded.changed.flatMap(({ entity }) => (other.has(entity) ? [] : [entity.key]))
    const inserted = loaded.inserted.flatMap(({ key }) => (reopened.has(key) ? [] : [key]))
    await rememberNew(sql, witness, history, history.compare ? [...inserted, ...changed] : inserted)
  }
  return loaded
}

/** What responses showed no longer than this, ms, may itself be of wrong ones: two others are as good. */
const BRIEF_MS = 300_000

interface Older {
  readonly older: ReadonlyMap<Prepared, OlderKind>
  /** Those that say less than what is stored: they contradict nothing of the same holder. */
  readonly less: readonly Prepared[]
  /** All of the response. */
  readonly entities: readonly Prepared[]
}

/**
 * Entities that are older than the current version of their key. Either the response is wrong or what is stored: what enough consecutive
 * responses repeat is accepted, so that one wrong response does not block the right ones. Where a single response showed that the version
 * before had ended, another one is enough to resume it. Where several showed a later version, and the response shows nothing as late, it is
 * more likely an old copy: the older one must be shown for longer than they showed that, unless that was brief.
 * @returns those that are confirmed, with the instant of the first of these responses
 */
async function confirmOlder(
  sql: Sql,
  witness: Witness,
  history: History,
  { older, less, entities }: Older,
): Promise<ReadonlyMap<Prepared, Date>> {
  const newest =
    older.size > 0 ? entities.reduce((most, { since }) => Math.max(most, Date.parse(since ?? '') || 0), 0) : 0
  const resumed = [...older].flatMap(([entity, kind]) => (kind === 'resumed' ? [entity] : []))
  const chains = await readChains(
    sql,
    witness,
    history,
    [...older.keys()].map(({ key }) => key),
  )
  const isAtOnce = (entity: Prepared) => chains.get(entity.key)?.[0]?.isPending === true
  const confirmed = new Map(resumed.filter(isAtOnce).map((entity) => [entity, witness.at]))
  for (const kind of ['older', 'resumed'] as const) {
    const before = await pendingClaims(sql, witness, kind)
    const agreed = (entity: Prepared) => before.find((claim) => agrees(history, entity, claim))
    const claims = [...older].flatMap(([entity, is]) => {
      if (is !== kind || confirmed.has(entity)) return []
      const { value = claimedOf(history, entity), firstAt = witness.at } = agreed(entity) ?? {}
      const chain = kind === 'older' && entity.since ? (chains.get(entity.key) ?? []) : []
      const shownFor = shownBefore(
        firstAt,
        chain.filter(({ began }) => began.getTime() > newest),
      )
      const span = shownFor > BRIEF_MS ? Math.min(shownFor + 1, 1000 * copySecondsOf(witness, { isUndated: true })) : 0
      return [{ entity, subject: entity.key, value, span }]
    })
    const kept = less.flatMap((entity) => agreed(entity) ?? [])
    const said = new Set([...claims, ...kept].map(({ subject, value }) => `${subject} ${value}`))
    const contradicted = before.filter(({ subject, value }) => !said.has(`${subject} ${value}`))
    await forgetClaims(sql, witness.resource, kind, contradicted)
    const found = (await corroborate(sql, witness, kind, claims)).confirmed
    const firstAt = new Map(found.map((one) => [one.subject, one.firstAt]))
    for (const { entity, subject } of claims) {
      const first = firstAt.get(subject)
      if (first) confirmed.set(entity, first)
    }
  }
  return confirmed
}

/** For how long, in ms, several responses had shown any of these versions, before an instant. */
function shownBefore(at: Date, versions: readonly Link[]): number {
  const firm = versions.filter(({ isPending, isEmpty }) => !isPending && !isEmpty)
  return Math.max(0, ...firm.map(({ shownAt }) => at.getTime() - shownAt.getTime()))
}

/** What responses must agree in, as a claim has it. */
function claimedOf({ agreement }: History, { documentText, hash }: Prepared): string {
  if (!agreement) return hash.toString('hex').slice(0, 16)
  const { holder, since } = agreement(JSON.parse(documentText) as Json)
  return `${holder} ${since ?? ''}`
}

function agrees(history: History, entity: Prepared, { subject, value }: PendingClaim): boolean {
  if (subject !== entity.key) return false
  const own = claimedOf(history, entity)
  if (own === value || !history.agreement) return own === value
  const [holder, since] = own.split(' ')
  const [claimed, claimedSince] = value.split(' ')
  return holder === claimed && (since === '' || claimedSince === '')
}

/** Remembers the current versions of these keys: they began with this response. Of histories that only reopen, those of keys that were gone. */
async function rememberNew(sql: Sql, witness: Witness, history: History, keys: readonly string[]) {
  const { table, keyText } = historySql(history)
  const select = `select began.key, current.valid_from::text from unnest($9::text[]) as began(key)
       join ${table.name} current on ${keyText('current')} = began.key and current.valid_until = 'infinity'
      ${history.compare ? '' : 'where current.previous_until is not null'}`
  await corroborate(sql, witness, 'shown', { select, keys })
}

/** Remembers where the latest versions of these entities ended, before they are opened again. */
async function rememberEnds(sql: Sql, witness: Witness, history: History, back: readonly Prepared[]) {
  const { table, keyText } = historySql(history)
  const select = `select back.key, latest.valid_until::text from unnest($9::text[]) as back(key)
      cross join lateral (select * from ${table.name} version where ${keyText('version')} = back.key
                           order by version.valid_from desc limit 1) latest`
  await corroborate(sql, witness, 'returned', { select, keys: back.map(({ key }) => key) })
}

/**
 * Takes back what single responses showed of keys that are gone: a version that one opened again ends where it had ended, and a key that
 * only one named, or named again, was not there.
 */
export async function takeBackOfGone(
  sql: Sql,
  witness: Witness,
  history: History,
  gone: readonly Absence[],
): Promise<readonly Withdrawn[]> {
  if (gone.length === 0 || !waits(history)) return []
  const isGone = new Set(gone.map(({ key }) => key))
  const returned = (await pendingClaims(sql, witness, 'returned')).filter(({ subject }) => isGone.has(subject))
  const { table, keyText } = historySql(history)
  if (returned.length > 0)
    await sql.query(
      `update ${table.name} version set valid_until = once.ended
         from unnest($1::text[], $2::timestamptz[]) as once(key, ended)
        where ${keyText('version')} = once.key and version.valid_from < once.ended and version.valid_until > once.ended`,
      [returned.map(({ subject }) => subject), returned.map(({ value }) => value)],
    )
  const shown = (await pendingClaims(sql, witness, 'shown')).filter(({ subject }) => isGone.has(subject))
  const chains = await readChains(sql, witness, history, [...new Set(shown.map(({ subject }) => subject))])
  // One that another version ended where it began stays: both were held.
  const alone = [...chains.values()].flatMap((chain) => {
    const tail = pendingTail(chain, false)
    return tail > 0 && chain[tail - 1]?.isAfterGap ? [{ chain, tail }] : []
  })
  const withdrawn = await withdraw(sql, history, alone)
  await forgetKeys(sql, witness, [...isGone])
  return withdrawn
}

/** A version of a key, as withdrawing sees it. */
interface Link extends Withdrawn {
  readonly began: Date
  /** The first response that showed it; where that is not kept, where it began. */
  readonly shownAt: Date
  readonly hash: Uint8Array
  /** Only one response showed it. */
  readonly isPending: boolean
  /** It has no holder. */
  readonly isEmpty: boolean
  /** It is the first of its key, or the one before it ended earlier. */
  readonly isAfterGap: boolean
}

/** So many versions of a key are looked at: more are not withdrawn at once. */
const longestTail = 20

/** Claims about versions of a key that are too many to be withdrawn: where each response shows another one, they are not kept for ever. */
function beyondTail(pending: readonly PendingClaim[]): readonly PendingClaim[] {
  const newest = pending.toSorted((one, other) => other.firstAt.getTime() - one.firstAt.getTime())
  const counts = new Map<string, number>()
  return newest.filter(({ subject }) => {
    const nth = (counts.get(subject) ?? 0) + 1
    counts.set(subject, nth)
    return nth >= longestTail
  })
}

/** The latest versions of keys, the newest first. */
async function readChains(
  sql: Sql,
  { resource }: Witness,
  history: History,
  keys: readonly string[],
): Promise<Map<string, Link[]>> {
  if (keys.length === 0) return new Map()
  const { table, keyText, hasDocument } = historySql(history)
  const isEmpty = hasDocument && history.empty ? `version.document @> $3::jsonb` : 'false and $3::jsonb is not null'
  const rows = await sql.query<Omit<Link, 'before'>>(
    `select asked.key, latest.* from unnest($2::text[]) as asked(key)
      cross join lateral (
        select version.valid_from::text as "validFrom", version.valid_from as began, version.hash,
               ${table.columns.get('observedAt')?.name ?? 'valid_from'} as "shownAt",
               ${hasDocument ? 'version.document' : 'null'} as document,
               ${isEmpty} as "isEmpty", coalesce(version.previous_until < version.valid_from, true) as "isAfterGap", exists (select from sync.claim
                 where claim.resource = $1 and claim.kind = 'shown' and claim.subject = asked.key
                   and claim.value = version.valid_from::text) as "isPending"
          from ${table.name} version where ${keyText('version')} = asked.key
         order by version.valid_from desc limit ${longestTail + 1}) latest
      order by asked.key, latest.began desc`,
    [resource, keys, history.empty ?? {}],
  )
  const chains = new Map<string, Link[]>(keys.map((key) => [key, []]))
  for (const row of rows) chains.get(row.key)?.push({ ...row, before: null })
  return chains
}

/** How many of the latest versions of a key may be withdrawn: those that only one response each showed, and without holder, if asked. */
function pendingTail(chain: readonly Link[], withEmpty = true): number {
  const firm = chain.findIndex(({ isPending, isEmpty }) => !isPending && !(withEmpty && isEmpty))
  return firm < 0 ? chain.length : firm
}

/**
 * Deletes current versions that single responses showed, where enough later responses in a row contradict them: they show a version before
 * them, which did not end, or another one that began before they did. What two responses showed stays as a version, unless the one before
 * it is resumed.
 *
 * @param confirmed entities that enough responses in a row agree in
 * @returns which of them become new versions, after which one, and what was withdrawn
 */
async function withdrawContradicted(
  sql: Sql,
  witness: Witness,
  history: History,
  {
    confirmed,
    older,
  }: { readonly confirmed: ReadonlyMap<Prepared, Date>; readonly older: ReadonlyMap<Prepared, OlderKind> },
): Promise<JudgedOlder> {
  if (confirmed.size === 0) return { replacing: [], withdrawn: [], confirmed: 0 }
  const chains = await readChains(
    sql,
    witness,
    history,
    [...confirmed.keys()].map(({ key }) => key),
  )
  const replacing: JudgedOlder['replacing'][number][] = []
  const withdrawing: Withdrawing[] = []
  for (const [entity, seen] of confirmed) {
    const chain = chains.get(entity.key) ?? []
    const tail = Math.max(pendingTail(chain), older.get(entity) === 'resumed' ? 1 : 0)
    const bases = chain.slice(1, tail + 1)
    const goesOn = bases.findIndex(({ hash }) => Buffer.compare(hash, entity.hash) === 0)
    const since = entity.since ? Date.parse(entity.since) : undefined
    const isBetween = (base: Link, nth: number) =>
      since !== undefined && base.began.getTime() < since && since <= (chain[nth]?.began.getTime() ?? 0)
    const base = goesOn >= 0 ? goesOn : bases.findIndex(isBetween)
    if (base >= 0) withdrawing.push({ chain, tail: base + 1 })
    if (goesOn < 0) replacing.push({ entity, seen, after: bases[base]?.began })
  }
  return { replacing, withdrawn: await withdraw(sql, history, withdrawing), confirmed: confirmed.size }
}

/** The latest versions of a key, and how many of them never were. */
interface Withdrawing {
  readonly chain: readonly Link[]
  readonly tail: number
}

/** Deletes the latest versions of each chain, and makes the one before them current again where it ended as they began. */
async function withdraw(sql: Sql, history: History, all: readonly Withdrawing[]): Promise<Withdrawn[]> {
  const { table, keyText } = historySql(history)
  const withdrawn = all.flatMap(({ chain, tail }) =>
    chain.slice(0, tail).map(({ key, validFrom, document }, nth) => {
      return { key, validFrom, document, before: chain[nth + 1]?.document ?? null }
    }),
  )
  if (withdrawn.length === 0) return []
  const gone = [withdrawn.map(({ key }) => key), withdrawn.map(({ validFrom }) => validFrom)]
  for (const each of [...Object.values(history.parts), history.root])
    await sql.query(
      `delete from ${bulkTable(each).name} wrong using unnest($1::text[], $2::timestamptz[]) as gone(key, began)
        where ${keyText('wrong')} = gone.key and wrong.valid_from = gone.began`,
      gone,
    )
  const again = all.flatMap(({ chain, tail }) => (tail > 0 && !chain[tail - 1]?.isAfterGap ? (chain[tail] ?? []) : []))
  await sql.query(
    `update ${table.name} before set valid_until = 'infinity'
       from unnest($1::text[], $2::timestamptz[]) as again(key, began)
      where ${keyText('before')} = again.key and before.valid_from = again.began`,
    [again.map(({ key }) => key), again.map(({ validFrom }) => validFrom)],
  )
  return withdrawn
}

async function forgetKeys(sql: Sql, { resource }: Witness, keys: readonly string[]): Promise<void> {
  await sql.query(
    `delete from sync.claim where resource = $1 and kind in ('shown', 'returned') and subject = any($2::text[])`,
    [resource, keys],
  )
}
