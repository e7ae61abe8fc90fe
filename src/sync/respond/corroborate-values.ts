import { isSameInstant } from '../../api/schemas/form/limits.ts'
import { FatalError } from '../../base/errors.ts'
import { instantText } from '../../db/bulk/values.ts'
import type { Sql } from '../../db/database.ts'
import type { RelatedHistory } from '../declare/resource.ts'
import {
  corroborate,
  forgetClaims,
  mayClaim,
  type PendingClaim,
  pendingClaims,
  type Witness,
} from '../evidence/claims.ts'
import { type ClaimKind, isBurst } from '../evidence/policies.ts'
import type { Prepared } from '../normalize/prepare.ts'
import { bulkTable, historySql } from '../sql/history-sql.ts'
import { type Current, comparable, isSame, readCurrent, sentText, withValuesOf } from './carry.ts'
import { type GuardAction, valueActions } from './guard-actions.ts'

/*
 * Values of known keys that tell one spell from another, or what a member is (`corroborated` of a history).
 *
 * A burst of other values at once is hard to believe, and so is a spell that began before the last response, which showed another one:
 * they wait for a second response and are dated by the first. A single spell that began since the last response is ordinary. It is
 * loaded, as a version that one response alone shows (claim `shown`): where a response shows the one before it again, before a second one
 * shows the new one, x, y, x is one spell. Other single values change back and forth within minutes, and stay as they were seen.
 *
 * Two caches, one of which is hours late, show the old and the new value by turns. So a value that is back is shown as `shown` is, until it
 * has been so for as long as the one between was: x, y, x, y is one change. A response that is newer than all before (`isNewer`) is no late one.
 */

interface CorroboratedValues {
  /** The entities, with values of their current versions where their own are not believed yet. */
  readonly entities: readonly Prepared[]
  readonly guarded: readonly GuardAction[]
  /** How many versions were taken back, in whole or in part. */
  readonly withdrawn: number
  /** Entities with another value that is loaded although this response alone shows it. */
  readonly shown: readonly Prepared[]
}

interface Values {
  readonly history: RelatedHistory
  readonly entities: readonly Prepared[]
  /** Those of the record that they hang on. */
  readonly samples: Prepared['samples']
  /** The key that all entities hang on. */
  readonly scope: string
  /** The instant that the last accepted response about it speaks for. */
  readonly lastSeen: Date
  /** A person accepts the response. */
  readonly accept: boolean
}

/** Of a response that is newer than all before, no value that is back is one of a late copy. */
type Judged = Values & { readonly isNewer: boolean }

type Pending = ReadonlyMap<ClaimKind, readonly PendingClaim[]>

/** Clocks of the API differ, and a copy may be as old; ms. */
const slack = 15 * 60_000

/** What changed between responses that are further apart did not change at once; ms. */
const longestMoment = 24 * 3_600_000

/** The current versions of keys whose values differ, or about which something is pending, by key. */
type Known = Map<string, Current>

