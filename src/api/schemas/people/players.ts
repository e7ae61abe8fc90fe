import * as z from 'zod'
import { flag, hiddenBy, known, number, text } from '../form/field-meta.ts'
import { countOf } from '../form/limits.ts'
import { recordParser, typeOf } from '../form/record.ts'
import { totalsSchema } from '../form/totals.ts'
import { fieldsOf, isFields } from '../form/unknown.ts'
import { restrictionsSchema } from './restrictions.ts'

/** The names the service has used so far (API reference 7.1); others are still accepted. */
export const playerVocabulary = {
  supportRank: ['vip', 'vipplus', 'hero', 'champion'],
  /** In capitals, unlike in a guild's own record. */
  guildRank: ['OWNER', 'CHIEF', 'STRATEGIST', 'CAPTAIN', 'RECRUITER', 'RECRUIT'],
} as const

const positions = z.record(z.string(), number).nullish()

/**
 * One player. Only `uuid` is always there (API reference 7.1); fields not named here are kept. What its owner hides is
 * left out or null, and `restrictionsOf` tells why.
 */
export const playerSchema = z.looseObject({
  uuid: z.string(),
  username: text,
  /** False may also mean hidden. */
  online: hiddenBy('onlineStatus', flag),
  server: hiddenBy('onlineStatus', text),
  activeCharacter: hiddenBy('onlineStatus', text),
  nickname: text,
  rank: text,
  rankBadge: text,
  /** A bare colour has been met too. */
  legacyRankColour: z.union([z.looseObject({ main: text, sub: text }), z.string()]).nullish(),
  shortenedRank: text,
  supportRank: known(playerVocabulary.supportRank).nullish(),
  veteran: flag,
  lastJoin: hiddenBy('onlineStatus', text),
  guild: z
    .looseObject({
      uuid: text,
      name: text,
      prefix: text,
      rank: known(playerVocabulary.guildRank).nullish(),
      rankStars: text,
    })
    .nullish(),
  /** Position by leaderboard. */
  ranking: hiddenBy('mainAccess', positions),
  previousRanking: hiddenBy('mainAccess', positions),
  firstJoin: hiddenBy('mainAccess', text),
  /** Hours, with fractions. */
  playtime: hiddenBy('mainAccess', number),
  globalData: hiddenBy('mainAccess', totalsSchema.nullish()),
  /** By dotted path, such as `globalData.chestsFound`. */
  featuredStats: hiddenBy('mainAccess', z.record(z.string(), z.union([z.number(), z.string()]).nullish()).nullish()),
  wallpaper: text,
  avatar: text,
  restrictions: restrictionsSchema.nullish(),
  /** By uuid, each read by `parseCharacter`: one bad character spoils no player. Only with `fullResult`. */
  characters: hiddenBy('characterListAccess', z.unknown().optional()),
})

export type Player = z.output<typeof playerSchema>

/** @throws RecordError with the JSON pointer of the first thing that is no player; characters are not looked at */
export const parsePlayer: (record: unknown) => Player = recordParser('player', playerSchema)

/** A player who is online and listed. */
export interface OnlinePlayer {
  /** Username or uuid, whichever was asked for. */
  readonly key: string
  /** Such as `EU1`; null when not sent. */
  readonly world: string | null
  /** What is sent instead of a name of a world; absent: nothing is. */
  readonly misfit?: unknown
}

/** Who is online. */
export interface OnlineList {
  /** As the service counts; null when it did not say. More than are listed when some hide. */
  readonly total: number | null
  readonly players: readonly OnlinePlayer[]
  /** What stands where the map of players should be; absent: it is one, or an empty list. */
  readonly misshapen?: string
}

/** Reads the answer of `/player`, which has been an empty object while the service restarted (API reference 7.4). */
export function readOnlineList(body: unknown): OnlineList {
  const { total, players } = Object.fromEntries(fieldsOf(body))
  return {
    total: countOf(total),
    ...(isFields(players) || isEmptyList(players) ? {} : { misshapen: typeOf(players) }),
    players: fieldsOf(players).map(([key, sent]) => {
      const world = worldName(sent)
      return { key, world, ...(world === null && sent !== null && sent !== '' ? { misfit: sent } : {}) }
    }),
  }
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0

/** The name of a world as the list tells it; null when it does not. */
export function worldName(world: unknown): string | null {
  if (typeof world === 'number') return String(world)
  return typeof world === 'string' && world !== '' ? world : null
}
