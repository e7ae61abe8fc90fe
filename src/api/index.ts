/** The typed client for bot and tool authors: `import { createClient } from 'wynnsync/api'`. Needs no database. */

export { FatalError, RecordError, RetryableError, UsageError } from '../base/errors.ts'
export type { ProxySettings } from '../base/proxies.ts'
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
} from './auth/oauth.ts'
export type { ReadableResponse, ReadableResponse as ReadableAnswer } from './call.ts'
export {
  type Api,
  type CallOptions,
  type ClientOptions,
  createClient,
  DEFAULT_BASE_URL,
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
export type { Headers, RateLimit } from './http/response-headers.ts'
export type { CredentialRefusal, Lane, RequestEvent, Timeouts } from './http/transport.ts'
export type { AllOptions, EachOptions, PageOptions, WalkingOptions } from './listings.ts'
export type { BudgetState } from './rate-limit/budget-state.ts'
export type { BudgetStore, Step } from './rate-limit/budget-store.ts'
export type * from './read/questions.ts'
export { createReadApi, type ReadApiOptions } from './read/read-api.ts'
export { ReadApiError } from './read/read-error.ts'
export type { Instant, Page, ReadOptions, Rows } from './read/rows.ts'
export type { Controller, Listing } from './read-listing.ts'
export type { ApiResponse, ApiResponse as Answer } from './response.ts'
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
} from './schemas/abilities.ts'
export {
  type Article,
  type ArticleSummary,
  articleVocabulary,
  type NewsEntry,
  parseArticle,
  parseArticleSummary,
  readNews,
  readVideos,
} from './schemas/articles.ts'
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
} from './schemas/guilds.ts'
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
} from './schemas/items.ts'
export {
  type LeaderboardEntry,
  type LeaderboardPlace,
  readLeaderboard,
  readLeaderboardTypes,
} from './schemas/leaderboards.ts'
export { type Grant, parseGrant, parseToken, type Token } from './schemas/oauth.ts'
export { type Character, characterVocabulary, parseCharacter } from './schemas/people/characters.ts'
export { type Identities, type Identity, parseIdentities } from './schemas/people/identities.ts'
export {
  type OnlineList,
  type OnlinePlayer,
  type Player,
  parsePlayer,
  playerVocabulary,
  readOnlineList,
} from './schemas/people/players.ts'
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
} from './schemas/people/profiles.ts'
export { restrictionsOf, restrictionVocabulary } from './schemas/people/restrictions.ts'
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
} from './schemas/places.ts'
export { parseRecipe, type Recipe, recipeVocabulary } from './schemas/recipes.ts'
export { readSearch, type SearchResult } from './schemas/search.ts'
export { parseSeason, type Season, seasonVocabulary } from './schemas/seasons.ts'
export { parseTerritory, type Territory, territoryVocabulary } from './schemas/territories.ts'
export type { ReadableWalk, Walk, WalkProgress } from './walk.ts'