/** Decides which other values of known keys are believed. */
export async function corroborateValues(sql: Sql, witness: Witness, values: Values): Promise<CorroboratedValues> {
  const { history, entities, scope } = values
  const { corroborated = {} } = history
  const pending = new Map<ClaimKind, readonly PendingClaim[]>()
  for (const kind of ['shown', ...Object.values(corroborated)] as const)
    pending.set(kind, await pendingClaims(sql, witness, kind, scope))
  const known = await readKnown(sql, values, pending)
  const judged = { ...values, isNewer: known.size > 0 && (await isNewer(sql, witness, values, pending)) }
  await confirmShown(sql, witness, judged, known, pending)
  const withdrawn = await restore(sql, witness, values, known, pending)
  const { waiting, alone } = await findWaiting(sql, witness, judged, known, pending)
  const carried = new Map<string, string[]>()
  const since = new Map<string, Date>()
  for (const [property, kind] of Object.entries(corroborated)) {
    const claims = (waiting.get(property) ?? []).map(({ one, span }) => ({ ...claimOf(one, property), span }))
    const made = new Set(claims.map(({ subject, value }) => `${subject} ${value}`))
    const seen = new Set(entities.flatMap(({ key, root }) => (sentText(root[property]) === null ? [] : [key])))
    // Who is missing neither says nor contradicts it.
    const over = pending.get(kind)?.filter((one) => seen.has(one.subject) && !made.has(`${one.subject} ${one.value}`))
    await forgetClaims(sql, witness.resource, kind, over ?? [])
    const counted = await corroborate(sql, witness, kind, claims)
    for (const { subject } of counted.pending) {
      const one = known.get(subject)
      // A record of a spell that is not believed is not believed in its other values either.
      const doubted = property === history.spellColumn && one ? differing(history, one) : [property]
      carried.set(subject, [...(carried.get(subject) ?? []), ...doubted])
    }
    for (const { subject, firstAt } of counted.confirmed)
      if (firstAt < (since.get(subject) ?? witness.at)) since.set(subject, firstAt)
  }
  const isFollowed = (one: Current) =>
    differing(history, one).length > 0 && !carried.has(one.entity.key) && !alone.has(one)
  await forgetClaims(sql, witness.resource, 'shown', shownOf(pending, [...known.values()].filter(isFollowed)))
  return {
    entities: entities.map((entity) => {
      const one = known.get(entity.key)
      const first = since.get(entity.key)
      const properties = [...(carried.get(entity.key) ?? []), ...(one ? cutIn(history, one) : [])]
      const believed = one && properties.length > 0 ? withValuesOf(history, one, properties) : entity
      return first ? { ...believed, since: instantText(first) } : believed
    }),
    guarded: valueActions(Object.keys(corroborated), withdrawn, [...carried.values()]),
    withdrawn: withdrawn.length,
    shown: [...alone].flatMap(({ entity }) => (since.has(entity.key) ? [] : [entity])),
  }
}

/** Whether a response is newer than all before. Keys that are missing, or of which something is pending, say nothing about it. */
async function isNewer(sql: Sql, witness: Witness, values: Values, pending: Pending): Promise<boolean> {
  const { history, entities, samples, scope } = values
  if (!history.isNewer) return false
  const claims = [...(await pendingClaims(sql, witness, 'missing', scope)), ...[...pending.values()].flat()]
  const doubted = new Set(claims.map(({ subject }) => subject))
  const roots = entities.flatMap(({ key, root }) => (doubted.has(key) ? [] : [root]))
  return await history.isNewer(sql, roots, samples, witness.at)
}

/** Remembers which current versions began with this response, so that another one may take them back. */
export async function rememberShown(sql: Sql, witness: Witness, entities: readonly Prepared[]): Promise<void> {
  const value = instantText(witness.at)
  await corroborate(
    sql,
    witness,
    'shown',
    entities.map(({ key }) => ({ subject: key, value })),
  )
}

/** Forgets what is claimed about values of keys that are gone. */
export async function forgetValuesOf(
  sql: Sql,
  witness: Witness,
  { corroborated }: RelatedHistory,
  keys: readonly string[],
) {
  const kinds = corroborated ? (['shown', ...Object.values(corroborated)] as const) : []
  const claimed = kinds.filter((kind) => mayClaim(witness, kind))
  if (claimed.length === 0 || keys.length === 0) return
  await sql.query(
    `delete from sync.claim where resource = $1 and kind = any($2::text[]) and subject = any($3::text[])`,
    [witness.resource, claimed, keys],
  )
}

async function readKnown(sql: Sql, { history, entities }: Values, pending: Pending): Promise<Known> {
  const properties = Object.keys(history.corroborated ?? {})
  const keys = new Set([...pending.values()].flat().map(({ subject }) => subject))
  const others = properties.map((property) => columnOf(history, property).name)
  const where = ['incoming.is_pending', ...others.map((name) => `current.${name} is distinct from incoming.${name}`)]
  const found = await readCurrent(sql, history, entities, { properties, pending: keys, where: where.join(' or ') })
  return new Map(found.map((one) => [one.entity.key, one]))
}

function valueIn(history: RelatedHistory, row: Current['row'], property: string): unknown {
  return row[columnOf(history, property).name]
}

/** The values in which an entity differs from its current version. What it leaves out, or cuts to seconds, does not differ. */
function differing(history: RelatedHistory, { entity, row }: Current): string[] {
  return Object.keys(history.corroborated ?? {}).filter((property) => {
    const sent = sentText(entity.root[property])
    return sent !== null && !isSameInstant(sent, String(valueIn(history, row, property)))
  })
}

