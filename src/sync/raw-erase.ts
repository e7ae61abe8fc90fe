import type { Sql } from '../db/database.ts'
import { FOREVER } from '../db/values.ts'
import { sha256 } from './hash.ts'
import { strip, strippable } from './raw-strip.ts'
import { compressed, decompressed } from './raw-text.ts'

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
  readonly hash: Uint8Array
  readonly targets: readonly number[]
}

const asked = `unnest($1::uuid[], $2::timestamptz[], $3::text[]) with ordinality as who(player_uuid, until, field_group, n)`
const told = 'coalesce(raw.observed_at, raw.received_at)'

/** Where answers tell of a player: his profile; guilds that he was seen in; lists of the time that he was listed. */
const placesOf: Readonly<Record<string, string>> = {
  players: `join sync.raw_answer raw on raw.resource = 'players' and raw.key = who.player_uuid::text`,
  guilds: `join lateral (select guild_uuid from game.guild_member seen where seen.player_uuid = who.player_uuid
                          union select guild_uuid from game.member_presence seen where seen.player_uuid = who.player_uuid) guild on true
           join sync.raw_answer raw on raw.resource = 'guilds' and raw.key = guild.guild_uuid::text`,
  'online-players': `join game.player_listing listing on listing.player_uuid = who.player_uuid
           join sync.raw_answer raw on raw.resource = 'online-players' and raw.key is null
            and raw.observed_at between listing.first_listed_at and coalesce(listing.last_listed_at, 'infinity')`,
}

/**
 * Takes what players hide out of the raw answers, in the caller's transaction: their bodies are written anew, under new
 * hashes. Comes before what the tables tell of the same people is removed: they say which answers to look into.
 * @returns what went; nothing of those about whom there was nothing
 */
export async function eraseRaw(sql: Sql, targets: readonly Target[]): Promise<ErasedRaw[]> {
  const rows = new Map<Target, number>()
  for (const [resource, from] of Object.entries(placesOf)) {
    if (!targets.some(({ fieldGroup }) => strippable[resource]?.includes(fieldGroup))) continue
    const places = await sql.query<Place>(
      `select raw.answer_id as "answerId", raw.position, raw.resource, raw.hash, array_agg(distinct who.n)::int[] as targets
         from ${asked} ${from}
        where ${told} <= who.until and who.field_group = any($4::text[])
        group by 1, 2, 3, 4`,
      [
        targets.map((one) => one.playerUuid),
        targets.map((one) => one.until ?? FOREVER),
        targets.map((one) => one.fieldGroup),
        strippable[resource] ?? [],
      ],
    )
    for (const alike of grouped(places)) {
      const met = alike[0]?.targets.flatMap((n) => targets[n - 1] ?? []) ?? []
      for (const target of await eraseFrom(sql, alike, met)) rows.set(target, (rows.get(target) ?? 0) + alike.length)
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
    const name = `${Buffer.from(one.hash).toString('base64')} ${one.targets.join(' ')}`
    const group = groups.get(name)
    if (group) group.push(one)
    else groups.set(name, [one])
  }
  return [...groups.values()]
}

/** Returns the targets of which there was something. */
async function eraseFrom(sql: Sql, places: readonly Place[], targets: readonly Target[]): Promise<Target[]> {
  let met: Target[] = []
  await rewriteBody(sql, places, (body, text) => {
    const mentioned = targets.filter(({ playerUuid }) => text.toLowerCase().includes(playerUuid.toLowerCase()))
    // What cannot be read cannot be taken apart.
    met = body === undefined ? mentioned : mentioned.filter((target) => strip(body, places[0]?.resource ?? '', target))
    if (met.length === 0) return 'same'
    const isAll = places[0]?.resource === 'players' && met.some((one) => one.fieldGroup === 'everything')
    return isAll || body === undefined ? 'nothing' : 'other'
  })
  return met
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
  if (targets.length === 0) return text
  const body: unknown = JSON.parse(Buffer.from(text).toString('utf8'))
  const met = targets.filter((target) => strip(body, resource, target))
  return met.length === 0 ? text : Buffer.from(JSON.stringify(body))
}
