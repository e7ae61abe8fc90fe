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
export {
  type Item,
  type ItemMetadata,
  type ItemSet,
  itemVocabulary,
  parseItem,
  parseItemMetadata,
  parseItemSet,
} from './wire/items.ts'
export { parseRecipe, type Recipe, recipeVocabulary } from './wire/recipes.ts'
