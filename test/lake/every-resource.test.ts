import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { openServer } from '../../src/db/server/server.ts'
import { exportLake } from '../../src/lake/export.ts'
import { takenTables } from '../../src/lake/import/taken-tables.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { resources } from '../../src/resources/index.ts'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { players } from '../../src/resources/players/index.ts'
import { isWorklist } from '../../src/sync/declare/resource.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { addKeys } from '../../src/sync/worklist/work-items.ts'
import { takeKey } from '../questions/true-game/play.ts'
import { afterwards } from '../support/afterwards.ts'
import { runInside } from '../support/cli-inside.ts'
import { effort } from '../support/effort.ts'
import { smallItemWorld } from '../support/item-world.ts'
import { readIndex } from '../support/lake-folder.ts'
import { temporaryFolder, testDatabase, testDatabaseUrl, testDataDir } from '../support/postgres.ts'
import { headersOf, openWorld, type World } from '../support/world.ts'

const start = Date.parse('2026-06-01T12:00:00Z')
const hour = 3_600_000
const openOf = { server: openServer, embedded: (folder: string) => openEmbedded(folder, { clock: systemClock }) }

const guards = { plausibleShare: 0.5, plausibleShares: {}, absences: 1, zeroShare: 0.25, accept: false }
const silent = () => {}
const log = { debug: silent, info: silent, warn: silent, error: silent }

/** All resources once; of guilds and players a few. */
async function syncAll({ db, api, clock, syncNow }: World): Promise<void> {
  for (const resource of resources)
    if (!isWorklist(resource) || resource === leaderboards) {
      const { status, error, quarantined } = await syncNow(resource)
      expect([resource.name, status, error, quarantined]).toEqual([
        resource.name,
        expect.stringMatching(/ok|unchanged/),
        undefined,
        0,
      ])
    }
  for (const [resource, keys] of [
    [guilds, 'select guild_uuid::text from game.guild_listing order by 1 limit 8'],
    [players, 'select player_uuid::text from game.player_listing order by 1 limit 8'],
  ] as const) {
    const found = (await db.values(keys)).map(String)
    await addKeys(db, resource.name, found)
    const engine = { db, api, clock, program: 'test', guards, log, raw: false, notifies: false }
    for (const key of found) await takeKey(resource, engine, key)
  }
}

describe('a lake with every resource', { timeout: 600_000 }, () => {
  let world: World
  const folders = new Map<boolean, string>()
  beforeAll(async () => {
    const game = { guilds: 40, players: 120, resourceSeconds: 3600 }
    world = await openWorld(await testDatabase('server'), { seed: 4, game, items: smallItemWorld() }, start)
    afterwards(async () => {
      await world.api.close()
      await world.sandbox.close()
    })
    const type = 'guildWars'
    const body = { 1: { uuid: crypto.randomUUID(), name: 'Guild', prefix: 'G', score: 7, newField: 'of the API' } }
    world.sandbox.setAnswer(`/leaderboards/${type}`, () => ({ body, headers: headersOf(world.clock.now(), 600) }))
    for (const nth of [0, 1, 2]) {
      await world.clock.advanceTo(start + nth * hour)
      await syncAll(world)
    }
    for (const people of [true, false]) {
      const folder = join(await temporaryFolder(), 'lake')
      await exportLake(world.db, folder, {
        clock: world.clock,
        program: 'test',
        people,
        keepMs: 0,
        onProgress: () => {},
      })
      folders.set(people, folder)
    }
  }, 600_000)

  test('has rows of each', async () => {
    const tables = new Set((await readIndex(folders.get(true) ?? ''))?.files.map(({ table }) => table))
    const played = new Set(takenTables.flatMap(({ table, resource }) => (tables.has(table) ? [resource] : [])))
    expect(resources.map(({ name }) => name).filter((name) => !played.has(name))).toEqual([])
  })

  const ways = [
    ['server', 'with'],
    ['embedded', 'without'],
    ['server', 'without'],
    ['embedded', 'with'],
  ] as const
  test.each(effort.everyAnswer ? ways : ways.slice(0, 2))(
    'is imported by an empty %s database %s players, once and whole',
    async (kind, people) => {
      const place = kind === 'server' ? await testDatabaseUrl() : await testDataDir()
      const environment = kind === 'server' ? { DATABASE_URL: place } : { WYNNSYNC_DATA_DIR: place }
      const run = () =>
        runInside(['backfill', '--from-lake', folders.get(people === 'with') ?? '', '--json'], environment as never)
      const first = await run()
      const done = JSON.parse(first.out)
      expect([first.code, first.err, done.refused]).toEqual([0, expect.anything(), []])
      expect(done.tables.filter((one: { refused: number }) => one.refused > 0)).toEqual([])
      const again = await run()
      expect([again.code, JSON.parse(again.out)]).toMatchObject([0, { files: 0, tables: [], refused: [] }])
      const db = await openOf[kind](place)
      try {
        expect(await db.values('select taken_at is not null from sync.source')).toEqual([[true]])
        await expectBoards(db)
      } finally {
        await db.close()
      }
    },
  )

  /** The documents of boards are without what the response had besides, and the next response is still no change. */
  async function expectBoards(db: Database): Promise<void> {
    const boards = `select type, jsonb_build_object('type', type, 'kind', kind) = document as is_made, hash from game.leaderboard order by type`
    const before = await db.query<{ is_made: boolean }>(boards)
    expect(before.length).toBeGreaterThan(10)
    expect(before.filter((one) => !one.is_made)).toEqual([])
    await world.clock.advanceTo(world.clock.now() + hour)
    const { api, clock } = world
    const engine = { db, api, clock, program: 'test', guards, log, raw: false, notifies: false }
    const run = await runResource(leaderboards, engine, {})
    expect(run).toMatchObject({ status: expect.stringMatching('ok|unchanged'), changed: 0, inserted: 0 })
    expect(run.requests).toBeGreaterThan(before.length)
    expect(await db.query(boards)).toEqual(before)
  }
})