/** Instants that the current version has with another precision: they stay as they are. */
function cutIn(history: RelatedHistory, one: Current): string[] {
  const differ = differing(history, one)
  return Object.keys(history.corroborated ?? {}).filter((property) => {
    const sent = one.entity.root[property]
    const isOther = comparable(sent) !== comparable(valueIn(history, one.row, property))
    return isOther && sentText(sent) !== null && !differ.includes(property)
  })
}

function claimOf({ entity: { key, root } }: Current, property: string) {
  return { subject: key, value: String(root[property]) }
}

interface Waiting {
  /** Which keys wait for a second response, by the property in which they differ; for how long at least, ms. */
  readonly waiting: ReadonlyMap<string, readonly { readonly one: Current; readonly span: number }[]>
  /** Keys with another value that is loaded, and taken back where the next response shows the one before. */
  readonly alone: ReadonlySet<Current>
}

async function findWaiting(
  sql: Sql,
  witness: Witness,
  { history, entities, scope, lastSeen, accept, isNewer }: Judged,
  known: Known,
  pending: Pending,
): Promise<Waiting> {
  const waiting: Map<string, { one: Current; span: number }[]> = new Map()
  const { corroborated = {}, spellColumn = '' } = history
  const changed = [...known.values()].map((one) => ({ one, properties: differing(history, one) }))
  if (accept || changed.every(({ properties }) => properties.length === 0)) return { waiting, alone: new Set() }
  const respelled = changed.flatMap(({ one, properties }) => (properties.includes(spellColumn) ? [one] : []))
  const missed = respelled.length > 0 ? await pendingClaims(sql, witness, 'missing', scope) : []
  const missedSince = new Map(missed.map(({ subject, firstAt }) => [subject, firstAt]))
  const isAnew = ({ entity, row }: Current) => {
    const [before, sent] = [valueIn(history, row, spellColumn), entity.root[spellColumn]].map((at) =>
      Date.parse(String(at)),
    )
    const since = missedSince.get(entity.key) ?? lastSeen
    return sent !== undefined && before !== undefined && sent > before && sent >= since.getTime() - slack
  }
  const anew = new Set(isBurst(respelled.length, entities.length) ? [] : respelled.filter(isAnew))
  const chains = await readChains(sql, witness, history, [...known.values()])
  const isAtOnce = witness.at.getTime() - lastSeen.getTime() <= longestMoment
  const alone = new Set(anew)
  for (const [property, kind] of Object.entries(corroborated)) {
    const others = changed.flatMap(({ one, properties }) =>
      properties.includes(property) && !anew.has(one) ? [one] : [],
    )
    const isMany = isBurst(others.length, entities.length)
    const isAll = property === spellColumn || (isAtOnce && isMany)
    const claimed = new Map(pending.get(kind)?.map(({ subject, value, firstAt }) => [`${subject} ${value}`, firstAt]))
    const ofProperty: { one: Current; span: number }[] = []
    for (const one of others) {
      const { subject, value } = claimOf(one, property)
      const firstAt = claimed.get(`${subject} ${value}`)
      const sent = { value: comparable(one.entity.root[property]), from: (firstAt ?? witness.at).getTime() }
      const span = isNewer ? 0 : returnSpan(history, chains.get(subject) ?? [], property, [sent])
      if (isAll || firstAt) ofProperty.push({ one, span })
      else if (isMany || span > 0) alone.add(one)
    }
    waiting.set(property, ofProperty)
  }
  return { waiting, alone }
}

function isSameSpell(history: RelatedHistory, { root }: Prepared, row: Current['row']): boolean {
  const { spellColumn: joined } = history
  return joined === undefined || isSameInstant(String(root[joined]), String(valueIn(history, row, joined)))
}

/** Versions that another response shows, too, are kept; one that is back, once it has been so for longer than the one between. */
async function confirmShown(sql: Sql, witness: Witness, { history, isNewer }: Judged, known: Known, pending: Pending) {
  const same = [...known.values()].filter((one) => differing(history, one).length === 0)
  const claims = shownOf(pending, same)
  const of = [...new Set(claims.flatMap(({ subject }) => known.get(subject) ?? []))]
  const chains = await readChains(sql, witness, history, of)
  const spanOf = (chain: readonly Link[] = []) =>
    Math.max(0, ...Object.keys(history.corroborated ?? {}).map((property) => returnSpan(history, chain, property)))
  const spanned = claims.map((claim) => ({ ...claim, span: isNewer ? 0 : spanOf(chains.get(claim.subject)) }))
  await corroborate(sql, witness, 'shown', spanned)
}

