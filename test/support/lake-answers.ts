import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Database } from '../../src/db/database.ts'

/** Before and after everything that tests make up. */
const always = `'2020-01-01Z', '2027-01-01Z'`

const rises = readFileSync(fileURLToPath(new URL('../../src/lake/sql/members-rises.sql', import.meta.url)), 'utf8')

/** What Postgres answers instead of each question about a lake: the views and functions of `analytics` where there are any. */
const statements: Readonly<Record<string, string>> = {
  captures: `select captured_at, observed_at, territory, from_guild_uuid, from_guild_name, to_guild_uuid, to_guild_name, is_recapture
    from analytics.territory_capture`,
  holds: `select territory, guild_uuid, guild_name, guild_prefix, held_from, held_until, is_current from analytics.territory_hold`,
  'who-takes-from-whom': `select attacker_uuid, attacker, defender_uuid, defender, captures from analytics.capture_matrix(${always})`,
  economy: `select guild.guild_uuid, one.resource, date_trunc('day', one.at, 'UTC') as day, count(*), max(one.stored), max(one.generation)
    from (select distinct guild_uuid from game.territory_hold where guild_uuid is not null) guild
   cross join lateral analytics.territory_economy(guild.guild_uuid, ${always}) one group by 1, 2, 3`,
  'worlds-by-hour': `select world, hour, online_avg, online_max
    from analytics.world_peak((select min(hour) from game.world_hour), (select max(hour) + interval '1 hour' from game.world_hour))`,
  'online-totals': `select at, total_avg, total_max, hidden_avg
    from analytics.online_total((select min(hour) from game.online_hour), (select max(hour) + interval '1 hour' from game.online_hour), '1 hour')
   where total_avg is not null`,
  'item-changes': `select changed_at, internal_name, path, old_value::text, new_value::text, is_revert from analytics.item_change`,
  'members-rises': rises.replace('member_counter', 'game.member_counter'),
}

/** The answers of Postgres to every question about a lake, as lines. */
export async function answersOf(db: Database): Promise<Record<string, string[]>> {
  const answers: Record<string, string[]> = {}
  for (const [name, text] of Object.entries(statements)) answers[name] = linesOf(await db.values(text))
  return answers
}

/** So many rows are fetched at once. */
const FETCHED = 20_000

/** The same as digests: a year has millions of captures. */
export async function digestsOf(db: Database): Promise<Record<string, string>> {
  const digests: Record<string, string> = {}
  for (const [name, text] of Object.entries(statements)) {
    digests[name] = await db.transaction(async (sql) => {
      await sql.query(`declare answer no scroll cursor for ${text}`)
      return await digestOf(
        (async function* () {
          for (;;) {
            const rows = await sql.values(`fetch ${FETCHED} from answer`)
            yield* rows
            if (rows.length < FETCHED) return
          }
        })(),
      )
    })
  }
  return digests
}

/** How many rows there are, and the sum of what their lines hash to: the same for the same rows in any order. */
export async function digestOf(rows: AsyncIterable<readonly unknown[]>): Promise<string> {
  let [count, sum] = [0, 0n]
  for await (const row of rows) {
    count++
    sum += hash('sha256', row.map(cellText).join('\t'), 'buffer').readBigUInt64BE()
  }
  return `${count} rows, ${BigInt.asUintN(64, sum).toString(16)}`
}

/** Rows as lines that do not depend on how an engine writes instants and numbers, nor on the order. */
export function linesOf(rows: readonly (readonly unknown[])[]): string[] {
  return rows.map((row) => row.map(cellText).join('\t')).sort()
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (value instanceof Date) return value.toISOString()
  const text = String(value)
  if (/^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(text)) return Number(text).toPrecision(10)
  const instant = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(\.\d+)?)(\+00(:00)?|Z)?$/.exec(text)
  return instant ? new Date(`${instant[1]}T${instant[2]}Z`).toISOString() : text
}
