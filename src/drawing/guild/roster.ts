import { guildColour } from '../colours.ts'
import type { Holder } from '../map/holds.ts'

/** A guild as the report shows it. */
export interface Shown extends Holder {
  /** What its places are filled with. */
  readonly fill: string
}

/** Who is shown in which colour, from the biggest empire to the smallest. */
export interface Roster {
  readonly shown: readonly Shown[]
  readonly of: (uuid: string | null) => Shown | undefined
}

/** Guilds in their order, each in its own colour. */
export function rosterOf(guilds: readonly Holder[]): Roster {
  const shown = guilds.map((guild) => ({ ...guild, fill: guildColour(guild.name) }))
  const byUuid = new Map(shown.map((one) => [one.uuid, one]))
  return { shown, of: (uuid) => (uuid === null ? undefined : byUuid.get(uuid)) }
}
