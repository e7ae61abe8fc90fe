import { labelOf, labelWidth } from '../../analytics/report/map/label-room.ts'
import { moment } from '../../analytics/report/words.ts'
import { visibleLine } from '../../app/terminal-text.ts'
import type { Sql } from '../../db/database.ts'

interface Held {
  readonly territory: string
  readonly name: string | null
  readonly prefix: string | null
  readonly at: Date | null
}

/**
 * Who holds what now, as JSON for the script of the map: `at`, as it is shown, when that was last confirmed; `guilds`, the name, label and
 * width of the label, px; `holders`, of each territory the place in `guilds`, -1 without a known holder.
 */
export async function liveMap(sql: Sql): Promise<string> {
  const held = await sql.query<Held>(
    'select territory, guild_name as name, guild_prefix as prefix, observed_at as at from analytics.territory',
  )
  const prefixes = new Map<string, string>()
  for (const { name, prefix } of held) if (name !== null) prefixes.set(visibleLine(name), prefix ?? name)
  const names = [...prefixes.keys()]
  return JSON.stringify({
    at: held[0]?.at ? moment(held[0].at) : null,
    guilds: names.map((name) => {
      const label = labelOf(prefixes.get(name) ?? name)
      return [name, label, labelWidth(label)]
    }),
    holders: Object.fromEntries(
      held.map(({ territory, name }) => [
        visibleLine(territory),
        name === null ? -1 : names.indexOf(visibleLine(name)),
      ]),
    ),
  })
}
