import { afterAll, beforeAll, onTestFinished } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import type { Database } from '../../src/db/database.ts'
import { nameFinders } from '../../src/resources/key-names.ts'
import { serveWeb, type WebOptions } from '../../src/web/web-server.ts'
import { type Received, request } from './http-request.ts'
import { copyForAll, testDatabase } from './postgres.ts'
import { liveSevenHours } from './report-world.ts'
import { liveWholeWorld } from './whole-world.ts'
import { openWorld, type World } from './world.ts'

/** A server of the world, for one test. */
export interface Served {
  readonly url: string
  ask(path: string, headers?: Record<string, string>, method?: string): Promise<Received>
  /** The parsed body. */
  // biome-ignore lint/suspicious/noExplicitAny: documents of any kind
  json(path: string): Promise<any>
  /** Ends it before the test does. */
  close(): Promise<void>
}

/** The seven hours of the report's world, or what else happened, in one database for all tests of the calling `describe`, and a server of it. */
export function webWorld(kind: Database['kind'], live: (world: World) => Promise<void> = liveSevenHours) {
  let world: World
  beforeAll(async () => {
    world = await livedWorld(kind, live)
  })
  afterAll(async () => {
    await world.api.close()
    await world.sandbox.close()
  })
  return {
    get world() {
      return world
    },
    served: (options: Partial<WebOptions> = {}, clock?: Clock) => serve(world, options, clock),
  }
}

/** What several files live through, by a name. */
const shared = new Map<(world: World) => Promise<void>, string>([
  [liveSevenHours, 'seven-hours'],
  [liveWholeWorld, 'whole-world'],
])

async function livedWorld(kind: Database['kind'], live: (world: World) => Promise<void>): Promise<World> {
  const name = shared.get(live)
  if (name === undefined) {
    const world = await openWorld(await testDatabase(kind))
    await live(world)
    return world
  }
  const { db, filled: until } = await copyForAll(kind, name, async (database) => {
    const world = await openWorld(database)
    await live(world)
    await world.api.close()
    await world.sandbox.close()
    return world.clock.now()
  })
  const world = await openWorld(db)
  await world.clock.advanceTo(until)
  return world
}

/** A server of a world, for the calling test. */
export async function serve(
  { db, clock: own }: World,
  options: Partial<WebOptions> = {},
  clock: Clock = own,
): Promise<Served> {
  const log = createLog('error', clock)
  const usual = { host: '127.0.0.1', port: 0, flag: '--port', requestsPerMinute: 0, people: true, timeoutMs: 5000 }
  const server = await serveWeb({ db, finders: nameFinders, clock, log }, { ...usual, version: 'test', ...options })
  onTestFinished(() => server.close())
  const ask: Served['ask'] = (path, headers, method) => request(server.url, path, headers, method)
  return { url: server.url, ask, json: async (path) => JSON.parse((await ask(path)).text), close: server.close }
}
