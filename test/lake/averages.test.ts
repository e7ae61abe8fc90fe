import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { growingTables } from '../../src/resources/index.ts'
import { maintain } from '../../src/sync/retention/maintain.ts'
import { guildBody, guildId, syncGuild } from '../support/guild-answers.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'
import { instantOf, openWorld, type World } from '../support/world.ts'

test('what is materialized of samples is so again of those that a lake adds, before and after maintenance', async () => {
  const ours = await openWorld(await testDatabase('server'))
  const theirs = await openWorld(await testDatabase('server'))
  const see = async (world: World, numbers: Readonly<Record<string, number>>) => {
    for (const [at, contributed] of Object.entries(numbers))
      await syncGuild(world, guildBody('a', { 9: { rank: 'owner' }, 1: { joined: '09:00', contributed } }), at)
  }
  const keepUp = (at: string) =>
    maintain(ours.db, { now: new Date(instantOf(at)), tables: growingTables, retention: new Map() })
  const read = () =>
    ours.rows(
      `select username, contributed, quality from analytics.member_contribution('${guildId('a')}', '2026-06-01 10:10Z', '2026-06-01 16:00Z')`,
    )
  try {
    // The counter falls before this database sees the guild.
    await see(theirs, { '10:00': 100, '10:20': 200, '10:40': 50, '11:00': 60 })
    await see(ours, { '12:00': 70, '13:00': 80, '14:00': 90, '15:00': 100 })
    await keepUp('15:10')
    const folder = join(await temporaryFolder(), 'lake')
    const given = { clock: ours.clock, onProgress: () => {} }
    for (const { clock } of [ours, theirs]) await clock.advanceTo(instantOf('16:00'))
    await exportLake(theirs.db, folder, { ...given, program: 'test', people: true, keepMs: 0 })
    await importLake(ours.db, openPlace(folder), { ...given, maxBytes: 1e9 })
    const imported = await read()
    await keepUp('16:10')
    const materialized = await read()
    expect(
      await ours.rows(`select averaged_until, (select count(*)::int from game.member_counter_dip where counter = 'contributed')
                              from sync.tier where sample_table = 'game.member_counter'`),
    ).toEqual([['14:00', 1]])
    await ours.db.query('update sync.tier set averaged_until = null')
    // From the samples alone.
    expect(await read()).toEqual([
      ['Player1', 50, 'reset'],
      ['Player9', 0, 'exact'],
    ])
    expect([imported, materialized]).toEqual(Array(2).fill(await read()))
  } finally {
    for (const { api, sandbox } of [ours, theirs]) {
      await api.close()
      await sandbox.close()
    }
  }
})
