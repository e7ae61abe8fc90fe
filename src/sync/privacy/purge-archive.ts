import { and, eq } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import { grouped, rewriteBody } from '../archive/bodies.ts'
import { type Removed, redact } from '../archive/erase-archived.ts'
import {
  everything,
  type Fields,
  isFields,
  type Person,
  type Personal,
  type PersonalResponses,
} from '../declare/personal.ts'
import { rawAnswer } from '../tables/archive.ts'

type Rewritten = Omit<Removed, 'fieldGroup'>

/**
 * Removes from the raw responses about a key the unknown fields that its latest response does not have any more of those
 * people: what no rule is known for may be gone for any rule. Known fields go by their own rules, and `uuid` never.
 */
export async function eraseVanishedRaw(
  sql: Sql,
  responses: PersonalResponses | undefined,
  { resource, key }: { readonly resource: string; readonly key: string },
  people: readonly Person[],
): Promise<Rewritten[]> {
  if (!responses) return []
  const rows = new Map<string, number>()
  await rewriteAbout(sql, resource, [key], (body, count) => {
    const met = people.filter((person) => removeVanished(responses.recordsOf(body, person.playerUuid), person))
    for (const { playerUuid } of met) rows.set(playerUuid, (rows.get(playerUuid) ?? 0) + count)
    return met.length > 0
  })
  return [...rows].map(([playerUuid, n]) => ({ playerUuid, table, rows: n }))
}

/** Removes from the raw responses that players were in guilds where they are not any more. */
export async function eraseFormerGuilds(
  sql: Sql,
  personal: Personal,
  playerUuids: readonly string[],
): Promise<Rewritten[]> {
  const former = await sql.query<{ player: string; resource: string; guild: string }>(
    `select who.player_uuid::text as player, former.resource, former.guild
       from unnest($1::uuid[]) as who(player_uuid) cross join lateral (${personal.formerGuilds}) former(resource, guild)`,
    [playerUuids],
  )
  const rewritten: Rewritten[] = []
  for (const playerUuid of new Set(former.map(({ player }) => player))) {
    const own = former.filter(({ player }) => player === playerUuid)
    const guildUuids = own.map(({ guild }) => guild)
    const target = { playerUuid, fieldGroup: everything }
    let rows = 0
    for (const [resource, responses] of Object.entries(personal.responses)) {
      const keys = own.filter((one) => one.resource === resource).map(({ guild }) => guild)
      rows += await rewriteAbout(sql, resource, keys, (body) => redact(body, responses, target))
      const { leave } = responses
      if (leave) rows += await rewriteAbout(sql, resource, [playerUuid], (body) => leave(body, guildUuids))
    }
    if (rows > 0) rewritten.push({ playerUuid, table, rows })
  }
  return rewritten
}

const table = 'sync.raw_body'

/** Returns how many responses were changed. */
async function rewriteAbout(
  sql: Sql,
  resource: string,
  keys: readonly string[],
  change: (body: Fields, responses: number) => boolean,
): Promise<number> {
  if (keys.length === 0) return 0
  const { answerId, position, hash } = rawAnswer
  const references = await typed(sql)
    .select({ answerId, position, hash })
    .from(rawAnswer)
    .where(and(eq(rawAnswer.resource, resource), anyOf(rawAnswer.key, keys)))
  let rows = 0
  for (const same of grouped(references)) {
    const changed = await rewriteBody(sql, same, (body) =>
      isFields(body) && change(body, same.length) ? 'other' : 'same',
    )
    if (changed) rows += same.length
  }
  return rows
}

function removeVanished(records: ReturnType<PersonalResponses['recordsOf']>, { fields }: Person): boolean {
  let found = false
  for (const { record, known } of records) {
    const vanished = Object.keys(record).filter((name) => !fields.includes(name) && !known.has(name))
    for (const name of vanished) found = delete record[name]
  }
  return found
}
