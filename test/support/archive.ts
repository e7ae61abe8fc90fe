import type { Database } from '../../src/db/database.ts'
import type { Resource, Worklist } from '../../src/sync/declare/resource.ts'
import { isWorklist } from '../../src/sync/declare/resource.ts'
import type { Engine } from '../../src/sync/run/engine.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import type { World } from './world.ts'

export const guards = { plausibleShare: 0.5, absences: 2, zeroShare: 0.25, clock: 'api' } as const

const silent = () => {}

/** An engine on any database that asks the API of the world. */
export function engineOn({ api, clock }: World, db: Database, raw: boolean): Engine {
  const log = { debug: silent, info: silent, warn: silent, error: silent }
  return { db, api, clock, program: 'test', guards, log, raw }
}

/** Syncs one resource on any database; of a worklist so many keys. */
export async function syncOn(engine: Engine, resource: Resource | Worklist, limit = 3) {
  if (!isWorklist(resource)) return await runResource(resource, engine)
  return await runResource(resource, engine, { limit, concurrency: 1 })
}
