import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { type Api, createClient } from '../../src/api/client.ts'
import { MultipleObjectsReturned, NotFound } from '../../src/api/errors.ts'
import * as abilities from '../../src/api/schemas/abilities.ts'
import * as articles from '../../src/api/schemas/articles.ts'
import { unknownFields } from '../../src/api/schemas/form/unknown.ts'
import { guildMemberSchema, guildSchema } from '../../src/api/schemas/guilds.ts'
import { itemIdsSchema, itemMetadataSchema, itemSchema, itemSetSchema } from '../../src/api/schemas/items.ts'
import { grantSchema, tokenSchema } from '../../src/api/schemas/oauth.ts'
import { characterSchema } from '../../src/api/schemas/people/characters.ts'
import { identitiesSchema } from '../../src/api/schemas/people/identities.ts'
import { playerSchema } from '../../src/api/schemas/people/players.ts'
import * as places from '../../src/api/schemas/places.ts'
import { recipeSchema } from '../../src/api/schemas/recipes.ts'
import { searchSchema } from '../../src/api/schemas/search.ts'
import { seasonSchema } from '../../src/api/schemas/seasons.ts'
import { territorySchema } from '../../src/api/schemas/territories.ts'
import { hasRecordings, recordedBelow } from '../support/recorded.ts'
import { startServer } from './server.ts'

/** What reading an answer gave. */
interface Reading {
  read(): unknown
}

/** One example: how to ask for it, and the schema of the parts of what is read. */
interface Example {
  readonly ask: (api: Api) => Promise<Reading>
  readonly schema: z.ZodType
  readonly parts: (value: unknown) => readonly unknown[]
}

const whole = (value: unknown) => [value]
const each = (value: unknown) => Object.values(Object(value))
const membersOf = (guild: unknown) => each(Reflect.get(Object(guild), 'members'))
const charactersOf = (player: unknown) => each(Reflect.get(Object(player), 'characters'))
const ranked = guildMemberSchema.extend({ rank: guildMemberSchema.shape.username })

const examples: Readonly<Record<string, readonly Example[]>> = {
  'POST /oauth/token': [
    {
      ask: (api) => api.oauth.token({ code: 'c', redirectUri: 'http://127.0.0.1/', clientId: 'i' }),
      schema: tokenSchema,
      parts: whole,
    },
  ],
  'GET /oauth/me': [{ ask: (api) => api.oauth.me(), schema: grantSchema, parts: whole }],
  'GET /player/whoami': [{ ask: (api) => api.players.whoami(), schema: identitiesSchema, parts: whole }],
  'GET /player': [{ ask: (api) => api.players.online(), schema: playerSchema, parts: () => [] }],
  'GET /player/{player}': [
    { ask: (api) => api.players.profile('A', { fullResult: true }), schema: playerSchema, parts: whole },
    { ask: (api) => api.players.profile('A', { fullResult: true }), schema: characterSchema, parts: charactersOf },
  ],
  'GET /player/{player}/characters': [
    { ask: (api) => api.players.characters('A'), schema: characterSchema, parts: each },
  ],
  'GET /player/{player}/characters/{character}': [
    { ask: (api) => api.players.character('A', 'b'), schema: characterSchema, parts: whole },
  ],
  'GET /player/{player}/characters/{character}/abilities': [
    { ask: (api) => api.players.abilities('A', 'b'), schema: abilities.abilityNodeSchema, parts: each },
  ],
  'GET /guild/list/guild': [{ ask: (api) => api.guilds.list(), schema: guildSchema, parts: () => [] }],
  'GET /guild/list/guild?identifier=uuid': [
    { ask: (api) => api.guilds.list({ identifier: 'uuid' }), schema: guildSchema, parts: () => [] },
  ],
  'GET /guild/list/territory': [{ ask: (api) => api.guilds.territories(), schema: territorySchema, parts: each }],
  'GET /guild/seasons': [{ ask: (api) => api.guilds.seasons(), schema: seasonSchema, parts: each }],
  'GET /guild/{name}': [
    { ask: (api) => api.guilds.byName('A'), schema: guildSchema, parts: whole },
    { ask: (api) => api.guilds.byName('A'), schema: ranked, parts: membersOf },
  ],
  'GET /guild/prefix/{prefix}': [{ ask: (api) => api.guilds.byPrefix('A'), schema: guildSchema, parts: whole }],
  'GET /guild/uuid/{uuid}': [{ ask: (api) => api.guilds.byUuid('a'), schema: guildSchema, parts: whole }],
  'GET /item/database': [{ ask: (api) => api.items.database(), schema: itemSchema, parts: each }],
  'POST /item/search': [{ ask: (api) => api.items.search({}), schema: itemSchema, parts: each }],
  'GET /item/search/{query}': [{ ask: (api) => api.items.quickSearch('a'), schema: itemSchema, parts: each }],
  'GET /item/metadata': [{ ask: (api) => api.items.metadata(), schema: itemMetadataSchema, parts: whole }],
  'GET /item/metadata?static': [
    { ask: (api) => api.items.metadata({ static: true }), schema: itemIdsSchema, parts: whole },
  ],
  'GET /item/sets': [{ ask: (api) => api.items.sets(), schema: itemSetSchema, parts: each }],
  'GET /item/recipe/database': [{ ask: (api) => api.recipes.database(), schema: recipeSchema, parts: each }],
  'POST /item/recipe/search': [{ ask: (api) => api.recipes.search({}), schema: recipeSchema, parts: each }],
  'GET /classes': [{ ask: (api) => api.classes.list(), schema: abilities.classListSchema, parts: whole }],
  'GET /classes/{class}': [{ ask: (api) => api.classes.get('mage'), schema: abilities.classSchema, parts: whole }],
  'GET /map/locations/markers': [{ ask: (api) => api.map.markers(), schema: places.markerSchema, parts: each }],
  'GET /map/locations/player': [{ ask: (api) => api.map.players(), schema: places.playerLocationSchema, parts: each }],
  'GET /map/world-events': [{ ask: (api) => api.map.worldEvents(), schema: places.worldEventSchema, parts: each }],
  'GET /map/camps': [{ ask: (api) => api.map.camps(), schema: places.mapContentSchema, parts: each }],
  'GET /map/raids': [{ ask: (api) => api.map.raids(), schema: places.mapContentSchema, parts: each }],
  'GET /map/loot-pools': [{ ask: (api) => api.map.lootPools(), schema: places.mapContentSchema, parts: each }],
  'GET /map/gathering-nodes': [
    { ask: (api) => api.map.gatheringNodes(), schema: places.gatheringNodeSchema, parts: each },
  ],
  'GET /map/quests': [{ ask: (api) => api.map.quests(), schema: places.questCountSchema, parts: whole }],
  'GET /search/{query}': [{ ask: (api) => api.search('a'), schema: searchSchema, parts: whole }],
  'GET /publisher/articles/list/{type}': [
    { ask: (api) => api.articles.list('poll'), schema: articles.articleSummarySchema, parts: each },
  ],
  'GET /publisher/articles/fetch/{type}/{pk}': [
    { ask: (api) => api.articles.fetch('poll', 1), schema: articles.articleSchema, parts: whole },
  ],
  'GET /publisher/videos/list': [{ ask: (api) => api.videos(), schema: articles.newsSchema, parts: () => [] }],
  'GET /latest-news': [{ ask: (api) => api.latestNews(), schema: articles.newsSchema, parts: each }],
}

