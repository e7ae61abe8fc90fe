import type { Database } from '../../../src/db/database.ts'
import { resources } from '../../../src/resources/index.ts'
import { createGame } from '../../../src/sandbox/game/game.ts'
import { gameSource } from '../../../src/sandbox/game/routes.ts'
import { createItemWorld } from '../../../src/sandbox/index.ts'
import { worldSource } from '../../../src/sandbox/world-source.ts'
import { isWorklist } from '../../../src/sync/declare/resource.ts'
import type { Engine } from '../../../src/sync/run/engine.ts'
import { addKeys } from '../../../src/sync/worklist/work-items.ts'
import { apiOf } from '../../questions/true-game/api-of-game.ts'
import { takeKey, takeWhole } from '../../questions/true-game/play.ts'

/** Seconds between two requests of a resource; of worklists, between two keys. */
export const paces: Readonly<Record<string, number>> = {
  territories: 10,
  'online-players': 30,
  'guild-list': 3600,
  seasons: 3600,
  items: 3600,
  recipes: 3600,
  guilds: 2,
  players: 6,
}

const START = Date.parse('2026-06-01T12:00:00Z')
const silent = () => undefined

/**
 * The simulated game, synced through the engine as often as `start` does, without HTTP in between. The first responses, which
 * make everything known once, come before it.
 */
export async function openStretch(db: Database, seed: number) {
  let now = START
  const items = worldSource(() => createItemWorld(seed), 'live', seed, { size: 50, firstPage: 1 })
  const game = createGame({ seed, startedAt: START })
  const people = gameSource(game, 'live', 900)
  const api = apiOf(
    {
      answer: (request, at) => {
        game.advanceTo(at)
        return (/^\/(guild|player)(\/|$)/.test(request.path) ? people : items).answer(request, at)
      },
    },
    () => now,
  )
  const engine: Engine = {
    db,
    api,
    program: 'bench',
    guards: { plausibleShare: 0.4, absences: 2, zeroShare: 0.25 },
    log: { debug: silent, info: silent, warn: silent, error: silent },
    clock: { now: () => now, sleep: async () => undefined },
  }
  const keys: Readonly<Record<string, readonly string[]>> = {
    guilds: [...game.realm.guilds.values()].slice(0, 60).map(({ uuid }) => uuid),
    players: [...game.realm.people].slice(0, 100).map(({ uuid }) => uuid),
  }
  for (const [name, listed] of Object.entries(keys)) await addKeys(db, name, listed)
  const request = async (name: string, nth: number) => {
    const resource = resources.find((one) => one.name === name)
    if (!resource) throw new Error(`no resource ${name}`)
    const own = keys[name] ?? []
    if (isWorklist(resource)) await takeKey(resource, engine, own[nth % own.length] ?? '')
    else await takeWhole(resource, engine)
  }
  for (const name of Object.keys(paces))
    for (let nth = 0; nth < Math.max(1, keys[name]?.length ?? 0); nth++) await request(name, nth)

  /** Requests everything that is due in the next minutes, in order of time. */
  return async (minutes: number): Promise<void> => {
    const slots = Object.entries(paces).flatMap(([name, every]) =>
      Array.from({ length: Math.floor((minutes * 60) / every) }, (_, nth) => ({
        name,
        nth,
        at: START + (nth + 1) * every * 1000,
      })),
    )
    for (const { name, nth, at } of slots.sort((a, b) => a.at - b.at)) {
      now = at
      await request(name, nth)
    }
  }
}
