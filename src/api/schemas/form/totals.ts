import * as z from 'zod'
import { number } from './field-meta.ts'

/** A counter with its parts by name, such as raids; null where it is hidden or not known. */
export const tally = z.looseObject({ total: number, list: z.record(z.string(), number).nullish() })

/** Kills and deaths; either may be missing. */
export const duels = z.looseObject({ kills: number, deaths: number })

/**
 * `globalData`, a player's counters over all characters, in profiles and in guild members (API reference 6.2, 7.1). Null
 * or absent when the player hides it. Counters may go down.
 */
export const totalsSchema = z.looseObject({
  contentCompletion: number,
  wars: number,
  totalLevel: number,
  mobsKilled: number,
  chestsFound: number,
  dungeons: tally.nullish(),
  raids: tally.nullish(),
  worldEvents: number,
  lootruns: number,
  caves: number,
  completedQuests: number,
  pvp: duels.nullish(),
  /** In the guild of today, in guild members only. */
  currentGuildRaids: tally.nullish(),
  /** In all guilds. */
  guildRaids: tally.nullish(),
  /** In profiles only. */
  raidStats: z
    .looseObject({
      damageTaken: number,
      damageDealt: number,
      healthHealed: number,
      deaths: number,
      buffsTaken: number,
      gambitsUsed: number,
    })
    .nullish(),
  /** Hours, with fractions; in guild members only. */
  playtime: number,
})
