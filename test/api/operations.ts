import type { Api } from '../../src/api/client.ts'

/** Names and uuids that mean something to the server that is asked. */
export interface Asked {
  readonly guild: string
  readonly prefix: string
  readonly guildUuid: string
  readonly player: string
  readonly characterUuid: string
  readonly articleType: string
  readonly pk: number | string
  readonly board: string
  readonly code: string
  readonly verifier: string
  readonly redirectUri: string
  /** Number of the first page. */
  readonly page: number
}

/** Names for a server that answers to anything. */
export const anything: Asked = {
  guild: 'Owls of Night',
  prefix: 'OWL',
  guildUuid: '00000000-0000-4000-8000-000000000001',
  player: 'Ada',
  characterUuid: '00000000-0000-4000-8000-000000000002',
  articleType: 'blog',
  pk: 101,
  board: 'guildLevel',
  code: 'code',
  verifier: 'verifier',
  redirectUri: 'http://127.0.0.1:1/callback',
  page: 1,
}

type Ask = (api: Api, asked: Asked) => Promise<unknown>

const first = (pages: AsyncGenerator<unknown, void, void>) => pages.next()

/** A filter with every field. */
export const itemFilter = {
  query: 'a',
  type: ['weapon', 'armour'],
  tier: ['rare', 'unique'],
  attackSpeed: ['fast', 'slow'],
  professions: ['mining'],
  identifications: ['manaRegen'],
  majorIds: ['tidalDrift'],
  levelRange: [1, 100],
} as const

/** A filter with every field. */
export const recipeFilter = {
  query: 'a',
  type: ['boots'],
  skill: ['tailoring'],
  materials: ['Refined Copper Ingot'],
  xp: 20,
  level: 2,
  durability: 180_000,
  healthOrDamage: 10,
  duration: 1100,
  basicDuration: 60,
} as const

/**
 * Every operation of the interface, and how each method of the client asks for it, with every option that it has. The
 * keys are the methods' paths in the client; the first method of an operation is the one that asks for it plainly.
 */
