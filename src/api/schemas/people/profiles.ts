import * as z from 'zod'
import { isUuid } from '../form/limits.ts'
import { recordParser } from '../form/record.ts'
import { fieldsOf } from '../form/unknown.ts'
import { type Guild, type GuildMember, membersOf, parseGuild, parseGuildMember } from '../guilds.ts'
import { type ItemSet, itemSetSchema } from '../items.ts'
import { type Season, seasonSchema } from '../seasons.ts'
import { type Territory, territorySchema } from '../territories.ts'
import { type Character, characterSchema } from './characters.ts'
import { type Player, parsePlayer } from './players.ts'

/** A member with his rank, as it keys his part of the answer: `owner`, `chief`, ... */
export type RankedMember = GuildMember & { readonly rank: string }

/** A guild with its members in one list, highest rank first as the answer has them. */
export type GuildProfile = Guild & { readonly members: readonly RankedMember[] }

/** A player with his characters by uuid; null when they were not asked for or are hidden. */
export type PlayerProfile = Player & {
  readonly characters: Readonly<Record<string, Character>> | null
}

/** @throws RecordError with the JSON pointer of the first thing that is no guild, or no member of one */
export function readGuild(body: unknown): GuildProfile {
  const guild = parseGuild(body)
  const members = membersOf(guild).map(({ rank, key, record }) => {
    const member = parseGuildMember(record)
    const missing = isUuid(key) ? { uuid: member.uuid ?? key } : { username: member.username ?? key }
    return { ...member, ...missing, rank }
  })
  return { ...guild, members }
}

/** @throws RecordError with the JSON pointer of the first thing that is no player, or no character */
export function readPlayer(body: unknown): PlayerProfile {
  const player = parsePlayer(body)
  const { characters } = player
  return { ...player, characters: fieldsOf(characters).length > 0 ? readCharacters(characters) : null }
}

function mapReader<Schema extends z.ZodType>(name: string, schema: Schema) {
  return recordParser(name, z.record(z.string(), schema))
}

/** Characters by uuid, light or in full. @throws RecordError for the first that is none */
export const readCharacters: (body: unknown) => Record<string, Character> = mapReader('characters', characterSchema)

/** Territories by name. @throws RecordError for the first that is none */
export const readTerritories: (body: unknown) => Record<string, Territory> = mapReader('territories', territorySchema)

/** Guild seasons by number. @throws RecordError for the first that is none */
export const readSeasons: (body: unknown) => Record<string, Season> = mapReader('seasons', seasonSchema)

/** Item sets by name. @throws RecordError for the first that is none */
export const readItemSets: (body: unknown) => Record<string, ItemSet> = mapReader('item sets', itemSetSchema)
