import { knownFields } from '../../api/schemas/form/known-fields.ts'
import { fieldsOf } from '../../api/schemas/form/unknown.ts'
import { membersOf } from '../../api/schemas/guilds.ts'
import type { Sql } from '../../db/database.ts'
import { rewriteBody } from '../archive/erase-archived.ts'
import { redact } from '../archive/redact-responses.ts'
import type { Person, Personal } from './personal.ts'

interface Rewritten {
  readonly playerUuid: string
  readonly table: string
  readonly rows: number
}

/**
 * Removes from the raw answers about a key the unknown fields that its latest answer does not have any more of those
 * people: what no rule is known for may be gone for any rule. Known fields go by their own rules, and `uuid` never.
 */
export async function eraseVanishedRaw(
  sql: Sql,
  resource: string,
  key: string,
  people: readonly Person[],
): Promise<Rewritten[]> {
  const rows = new Map<string, number>()
  await rewriteAbout(sql, resource, [key], (body, answers) => {
    const met = people.filter(({ playerUuid, fields }) => removeVanished(body, resource, playerUuid, new Set(fields)))
    for (const { playerUuid } of met) rows.set(playerUuid, (rows.get(playerUuid) ?? 0) + answers)
    return met.length > 0
  })
  return [...rows].map(([playerUuid, n]) => ({ playerUuid, table, rows: n }))
}

/** Removes from the raw answers that players were in guilds where they are not any more. */
export async function eraseFormerGuilds(
  sql: Sql,
  personal: Personal,
  players: readonly string[],
): Promise<Rewritten[]> {
  const former = await sql.query<{ player: string; guild: string }>(
    `select who.player_uuid::text as player, former.guild_uuid::text as guild
       from unnest($1::uuid[]) as who(player_uuid) cross join lateral (${personal.formerGuilds}) former(guild_uuid)`,
    [players],
  )
  const rewritten: Rewritten[] = []
  for (const playerUuid of new Set(former.map(({ player }) => player))) {
    const guilds = former.filter(({ player }) => player === playerUuid).map(({ guild }) => guild)
    const all = { playerUuid, fieldGroup: 'everything' }
    const inGuilds = await rewriteAbout(sql, 'guilds', guilds, (body) => redact(body, 'guilds', all))
    const inProfiles = await rewriteAbout(sql, 'players', [playerUuid], (body) => leave(body, guilds))
    if (inGuilds + inProfiles > 0) rewritten.push({ playerUuid, table, rows: inGuilds + inProfiles })
  }
  return rewritten
}

const table = 'sync.raw_body'

/** Returns how many answers were changed. */
async function rewriteAbout(
  sql: Sql,
  resource: string,
  keys: readonly string[],
  change: (body: unknown, answers: number) => boolean,
): Promise<number> {
  const places = await sql.query<{ answerId: number; position: number; hash: Uint8Array }>(
    `select answer_id as "answerId", position, hash from sync.raw_answer where resource = $1 and key = any($2::text[])`,
    [resource, keys],
  )
  const alike = new Map<string, typeof places>()
  for (const one of places) {
    const name = Buffer.from(one.hash).toString('base64')
    alike.set(name, [...(alike.get(name) ?? []), one])
  }
  let rows = 0
  for (const same of alike.values()) {
    const changed = await rewriteBody(sql, same, (body) =>
      body !== undefined && change(body, same.length) ? 'other' : 'same',
    )
    if (changed) rows += same.length
  }
  return rows
}

/** A record with the names of its fields that the program knows. */
interface KnownRecord {
  readonly record: Record<string, unknown>
  readonly known: ReadonlySet<string>
}

/** The records of a player in an answer: the profile with its characters, or the member. */
function recordsOf(body: unknown, resource: string, playerUuid: string): KnownRecord[] {
  const records: KnownRecord[] = []
  const add = (record: unknown, known: ReadonlySet<string>) =>
    void (isRecord(record) && records.push({ record, known }))
  if (resource === 'players') {
    // What the API wrote to refuse a profile is no record of anybody.
    if (!isRecord(body) || String(body.uuid).toLowerCase() !== playerUuid) return []
    const characters = fieldsOf(body).find(([name]) => name === 'characters')?.[1]
    add(body, knownFields.profile)
    for (const [, character] of fieldsOf(characters)) add(character, knownFields.character)
  } else {
    for (const { key, record } of membersOf({ members: fieldsOf(body).find(([name]) => name === 'members')?.[1] })) {
      const uuid = fieldsOf(record).find(([name]) => name === 'uuid')?.[1]
      if ([key, uuid].some((one) => String(one).toLowerCase() === playerUuid)) add(record, knownFields.member)
    }
  }
  return records
}

function removeVanished(body: unknown, resource: string, playerUuid: string, shown: ReadonlySet<string>): boolean {
  let found = false
  for (const { record, known } of recordsOf(body, resource, playerUuid)) {
    const vanished = Object.keys(record).filter((name) => !shown.has(name) && !known.has(name))
    for (const name of vanished) found = delete record[name]
  }
  return found
}

function leave(profile: unknown, guilds: readonly string[]): boolean {
  if (!isRecord(profile)) return false
  const uuid = fieldsOf(profile.guild).find(([name]) => name === 'uuid')?.[1]
  if (typeof uuid !== 'string' || !guilds.includes(uuid.toLowerCase())) return false
  profile.guild = null
  return true
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
