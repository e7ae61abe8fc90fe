import * as z from 'zod'
import type { Body } from './form/bodies.ts'
import { number, text } from './form/field-meta.ts'
import { recordParser } from './form/record.ts'
import { fieldsOf } from './form/unknown.ts'
import { guildSchema } from './guilds.ts'
import { characterSchema } from './people/characters.ts'
import { identityFields } from './people/identities.ts'

/**
 * One place on a board, of a guild or of a player (API reference 8). Who hides is there with `restricted: true` and the
 * text `redacted` where name, uuid and character type would be.
 */
export const leaderboardEntrySchema = z.looseObject({
  ...identityFields,
  name: text,
  prefix: text,
  score: number,
  /** Up to about 10^15. */
  metaScore: number,
  previousRanking: number,
  level: number,
  xp: number,
  territories: number,
  wars: number,
  members: number,
  created: text,
  banner: guildSchema.shape.banner,
  /** More numbers, which ones depends on the board. */
  metadata: z.record(z.string(), z.union([z.number(), z.string()]).nullish()).nullish(),
  characterUuid: text,
  characterType: text,
  characterData: characterSchema.nullish(),
  restricted: z.boolean().nullish(),
})

export type LeaderboardEntry = z.output<typeof leaderboardEntrySchema>

/** A place with its number, 1 for the best. */
export type LeaderboardPlace = LeaderboardEntry & { readonly position: number }

const parseEntry = recordParser('leaderboard entry', leaderboardEntrySchema)

const { uuid, username, name, score, metaScore, level, territories, wars, characterUuid } = leaderboardEntrySchema.shape
const rankSchema = z.looseObject({
  uuid,
  username,
  name,
  score,
  metaScore,
  level,
  territories,
  wars,
  characterUuid,
})

/** What of an entry says who is where. @throws RecordError with the JSON pointer of what does not fit */
export const parseRank = recordParser('leaderboard entry', rankSchema)

export type Rank = z.output<typeof rankSchema>
const parseTypes = recordParser('leaderboard types', z.array(z.string()))

/**
 * The places of a board, which come by position, from the best down.
 * @throws RecordError with the JSON pointer of the first thing that is no entry
 */
export function readLeaderboard(body: Body): LeaderboardPlace[] {
  const places = Array.isArray(body) ? body.map((entry, index) => [String(index + 1), entry] as const) : fieldsOf(body)
  return places
    .map(([position, entry]) => ({ ...parseEntry(entry), position: Number(position) }))
    .sort((one, other) => one.position - other.position)
}

/** The names of the boards. @throws RecordError when it is no list of texts */
export function readLeaderboardTypes(body: Body): string[] {
  return parseTypes(Array.isArray(body) ? body : Object.values(body))
}
