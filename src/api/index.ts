/** The typed client for bot and tool authors: `import { createClient } from 'wynnsync/api'`. Needs no database. */
export { FatalError, RecordError, RetryableError, UsageError } from '../errors.ts'
export type { Answer, Headers } from './answer.ts'
export {
  type AllOptions,
  type Api,
  type CallOptions,
  type ClientOptions,
  createClient,
  DEFAULT_BASE_URL,
  type PageOptions,
} from './client.ts'
export type { Identifier, KeyedCall } from './endpoints/guilds.ts'
export type { OnlineCall, ProfileCall } from './endpoints/players.ts'
export {
  ApiError,
  BadRequest,
  Forbidden,
  MultipleObjectsReturned,
  NotFound,
  TooManyRequests,
  Unauthorized,
  Unavailable,
} from './errors.ts'
export type { Controller, Listing, Walk, WalkProgress } from './pages.ts'
export type { RateLimitReading } from './rate-limit.ts'
export type { Lane, RequestEvent, Timeouts } from './transport.ts'
export { type Character, characterVocabulary, parseCharacter } from './wire/characters.ts'
export {
  type Guild,
  type GuildListEntry,
  type GuildMember,
  guildVocabulary,
  type MemberEntry,
  membersOf,
  memberTotal,
  parseGuild,
  parseGuildMember,
  readGuildList,
} from './wire/guilds.ts'
export {
  type Item,
  type ItemMetadata,
  type ItemSet,
  itemVocabulary,
  parseItem,
  parseItemMetadata,
  parseItemSet,
} from './wire/items.ts'
export {
  type OnlineList,
  type OnlinePlayer,
  type Player,
  parsePlayer,
  playerVocabulary,
  readOnlineList,
} from './wire/players.ts'
export { parseRecipe, type Recipe, recipeVocabulary } from './wire/recipes.ts'
export { restrictionsOf, restrictionVocabulary } from './wire/restrictions.ts'
export { parseSeason, type Season, seasonVocabulary } from './wire/seasons.ts'
export { parseTerritory, type Territory, territoryVocabulary } from './wire/territories.ts'
