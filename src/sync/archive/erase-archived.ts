import { isUtf8 } from 'node:buffer'
import { dropRedacted, mayHoldRedacted } from '../../api/schemas/people/redacted.ts'
import { FOREVER } from '../../db/bulk/values.ts'
import type { Sql } from '../../db/database.ts'
import { sha256 } from '../normalize/hash.ts'
import { everything, type Fields, type Personal, type PersonalResponses } from '../privacy/personal.ts'
import { replaceNames } from './archived-names.ts'
import { compressed, decompressed } from './text.ts'

/** Something to remove: what falls under a rule, of a player. */
export interface Target {
  readonly playerUuid: string
  /** A rule in camelCase, or `everything`. */
  readonly fieldGroup: string
  /** Only from answers of this instant or before; absent: from all. */
  readonly until?: Date
}

/** How many raw answers say less about a player now. */
export interface ErasedRaw {
  readonly playerUuid: string
  readonly fieldGroup: string
  readonly table: 'sync.raw_body'
  readonly rows: number
}

/** A raw answer that may tell something that is to go, with the positions of those targets, counting from 1. */
interface Place {
  readonly answerId: number
  readonly position: number
  readonly resource: string
  readonly key: string | null
  /** What it came to; what failed is of a shape that the rules do not know. */
  readonly status: string
  readonly hash: Uint8Array
  readonly targets: readonly number[]
}

const asked = `unnest($1::uuid[], $2::timestamptz[], $3::text[]) with ordinality as who(player_uuid, until, field_group, n)`
const told = 'coalesce(raw.observed_at, raw.received_at)'

/**
 * Takes what players hide out of the raw answers, in the caller's transaction: their bodies are written anew, under new
 * hashes. Comes before what the tables tell of the same people is removed: they say which answers to look into.
 * @returns what went; nothing of those about whom there was nothing
 */
