import { FOREVER } from '../../../../src/db/bulk/values.ts'
import type { Database } from '../../../../src/db/database.ts'
import type { DeliveredFacts } from './delivered-facts.ts'

/** Rows that follow from no delivered response, or not for their instant. */
export async function unsupportedRows(db: Database, delivered: DeliveredFacts): Promise<unknown[]> {
  const wrong: unknown[] = []
  const check = (isSupported: boolean, ...row: unknown[]) => void (isSupported || wrong.push(row))
  for (const [territory, guild, acquired, seen] of await db.values(
    'select territory, guild_uuid::text, acquired, observed_at from game.territory_hold',
  ))
    check(delivered.has(['held', territory, guild, ms(acquired)], ms(seen) ?? 0), 'held', territory, guild, seen)

  for (const [player, first, last, world, lastWorld] of await db.values(
    'select player_uuid::text, first_listed_at, last_listed_at, world, last_world from game.player_listing',
  )) {
    check(delivered.has(['listed', player], ms(first) ?? 0), 'listed', player, world, first)
    // Who has just come may be between two worlds: the first list that names one comes later.
    const isNamed = (one: unknown) =>
      one === null || delivered.has(['listed', player, one], ms(first) ?? 0, ms(last) ?? Number.POSITIVE_INFINITY)
    check(isNamed(world) && isNamed(lastWorld), 'on', player, world, lastWorld, first)
    if (last !== null) check(delivered.has(['listed', player], ms(last) ?? 0), 'listed', player, lastWorld, last)
  }
  for (const [at, total, listed] of await db.values('select observed_at, total, listed from game.online_sample'))
    check(delivered.has(['online', total, listed], ms(at) ?? 0), 'online', at, total, listed)
  for (const [world, at, online] of await db.values(
    'select world, observed_at, online from game.world_sample where online > 0',
  ))
    check(delivered.has(['on world', world, online], ms(at) ?? 0), 'on world', world, at, online)

  for (const [guild, player, rank, joined, from] of await db.values(
    'select guild_uuid::text, player_uuid::text, rank, joined, valid_from from game.guild_member',
  )) {
    // A spell begins when the API says that it did.
    const at = ms(from) === ms(joined) ? undefined : (ms(from) ?? 0)
    const isMember = (since: number | null, when?: number) =>
      delivered.has(['member', guild, player, rank, since], when)
    // Where a response leaves out when a player joined, what is known of it goes on.
    const isSupported = isMember(ms(joined), at) || (isMember(null, at) && isMember(ms(joined)))
    check(isSupported, 'member', guild, player, rank, joined, from)
  }
  for (const [guild, player, at, value] of await db.values(
    `select guild_uuid::text, player_uuid::text, observed_at, value from game.member_counter where counter = 'contributed'`,
  ))
    check(delivered.has(['contributed', guild, player, value], ms(at) ?? 0), 'contributed', guild, player, at, value)
  return wrong
}

function ms(value: unknown): number | null {
  if (value === null || value === undefined) return null
  const at = value instanceof Date ? value.getTime() : Date.parse(String(value))
  return at === FOREVER.getTime() ? Number.POSITIVE_INFINITY : at
}
