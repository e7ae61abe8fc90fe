import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { place } from '../support/guild-answers.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'
import { wrongRows } from '../support/verified.ts'
import { instantOf, openWorld, type World } from '../support/world.ts'

let [ours, theirs]: World[] = []
const worlds = () => [ours, theirs].filter((one) => one !== undefined)

beforeEach(async () => {
  ours = await openWorld(await testDatabase('server'))
  theirs = await openWorld(await testDatabase('server'))
  for (const { db } of worlds())
    await setExpectedInterval(db, {
      resource: territories.name,
      everySeconds: 600,
      setBy: 'start',
      at: new Date(instantOf('00:00')),
    })
})
afterEach(async () => {
  for (const { api, sandbox } of worlds()) {
    await api.close()
    await sandbox.close()
  }
})

/** What a database sees at these times, ten minutes apart; other times are a gap. */
async function see(world: World | undefined, treasuries: Readonly<Record<string, string>>): Promise<void> {
  for (const [at, treasury] of Object.entries(treasuries))
    await world?.sync(territories, { Ragni: place('a', '09:00', { treasury }), Detlas: place('b', '09:00') }, at)
}

/** What ours has of the treasury after it took what theirs published, and the conflicts. */
async function merged() {
  if (!ours || !theirs) throw new Error('no world')
  const folder = join(await temporaryFolder(), 'lake')
  const given = { clock: ours.clock, onProgress: () => {} }
  await ours.clock.advanceTo(instantOf('13:00'))
  await theirs.clock.advanceTo(instantOf('13:00'))
  await exportLake(theirs.db, folder, { ...given, program: 'test', people: true, keepMs: 0 })
  const done = await importLake(ours.db, openPlace(folder), { ...given, maxBytes: 1e9 })
  expect(await wrongRows(ours.db)).toEqual([])
  return {
    versions: await ours.rows(
      `select valid_from, valid_until, treasury from game.territory where territory = 'Ragni' order by 1`,
    ),
    conflicts: await ours.rows('select key, valid_from, valid_until, observations from sync.source_conflict'),
    counted: done.tables.find(({ table }) => table === 'game.territory')?.conflicts,
  }
}

test('where both observed and differ, the own observation stays and the conflict is recorded', async () => {
  await see(ours, { '10:00': 'LOW', '10:10': 'LOW', '10:20': 'LOW', '10:30': 'LOW' })
  await see(theirs, { '10:00': 'LOW', '10:10': 'HIGH', '10:20': 'HIGH', '10:30': 'LOW', '10:40': 'MEDIUM' })
  expect(await merged()).toEqual({
    versions: [
      ['10:00', '10:40', 'LOW'],
      ['10:40', 'infinity', 'MEDIUM'],
    ],
    conflicts: [['Ragni', '10:10', '10:30', 2]],
    counted: 1,
  })
})

test('what the lake shows for a time that it did not observe is no conflict', async () => {
  await see(ours, { '10:00': 'LOW', '10:20': 'LOW', '10:30': 'LOW', '10:40': 'LOW', '11:10': 'LOW' })
  await see(theirs, { '10:00': 'LOW', '10:10': 'HIGH', '10:50': 'LOW', '11:00': 'LOW', '11:10': 'LOW' })
  expect(await merged()).toMatchObject({ conflicts: [], counted: 0 })
})
