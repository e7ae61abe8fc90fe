import { isUtf8 } from 'node:buffer'
import { or } from 'drizzle-orm'
import { parseJson } from '../../api/schemas/form/bodies.ts'
import { uuidText } from '../../api/schemas/form/limits.ts'
import { addRedacted, dropRedacted, mayHoldRedacted, redactedField } from '../../api/schemas/people/redacted.ts'
import { FOREVER } from '../../db/bulk/values.ts'
import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import { everything, isFields, type NamedFields, type Personal, type PersonalResponses } from '../declare/personal.ts'
import { sha256 } from '../normalize/hash.ts'
import { deepJson, tooDeep } from '../normalize/nesting.ts'
import { privacyAction, privacyRestriction } from '../tables/privacy.ts'
import { type BodyReference, grouped, rewriteBody } from './bodies.ts'

export interface Target {
  readonly playerUuid: string
  /** A rule in camelCase, or `everything`. */
  readonly fieldGroup: string
  /** Only from responses of this instant or before; absent: from all. */
  readonly until?: Date
}

/** How many rows of one table went or were blanked. */
export interface Removed {
  readonly playerUuid: string
  readonly fieldGroup: string
  readonly table: string
  readonly rows: number
}

/** An archived response that may contain targets, with the positions of those targets, counting from 1. */
interface Place extends BodyReference {
  readonly resource: string
  readonly key: string | null
  /** Its outcome; what failed is of a shape that the rules do not know. */
  readonly status: string
  readonly targets: readonly number[]
}

const wanted = `unnest($1::uuid[], $2::timestamptz[], $3::text[]) with ordinality as who(player_uuid, until, field_group, n)`
const observedAt = 'coalesce(raw.observed_at, raw.received_at)'

/**
 * Removes what players restrict from the archived responses, in the caller's transaction: their bodies are rewritten under new
 * hashes. To be called before the rows of the same people are removed: the tables say which responses to search.
 * @returns what was removed; nothing of those of whom there was nothing
 */
export async function eraseRaw(sql: Sql, personal: Personal, targets: readonly Target[]): Promise<Removed[]> {
  const rows = new Map<Target, number>()
  const uuids = targets.map((one) => one.playerUuid)
  const names = await namesOf(sql, uuids)
  for (const responses of Object.values(personal.responses)) {
    if (!targets.some((target) => concerns(target, responses))) continue
    const selects = responses.archived.map(
      (from) => `select raw.answer_id as "answerId", raw.position, raw.resource, raw.key, raw.status, raw.hash, who.n
        from ${wanted} ${from} where ${observedAt} <= who.until and who.field_group = any($4::text[])`,
    )
    const found = await sql.query<Place>(
      `select "answerId", position, resource, key, status, hash, array_agg(distinct n)::int[] as targets
         from (${selects.join(' union all ')}) place
        group by 1, 2, 3, 4, 5, 6`,
      [
        uuids,
        targets.map((one) => one.until ?? FOREVER),
        targets.map((one) => one.fieldGroup),
        [...responses.rules, everything],
      ],
    )
    for (const alike of grouped(found, ({ key, status, targets: ns }) => [key, status === 'failed', ...ns].join(' '))) {
      const met = alike[0]?.targets.flatMap((n) => targets[n - 1] ?? []) ?? []
      for (const target of await eraseFrom(sql, responses, alike, met, names))
        rows.set(target, (rows.get(target) ?? 0) + alike.length)
    }
  }
  return [...rows].map(([{ playerUuid, fieldGroup }, n]) => ({
    playerUuid,
    fieldGroup,
    table: 'sync.raw_body',
    rows: n,
  }))
}

/** Returns the targets of which there was something. */
async function eraseFrom(
  sql: Sql,
  responses: PersonalResponses,
  places: readonly Place[],
  targets: readonly Target[],
  names: ReadonlyMap<string, readonly string[]>,
): Promise<Target[]> {
  const [{ key, status } = { key: null, status: '' }] = places
  let met: Target[] = []
  const isRewritten = await rewriteBody(sql, places, (body, text) => {
    const isUnread = body === undefined || status === 'failed' || tooDeep(body) !== undefined
    const lower = text.toLowerCase()
    const mentioned = targets.filter(({ playerUuid, fieldGroup }) => {
      const uuid = playerUuid.toLowerCase()
      if (lower.includes(uuid) || lower.includes(uuid.replaceAll('-', ''))) return true
      const isNamed = (names.get(uuid) ?? []).some((name) => lower.includes(`"${name.toLowerCase()}"`))
      if (fieldGroup === everything && isNamed) return true
      // It may be cut off before the player's name.
      return isUnread && (key === uuid || isNamed)
    })
    // Parts can be removed only from what can be parsed.
    met = isUnread ? mentioned : mentioned.filter((target) => removeFrom(body, responses, target, names))
    if (met.length === 0) return 'same'
    const isAll = responses.isOfOne && met.some((one) => one.fieldGroup === everything)
    return isAll || isUnread ? 'nothing' : 'other'
  })
  // A damaged one went as a whole.
  return isRewritten && met.length === 0 ? [...targets] : met
}

/** Removes a target from a body; with everything, also what else in it names the player. */
function removeFrom(
  body: unknown,
  responses: PersonalResponses,
  target: Target,
  names: ReadonlyMap<string, readonly string[]>,
): boolean {
  const isRedacted = redact(body, responses, target)
  if (target.fieldGroup !== everything || responses.names === undefined) return isRedacted
  return replaceNames(body, responses.names, target.playerUuid, names.get(target.playerUuid) ?? []) || isRedacted
}

