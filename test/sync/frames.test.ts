import diagnostics from 'node:diagnostics_channel'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import type { Resource, Worklist } from '../../src/sync/declare/resource.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { runSchedule } from '../../src/sync/schedule/schedule.ts'
import type { Ticker } from '../../src/sync/schedule/ticker.ts'
import { worldOf } from '../support/world.ts'

const source = fileURLToPath(new URL('../../src/', import.meta.url))
const limit = Error.stackTraceLimit
beforeEach(() => {
  Error.stackTraceLimit = 50
})
afterEach(() => {
  Error.stackTraceLimit = limit
})

/** The frames of our own code in the current stack, the innermost first. */
function ownFrames(): string[] {
  const lines = (new Error().stack ?? '').split('\n').slice(1)
  return lines.filter((line) => line.includes(source)).map((line) => line.trim().replace(source, ''))
}

/** The database, which calls `onStatement` at each use. */
function watched(db: Database, onStatement: () => void): Database {
  const methods = ['query', 'values', 'copy', 'transaction', 'tryLock'] as const
  const entries = methods.map((name) => [
    name,
    (...given: never[]) => {
      onStatement()
      return (db[name] as (...all: never[]) => unknown)(...given)
    },
  ])
  return { ...db, ...Object.fromEntries(entries) }
}

const world = worldOf('embedded')

const engine = () => ({
  db: world.db,
  api: world.api,
  clock: world.clock,
  program: 'test',
  guards: { plausibleShare: 0.5, absences: 2, zeroShare: 0.25 },
  log: { debug() {}, info() {}, warn() {}, error() {} },
})
const run = (resource: Resource | Worklist) => runResource(resource, engine(), { limit: 2 })

test.each<[string, Resource | Worklist]>([
  ['a whole resource', territories],
  ['a worklist', guilds],
])('from a tick to the first SQL statement of %s there are at most six frames', async (_name, resource) => {
  const stopping = new AbortController()
  let ticks = 0
  let tick = () => {}
  const ticker: Ticker = (_task, _expression, onTick) => {
    tick = onTick
    return () => {}
  }
  const stacks: string[][] = []
  const db = watched(world.db, () => {
    if (ticks > 0 && stacks.length === 0) stacks.push(ownFrames())
    if (stacks.length > 0) stopping.abort()
  })
  await runSchedule(
    { ...engine(), db },
    {
      scheduled: [{ resource, expression: '0 * * * *' }],
      ticker,
      random: seededRandom(1),
      concurrency: 1,
      stopping: stopping.signal,
      signal: new AbortController().signal,
      // The first run is due at the start; the second one at the tick.
      onRun() {
        ticks += 1
        tick()
      },
    },
  )
  expect(stacks).toHaveLength(1)
  expect(stacks[0]?.length, stacks[0]?.join('\n')).toBeLessThanOrEqual(6)
  expect(stacks[0]?.length).toBeGreaterThan(1)
})

test.each<[string, Resource | Worklist]>([
  ['a whole resource', territories],
  ['a listing', items],
  ['a worklist', guilds],
])('from runResource to the socket of %s there are at most nine frames', async (_name, resource) => {
  await world.syncNow(guildList)
  const stacks: string[][] = []
  const onRequest = () => stacks.push(ownFrames())
  diagnostics.subscribe('undici:request:create', onRequest)
  try {
    await run(resource)
  } finally {
    diagnostics.unsubscribe('undici:request:create', onRequest)
  }
  expect(stacks.length).toBeGreaterThan(0)
  for (const stack of stacks) expect(stack.length, stack.join('\n')).toBeLessThanOrEqual(9)
  // They are whole: the last is what `runResource` chose.
  for (const stack of stacks) expect(stack.at(-1)).toMatch(/runWhole|runWorklist/)
})
