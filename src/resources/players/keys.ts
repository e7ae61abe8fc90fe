import { BadRequest, MultipleObjectsReturned, NotFound } from '../../api/errors.ts'
import type { Named, Worklist } from '../../sync/resource.ts'
import { textField } from '../record.ts'

type Sql = Parameters<Worklist['plan']>[0]
type Api = Parameters<Worklist['lookUp']>[0]

/**
 * Puts everybody who was listed as online in the last day, and every member of a guild, on the worklist. The most urgent
 * are those who left the list and may be hidden: only their profile tells whether they logged out, and the sooner the
 * closer. Then those who came, whose profile tells when exactly; then those who are there; the rest by staleness alone.
 * @param at now
 */
export async function planPlayers(sql: Sql, at: Date): Promise<void> {
  await sql.query(
    `with urgent as (
       select listing.player_uuid::text as key,
              max(case when item.observed_at >= coalesce(last_listed_at, first_listed_at)
                       then case when last_listed_at is null then 3 else 1 end
                       when last_listed_at is null then 20
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
     -- In one order, so that two processes that plan at once do not wait for each other.
     select 'players', key, weight from wanted order by key
     on conflict (resource, key) do update set weight = excluded.weight where item.weight <> excluded.weight`,
    [at],
  )
}

/** Players who go by a uuid or a name: those who bear it now, or else those who bore it. */
export async function findPlayers(sql: Sql, name: string): Promise<Named[]> {
  return await sql.query<Named>(
    `with known as (
       select player_uuid::text as key, username as label, valid_until = 'infinity' as is_current
         from game.player where player_uuid::text = lower($1) or lower(username) = lower($1)
       union
       select player_uuid::text, username, valid_until = 'infinity'
         from game.guild_member where player_uuid::text = lower($1) or lower(username) = lower($1)
       union
       select player_uuid::text, player_uuid::text, last_listed_at is null
         from game.player_listing where player_uuid::text = lower($1)
     )
     select key, max(label) as label from known
      where is_current or not exists (select from known other where other.is_current)
      group by key order by 2, 1`,
    [name],
  )
}

/** Players whom the API knows under a uuid or name. A name that several bear gives them all: which is meant, it cannot know. */
export async function lookUpPlayers(api: Api, name: string): Promise<Named[]> {
  try {
    const { body } = await api.players.profile(name)
    const key = textField(body, 'uuid')
    return key ? [{ key, label: textField(body, 'username') ?? key }] : []
  } catch (error) {
    if (error instanceof MultipleObjectsReturned) {
      return Object.entries(error.objects).map(([key, one]) => ({ key, label: textField(one, 'username') ?? key }))
    }
    if (error instanceof NotFound || error instanceof BadRequest) return []
    throw error
  }
}
