import * as z from 'zod'
import { flag, hiddenBy, known, number, sometimes, text } from './form/field-meta.ts'
import { countOf, isUuid } from './form/limits.ts'
import { recordParser } from './form/record.ts'
import { totalsSchema } from './form/totals.ts'
import { fieldsOf } from './form/unknown.ts'
import { restrictionsSchema } from './people/restrictions.ts'

/** The names the service has used so far (API reference 6.1); others are still accepted. */
export const guildVocabulary = {
  /** From the highest to the lowest. */
  rank: ['owner', 'chief', 'strategist', 'captain', 'recruiter', 'recruit'],
  colour: [
    'WHITE',
    'ORANGE',
    'MAGENTA',
    'LIGHT_BLUE',
    'YELLOW',
    'LIME',
    'PINK',
    'GRAY',
    'SILVER',
    'CYAN',
    'PURPLE',
    'BLUE',
    'BROWN',
    'GREEN',
    'RED',
    'BLACK',
  ],
} as const

const colour = known(guildVocabulary.colour).nullish()

/** One guild. Only `uuid` is always there (API reference 6.1); fields not named here are kept. */
export const guildSchema = z.looseObject({
  uuid: z.string(),
  name: text,
  prefix: text,
  level: number,
  xpPercent: number,
  territories: number,
  wars: number,
  raids: number,
  created: text,
  /** How many members show that they are online. */
  online: number,
  /** Read by `membersOf` and `memberTotal`, and each member by `parseGuildMember`: one bad member spoils no guild. */
  members: z.unknown().optional(),
  banner: z
    .looseObject({
      base: colour,
      tier: number,
      // Missing in 11 of 77 banners (API reference 6.1).
      structure: sometimes(text),
      layers: z.array(z.looseObject({ colour, color: colour, pattern: text })).nullish(),
    })
    .nullish(),
  /** By season number as text; season 0 exists. */
  seasonRanks: z.record(z.string(), z.looseObject({ rating: number, finalTerritories: number }).nullish()).nullish(),
  /** Position by leaderboard. */
  ranking: z.record(z.string(), number).nullish(),
})

/** One member, as the value in a rank's map; the key there is the username or the uuid, and the record has the other. */
export const guildMemberSchema = z.looseObject({
  uuid: text,
  username: text,
  /** False may also mean hidden. */
  online: hiddenBy('onlineStatus', flag),
  /** Null when hidden or never seen. */
  lastJoin: hiddenBy('onlineStatus', text),
  server: hiddenBy('onlineStatus', text),
  /** Experience, beyond 2^32. */
  contributed: number,
  contributionRank: number,
  joined: text,
  /** Empty unless the credential belongs to a member of the guild. */
  weekly: hiddenBy('guildHighRankedAccess', z.looseObject({ completed: flag, streak: number }).nullish()),
  globalData: hiddenBy('mainAccess', totalsSchema.nullish()),
  restrictions: restrictionsSchema.nullish(),
})

export type Guild = z.output<typeof guildSchema>
export type GuildMember = z.output<typeof guildMemberSchema>

/** @throws RecordError with the JSON pointer of the first thing that is no guild; members are not looked at */
export const parseGuild: (record: unknown) => Guild = recordParser('guild', guildSchema)

/** @throws RecordError with the JSON pointer of the first thing that is no guild member */
export const parseGuildMember: (record: unknown) => GuildMember = recordParser('guild member', guildMemberSchema)

/** A member as it stands in a guild's answer. */
export interface MemberEntry {
  readonly rank: string
  /** Username or uuid, whichever keys the map. */
  readonly key: string
  readonly record: unknown
}

/** The members of all ranks, unknown ranks too, in the order of the answer. What is no map of members is left out. */
export function membersOf(guild: { readonly members?: unknown }): MemberEntry[] {
  return fieldsOf(guild.members)
    .filter(([rank]) => rank !== 'total')
    .flatMap(([rank, members]) => fieldsOf(members).map(([key, record]) => ({ rank, key, record })))
}

/**
 * How many members the guild has by the response's own count; null without one. When that is not the length of `membersOf`,
 * the response is not the whole guild, and no member may count as gone because of it.
 */
export function memberTotal(guild: { readonly members?: unknown }): number | null {
  return countOf(fieldsOf(guild.members).find(([name]) => name === 'total')?.[1])
}

/** One entry of the list of guilds, with the uuid or the name under which it stands. */
export const guildListEntrySchema = z.looseObject({ uuid: text, name: text, prefix: text })

/** @throws RecordError with the JSON pointer of the first thing that is no entry of the list of guilds */
export const parseGuildListEntry = recordParser('listed guild', guildListEntrySchema)

/** One guild of the list. */
export interface GuildListEntry {
  /** Undefined when neither the entry nor its key has it: such an entry names no guild for certain. */
  readonly uuid: string | undefined
  /** May be empty, or have spaces at its ends. */
  readonly name: string | null
  readonly prefix: string | null
}

/**
 * The entries of the answer of `/guild/list/guild` as they were sent, whether it is keyed by name or by uuid (API reference 3.5); each
 * entry tells for itself. No entry is left out.
 */
export function listedGuilds(body: unknown): Record<string, unknown>[] {
  return fieldsOf(body).map(([key, entry]) => {
    const sent = Object.fromEntries(fieldsOf(entry))
    return isUuid(key) ? { ...sent, uuid: textOf(sent.uuid) || key } : { ...sent, name: textOf(sent.name) ?? key }
  })
}

/** Reads the same. */
export function readGuildList(body: unknown): GuildListEntry[] {
  return listedGuilds(body).map(({ uuid, name, prefix }) => ({
    uuid: textOf(uuid) || undefined,
    name: textOf(name),
    prefix: textOf(prefix),
  }))
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
