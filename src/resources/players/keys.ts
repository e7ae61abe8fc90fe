import type { Api } from '../../api/client.ts'
import { BadRequest, MultipleObjectsReturned, NotFound } from '../../api/errors.ts'
import { isUuid, uuidText } from '../../api/schemas/form/limits.ts'
import { nearest } from '../../base/text/nearest.ts'
import type { Sql } from '../../db/database.ts'
import type { Named, NameHolder } from '../../sync/declare/resource.ts'
import { textField, uuidField } from '../record.ts'

/** Whether neither a profile nor a guild ever gave the player of a `listing` a name. */
const nameless = `not exists (select from game.player named where named.player_uuid = listing.player_uuid and username is not null)
  and not exists (select from game.guild_member named where named.player_uuid = listing.player_uuid and username is not null)`

/** How many of those who are listed as online have no name because their profile was never requested. */
export async function countNamelessPlayers(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(distinct player_uuid)::int as count from game.player_listing listing
      where last_listed_at is null and ${nameless}
        and not exists (select from sync.work_item item where item.resource = 'players'
                           and item.key = listing.player_uuid::text and item.observed_at is not null)`,
  )
  return row?.count ?? 0
}

/**
 * Puts everybody who was listed as online in the last day, and every member of a guild, on the worklist. The most urgent
 * are those who are there and have no name yet, since the online list has none. Then those who left the list and may be
 * hidden: only their profile tells whether they logged out, and the sooner the closer. Then those who came, whose profile
 * tells when exactly; then those who are there; the rest by staleness alone.
 */
export async function planPlayers(sql: Sql, at: Date): Promise<void> {
  // In one order, so that two processes that plan at once do not wait for each other.
  await sql.query(
    `with urgent as (
       select listing.player_uuid::text as key,
              max(case when item.observed_at >= coalesce(last_listed_at, first_listed_at)
                       then case when last_listed_at is null then 3 else 1 end
                       when last_listed_at is null then case when item.observed_at is null and ${nameless} then 60 else 20 end
                       when logout_latest is null then 50
                       else 5 end) as weight
         from game.player_listing listing
         left join sync.work_item item on item.resource = 'players' and item.key = listing.player_uuid::text
        where last_listed_at is null or last_listed_at > $1::timestamptz - interval '1 day'
        group by listing.player_uuid
     ), wanted as (
       select key, weight from urgent
       union all
       select distinct member.player_uuid::text, 1 from game.guild_member member
        where valid_until = 'infinity'
          and not exists (select from sync.work_item item where item.resource = 'players' and item.key = member.player_uuid::text)
          and not exists (select from urgent where urgent.key = member.player_uuid::text)
       union all
       select item.key, 1 from sync.work_item item
        where item.resource = 'players' and item.weight <> 1
          and not exists (select from urgent where urgent.key = item.key)
     )
     insert into sync.work_item as item (resource, key, weight)
     select 'players', key, weight from wanted order by key
     on conflict (resource, key) do update set weight = excluded.weight where item.weight <> excluded.weight`,
    [at],
  )
}

/** Players who go by a uuid or a name: those who bear it now, or else those who bore it. */
export async function findPlayers(sql: Sql, name: string): Promise<Named[]> {
  const bearers = await playersCalled(sql, name)
  const living = bearers.filter(({ until }) => until === null)
  const labels = new Map<string, string>()
  for (const one of living.length > 0 ? living : bearers)
    labels.set(one.uuid, one.name ?? labels.get(one.uuid) ?? one.uuid)
  return [...labels].map(([key, label]) => ({ key, label }))
}

/** Players who go or went by a uuid or a name, as far as the tables know: a row for each name under which they did. */
export async function playersCalled(sql: Sql, name: string): Promise<NameHolder[]> {
  return await sql.query<NameHolder>(
    `select player_uuid::text as uuid, username as name, null as prefix, min(valid_from) as since,
            case when max(valid_until) < 'infinity' then max(valid_until) end as until
       from (select player_uuid, username, valid_from, valid_until from game.player
              where player_uuid = $2::uuid or lower(username collate "C") = lower($1 collate "C")
             union all
             select player_uuid, username, valid_from, valid_until from game.guild_member
              where player_uuid = $2::uuid or lower(username collate "C") = lower($1 collate "C")
             union all
             select player_uuid, null, first_listed_at, coalesce(last_listed_at, 'infinity') from game.player_listing
              where player_uuid = $2::uuid) known
      group by player_uuid, username
      order by until desc nulls first, username collate "C" nulls first, uuid`,
    [name, isUuid(name) ? uuidText(name) : null],
  )
}

/** Names of players that are written nearly like this; three at most. */
export async function playersLike(sql: Sql, name: string): Promise<string[]> {
  // There may be a million names; most misspelt ones begin or end right.
  const rows = await sql.query<{ username: string }>(
    `select username from (select username from game.player union select username from game.guild_member) known
      where strpos(lower(username collate "C"), lower($1 collate "C")) > 0
         or abs(length(username) - length($1)) <= 4
            and (left(lower(username collate "C"), 1) = left(lower($1 collate "C"), 1) or right(lower(username collate "C"), 2) = right(lower($1 collate "C"), 2))`,
    [name],
  )
  return nearest(
    name,
    rows.map(({ username }) => username),
  )
}

/** Players whom the API knows under a uuid or name. A name that several bear gives them all: which is meant, it cannot know. */
export async function lookUpPlayers(api: Api, name: string): Promise<Named[]> {
  try {
    const { body } = await api.players.profile(name)
    const key = uuidField(body, 'uuid')
    return key ? [{ key, label: textField(body, 'username') ?? key }] : []
  } catch (error) {
    if (error instanceof MultipleObjectsReturned) {
      return Object.entries(error.objects).map(([key, one]) => ({
        key: uuidText(key),
        label: textField(one, 'username') ?? key,
      }))
    }
    if (error instanceof NotFound || error instanceof BadRequest) return []
    throw error
  }
}

/** Names of players that begin with a text; none before something is typed. */
export async function playersStarting(sql: Sql, start: string, limit: number) {
  if (start === '') return []
  return await sql.query<{ value: string; about: string }>(
    `select username as value, coalesce(rank, '') as about from analytics.player
      where starts_with(username, $1) order by username collate "C" limit $2`,
    [start, limit],
  )
}
