import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { resources } from '../../src/resources/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { players } from '../../src/resources/players/index.ts'
import { isWorklist } from '../../src/sync/declare/resource.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { addKeys } from '../../src/sync/worklist/work-items.ts'
import { takeKey } from '../questions/true-game/play.ts'
import { everyAnswer, givenOf } from '../support/every-question.ts'
import { smallItemWorld } from '../support/item-world.ts'
import { different } from '../support/lake-folder.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'
import { openWorld } from '../support/world.ts'

const start = Date.parse('2026-06-01T12:00:00Z')
const hour = 3_600_000
const whole = resources.flatMap((one) => (isWorklist(one) ? [] : [one]))
const guards = { plausibleShare: 0.5, plausibleShares: {}, absences: 1, zeroShare: 0.25, accept: false }

test('syncs after an import go on as in the database of the lake', async () => {
  const [source, db] = [await testDatabase('server'), await testDatabase('server')]
  const game = { guilds: 40, players: 120, resourceSeconds: 3600 }
  const { api, clock, sandbox } = await openWorld(source, { seed: 4, game, items: smallItemWorld() }, start)
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const engineOf = (of: Database) => ({ db: of, api, clock, program: 'test', guards, log, raw: false, notifies: false })
  /** What each resource of one response, and eight guilds, come to. */
  async function sync(of: Database): Promise<string[]> {
    const results: string[] = []
    for (const resource of whole) {
      const { status, reason, error } = {
        reason: null,
        error: null,
        ...(await runResource(resource, engineOf(of), {})),
      }
      results.push([resource.name, status, reason ?? error ?? ''].join(' '))
    }
    return [...results, ...(await take(of, guilds, await firstOf(of, 'game.guild_listing', 'guild_uuid')))]
  }
  /** A new world is there when two lists show it; what one showed so far is not in a lake. */
  async function listAgain(nth: number, ...all: Database[]): Promise<void> {
    await clock.advanceTo(start + nth * hour + 60_000)
    for (const of of all) await runResource(onlinePlayers, engineOf(of), {})
  }
  async function firstOf(of: Database, table: string, column: string): Promise<string[]> {
    return (await of.values(`select distinct ${column}::text from ${table} order by 1 limit 8`)).map(String)
  }
  async function take(of: Database, resource: typeof guilds | typeof players, keys: string[]): Promise<string[]> {
    const results: string[] = []
    await addKeys(of, resource.name, keys)
    for (const key of keys) {
      const taken = await takeKey(resource, engineOf(of), key)
      results.push([resource.name, key, taken ? 'ok' : ''].join(' '))
    }
    return results
  }
  /** Those whom either database lists: what players hide, each confirms by a second response of its own. */
  async function listed(...all: Database[]): Promise<string[]> {
    const lists = await Promise.all(all.map((of) => firstOf(of, 'game.player_listing', 'player_uuid')))
    return [...new Set(lists.flat())].sort()
  }
  for (const nth of [0, 1, 2]) {
    await clock.advanceTo(start + nth * hour)
    await sync(source)
    await listAgain(nth, source)
    await take(source, players, await listed(source))
  }
  // Who hides something since a single response is in no lake.
  const doubted = (await source.values('select player_uuid::text from sync.privacy_restriction where is_pending')).map(
    String,
  )
  const folder = join(await temporaryFolder(), 'lake')
  await exportLake(source, folder, { clock, program: 'test', people: true, keepMs: 0, onProgress: () => {} })
  const { refused } = await importLake(db, openPlace(folder), { clock, maxBytes: 1e9, onProgress: () => {} })
  expect(refused).toEqual([])
  for (const nth of [3, 4]) {
    await clock.advanceTo(start + nth * hour)
    const expected = await sync(source)
    expect(await sync(db)).toEqual(expected)
    await listAgain(nth, source, db)
    const people = await listed(source, db)
    const shown = await take(source, players, people)
    expect(await take(db, players, people)).toEqual(shown)
    expect([...expected, ...shown].filter((one) => / (ok|unchanged)/.test(one)).length).toBeGreaterThan(
      whole.length + 8,
    )
  }
  const given = await givenOf(source, new Date(start), new Date(start + 5 * hour))
  const [own, imported] = [await everyAnswer(source, given), await everyAnswer(db, given)]
  // Who hid something is in no lake: the own database shows it again when two responses do, the other one at once.
  const hiding = (
    await source.values('select player_uuid::text from sync.privacy_action where player_uuid is not null')
  ).map(String)
  const ofOthers = (lines: readonly string[] = []) =>
    lines.filter((line) => !hiding.some((uuid) => line.includes(uuid)))
  const compared = /^(member_presence|player_status)(_sample)?$|^player_evidence$/
  const linesOf = (answers: typeof own, name: string) =>
    (compared.test(name) ? ofOthers(answers[name]) : (answers[name] ?? [])).filter(
      (line) => !doubted.some((uuid) => line.includes(uuid)),
    )
  expect(Object.keys(own).map((name) => [name, different(linesOf(imported, name), linesOf(own, name))])).toEqual(
    Object.keys(own).map((name) => [name, [[], []]]),
  )
  await api.close()
  await sandbox.close()
})
