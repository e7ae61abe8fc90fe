import type { Sql } from '../../db/database.ts'
import { sometimeAfter } from '../../drawing/words.ts'
import type { Visit } from '../html/page.ts'
import { guildNamed } from '../pages/guilds.ts'
import type { Entry, Feed } from './atom.ts'
import { captureEntries, most } from './world.ts'

/** `/feeds/guilds/PREFIX.atom`: captures by and from a guild; joins, leaves and changes of rank where players are shown. */
export async function guildFeed(visit: Visit): Promise<Feed> {
  const { sql, people, name } = visit
  const guild = await guildNamed(visit)
  const moves = people ? await moveEntries(sql, guild.uuid) : []
  return {
    title: `${guild.name ?? name}: what happened`,
    subtitle: `Captures by and from the guild${people ? ', joins, leaves and changes of rank' : ''}.`,
    self: `/feeds/guilds/${guild.uuid}.atom`,
    path: `/guilds/${guild.uuid}`,
    entries: [...(await captureEntries(sql, guild.uuid)), ...moves],
  }
}

interface Move {
  readonly at: Date
  readonly notBefore: Date | null
  readonly event: string
  readonly player: string
  readonly username: string | null
  readonly name: string | null
  readonly from: string | null
  readonly to: string | null
  /** Of a transfer, the guild left. */
  readonly former: string | null
}

async function moveEntries(sql: Sql, guild: string): Promise<Entry[]> {
  const moves = await sql.query<Move>(
    `with latest as (select * from analytics.membership_event where guild_uuid::text = $1 order by at desc limit ${most})
     select at, not_before as "notBefore", event, player_uuid::text as player, username, guild_name as name, from_rank as "from", to_rank as "to",
            other.name as former
       from latest
       left join lateral (select guild.name from analytics.guild where latest.event = 'transferred'
                             and guild.guild_uuid = latest.other_guild_uuid offset 0) other on true
      order by at desc`,
    [guild],
  )
  return moves.map(({ at, notBefore, event, player, username, name, from, to, former }) => {
    const isMove = event === 'joined' || event === 'left'
    const knowsTime = event === 'joined' || event === 'transferred'
    const [before, after] = event === 'transferred' ? [former ?? 'another guild', name ?? 'the guild'] : [from, to]
    const rank = [before && `from ${before}`, after && `to ${after}`].filter(Boolean).join(' ')
    return {
      key: ['membership', guild, player, event, at.toISOString()],
      at,
      // Joining has the API's own time.
      title:
        `${username ?? player} ${event} ${isMove ? (name ?? 'the guild') : rank}`.trim() +
        (knowsTime ? '' : sometimeAfter(notBefore, at)),
      path: `/guilds/${guild}`,
    }
  })
}
