import type { Sql } from '../../../db/database.ts'
import { type Chapter, type Figure, missing } from '../drawing/figure.ts'
import type { Frame } from '../drawing/frame.ts'
import { contributionFigure } from './guild-contribution.ts'
import { guildHoursFigure } from './guild-hours.ts'
import { membersFigure } from './guild-members.ts'
import { movesFigure } from './guild-moves.ts'
import { warsFigure } from './guild-wars.ts'

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
  if (guild === null) return { id, heading: 'A guild', figures: [neverSynced] }
  const [row] = await sql.query<{ name: string; prefix: string }>(
    `select name, prefix from analytics.guild where guild_uuid = $1`,
    [guild],
  )
  // One is drawn while the database works for the next.
  const figures = await Promise.all([
    membersFigure(sql, guild, frame),
    contributionFigure(sql, guild, frame),
    warsFigure(sql, guild, frame),
    movesFigure(sql, guild, frame),
    guildHoursFigure(sql, guild, frame),
  ])
  if (row) return { id, heading: `${row.name} [${row.prefix}]`, figures }
  // What is not known of it cannot be requested any more.
  const known = figures.filter(({ table }) => table !== undefined)
  return { id, heading: 'The guild', figures: [await notListed(sql), ...known] }
}

const neverSynced = missing('members', 'No guild was synced yet', 'wynnsync sync guild-list guilds')

/** Why nothing is known of a guild now: it is not listed, or there is no list yet. */
async function notListed(sql: Sql): Promise<Figure> {
  const [listed] = await sql.query(`select from analytics.guild limit 1`)
  if (!listed) return missing('not-listed', 'No list of guilds was synced yet', 'wynnsync sync guild-list guilds')
  return {
    id: 'not-listed',
    title: 'It is not in the latest list of guilds',
    lead: 'It was disbanded, or it is newer than that list. What is known of its time before follows.',
  }
}
