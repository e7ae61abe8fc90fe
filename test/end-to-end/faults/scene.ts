import type { Database } from '../../../src/db/database.ts'
import { resources } from '../../../src/resources/index.ts'
import { patchItems } from '../../../src/sandbox/index.ts'
import { isWorklist, type Resource } from '../../../src/sync/declare/resource.ts'
import type { RunResult } from '../../../src/sync/run/run-result.ts'
import { syncGuilds } from '../../support/guild-answers.ts'
import { smallItemWorld } from '../../support/item-world.ts'
import { syncPlayers } from '../../support/player-answers.ts'
import { emptyTables, openWorld, type World } from '../../support/world.ts'

/** When everything begins, ms since the epoch. */
export const start = Date.parse('2026-06-01T12:00:00Z')

const firstItems = smallItemWorld()

/** A game that is played the same way each time it is opened, and patched on request. */
export interface Scene {
  readonly world: World
  /** The guilds and players that are synced. */
  readonly keys: { readonly guilds: readonly string[]; readonly players: readonly string[] }
  /** Moves the clock, patching the items at the hours that `patches` names (ms) on the way. */
  playTo(instant: number, patches: readonly number[]): Promise<void>
  close(): Promise<void>
}

/** @param token of the client that syncs; none for a guest */
export async function openScene(db: Database, token?: string): Promise<Scene> {
  await emptyTables(db)
  const world = await openWorld(
    db,
    {
      items: firstItems,
      game: { guilds: 60, players: 500, resourceSeconds: 86_400 },
      seed: 3,
      tokens: token === undefined ? [] : [token],
    },
    start,
    token,
    // There is one time, and single responses are wrong about it.
    'both',
  )
  const { holds } = world.sandbox.history()
  const guilds = [...new Set(holds.map(({ guild }) => guild))].slice(0, 2)
  const players = await openMembersOf(world, guilds[0] ?? '')
  let items = firstItems
  const patched = new Set<number>()
  return {
    world,
    keys: { guilds, players: players.slice(0, 3) },
    playTo: async (instant, patches) => {
      for (const at of patches.filter((one) => one <= instant && !patched.has(one))) {
        patched.add(at)
        if (at > world.clock.now()) await world.clock.advanceTo(at)
        items = patchItems(items, at, 5)
        world.sandbox.setItemWorld(items)
      }
      if (instant > world.clock.now()) await world.clock.advanceTo(instant)
    },
    close: async () => {
      await world.api.close()
      await world.sandbox.close()
    },
  }
}

/** Members who hide nothing at first. Asked of the sandbox itself, so that it is no request of the client's. */
async function openMembersOf({ sandbox }: World, guild: string): Promise<string[]> {
  const response = await fetch(`${sandbox.url}/guild/uuid/${guild}?identifier=uuid`)
  const { members } = (await response.json()) as { members: Record<string, Record<string, Member>> }
  return Object.values(members).flatMap((rank) =>
    Object.entries(rank).flatMap(([uuid, { restrictions }]) =>
      restrictions.online_status || restrictions.main_access ? [] : [uuid],
    ),
  )
}

type Member = { readonly restrictions: Readonly<Record<string, boolean>> }

/** Syncs every resource whose accepted responses can be found again once, the two worklists for the keys of the scene; pages instead of whole lists with `walk`. */
export async function syncEverything({ world, keys }: Scene, walk = false): Promise<RunResult[]> {
  const runs: RunResult[] = []
  for (const resource of resources.filter(({ name }) => name in paths))
    runs.push(...(await syncOne(world, resource.name, keys, walk)))
  return runs
}

async function syncOne(world: World, name: string, keys: Scene['keys'], walk: boolean): Promise<RunResult[]> {
  if (name === 'guilds') return [await syncGuilds(world, { keys: keys.guilds })]
  if (name === 'players') return [await syncPlayers(world, { keys: keys.players })]
  return [await world.syncNow(resourceNamed(name), { walk })]
}

function resourceNamed(name: string): Resource {
  const resource = resources.find((one) => one.name === name)
  if (!resource || isWorklist(resource)) throw new Error(`${name} is no plain resource`)
  return resource
}

/** An answer that was accepted: of what, and when it was produced by the sandbox. */
interface Accepted {
  readonly resource: string
  readonly key: string | null
  readonly complete: boolean
  readonly at: number
}

/** Resources of one request each, by its path: when the sandbox made a response is in its list of requests. */
const paths: Readonly<Record<string, string>> = {
  items: '/item/database',
  recipes: '/item/recipe/database',
  'item-sets': '/item/sets',
  'item-metadata': '/item/metadata',
  territories: '/guild/list/territory',
  'guild-list': '/guild/list/guild',
  seasons: '/guild/seasons',
  'online-players': '/player',
  'loot-pools': '/map/loot-pools',
  raids: '/map/raids',
  camps: '/map/camps',
  'world-events': '/map/world-events',
  quests: '/map/quests',
  'map-markers': '/map/locations/markers',
  'gathering-nodes': '/map/gathering-nodes',
  videos: '/publisher/videos/list',
  'latest-news': '/latest-news',
  guilds: '/guild/uuid/',
  players: '/player/',
}

/**
 * Every accepted answer in order.
 * @param by whether it was produced when it says so (`headers`), or, where its clock lied, when it was asked for (`request`)
 */
export async function acceptedAnswers({ world }: Scene, by: 'headers' | 'request'): Promise<Accepted[]> {
  const rows = await world.db.query<{
    resource: string
    key: string | null
    complete: boolean
    observedAt: Date
    asked: Date
  }>(
    `select resource, null as key, complete, observed_at as "observedAt", started_at as asked from sync.run
      where status in ('ok', 'unchanged', 'partial') and resource not in ('guilds', 'players')
     union all
     select resource, key, true, observed_at, received_at from sync.observation
      where status in ('ok', 'unchanged', 'partial')`,
  )
  const order = new Map(resources.map(({ name }, nth) => [name, nth]))
  return rows
    .map(({ resource, key, complete, observedAt, asked }) => {
      const path = `${paths[resource]}${key ?? ''}`
      const from = (by === 'headers' ? observedAt : asked).getTime()
      // The copy is of the first request at or after the second it is stamped with.
      const request = world.sandbox.requests.find((one) => one.path === path && one.at >= from)
      return { resource, key, complete, at: by === 'headers' ? (request?.at ?? from) : from }
    })
    .sort((a, b) => a.at - b.at || (order.get(a.resource) ?? 0) - (order.get(b.resource) ?? 0))
}

/** Plays the same game without faults in a scene of its own, and ingests just these answers. */
export async function replay(
  twin: Scene,
  answers: readonly Accepted[],
  patches: readonly number[],
  walk = false,
): Promise<void> {
  for (const { resource, key, complete, at } of answers) {
    await twin.playTo(at, patches)
    if (key !== null) await syncOne(twin.world, resource, { guilds: [key], players: [key] }, walk)
    else await twin.world.syncNow(asComplete(resourceNamed(resource), complete), { walk })
  }
}

/** A walk that lost its place once sees no absence in the twin either. */
function asComplete(resource: Resource, complete: boolean): Resource {
  if (complete) return resource
  return { ...resource, extract: async (...given) => ({ ...(await resource.extract(...given)), complete: false }) }
}