/** Removes a target from a body, in place; true when there was something of it. */
export function redact(body: unknown, responses: PersonalResponses, target: Target): boolean {
  if (!isFields(body) || !concerns(target, responses)) return false
  const uuid = target.playerUuid.toLowerCase()
  return target.fieldGroup === everything
    ? responses.remove(body, uuid)
    : responses.redact(body, uuid, target.fieldGroup)
}

function concerns({ fieldGroup }: Target, { rules }: PersonalResponses): boolean {
  return fieldGroup === everything || rules.includes(fieldGroup)
}

export async function namesOf(sql: Sql, playerUuids: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await sql.query<{ player: string; names: string[] }>(
    `select player_uuid::text as player, array_agg(distinct username) as names
       from (select player_uuid, username from game.player where player_uuid = any($1::uuid[])
              union select player_uuid, username from game.guild_member where player_uuid = any($1::uuid[])) called
      where username <> '' group by 1`,
    [playerUuids],
  )
  return new Map(rows.map(({ player, names }) => [player, names]))
}

/** The text of a response without the targets, before it is archived; the same text when there are none in it. */
export function erasedText(
  text: Uint8Array,
  responses: PersonalResponses | undefined,
  targets: readonly Target[],
): Uint8Array {
  const isOurs = mayHoldRedacted(text)
  if (targets.length === 0 && !isOurs) return text
  const body = parseJson(Buffer.from(text).toString('utf8'))
  const isDropped = isOurs && dropRedacted(body)
  const met = responses ? targets.filter((target) => redact(body, responses, target)) : []
  if (met.length === 0 && !isDropped) return text
  if (met.length > 0 && isFields(body)) addRedacted(body, {})
  return Buffer.from(deepJson(body))
}

/**
 * Whether a failed response is not to be archived: one about people that is no JSON, from which nothing can be redacted; and
 * one of an unknown shape that names a player with restrictions.
 */
export async function isUnkeepable(sql: Sql, personal: Personal | undefined, text: Uint8Array): Promise<boolean> {
  if (personal === undefined) return false
  if (!isUtf8(text)) return true
  const lower = Buffer.from(text).toString('utf8').toLowerCase()
  if (parseJson(lower) === undefined) return true
  const uuids = [...new Set(lower.match(/[0-9a-f]{8}(-?)(?:[0-9a-f]{4}\1){3}[0-9a-f]{12}/g)?.map(uuidText))]
  const restricted = await typed(sql).$count(privacyRestriction, anyOf(privacyRestriction.playerUuid, uuids))
  if (restricted > 0) return true
  const hashes = uuids.map((uuid) => sha256(uuid))
  const { playerUuid, playerHash } = privacyAction
  return (await typed(sql).$count(privacyAction, or(anyOf(playerUuid, uuids), anyOf(playerHash, hashes)))) > 0
}

const replacement = 'removed'

/**
 * Replaces in a body, in place, what contains the player's uuid or is the player's name; true when there was any. A uuid is
 * unmistakable; a name may be a word such as `owner`, and is looked for only among members, players and unknown fields.
 */
function replaceNames(
  body: unknown,
  { nameless, playerMap, members }: NamedFields,
  playerUuid: string,
  names: readonly string[],
): boolean {
  const uuid = new RegExp(playerUuid.replaceAll('-', '-?'), 'gi')
  const lower = new Set(names.map((name) => name.toLowerCase()))
  let found = false

  function replaced(text: string, isName: boolean): string {
    const other = isName && lower.has(text.toLowerCase()) ? replacement : text.replace(uuid, replacement)
    found ||= other !== text
    return other
  }

  /** @param areNames whether its texts may be names; by default its keys too */
  function visit(value: unknown, areNames: boolean, areKeys = areNames): unknown {
    if (typeof value === 'string') return replaced(value, areNames)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) {
      for (const [index, one] of value.entries()) value[index] = visit(one, areNames)
      return value
    }
    const fields: Record<string, unknown> = Object.assign(value)
    for (const [key, one] of Object.entries(fields)) {
      const field = replaced(key, areKeys)
      if (field !== key) delete fields[key]
      fields[field] = visit(one, areNames)
    }
    return fields
  }

  /** Each field by whether the program knows it; members and players by what they are. */
  function visitRecord(record: unknown, without: ReadonlySet<string>): void {
    if (typeof record !== 'object' || record === null) return
    for (const [field, value] of Object.entries(record)) {
      // Counts by world, which name no player.
      if (field === redactedField) continue
      if (field === members?.field) visitMembers(value, members.nameless)
      else if (field === playerMap) visit(value, false, true)
      else Reflect.set(record, field, visit(value, !without.has(field)))
    }
  }

  function visitMembers(ranks: unknown, without: ReadonlySet<string>): void {
    if (typeof ranks !== 'object' || ranks === null) return
    for (const ofRank of Object.values(ranks)) {
      if (typeof ofRank !== 'object' || ofRank === null) continue
      for (const [key, member] of Object.entries(ofRank)) {
        const name = replaced(key, true)
        if (name !== key) {
          Reflect.deleteProperty(ofRank, key)
          Reflect.set(ofRank, name, member)
        }
        visitRecord(member, without)
      }
    }
  }

  visitRecord(body, nameless)
  return found
}
