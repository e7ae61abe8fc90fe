import { virtualClock } from '../../../src/base/clock.ts'
import { createItemWorld, startSandbox } from '../../../src/sandbox/index.ts'

/** What the API says when nothing is wrong: small bodies of the sandbox, the same every time. */
export interface GoodBodies {
  /** The body of a path and query. */
  of(resource: string, target: string): Promise<Uint8Array>
  /** The key that a worklist asks for. */
  key(resource: string): string
  close(): Promise<void>
}

/** Records of a body that are kept: few, so that thousands of bodies are played in a minute. */
const few = 7

export async function openGoodBodies(start: number): Promise<GoodBodies> {
  const { items, recipes, sets } = createItemWorld(1)
  const sandbox = await startSandbox({
    clock: virtualClock(start, { auto: true }),
    seed: 3,
    limits: { guest: 100_000, token: 100_000 },
    items: {
      items: everyNth(items, 700),
      recipes: everyNth(recipes, 500),
      sets: Object.fromEntries(Object.entries(sets).slice(0, few)),
    },
    game: { guilds: 60, players: 500, resourceSeconds: 86_400 },
  })
  const get = async (target: string) => (await (await fetch(`${sandbox.url}${target}`)).json()) as unknown
  const guild = sandbox.history().holds[0]?.guild ?? ''
  const online = (await get('/player?identifier=uuid')) as { players: Record<string, string> }
  const player = Object.keys(online.players)[0] ?? ''
  const bodies = new Map<string, Promise<Uint8Array>>()
  return {
    of: (resource, target) => {
      const known = bodies.get(target)
      if (known) return known
      const body = get(target).then((whole) => Buffer.from(JSON.stringify(trimmed(resource, whole))))
      bodies.set(target, body)
      return body
    },
    key: (resource) => ({ guilds: guild, leaderboards: 'playerContent' })[resource] ?? player,
    close: () => sandbox.close(),
  }
}

function everyNth<T>(list: readonly T[], nth: number): T[] {
  return list.filter((_, index) => index % nth === 0)
}

type Fields = Record<string, unknown>

function trimmed(resource: string, body: unknown): unknown {
  const fields = body as Fields
  if (Array.isArray(body)) return body.slice(0, few)
  if ('controller' in fields) return oneArticlePage(fields)
  if (resource === 'ability-trees') return trimmedTree(fields)
  if (['classes', 'aspects'].includes(resource) && !('id' in fields)) return first(fields, 2)
  if (/territories|guild-list|seasons|leaderboards/.test(resource)) return first(fields, few)
  if (resource === 'online-players') return { ...fields, total: 14, players: first(fields.players as Fields, 14) }
  if (resource !== 'guilds') return body
  const { total: _, ...ranks } = fields.members as Record<string, Fields>
  const kept = Object.fromEntries(Object.entries(ranks).map(([rank, members]) => [rank, first(members, 2)]))
  const total = Object.values(kept).reduce((sum, members) => sum + Object.keys(members).length, 0)
  return { ...fields, members: { total, ...kept } }
}

/** The only page of a list. */
function oneArticlePage({ controller, results }: Fields): Fields {
  const counts = { count: few, current_count: few, pages: 1, prev: null, current: 1, next: null }
  return { controller: { ...(controller as Fields), ...counts }, results: first(results as Fields, few) }
}

/** The classes; or the beginning of a tree or of its map. */
function trimmedTree(fields: Fields): Fields {
  const { pages, archetypes } = fields as { pages?: Record<string, Fields>; archetypes?: Fields }
  if (pages) return { archetypes, pages: { 1: first(pages[1] ?? {}, 3) } }
  return Array.isArray(fields[1]) ? { 1: fields[1].slice(0, few) } : first(fields, 2)
}

function first(fields: Fields, count: number): Fields {
  return Object.fromEntries(Object.entries(fields).slice(0, count))
}