export const operations: Readonly<Record<string, Readonly<Record<string, Ask>>>> = {
  'POST /oauth/token': {
    'oauth.token': (api, { code, verifier, redirectUri }) =>
      api.oauth.token({ code, redirectUri, clientId: 'sandbox', codeVerifier: verifier }),
  },
  'GET /oauth/me': { 'oauth.me': (api) => api.oauth.me() },
  'GET /player/whoami': { 'players.whoami': (api) => api.players.whoami() },
  'GET /player': { 'players.online': (api) => api.players.online({ identifier: 'uuid', server: 1 }) },
  'GET /player/{nameOrUuid}': {
    'players.profile': (api, { player }) => api.players.profile(player, { fullResult: true }),
  },
  'GET /player/{nameOrUuid}/characters': { 'players.characters': (api, { player }) => api.players.characters(player) },
  'GET /player/{nameOrUuid}/characters/{characterUuid}': {
    'players.character': (api, { player, characterUuid }) => api.players.character(player, characterUuid),
  },
  'GET /player/{nameOrUuid}/characters/{characterUuid}/abilities': {
    'players.abilities': (api, { player, characterUuid }) => api.players.abilities(player, characterUuid),
  },
  'GET /guild/list/guild': { 'guilds.list': (api) => api.guilds.list({ identifier: 'uuid' }) },
  'GET /guild/list/territory': { 'guilds.territories': (api) => api.guilds.territories() },
  'GET /guild/seasons': { 'guilds.seasons': (api) => api.guilds.seasons() },
  'GET /guild/{name}': { 'guilds.byName': (api, { guild }) => api.guilds.byName(guild, { identifier: 'uuid' }) },
  'GET /guild/prefix/{prefix}': {
    'guilds.byPrefix': (api, { prefix }) => api.guilds.byPrefix(prefix, { identifier: 'uuid' }),
  },
  'GET /guild/uuid/{uuid}': {
    'guilds.byUuid': (api, { guildUuid }) => api.guilds.byUuid(guildUuid, { identifier: 'uuid' }),
  },
  'GET /item/database': {
    'items.database': (api, { page }) => api.items.database({ page, fullResult: true }),
    'items.all': (api) => api.items.all(),
    'items.pages': (api) => first(api.items.pages()),
    'items.each': (api) => first(api.items.each()),
  },
  'POST /item/search': {
    'items.search': (api, { page }) => api.items.search(itemFilter, { page, fullResult: true }),
    'items.searchAll': (api) => api.items.searchAll(itemFilter),
    'items.searchPages': (api) => first(api.items.searchPages(itemFilter)),
    'items.searchEach': (api) => first(api.items.searchEach(itemFilter)),
  },
  'GET /item/search/{query}': { 'items.quickSearch': (api) => api.items.quickSearch('a') },
  'GET /item/metadata': { 'items.metadata': (api) => api.items.metadata({ static: true }) },
  'GET /item/sets': { 'items.sets': (api) => api.items.sets() },
  'GET /item/recipe/database': {
    'recipes.database': (api, { page }) => api.recipes.database({ page, fullResult: true }),
    'recipes.all': (api) => api.recipes.all(),
    'recipes.pages': (api) => first(api.recipes.pages()),
    'recipes.each': (api) => first(api.recipes.each()),
  },
  'POST /item/recipe/search': {
    'recipes.search': (api, { page }) => api.recipes.search(recipeFilter, { page, fullResult: true }),
    'recipes.searchAll': (api) => api.recipes.searchAll(recipeFilter),
    'recipes.searchPages': (api) => first(api.recipes.searchPages(recipeFilter)),
    'recipes.searchEach': (api) => first(api.recipes.searchEach(recipeFilter)),
  },
  'GET /publisher/articles/list/{type}': {
    'articles.list': (api, { articleType, page }) => api.articles.list(articleType, { page }),
    'articles.all': (api, { articleType }) => api.articles.all(articleType),
    'articles.pages': (api, { articleType }) => first(api.articles.pages(articleType)),
    'articles.each': (api, { articleType }) => first(api.articles.each(articleType)),
  },
  'GET /publisher/articles/fetch/{type}/{pk}': {
    'articles.fetch': (api, { articleType, pk }) => api.articles.fetch(articleType, pk),
  },
  'GET /publisher/videos/list': { videos: (api) => api.videos() },
  'GET /latest-news': { latestNews: (api) => api.latestNews() },
  'GET /leaderboards/types': { 'leaderboards.types': (api) => api.leaderboards.types() },
  'GET /leaderboards/{type}': {
    'leaderboards.get': (api, { board }) => api.leaderboards.get(board, { resultLimit: 10 }),
  },
  'GET /ability/tree/{class}': { 'abilities.tree': (api) => api.abilities.tree('archer') },
  'GET /ability/map/{class}': { 'abilities.map': (api) => api.abilities.map('archer') },
  'GET /aspects/{class}': { aspects: (api) => api.aspects('archer') },
  'GET /classes': { 'classes.list': (api) => api.classes.list() },
  'GET /classes/{class}': { 'classes.get': (api) => api.classes.get('archer') },
  'GET /map/locations/markers': { 'map.markers': (api) => api.map.markers() },
  'GET /map/locations/player': { 'map.players': (api) => api.map.players() },
  'GET /map/world-events': { 'map.worldEvents': (api) => api.map.worldEvents() },
  'GET /map/camps': { 'map.camps': (api) => api.map.camps({ level: 106 }) },
  'GET /map/raids': { 'map.raids': (api) => api.map.raids({ level: 106 }) },
  'GET /map/loot-pools': { 'map.lootPools': (api) => api.map.lootPools({ level: 106 }) },
  'GET /map/gathering-nodes': { 'map.gatheringNodes': (api) => api.map.gatheringNodes() },
  'GET /map/quests': { 'map.quests': (api) => api.map.quests() },
  'GET /search/{text}': { search: (api) => api.search('a', { only: 'guild' }) },
}

/** The methods of a client by path, without those that ask nothing. */
export function methodsOf(api: Api): string[] {
  const paths = (value: object, path: string): string[] =>
    Object.entries(value).flatMap(([name, member]) =>
      typeof member === 'function' ? [`${path}${name}`] : paths(member, `${path}${name}.`),
    )
  const asksNothing = ['withRecorder', 'remaining', 'requestsSent', 'close']
  return paths(api, '').filter((path) => !asksNothing.includes(path))
}
