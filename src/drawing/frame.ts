import type { Sql } from '../db/database.ts'
import type { Cell } from './html-table.ts'
import type { Period } from './period.ts'

/** What every picture of a report is about. */
export interface Frame extends Period {
  /** The guild that has a page of its own. */
  readonly guild: string | null
  /** When the report is written; ages count up to then. */
  readonly writtenAt: Date
  /** A player by name, with a link to the player's page; undefined: there is none, as in a report. */
  readonly playerCell?: (uuid: string, name: string) => Cell
}

export function playerCell(frame: Frame, uuid: string, name: string): Cell {
  return frame.playerCell?.(uuid, name) ?? name
}

/** How often a resource is expected to be observed; seconds, 0 without a schedule. */
export async function expectedEvery(sql: Sql, resource: string): Promise<number> {
  const [row] = await sql.query<{ seconds: number | null }>(
    `select every_seconds as seconds from analytics.expected_every($1) where begins <= now() order by begins desc limit 1`,
    [resource],
  )
  return row?.seconds ?? 0
}
