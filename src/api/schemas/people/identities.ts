import * as z from 'zod'
import { flag, known, text } from '../form/field-meta.ts'
import { recordParser } from '../form/record.ts'
import { playerVocabulary } from './players.ts'

/** The public identity of a player: in `/player/whoami`, `/oauth/me`, leaderboards and the matches of a 300. */
export const identityFields = {
  username: text,
  uuid: text,
  online: flag,
  nickname: text,
  rank: text,
  supportRank: known(playerVocabulary.supportRank).nullish(),
  shortenedRank: text,
  /** A bare colour has been met too. */
  legacyRankColour: z.union([z.looseObject({ main: text, sub: text }), z.string()]).nullish(),
  rankBadge: text,
} as const

/** By uuid: one entry, the player of the credential (API reference 7.5). */
export const identitiesSchema = z.record(z.string(), z.looseObject(identityFields))

export type Identities = z.output<typeof identitiesSchema>
export type Identity = Identities[string]

/** @throws RecordError with the JSON pointer of the first thing that is no identity */
export const parseIdentities: (body: unknown) => Identities = recordParser('identity', identitiesSchema)
