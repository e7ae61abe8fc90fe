import type { Sql } from '../../../db/database.ts'
import { type Chapter, missing } from '../drawing/figure.ts'
import type { Frame } from '../drawing/frame.ts'
import { contributionFigure } from './guild-contribution.ts'
import { guildHoursFigure } from './guild-hours.ts'
import { membersFigure } from './guild-members.ts'
import { movesFigure } from './guild-moves.ts'

/** The guild with the most members among those that were synced; null when none was. */
export async function biggestGuild(sql: Sql): Promise<string | null> {
  const [row] = await sql.query<{ guild: string }>(
    `select guild_uuid::text as guild from analytics.guild where members is not null order by members desc, guild_uuid limit 1`,
  )
  return row?.guild ?? null
}

/** d. The page of one guild. */
export async function guildChapter(sql: Sql, frame: Frame): Promise<Chapter> {
  const { guild } = frame
  const id = 'guild'
  const [row] = await sql.query<{ name: string; prefix: string }>(
    `select name, prefix from analytics.guild where guild_uuid = $1`,
    [guild],
  )
  if (guild === null || !row) {
    return {
      id,
      heading: 'A guild',
      figures: [missing('members', 'No guild was synced yet', 'wynnsync sync guild-list guilds')],
    }
  }
  // One is drawn while the database works for the next.
  const figures = await Promise.all([
    membersFigure(sql, guild, frame),
    contributionFigure(sql, guild, frame),
    movesFigure(sql, guild, frame),
    guildHoursFigure(sql, guild, frame),
  ])
  return { id, heading: `${row.name} [${row.prefix}]`, figures }
}