/** What is claimed of versions that one response alone showed of these keys. */
function shownOf(pending: Pending, of: readonly Current[]): readonly PendingClaim[] {
  const keys = new Set(of.map(({ entity }) => entity.key))
  return (pending.get('shown') ?? []).filter(({ subject }) => keys.has(subject))
}

/**
 * For how long, in ms, a value must be shown that is the one before the last: 0 where it is none.
 * @param chain versions of a key, the newest first; of one spell they are compared
 * @param sent value of a property that comes after them, and since when
 */
function returnSpan(
  history: RelatedHistory,
  chain: readonly Link[],
  property: string,
  sent: readonly { readonly value: string; readonly from: number }[] = [],
): number {
  const runs = [...sent]
  const spellIn = ({ row }: Link) => valueIn(history, row, history.spellColumn ?? property)
  for (const [nth, link] of chain.entries()) {
    const next = chain[nth - 1]
    if (next && (next.validFrom !== link.validUntil || (history.spellColumn && spellIn(next) !== spellIn(link)))) break
    const run = {
      value: comparable(valueIn(history, link.row, property)),
      from: Date.parse(String(link.row.valid_from)),
    }
    if (runs.at(-1)?.value === run.value) runs.pop()
    runs.push(run)
  }
  const [current, between, before] = runs
  return current && between && current.value === before?.value ? current.from - between.from + 1 : 0
}

/** A version of a key in the table. */
interface Link {
  readonly validFrom: string
  readonly validUntil: string
  readonly row: Current['row']
  readonly hash: Buffer
  /** One response alone showed it. */
  readonly isPending: boolean
}

/** So many versions of a key are looked at: more are not taken back at once. */
const longestTail = 20

/**
 * Gives versions that one response alone showed the values of the version before them, where this response shows those again. A version
 * that does not differ from the one before it any more is deleted. `known` has the current versions afterwards.
 * @returns the properties that were taken back, of each version
 */
async function restore(
  sql: Sql,
  witness: Witness,
  { history }: Values,
  known: Known,
  pending: Pending,
): Promise<readonly (readonly string[])[]> {
  const shown = new Set(pending.get('shown')?.map(({ subject }) => subject))
  const back = [...known.values()].filter((one) => shown.has(one.entity.key) && differing(history, one).length > 0)
  const chains = await readChains(sql, witness, history, back)
  const restored: string[][] = []
  for (const one of back) {
    const chain = chains.get(one.entity.key) ?? []
    const firm = chain.findIndex(({ isPending }) => !isPending)
    const bases = chain.slice(1, (firm < 0 ? chain.length : firm) + 1)
    const depths = differing(history, one).flatMap((property) => {
      const sent = comparable(one.entity.root[property])
      // What was in another spell says nothing of this one.
      const isBase = ({ row }: Link) =>
        comparable(valueIn(history, row, property)) === sent && isSameSpell(history, one.entity, row)
      const depth = bases.findIndex(isBase) + 1
      return depth > 0 ? [{ property, depth }] : []
    })
    if (depths.length === 0) continue
    const current = await rewrite(sql, witness, history, one, chain, depths)
    known.set(one.entity.key, current)
    restored.push(depths.map(({ property }) => property))
  }
  return restored
}

/** The latest versions of keys, the newest first. */
async function readChains(sql: Sql, { resource }: Witness, history: RelatedHistory, of: readonly Current[]) {
  const chains = new Map<string, Link[]>()
  if (of.length === 0) return chains
  const { table, keyText, keyArrays, keyNames, keyJoin, keyValues, nextParameter } = historySql(history)
  const rows = await sql.query<Link & { readonly key: string }>(
    `select ${keyText('asked')} as key, latest.* from unnest(${keyArrays}) as asked(${keyNames})
      cross join lateral (
        select version.valid_from::text as "validFrom", version.valid_until::text as "validUntil", version.hash,
               to_jsonb(version) as row, exists (select from sync.claim
                 where claim.resource = $${nextParameter} and claim.kind = 'shown' and claim.subject = ${keyText('asked')}
                   and claim.value::timestamptz = version.valid_from) as "isPending"
          from ${table.name} version where ${keyJoin('version', 'asked')}
         order by version.valid_from desc limit ${longestTail + 1}) latest
      order by key, (latest.row ->> 'valid_from')::timestamptz desc`,
    [...keyValues(of.map(({ entity }) => entity.root)), resource],
  )
  for (const { key, ...link } of rows)
    chains.set(key, [...(chains.get(key) ?? []), { ...link, hash: Buffer.from(link.hash) }])
  return chains
}

