import type { Database } from '../../../src/db/database.ts'
import { FOREVER } from '../../../src/db/values.ts'
import type { Witness } from './witness.ts'

/** What tables say that no answer said, or not for that instant. */
export async function unheardFacts(db: Database, witness: Witness): Promise<unknown[]> {
  const wrong: unknown[] = []
  const check = (isSaid: boolean, ...row: unknown[]) => void (isSaid || wrong.push(row))
  for (const [territory, guild, acquired, seen] of await db.values(
    'select territory, guild_uuid::text, acquired, observed_at from game.territory_hold',
  ))
    check(witness.said(['held', territory, guild, ms(acquired)], ms(seen) ?? 0), 'held', territory, guild, seen)

  for (const [player, first, last, world, lastWorld] of await db.values(
    'select player_uuid::text, first_listed_at, last_listed_at, world, last_world from game.player_listing',
  )) {
    check(witness.said(['listed', player, world], ms(first) ?? 0), 'listed', player, world, first)
    if (last !== null) check(witness.said(['listed', player], ms(last) ?? 0), 'listed', player, lastWorld, last)
  }
  for (const [at, total, listed] of await db.values('select observed_at, total, listed from game.online_sample'))
    check(witness.said(['online', total, listed], ms(at) ?? 0), 'online', at, total, listed)
  for (const [world, at, online] of await db.values(
    'select world, observed_at, online from game.world_sample where online > 0',
  ))
    check(witness.said(['on world', world, online], ms(at) ?? 0), 'on world', world, at, online)

  for (const [guild, player, rank, joined, from] of await db.values(
    'select guild_uuid::text, player_uuid::text, rank, joined, valid_from from game.guild_member',
  )) {
    // A spell begins when the API says that it did.
    const at = ms(from) === ms(joined) ? undefined : (ms(from) ?? 0)
    check(witness.said(['member', guild, player, rank, ms(joined)], at), 'member', guild, player, rank, joined, from)
  }
  for (const [guild, player, at, value] of await db.values(
    `select guild_uuid::text, player_uuid::text, observed_at, value from game.member_counter where counter = 'contributed'`,
  ))
    check(witness.said(['contributed', guild, player, value], ms(at) ?? 0), 'contributed', guild, player, at, value)
  return wrong
}

/** Versions that overlap, lie the wrong way round, or of which more than one is current; by table. */
export async function brokenChains(db: Database): Promise<unknown[]> {
  const tables = await db.query<{ table: string; key: string[] }>(
    `select 'game.' || root.relname as table,
            (select array_agg(column_name.attname::text) from pg_attribute column_name
              where column_name.attrelid = root.oid and column_name.attnum = any(pk.indkey) and column_name.attname <> 'valid_from') as key
       from pg_class root join pg_index pk on pk.indrelid = root.oid and pk.indisprimary
      where root.relnamespace = 'game'::regnamespace
        and exists (select from pg_attribute where attrelid = root.oid and attname = 'previous_until')`,
  )
  const broken: unknown[] = []
  for (const { table, key } of tables) {
    const rows = await db.query(
      `select * from (select ${key.join(', ')}, valid_from, valid_until, previous_until,
                             lag(valid_until) over (partition by ${key.join(', ')} order by valid_from) as before from ${table}) version
        where valid_from >= valid_until or before is distinct from previous_until or before > valid_from`,
    )
    broken.push(...rows.map((row) => [table, row]))
  }
  return broken
}

function ms(value: unknown): number | null {
  if (value === null || value === undefined) return null
  const at = value instanceof Date ? value.getTime() : Date.parse(String(value))
  return at === FOREVER.getTime() ? Number.POSITIVE_INFINITY : at
}
