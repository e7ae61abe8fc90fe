import { items } from '../../src/resources/items/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { worldEvents } from '../../src/resources/world-events/index.ts'
import type { Resource } from '../../src/sync/declare/resource.ts'
import { headersOf, instantOf, type SyncOptions, type World } from './world.ts'

const paths = new Map<string, string>([
  [items.name, '/item/database'],
  [territories.name, '/guild/list/territory'],
  [onlinePlayers.name, '/player'],
  [worldEvents.name, '/map/world-events'],
])

export type SentHeaders = Record<string, string | null>

/** What the API of a world says under headers of its own, whose clock may be wrong. */
export function sayingUnder(world: World) {
  /** Headers of a response that is sent at an instant by a clock that is ahead by so much, ms. */
  const headersAt = (now: number, ahead = 0): SentHeaders => headersOf(now + ahead, 10)

  /** From `at` on the API says this, under these headers; each poll gets a response of its own. */
  async function say(resource: Resource, body: unknown, at: string, headers: (now: number) => SentHeaders = headersAt) {
    const instant = instantOf(at)
    if (instant > world.clock.now()) await world.clock.advanceTo(instant)
    world.sandbox.setAnswer(paths.get(resource.name) ?? '', () => ({
      headers: headers(world.clock.now()),
      body,
    }))
  }
  async function sync(resource: Resource, body: unknown, at: string, ahead = 0, options: SyncOptions = {}) {
    await say(resource, body, at, (now) => headersAt(now, ahead))
    return await syncBoth(resource, options)
  }
  async function syncBoth(resource: Resource, options: SyncOptions = {}) {
    const run = await world.syncNow(resource, { clock: 'both', ...options })
    if (run.status === 'failed') throw new Error(run.error)
    return run
  }
  return { headersAt, say, sync, syncBoth }
}
