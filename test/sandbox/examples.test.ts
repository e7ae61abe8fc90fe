import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { givenLogin } from './oauth/given-login.ts'

/** Documentation examples live beside the repository, never in it. */
const folder = fileURLToPath(new URL('../../../shared/data/examples/', import.meta.url))
const absent = existsSync(folder) ? '' : ' (skipped: recorded data absent)'
const limits = { guest: 10_000, token: 10_000 }

/** What an answer is keyed by, where that is no field: collapsed to one name. */
const keyed = /^([\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|\d+|\d+-\w+|answer-.*|question-.*|[\w-]*-block)$/

describe.skipIf(!existsSync(folder))(`beside the documentation examples${absent}`, () => {
  it.each<[file: string, path: string, maps: RegExp | undefined]>([
    ['player-whoami', '/player/whoami', undefined],
    ['oauth-me', '/oauth/me', undefined],
    ['player-character-abilities', 'abilities', undefined],
    ['classes', '/classes', /^\/[a-z]+$/],
    ['class', '/classes/archer', /^\/archetypes\/[^/]+$/],
    ['article-list', '/publisher/articles/list/event', undefined],
    ['article', 'poll', /^\/discord_messages\/.*$/],
    ['videos', '/publisher/videos/list', undefined],
    ['latest-news', '/latest-news', undefined],
    ['map-markers', '/map/locations/markers', undefined],
    ['map-player-locations', '/map/locations/player', undefined],
    ['map-world-events', '/map/world-events', undefined],
    ['map-camps', '/map/camps', undefined],
    ['map-raids', '/map/raids', undefined],
    ['map-loot-pools', '/map/loot-pools', undefined],
    ['map-gathering-nodes', '/map/gathering-nodes', undefined],
    ['map-quests', '/map/quests', undefined],
    ['search', '/search/mo', /^\/(territories|discoveries)\/[^/]+$|\/(majorIds|identifications|base)\/[^/]+$/],
    ['error-404-not-found', '/nothing', undefined],
  ])('the sandbox has every field of %s, of the same type', async (file, path, maps) => {
    const { control, as, clock, sandbox } = await givenLogin({ limits, game: {} })
    await clock.advance(8 * 3_600_000)
    const online = sandbox.history().sessions.findLast(({ logout }) => logout === null)?.player ?? ''
    const { token = '' } = (await control('POST', { kind: 'OAUTH', player: online })).body
    const ask = async (asked: string) => (await as<Record<string, unknown>>(token, asked)).body
    const found: Readonly<Record<string, () => Promise<unknown>>> = {
      abilities: async () => {
        const [character = ''] = Object.keys(await ask(`/player/${online}/characters`))
        return ask(`/player/${online}/characters/${character}/abilities`)
      },
      poll: async () => {
        const list: unknown = (await ask('/publisher/articles/list/poll')).results
        return ask(`/publisher/articles/fetch/poll/${Object.values(list ?? {})[0]?.pk}`)
      },
    }
    const ours = fieldsOf(await (found[path] ?? (() => ask(path)))(), maps)
    const example = fieldsOf(JSON.parse(readFileSync(join(folder, `${file}.json`), 'utf8')), maps)
    for (const [field, types] of example) {
      // A list that is empty here has no fields to compare.
      if (emptyAbove(field, ours)) continue
      expect([field, ours.has(field)]).toEqual([field, true])
      const [known, expected] = [ours.get(field) ?? [], types].map(typesOf)
      if (known?.size && expected?.size)
        expect([field, [...expected].some((type) => known.has(type))]).toEqual([field, true])
    }
  })
})

/** The types met at each place of a body; items of lists and values of maps share one place. */
function fieldsOf(body: unknown, maps: RegExp | undefined): Map<string, Set<string>> {
  const fields = new Map<string, Set<string>>()
  const visit = (value: unknown, place: string): void => {
    const type = value === null ? 'null' : Array.isArray(value) ? (value.length > 0 ? 'array' : 'empty') : typeof value
    fields.set(place, (fields.get(place) ?? new Set()).add(type))
    if (Array.isArray(value)) for (const one of value) visit(one, `${place}[]`)
    else if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value)) {
        const inside = `${place}/${key}`
        visit(one, keyed.test(key) || maps?.test(inside) ? `${place}/*` : inside)
      }
  }
  visit(body, '')
  return fields
}

function typesOf(types: Iterable<string>): Set<string> {
  return new Set([...types].filter((type) => type !== 'null').map((type) => (type === 'empty' ? 'array' : type)))
}

function emptyAbove(field: string, ours: Map<string, Set<string>>): boolean {
  for (let above = field; above !== ''; above = above.replace(/(\/[^/[]*|\[\])$/, '')) {
    const types = ours.get(above)
    if (types && [...types].every((type) => type === 'empty' || type === 'null')) return true
  }
  return false
}
