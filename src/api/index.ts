/** The typed client for bot and tool authors: `import { createClient } from 'wynnsync/api'`. Needs no database. */
export { FatalError, RecordError, RetryableError, UsageError } from '../errors.ts'
export type { Answer } from './answer.ts'
export type { BudgetState } from './budget-state.ts'
export type { BudgetStore, Step } from './budget-store.ts'
export type { ReadableAnswer } from './call.ts'
export {
  type AllOptions,
  type Api,
  type CallOptions,
  type ClientOptions,
  createClient,
  DEFAULT_BASE_URL,
  type PageOptions,
} from './client.ts'
export type { BoardCall, SearchCall } from './endpoints/boards.ts'
export type { ClassName } from './endpoints/classes.ts'
export type { Identifier, KeyedCall } from './endpoints/guilds.ts'
export type { ItemFilter } from './endpoints/items.ts'
export type { RewardCall } from './endpoints/map.ts'
export type { TokenRequest } from './endpoints/oauth.ts'
export type { OnlineCall, ProfileCall } from './endpoints/players.ts'
export type { ArticleType } from './endpoints/publisher.ts'
export type { Amount, RecipeFilter } from './endpoints/recipes.ts'
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
export type { Headers } from './headers.ts'
export type { EachOptions, ReadableWalk, WalkingOptions } from './listings.ts'
export {
  type AuthorizeRequest,
  authorizeEndpoint,
  authorizeUrl,
  beginLogin,
  type CodeExchange,
  createPkce,
  createState,
  type Login,
  type LoginRequest,
  type Pkce,
  type RandomBytes,
  SCOPES,
  type Scope,
} from './oauth.ts'
export type { Controller, Listing, Walk, WalkProgress } from './pages.ts'
export type { RateLimit } from './rate-limit.ts'
export type { CredentialRefusal, Lane, RequestEvent, Timeouts } from './transport.ts'
export {
  type AbilityNode,
  type AbilityTree,
  type Aspect,
  type CharacterClass,
  type ClassList,
  parseAbilityTree,
  parseClass,
  parseClassList,
  readAbilityNodes,
  readAspects,
} from './wire/abilities.ts'
export {
  type Article,
  type ArticleSummary,
  articleVocabulary,
  type NewsEntry,
  parseArticle,
  parseArticleSummary,
  readNews,
  readVideos,
} from './wire/articles.ts'
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
export { type Identities, type Identity, parseIdentities } from './wire/identities.ts'
export {
  type Item,
  type ItemIds,
  type ItemMetadata,
  type ItemSet,
  itemVocabulary,
  parseItem,
  parseItemIds,
  parseItemMetadata,
  parseItemSet,
} from './wire/items.ts'
export {
  type LeaderboardEntry,
  type LeaderboardPlace,
  readLeaderboard,
  readLeaderboardTypes,
} from './wire/leaderboards.ts'
export { type Grant, parseGrant, parseToken, type Token } from './wire/oauth.ts'
export {
  type GatheringNode,
  type MapContent,
  type MapMarker,
  mapVocabulary,
  type PlayerLocation,
  parseQuestCount,
  type QuestCount,
  readGatheringNodes,
  readMapContents,
  readMarkers,
  readPlayerLocations,
  readWorldEvents,
  type WorldEvent,
} from './wire/places.ts'
export {
  type OnlineList,
  type OnlinePlayer,
  type Player,
  parsePlayer,
  playerVocabulary,
  readOnlineList,
} from './wire/players.ts'
export {
  type GuildProfile,
  type PlayerProfile,
  type RankedMember,
  readCharacters,
  readGuild,
  readItemSets,
  readPlayer,
  readSeasons,
  readTerritories,
} from './wire/profiles.ts'
export { parseRecipe, type Recipe, recipeVocabulary } from './wire/recipes.ts'
export { restrictionsOf, restrictionVocabulary } from './wire/restrictions.ts'
export { readSearch, type SearchResult } from './wire/search.ts'
export { parseSeason, type Season, seasonVocabulary } from './wire/seasons.ts'
export { parseTerritory, type Territory, territoryVocabulary } from './wire/territories.ts'