export async function eraseRaw(sql: Sql, personal: Personal, targets: readonly Target[]): Promise<ErasedRaw[]> {
  const rows = new Map<Target, number>()
  const names = await namesOf(
    sql,
    targets.map((one) => one.playerUuid),
  )
  for (const responses of Object.values(personal.responses)) {
    if (!targets.some((target) => concerns(target, responses))) continue
    const found = await sql.query<Place>(
      `select "answerId", position, resource, key, status, hash, array_agg(distinct n)::int[] as targets
         from (${responses.archived
           .map(
             (
               from,
             ) => `select raw.answer_id as "answerId", raw.position, raw.resource, raw.key, raw.status, raw.hash, who.n
                          from ${asked} ${from} where ${told} <= who.until and who.field_group = any($4::text[])`,
           )
           .join(' union all ')}) place
        group by 1, 2, 3, 4, 5, 6`,
      [
        targets.map((one) => one.playerUuid),
        targets.map((one) => one.until ?? FOREVER),
        targets.map((one) => one.fieldGroup),
        [...responses.rules, everything],
      ],
    )
    for (const alike of grouped(found)) {
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

/** Answers with the same body of which the same is to go. */
function grouped(places: readonly Place[]): Place[][] {
  const groups = new Map<string, Place[]>()
  for (const one of places) {
    const name = [Buffer.from(one.hash).toString('base64'), one.key, one.status === 'failed', ...one.targets].join(' ')
    const group = groups.get(name)
    if (group) group.push(one)
    else groups.set(name, [one])
  }
  return [...groups.values()]
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
  await rewriteBody(sql, places, (body, text) => {
    const isUnread = body === undefined || status === 'failed'
    const lower = text.toLowerCase()
    const mentioned = targets.filter(({ playerUuid, fieldGroup }) => {
      const uuid = playerUuid.toLowerCase()
      if (lower.includes(uuid)) return true
      const isNamed = (names.get(uuid) ?? []).some((name) => lower.includes(`"${name.toLowerCase()}"`))
      if (fieldGroup === everything && (isNamed || lower.includes(uuid.replaceAll('-', '')))) return true
      // It may be cut off before it says whom it is about.
      return isUnread && (key === uuid || isNamed)
    })
    // What cannot be read cannot be taken apart.
    met = isUnread ? mentioned : mentioned.filter((target) => removeFrom(body, responses, target, names))
    if (met.length === 0) return 'same'
    const isAll = responses.isOfOne && met.some((one) => one.fieldGroup === everything)
    return isAll || isUnread ? 'nothing' : 'other'
  })
  return met
}

/** Takes what is to go out of a body; with everything, also what else in it names the player. */
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

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What players were called, by uuid. */
export async function namesOf(sql: Sql, players: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await sql.query<{ player: string; names: string[] }>(
    `select player_uuid::text as player, array_agg(distinct username) as names
       from (select player_uuid, username from game.player where player_uuid = any($1::uuid[])
              union select player_uuid, username from game.guild_member where player_uuid = any($1::uuid[])) called
      where username <> '' group by 1`,
    [players],
  )
  return new Map(rows.map(({ player, names }) => [player, names]))
}

/**
 * Writes a body anew for answers that share it, under its new hash.
 * @param change changes the body in place and says what has become of it; `undefined` for a body that is no JSON
 * @returns whether it is another one now, or gone
 */
export async function rewriteBody(
  sql: Sql,
  places: readonly Pick<Place, 'answerId' | 'position' | 'hash'>[],
  change: (body: unknown, text: string) => 'same' | 'other' | 'nothing',
): Promise<boolean> {
  const hash = places[0]?.hash
  if (!hash) return false
  const [kept] = await sql.query<{ body: Uint8Array }>('select body from sync.raw_body where hash = $1', [hash])
  if (!kept) return false
  const text = (await decompressed(kept.body)).toString('utf8')
  const body = parsed(text)
  const outcome = change(body, text)
  if (outcome === 'same') return false
  const ids = [places.map((one) => one.answerId), places.map((one) => one.position)]
  const these = `(answer_id, position) in (select * from unnest($1::int8[], $2::int2[]))`
  if (outcome === 'nothing') await sql.query(`delete from sync.raw_answer where ${these}`, ids)
  else {
    const bytes = Buffer.from(JSON.stringify(body))
    const after = sha256(bytes)
    await sql.query(
      `insert into sync.raw_body (hash, body, bytes, first_at)
       select $1, $2, $3, first_at from sync.raw_body where hash = $4 on conflict (hash) do nothing`,
      [after, await compressed(bytes), bytes.length, hash],
    )
    await sql.query(`update sync.raw_answer set hash = $3 where ${these}`, [...ids, after])
  }
  await sql.query(
    `delete from sync.raw_body body where hash = $1
        and not exists (select from sync.raw_answer other where other.hash = body.hash)`,
    [hash],
  )
  return true
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The text of an answer without what is to go, before it is kept; the same text when there is nothing of it. */
export function erasedText(
  text: Uint8Array,
  responses: PersonalResponses | undefined,
  targets: readonly Target[],
): Uint8Array {
  const isOurs = mayHoldRedacted(text)
  if (targets.length === 0 && !isOurs) return text
  const body = parsed(Buffer.from(text).toString('utf8'))
  const isDropped = isOurs && dropRedacted(body)
  const met = responses ? targets.filter((target) => redact(body, responses, target)) : []
  return met.length === 0 && !isDropped ? text : Buffer.from(JSON.stringify(body))
}

/**
 * Whether a failed answer is not to be kept: one about people that is no JSON, which no later version reads either and
 * nobody can take apart; and one of an unknown shape that tells of somebody who hides something.
 */
export async function isUnkeepable(sql: Sql, personal: Personal | undefined, text: Uint8Array): Promise<boolean> {
  if (personal === undefined) return false
  if (!isUtf8(text)) return true
  const told = Buffer.from(text).toString('utf8').toLowerCase()
  if (parsed(told) === undefined) return true
  const uuids = [...new Set(told.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g))]
  const hiding = await sql.query(
    `select from sync.privacy_restriction where player_uuid = any($1::uuid[])
      union all
     select from sync.privacy_action where player_uuid = any($1::uuid[])
                                        or player_hash in (select sha256(uuid::bytea) from unnest($1::text[]) as told(uuid))
      limit 1`,
    [uuids],
  )
  return hiding.length > 0
}
