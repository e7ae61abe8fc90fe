import { isUtf8 } from 'node:buffer'
import { dropRedacted, mayHoldRedacted } from '../../api/schemas/people/redacted.ts'
import { FOREVER } from '../../db/bulk/values.ts'
import type { Sql } from '../../db/database.ts'
import { sha256 } from '../normalize/hash.ts'
import { replaceNames } from './archived-names.ts'
import { redact, redactable } from './redact-responses.ts'
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
 * Where answers tell of a player: his profile; guilds that he was seen in; lists of the time that he was listed. What was
 * refused or could not be read is in no table, and has to be looked into.
 */
const placesOf: Readonly<Record<string, readonly string[]>> = {
  players: [`join sync.raw_answer raw on raw.resource = 'players' and raw.key = who.player_uuid::text`],
  guilds: [
    `join lateral (select guild_uuid from game.guild_member seen where seen.player_uuid = who.player_uuid
                    union select guild_uuid from game.member_presence seen where seen.player_uuid = who.player_uuid) guild on true
     join sync.raw_answer raw on raw.resource = 'guilds' and raw.key = guild.guild_uuid::text`,
    `join sync.raw_answer raw on raw.resource = 'guilds' and raw.status in ('rejected', 'failed')`,
    // A member whose record was quarantined is in no table of members.
    `join sync.quarantine unread on unread.resource = 'guilds' and unread.key like '%/' || who.player_uuid
     join sync.raw_answer raw on raw.resource = 'guilds' and raw.key = split_part(unread.key, '/', 1)`,
  ],
  'online-players': [
    `join game.player_listing listing on listing.player_uuid = who.player_uuid
     join sync.raw_answer raw on raw.resource = 'online-players' and raw.key is null
      and raw.observed_at between listing.first_listed_at and coalesce(listing.last_listed_at, 'infinity')`,
    `join sync.raw_answer raw on raw.resource = 'online-players' and raw.status in ('rejected', 'failed')`,
    // Who is listed by name alone is in no listing.
    `join sync.raw_answer raw on raw.resource = 'online-players' and raw.status = 'partial' and who.field_group = 'everything'`,
    // Listings go after a while, if that is wished, and raw answers perhaps later.
    `join sync.raw_answer raw on raw.resource = 'online-players'
      and raw.observed_at < (select fine_since from sync.tier where sample_table = 'game.player_listing')`,
  ],
}

/**
 * Takes what players hide out of the raw answers, in the caller's transaction: their bodies are written anew, under new
 * hashes. Comes before what the tables tell of the same people is removed: they say which answers to look into.
 * @returns what went; nothing of those about whom there was nothing
 */
export async function eraseRaw(sql: Sql, targets: readonly Target[]): Promise<ErasedRaw[]> {
  const rows = new Map<Target, number>()
  const names = await namesOf(
    sql,
    targets.map((one) => one.playerUuid),
  )
  for (const [resource, places] of Object.entries(placesOf)) {
    if (!targets.some(({ fieldGroup }) => redactable[resource]?.includes(fieldGroup))) continue
    const found = await sql.query<Place>(
      `select "answerId", position, resource, key, status, hash, array_agg(distinct n)::int[] as targets
         from (${places
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
        redactable[resource] ?? [],
      ],
    )
    for (const alike of grouped(found)) {
      const met = alike[0]?.targets.flatMap((n) => targets[n - 1] ?? []) ?? []
      for (const target of await eraseFrom(sql, alike, met, names))
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
  places: readonly Place[],
  targets: readonly Target[],
  names: ReadonlyMap<string, readonly string[]>,
): Promise<Target[]> {
  const [{ resource, key, status } = { resource: '', key: null, status: '' }] = places
  let met: Target[] = []
  await rewriteBody(sql, places, (body, text) => {
    const isUnread = body === undefined || status === 'failed'
    const lower = text.toLowerCase()
    const mentioned = targets.filter(({ playerUuid, fieldGroup }) => {
      const uuid = playerUuid.toLowerCase()
      if (lower.includes(uuid)) return true
      const isNamed = (names.get(uuid) ?? []).some((name) => lower.includes(`"${name.toLowerCase()}"`))
      if (fieldGroup === 'everything' && (isNamed || lower.includes(uuid.replaceAll('-', '')))) return true
      // It may be cut off before it says whom it is about.
      return isUnread && (key === uuid || isNamed)
    })
    // What cannot be read cannot be taken apart.
    met = isUnread ? mentioned : mentioned.filter((target) => removeFrom(body, resource, target, names))
    if (met.length === 0) return 'same'
    const isAll = resource === 'players' && met.some((one) => one.fieldGroup === 'everything')
    return isAll || isUnread ? 'nothing' : 'other'
  })
  return met
}

/** Takes what is to go out of a body; with everything, also what else in it names the player. */
function removeFrom(
  body: unknown,
  resource: string,
  target: Target,
  names: ReadonlyMap<string, readonly string[]>,
): boolean {
  const isStripped = redact(body, resource, target)
  if (target.fieldGroup !== 'everything' || resource === 'players') return isStripped
  return replaceNames(body, resource, target.playerUuid, names.get(target.playerUuid) ?? []) || isStripped
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
export function erasedText(text: Uint8Array, resource: string, targets: readonly Target[]): Uint8Array {
  const isOurs = mayHoldRedacted(text)
  if (targets.length === 0 && !isOurs) return text
  const body = parsed(Buffer.from(text).toString('utf8'))
  const isDropped = isOurs && dropRedacted(body)
  const met = targets.filter((target) => redact(body, resource, target))
  return met.length === 0 && !isDropped ? text : Buffer.from(JSON.stringify(body))
}

/**
 * Whether a failed answer is not to be kept: one about people that is no JSON, which no later version reads either and
 * nobody can take apart; and one of an unknown shape that tells of somebody who hides something.
 */
export async function isUnkeepable(sql: Sql, resource: string, text: Uint8Array): Promise<boolean> {
  if (redactable[resource] === undefined) return false
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