/** Examples of errors: they are thrown. */
const refusals: Readonly<Record<string, new (...given: never[]) => Error>> = {
  '* * 404': NotFound,
  'GET /player/{player} 300': MultipleObjectsReturned,
}

/** Fields that an example has and its reader does not name: none so far. */
const unnamed: Readonly<Record<string, readonly string[]>> = {}

const folder = join(import.meta.dirname, '../../../shared/data/examples')
const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function serving(body: unknown, status = 200): Promise<Api> {
  const server = await startServer(() => ({ body, status }))
  const api = createClient({ baseUrl: server.url })
  closers.push(server.close, api.close)
  return api
}

if (!existsSync(folder)) {
  test.skip('the documented examples are read (skipped: recorded data absent)')
} else {
  const index: Record<string, { readonly file: string; readonly status: number }> = JSON.parse(
    readFileSync(join(folder, 'index.json'), 'utf8'),
  )
  const bodyOf = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const told = Object.entries(index).map(([name, entry]) => ({ name, ...entry }))

  describe('the documented example of', () => {
    test.each(told.filter(({ status }) => status === 200))('$name is read without drift', async ({ name, file }) => {
      const readers = examples[name] ?? []
      expect(readers).not.toEqual([])
      for (const { ask, schema, parts } of readers) {
        const read = (await ask(await serving(bodyOf(file)))).read()
        const unknown = parts(read).flatMap(unknownFields(schema))
        expect(unknown.map(({ path }) => path)).toEqual(unnamed[name] ?? [])
      }
    })

    test.each(told.filter(({ status }) => status !== 200))('$name is thrown', async ({ name, file, status }) => {
      const api = await serving(bodyOf(file), status)
      const failure: unknown = await api.players.profile('A').catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(refusals[name])
      expect(failure).toMatchObject({ status })
    })
  })
}

if (!hasRecordings) {
  test.skip('recorded abilities and aspects are read (skipped: recorded data absent)')
} else {
  describe('recorded answers are read without drift:', () => {
    test.each<[string, string, (body: never) => unknown, z.ZodType, (value: unknown) => readonly unknown[]]>([
      ['ability trees', '/ability/tree/', abilities.parseAbilityTree, abilities.abilityTreeSchema, whole],
      ['ability maps', '/ability/map/', abilities.readAbilityNodes, abilities.abilityNodeSchema, each],
      ['aspects', '/aspects/', abilities.readAspects, abilities.aspectSchema, each],
    ])('%s', (_name, prefix, read, schema, parts) => {
      const answers = recordedBelow(prefix)
      expect(answers.length).toBeGreaterThanOrEqual(5)
      const unknown = answers.flatMap(({ body }) => parts(read(body() as never)).flatMap(unknownFields(schema)))
      expect([...new Set(unknown.map(({ path }) => path))]).toEqual([])
    })
  })
}
