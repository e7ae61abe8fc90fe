import type { Api } from '../../api/client.ts'
import { BadRequest, MultipleObjectsReturned, NotFound } from '../../api/errors.ts'
import { isUuid, uuidText } from '../../api/schemas/form/limits.ts'
import { nearest } from '../../base/text/nearest.ts'
import type { Sql } from '../../db/database.ts'
import type { Named, NameHolder } from '../../sync/declare/resource.ts'
import { textField, uuidField } from '../record.ts'

/**
 * Puts every listed guild on the worklist. A guild counts the more the more of its members were online when it was last
 * asked for, and the more territories it holds: that is where something happens. What was more than a month ago tells nothing
 * of now. No guild has more than 200 members: a wrong number counts no more than a large guild.
 */
export async function planGuilds(sql: Sql, at: Date): Promise<void> {
  // In one order, so that two processes that plan at once do not wait for each other.
  await sql.query(
    `insert into sync.work_item as item (resource, key, weight)
     select 'guilds', listed.guild_uuid::text,
            1 + 2 * greatest(0, least(coalesce(latest.online, 0), 200)) + 3 * least(coalesce(held.territories, 0), 20)
       from game.guild_listing listed
       left join lateral (select online from game.guild_sample sample where sample.guild_uuid = listed.guild_uuid
                             and sample.observed_at > $1::timestamptz - interval '31 days'
                             and sample.observed_at < $1::timestamptz + interval '1 day'
                           order by observed_at desc limit 1) latest on true
       left join (select guild_uuid, count(*) as territories from game.territory_hold
                   where valid_until = 'infinity' group by guild_uuid) held on held.guild_uuid = listed.guild_uuid
      where listed.valid_until = 'infinity'
      order by listed.guild_uuid::text
     on conflict (resource, key) do update set weight = excluded.weight where item.weight <> excluded.weight`,
    [at],
  )
}

/** `Name [prefix]`, of which either may be unknown. */
function labelOf(name: string | null | undefined, prefix: string | null | undefined): string {
  return [name, prefix && `[${prefix}]`].filter(Boolean).join(' ')
}

/** Guilds that go by a uuid, an exact name, or a prefix. */
export async function findGuilds(sql: Sql, name: string): Promise<Named[]> {
  const bearers = await guildsCalled(sql, name)
  const living = new Map(bearers.filter(({ until }) => until === null).map((one) => [one.uuid, one]))
  return [...living.values()].map((one) => ({ key: one.uuid, label: labelOf(one.name, one.prefix) }))
}

/**
 * Guilds that go or went by a uuid, an exact name, or a prefix, as far as the tables know: a row for each name and prefix
 * under which they did.
 */
export async function guildsCalled(sql: Sql, name: string): Promise<NameHolder[]> {
  // A profile that was asked for before the list had another name has that no longer: what the list of all guilds says is newer.
  return await sql.query<NameHolder>(
    `select guild_uuid::text as uuid, name, prefix, min(valid_from) as since,
            case when max(valid_until) < 'infinity' then max(valid_until) end as until
       from (select guild_uuid, name, prefix, valid_from, valid_until, 1 as place from game.guild_listing
             union all
             select profile.guild_uuid, profile.name, profile.prefix, profile.valid_from,
                    least(profile.valid_until, (select min(later.valid_from) from game.guild_listing later
                                                 where later.guild_uuid = profile.guild_uuid and later.valid_from > profile.valid_from
                                                   and (later.name, later.prefix) is distinct from (profile.name, profile.prefix))), 2
               from game.guild profile) known
      where guild_uuid = $2::uuid or name = $1 or prefix = $1
      group by guild_uuid, name, prefix
      order by until desc nulls first, uuid, min(place) desc`,
    [name, isUuid(name) ? uuidText(name) : null],
  )
}

/** Guilds whose name or prefix is written nearly like this, as `name [prefix]`; three at most. */
export async function guildsLike(sql: Sql, name: string): Promise<string[]> {
  const rows = await sql.query<{ name: string; prefix: string | null }>(
    `select name, prefix from game.guild_listing where valid_until = 'infinity' and name is not null
     union
     select name, prefix from game.guild where valid_until = 'infinity' and name is not null`,
  )
  const guilds = new Map(
    rows.map(({ name, prefix }) => [labelOf(name, prefix), prefix === null ? [name] : [name, prefix]]),
  )
  return nearest(name, guilds.keys(), (label) => guilds.get(label) ?? [])
}

/** Guilds that the API knows under a uuid, prefix or name. */
export async function lookUpGuilds(api: Api, name: string): Promise<Named[]> {
  for (const ask of [api.guilds.byUuid, api.guilds.byPrefix, api.guilds.byName]) {
    try {
      const { body } = await ask(name)
      const key = uuidField(body, 'uuid')
      if (key) return [{ key, label: labelOf(textField(body, 'name'), textField(body, 'prefix')) }]
    } catch (error) {
      if (error instanceof MultipleObjectsReturned) {
        return Object.entries(error.objects).map(([key, one]) => ({
          key: uuidText(key),
          label: textField(one, 'name') ?? '',
        }))
      }
      if (!(error instanceof NotFound) && !(error instanceof BadRequest)) throw error
    }
  }
  return []
}

/** Prefixes of listed guilds that begin with a text, each with the name of its guild. */
export async function prefixesStarting(sql: Sql, start: string, limit: number) {
  return await sql.query<{ value: string; about: string }>(
    `select prefix as value, name as about from game.guild_listing
      where valid_until = 'infinity' and starts_with(prefix, $1) order by prefix collate "C", name collate "C" limit $2`,
    [start, limit],
  )
}
