import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { resources } from '../../src/resources/index.ts'
import { players } from '../../src/resources/players/index.ts'
import { isWorklist } from '../../src/sync/resource.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { addKeys } from '../../src/sync/worklist/work-items.ts'
import { takeKey } from '../analytics/true-game/play.ts'
import { everyAnswer, givenOf } from '../support/every-question.ts'
import { smallItemWorld } from '../support/item-world.ts'
import { different } from '../support/lake-folder.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'
import { openWorld } from '../support/world.ts'

const start = Date.parse('2026-06-01T12:00:00Z')
const hour = 3_600_000
const whole = resources.flatMap((one) => (isWorklist(one) ? [] : [one]))
const guards = { plausibleShare: 0.5, plausibleShares: {}, absences: 1, zeroShare: 0.25, accept: false }

interface Keys {
  readonly members: readonly string[]
  readonly people: readonly string[]
}

test('syncs after an import go on as in the database of the lake', { timeout: 300_000 }, async () => {
  const [source, db] = [await testDatabase('server'), await testDatabase('server')]
  const game = { guilds: 40, players: 120, resourceSeconds: 3600 }
  const { api, clock, sandbox } = await openWorld(source, { seed: 4, game, items: smallItemWorld() }, start)
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  /** What each resource comes to. */
  async function sync(of: Database, given?: Keys): Promise<{ results: string[]; keys: Keys }> {
    const results: string[] = []
    for (const resource of whole) {
      const engine = { db: of, api, clock, program: 'test', guards, log, raw: false, notifies: false }
      const { status, reason, error } = { reason: null, error: null, ...(await runResource(resource, engine, {})) }
      results.push([resource.name, status, reason ?? error ?? ''].join(' '))
    }
    // What a player hides, each database confirms by a response of its own: until then their lists differ.
    const { members, people } = given ?? {
      members: (await of.values('select guild_uuid::text from game.guild_listing order by 1 limit 8')).map(String),
      people: (await of.values('select player_uuid::text from game.player_listing order by 1 limit 8')).map(String),
    }
    for (const [resource, keys] of [
      [guilds, members],
      [players, people],
    ] as const) {
      await addKeys(of, resource.name, keys)
      for (const key of keys) {
        const engine = { db: of, api, clock, program: 'test', guards, log, raw: false, notifies: false }
        const taken = await takeKey(resource, engine, key)
        results.push([resource.name, key, taken ? 'ok' : ''].join(' '))
      }
    }
    return { results, keys: { members, people } }
  }
  for (const nth of [0, 1, 2]) {
    await clock.advanceTo(start + nth * hour)
    await sync(source)
  }
  const folder = join(await temporaryFolder(), 'lake')
  await exportLake(source, folder, { clock, program: 'test', people: true, keepMs: 0, onProgress: () => {} })
  const { refused } = await importLake(db, openPlace(folder), { clock, maxBytes: 1e9, onProgress: () => {} })
  expect(refused).toEqual([])
  for (const nth of [3, 4]) {
    await clock.advanceTo(start + nth * hour)
    const { results: expected, keys } = await sync(source)
    expect((await sync(db, keys)).results).toEqual(expected)
    expect(expected.filter((one) => / (ok|unchanged)/.test(one)).length).toBeGreaterThan(whole.length + 8)
  }
  const given = await givenOf(source, new Date(start), new Date(start + 5 * hour))
  const [own, imported] = [await everyAnswer(source, given), await everyAnswer(db, given)]
  expect(Object.keys(own).map((name) => [name, different(imported[name] ?? [], own[name] ?? [])])).toEqual(
    Object.keys(own).map((name) => [name, [[], []]]),
  )
  await api.close()
  await sandbox.close()
})
