import type { Table } from '../../analytics/report/drawing/html-table.ts'
import type { Sql } from '../../db/database.ts'
import { guildLink, link } from '../html/links.ts'

/** A capture as pages show it. */
export interface Capture {
  readonly at: Date
  readonly territory: string
  readonly from: string | null
  readonly fromUuid: string | null
  readonly to: string
  readonly toUuid: string
  readonly again: boolean
}

/** The latest captures, of one territory, or by and from one guild, where that is given. */
export async function latestCaptures(
  sql: Sql,
  { territory = null, guild = null }: { readonly territory?: string | null; readonly guild?: string | null },
  most: number,
): Promise<Capture[]> {
  return await sql.query<Capture>(
    `select captured_at as at, territory, from_guild_name as "from", from_guild_uuid::text as "fromUuid",
            to_guild_name as "to", to_guild_uuid::text as "toUuid", is_recapture as again
       from analytics.territory_capture where ($1::text is null or territory = $1)
        and ($2::text is null or to_guild_uuid = $2::text::uuid or from_guild_uuid = $2::text::uuid)
      order by captured_at desc, territory limit $3`,
    [territory, guild, most],
  )
}

export function captureTable(captures: readonly Capture[]): Table {
  return {
    columns: ['At (UTC)', 'Territory', 'Taken by', 'From'],
    rows: captures.map(({ at, territory, from, fromUuid, to, toUuid, again }) => [
      at,
      link('territories', territory),
      guildLink(toUuid, to),
      again ? 'itself' : guildLink(fromUuid, from),
    ]),
  }
}
