import { and, eq } from 'drizzle-orm'
import { FOREVER } from '../../db/bulk/values.ts'
import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import { grouped, rewriteBody } from '../archive/bodies.ts'
import { eraseRaw, type Removed, redact, type Target } from '../archive/erase-archived.ts'
import {
  everything,
  type Fields,
  isFields,
  type KeptTable,
  type Person,
  type Personal,
  type PersonalResponses,
} from '../declare/personal.ts'
import { rawAnswer } from '../tables/archive.ts'
import { engineStatements, keyStatements } from './privacy-engine.ts'

export interface Gone {
  readonly player: string
  readonly n: number
}

/**
 * Removes from all tables what falls under the rules: rows go, columns of rows that stay become NULL. The fingerprint of
 * a version stays as it was, so that the same response is not taken for a change.
 * @returns what went; nothing of tables that had nothing
 */
export async function erase(sql: Sql, personal: Personal, targets: readonly Target[]): Promise<Removed[]> {
  if (targets.length === 0) return []
  const { tables, growing } = personal
  // Before the tables that tell which responses mention whom.
  const removed: Removed[] = [...(await eraseRaw(sql, personal, targets))]
  for (const fieldGroup of growing) {
    const uuids = targets.filter((one) => one.fieldGroup === fieldGroup).map((one) => one.playerUuid)
    const answers = await eraseFormerGuilds(sql, personal, uuids)
    for (const one of answers) removed.push({ ...one, fieldGroup })
  }
  for (const fieldGroup of new Set(targets.map((one) => one.fieldGroup))) {
    const asked = targets.filter((one) => one.fieldGroup === fieldGroup)
    const who = [asked.map((one) => one.playerUuid), asked.map((one) => one.until ?? FOREVER)] as const
    const names = tables.flatMap(({ table, username }) => (username ? [{ table, username }] : []))
    const statements = [
      ...engineStatements(personal, names, fieldGroup === everything),
      ...tables.flatMap((table) => statementsOf(table, fieldGroup).map((text) => ({ table: table.table, text }))),
      ...tables.flatMap((table) => aboutKeys(table, fieldGroup)),
    ]
    for (const { table, text } of statements) {
      const gone = await sql.query<Gone>(text, who)
      for (const { player, n } of gone) removed.push({ playerUuid: player, fieldGroup, table, rows: n })
    }
  }
  return removed
}

/** What stands under the name of a rule. Rules are named by the API, and may be called `constructor`. */
export function own<Value>(byRule: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined {
  return byRule !== undefined && Object.hasOwn(byRule, name) ? byRule[name] : undefined
}

function statementsOf(table: KeptTable, fieldGroup: string): string[] {
  const statements: string[] = []
  const isAll = fieldGroup === everything
  const which = isAll ? (table.emptied ? undefined : 'true') : own(table.rows, fieldGroup)
  if (which !== undefined)
    statements.push(
      counted(`delete from ${table.table} kept using ${whoFrom(table)} where ${whoseRows(table)} and ${which}`),
    )
  const blank = isAll && table.emptied ? { columns: table.emptied } : own(table.blank, fieldGroup)
  if (blank) {
    const { columns, where = 'true' }: { readonly columns: readonly string[]; readonly where?: string } = blank
    const filled = columns.map((column) => `kept.${column} is not null`).join(' or ')
    const emptied = columns.map((column) => `${column} = null`).join(', ')
    statements.push(
      counted(
        `update ${table.table} kept set ${emptied} from ${whoFrom(table)} where ${whoseRows(table)} and (${filled}) and ${where}`,
      ),
    )
  }
  const fields = own(table.extraFields, fieldGroup)
  if (fields && !isAll) {
    const names = `array[${fields.map((name) => `'${name}'`).join(', ')}]`
    statements.push(
      counted(
        `update ${table.table} kept set extra = nullif(kept.extra - ${names}, '{}') from ${whoFrom(table)} where ${whoseRows(table)} and kept.extra ?| ${names}`,
      ),
    )
  }
  return statements
}

/** Where rows go, so does what is said of their keys. */
function aboutKeys(table: KeptTable, fieldGroup: string) {
  const which = fieldGroup === everything ? 'true' : own(table.rows, fieldGroup)
  return which === undefined ? [] : keyStatements(table, which === 'true')
}

/** The source of rows that statements about a table join: the players, and what narrows the search. */
export function whoFrom({ narrowed }: KeptTable): string {
  const who = 'unnest($1::uuid[], $2::timestamptz[]) as who(player_uuid, until)'
  return narrowed ? `${who} cross join lateral (${narrowed.from}) own` : who
}

/** The condition that a row is of one of the players, and not younger than is requested. */
export function whoseRows({ table, since, versionsOf, narrowed }: KeptTable): string {
  const conditions = ['kept.player_uuid = who.player_uuid', `kept.${since} <= who.until`]
  if (narrowed) conditions.push(narrowed.where)
  // The versions of a key are one chain: those before a younger one cannot go without it.
  if (versionsOf) {
    const sameKey = versionsOf.map((column) => `younger.${column} = kept.${column}`).join(' and ')
    conditions.push(`not exists (select from ${table} younger where ${sameKey} and younger.${since} > who.until)`)
  }
  return conditions.join(' and ')
}

function counted(statement: string): string {
  return `with gone as (${statement} returning who.player_uuid) select player_uuid::text as player, count(*)::int as n from gone group by 1`
}

/**
 * Removes what a response no longer has although no rule is known for it: any rule may be why it is gone. Only from `extra`
 * columns and archived responses of the resource that the response is of, about the same key.
 */
export async function eraseVanished(
  sql: Sql,
  personal: Personal,
  { resource, key }: { readonly resource: string; readonly key: string },
  people: readonly Person[],
): Promise<Removed[]> {
  const answers = await eraseVanishedRaw(sql, personal.responses[resource], { resource, key }, people)
  const shown = Object.fromEntries(people.map(({ playerUuid, fields }) => [playerUuid, fields]))
  const removed: Removed[] = answers.map((one) => ({ ...one, fieldGroup: '' }))
  for (const { table, extraOf } of personal.tables) {
    if (extraOf !== resource || people.length === 0) continue
    const rows = await sql.query<Gone>(
      counted(
        `update ${table} kept
            set extra = (select jsonb_object_agg(field.key, field.value) from jsonb_each(kept.extra) field where who.shown ? field.key)
           from (select key::uuid as player_uuid, value as shown from jsonb_each($1::jsonb)) who
          where kept.player_uuid = who.player_uuid and jsonb_typeof(kept.extra) = 'object'
            and exists (select from jsonb_object_keys(kept.extra) field where not who.shown ? field)`,
      ),
      [shown],
    )
    for (const { player, n } of rows) removed.push({ playerUuid: player, fieldGroup: '', table, rows: n })
  }
  return removed
}

type Rewritten = Omit<Removed, 'fieldGroup'>

/**
 * Removes from the raw responses about a key the unknown fields that its latest response does not have any more of those
 * people: what no rule is known for may be gone for any rule. Known fields go by their own rules, and `uuid` never.
 */
async function eraseVanishedRaw(
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
async function eraseFormerGuilds(sql: Sql, personal: Personal, playerUuids: readonly string[]): Promise<Rewritten[]> {
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
