import type { Sql } from '../../db/database.ts'
import type { Frame } from '../frame.ts'
import { type Roster, rosterOf } from '../guild/roster.ts'
import type { Markup } from '../html-table.ts'
import { type Holds, readHolds } from './holds.ts'

/** What pictures of the map are about, in the colours of guilds. */
export interface MapFrame extends Frame {
  readonly roster: Roster
  readonly holds: Holds
  /** Where a territory has a page; undefined: nowhere, as in a report. */
  readonly pageOf?: (territory: string) => string
  /** Where a guild has one. */
  readonly guildPageOf?: (uuid: string) => string
  /** Where the trading routes of a territory lead. */
  readonly routes?: ReadonlyMap<string, readonly string[]>
  /** Territories that are the headquarters of their guilds at the end of the period. */
  readonly headquarters?: ReadonlySet<string>
  /** What stands above the map, and on it at the steps that it has; all of that, or what it cannot do without. */
  readonly tools?: Markup
  readonly overlay?: (steps: readonly Date[], isBrief: boolean) => Markup
  /** Bytes that the figure may have. Left out: as many as it needs. */
  readonly room?: number
  /** Where the list of an instant is, if the figure has no room for it. */
  readonly listAt?: (at: Date) => Markup
  /** What stands below the legend of the map. */
  readonly aside?: Markup
}

export async function mapFrameOf(sql: Sql, frame: Frame): Promise<MapFrame> {
  const holds = await readHolds(sql, frame)
  return { ...frame, roster: rosterOf(holds.guilds), holds }
}