/**
 * Gives the latest versions of a key values of one before them, and merges those that are equal then. Returns what is current.
 * @param depths of each property the version whose value the ones above it get, counted from the newest
 */
async function rewrite(
  sql: Sql,
  witness: Witness,
  history: RelatedHistory,
  current: Current,
  chain: readonly Link[],
  depths: readonly { readonly property: string; readonly depth: number }[],
): Promise<Current> {
  const { entity } = current
  const deepest = Math.max(...depths.map(({ depth }) => depth))
  let [kept] = chain.slice(deepest)
  for (let nth = deepest - 1; nth >= 0; nth--) {
    const link = chain[nth]
    if (!link || !kept) continue
    const values = depths.flatMap(({ property, depth }) =>
      depth > nth
        ? [[columnOf(history, property).name, valueIn(history, chain[depth]?.row ?? {}, property)] as const]
        : [],
    )
    const row = { ...link.row, ...Object.fromEntries(values) }
    const before: Link = kept
    if (isSame(history, (_, column) => [row[column], before.row[column]])) {
      kept = { ...before, validUntil: link.validUntil }
      await mergeInto(sql, history, entity, link, kept)
      const value = instantText(new Date(String(link.row.valid_from)))
      await forgetClaims(sql, witness.resource, 'shown', [{ subject: entity.key, value }])
    } else {
      const isAsSent = isSame(history, (property, column) => [entity.root[property], row[column]])
      kept = { ...link, row, hash: isAsSent ? entity.hash : link.hash }
      await setValues(sql, history, entity, kept, Object.fromEntries(values))
    }
  }
  return { ...current, row: kept?.row ?? {}, hash: kept?.hash ?? entity.hash }
}

function columnOf(history: RelatedHistory, property: string) {
  const { table } = historySql(history)
  const column = table.columns.get(property)
  if (!column) throw new FatalError(`table ${table.name} has no column ${property}`)
  return column
}

/** The version of an entity's key that begins at the parameter after those of its key. */
function versionOf(history: RelatedHistory, entity: Prepared) {
  const { keyJoin, keyArrays, keyNames, keyValues, nextParameter } = historySql(history)
  return {
    key: keyValues([entity.root]),
    from: `unnest(${keyArrays}) as one(${keyNames}) where ${keyJoin('version', 'one')} and version.valid_from = $${nextParameter}::timestamptz`,
    nextParameter: nextParameter + 1,
  }
}

/** Deletes a version; the one before it goes on instead. */
async function mergeInto(sql: Sql, history: RelatedHistory, entity: Prepared, link: Link, kept: Link): Promise<void> {
  const { key, from, nextParameter } = versionOf(history, entity)
  for (const each of [...Object.values(history.parts), history.root])
    await sql.query(`delete from ${bulkTable(each).name} version using ${from}`, [...key, link.validFrom])
  await sql.query(
    `update ${bulkTable(history.root).name} version set valid_until = $${nextParameter}::timestamptz from ${from}`,
    [...key, kept.validFrom, kept.validUntil],
  )
}

async function setValues(
  sql: Sql,
  history: RelatedHistory,
  entity: Prepared,
  { validFrom, hash }: Link,
  values: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { key, from, nextParameter } = versionOf(history, entity)
  const { name, columns } = bulkTable(history.root)
  const types = new Map([...columns.values()].map((column) => [column.name, column.getSQLType()]))
  const set = Object.keys(values).map(
    (column, nth) => `${column} = ($${nextParameter + 1 + nth}::jsonb #>> '{}')::${types.get(column)}`,
  )
  await sql.query(`update ${name} version set ${[`hash = $${nextParameter}`, ...set].join(', ')} from ${from}`, [
    ...key,
    validFrom,
    hash,
    ...Object.values(values).map((value) => JSON.stringify(value ?? null)),
  ])
}
