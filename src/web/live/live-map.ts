import { visibleLine } from '../../base/terminal-text.ts'
import type { Sql } from '../../db/database.ts'
import { guildColour } from '../../drawing/colours.ts'
import { labelOf, labelWidth, mapTitle } from '../../drawing/map/map.ts'
import { clockTime, dayOf, RECENT_MS } from '../../drawing/words.ts'

interface Held {
  readonly territory: string
  readonly uuid: string | null
  /** Whether the map has a place for it. */
  readonly isPlaced: boolean
  readonly name: string | null
  readonly prefix: string | null
  readonly at: Date | null
}

/**
 * Who holds what now, as JSON for the script of the map: `at`, as it is shown, when that was last confirmed; `isRecent`, whether that was in the
 * hour before `now`; `title`, the finding;
 * `guilds`, the name, label, width of the label, px, and colour; `holders`, of each territory the place in `guilds`, -1 without a known holder.
 */
export async function liveMap(sql: Sql, now: Date): Promise<string> {
  const held = await sql.query<Held>(
    `select territory, guild_uuid::text as uuid, guild_name as name, guild_prefix as prefix, observed_at as at,
            min_x is not null and min_z is not null and max_x is not null and max_z is not null as "isPlaced"
       from analytics.territory`,
  )
  const guilds = new Map<string, readonly [string, string]>()
  for (const { name, prefix } of held)
    if (name !== null) guilds.set(visibleLine(name), [labelOf(prefix ?? name), guildColour(name)])
  const names = [...guilds.keys()]
  // A place whose record cannot be read was confirmed before.
  const last = held.reduce<Date | null>((latest, { at }) => (at && (!latest || at > latest) ? at : latest), null)
  return JSON.stringify({
    at: last === null ? null : `${dayOf(last, now)}, ${clockTime(last)}`,
    isRecent: last !== null && now.getTime() - last.getTime() < RECENT_MS,
    title: titleOf(held.filter(({ isPlaced }) => isPlaced)),
    guilds: [...guilds].map(([name, [label, colour]]) => [name, label, labelWidth(label), colour]),
    holders: Object.fromEntries(
      held.map(({ territory, name }) => [
        visibleLine(territory),
        name === null ? -1 : names.indexOf(visibleLine(name)),
      ]),
    ),
  })
}

function titleOf(held: readonly Held[]): string {
  const amounts = new Map<string | undefined, number>()
  for (const { uuid } of held) amounts.set(uuid ?? undefined, (amounts.get(uuid ?? undefined) ?? 0) + 1)
  const name = (uuid: string) => held.find((one) => one.uuid === uuid)?.name ?? undefined
  return visibleLine(mapTitle(amounts, held.length, name))
}
