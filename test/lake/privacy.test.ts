import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDuckDb } from '../../src/lake/duckdb.ts'
import { exportLake } from '../../src/lake/export.ts'
import { inProfiles } from '../../src/resources/personal.ts'
import { purge } from '../../src/sync/privacy/person.ts'
import { guildBody, guildId, openMember, playerId, syncGuild } from '../support/guild-answers.ts'
import { lakeBetween, readIndex, transactionsOver } from '../support/lake-folder.ts'
import { onlineBody, profile, syncOnline, syncPlayer } from '../support/player-answers.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'
import { instantOf, openWorld, type World, worldOf } from '../support/world.ts'

const name = 'Made_Up_Name'
const uuid = playerId(1)

/** Every byte of every file of a lake, of Parquet also without compression. */
async function bytesIn(folder: string): Promise<Buffer> {
  const duck = await openDuckDb()
  const plain = join(await temporaryFolder(), 'plain')
  const parts: Buffer[] = []
  for (const path of await readdir(folder, { recursive: true })) {
    if (!/\.(parquet|json|ndjson)$/.test(path)) continue
    parts.push(await readFile(join(folder, path)))
    if (!path.endsWith('.parquet')) continue
    await duck.run(`copy (from '${join(folder, path)}') to '${plain}' (format parquet, compression uncompressed)`)
    parts.push(await readFile(plain))
  }
  duck.close()
  return Buffer.concat(parts)
}

function isNamed(bytes: Buffer): boolean {
  const hex = uuid.replaceAll('-', '')
  const forms = [Buffer.from(name), Buffer.from(uuid), Buffer.from(hex), Buffer.from(hex, 'hex')]
  return forms.some((form) => bytes.includes(form))
}

test('a lake has nothing of a player of whom a restriction is pending, and all of it again where it is withdrawn', {
  timeout: 120_000,
}, async () => {
  const world = await openWorld(await testDatabase('embedded'))
  const sync = (number: 1 | 2, fields: object, at: string) =>
    syncGuild(
      world,
      guildBody('a', { 3: { rank: 'owner' }, 1: openMember, 2: openMember, [number]: { ...openMember, ...fields } }),
      at,
    )
  const hides = { restrictions: { ...openMember.restrictions, main_access: true } }
  await sync(1, { globalData: { wars: 5 } }, '08:00')
  const folder = join(await temporaryFolder(), 'open')
  const exported = async (at: string) => {
    const clock = { ...world.clock, now: () => instantOf(at) }
    await exportLake(world.db, folder, { clock, program: 'test', people: true, keepMs: 0, onProgress: () => {} })
    const bytes = await bytesIn(folder)
    return [1, 2].map((number) => bytes.includes(playerId(number)))
  }
  expect(await exported('08:10')).toEqual([true, true])
  await sync(1, hides, '08:20')
  expect(await exported('08:30')).toEqual([false, true])
  // One restriction ends and another one begins: as many rows are left out as before.
  await sync(1, {}, '08:35')
  await sync(2, hides, '08:40')
  expect(await exported('08:50')).toEqual([true, false])
  for (const at of ['09:00', '09:05']) await sync(1, {}, at)
  expect(await exported('09:10')).toEqual([true, true])
})

test('a lake names no player unless it is asked for, and after a purge nothing of that player', {
  timeout: 120_000,
}, async () => {
  const world = await openWorld(await testDatabase('embedded'))
  await syncPlayer(
    world,
    1,
    profile(1, {
      username: name,
      playtime: 12,
      novelty: name,
      guild: { uuid: guildId('a'), name: 'Guild a', prefix: 'aaa', rank: 'RECRUIT' },
    }),
    '08:00',
  )
  const member = { username: name, globalData: { wars: 5 }, novelty: `of ${name}` }
  await syncGuild(world, guildBody('a', { 1: member, 2: { rank: 'owner' } }, { leader: { uuid, who: name } }), '08:01')
  await syncGuild(
    world,
    guildBody('a', { 1: member, 2: { rank: 'owner' } }, { leader: { uuid, who: `not ${name}` } }),
    '08:30',
  )
  await syncOnline(world, onlineBody({ EU1: [1, 2] }), '08:40')
  const secret = '{"type": "slack", "url": "https://chat.example/of-a-secret-name"}'
  await world.db.query(`insert into sync.watch values ('mine', '{"events": ["news"]}', null, $1::text::jsonb, null)`, [
    secret,
  ])
  const [open, closed] = [join(await temporaryFolder(), 'open'), join(await temporaryFolder(), 'closed')]
  let now = instantOf('09:00')
  const clock = { ...world.clock, now: () => now }
  const run = (folder: string, people: boolean) =>
    exportLake(world.db, folder, { clock, program: 'test', people, keepMs: 24 * 3_600_000, onProgress: () => {} })
  await run(open, true)
  await run(closed, false)
  expect([isNamed(await bytesIn(open)), isNamed(await bytesIn(closed))]).toEqual([true, false])
  expect((await bytesIn(open)).includes('of-a-secret-name')).toBe(false)
  // Counts stay: how many members a guild has, and how many were online.
  const tables = (await readIndex(closed))?.files.map(({ table }) => table)
  expect(tables).toEqual(expect.arrayContaining(['game.guild_sample', 'game.online_sample', 'game.world_sample']))

  await world.db.transaction((sql) => purge(sql, inProfiles, { playerUuid: uuid, at: new Date(now) }))
  await transactionsOver(world.db)
  await run(open, true)
  now += 25 * 3_600_000
  expect(await run(open, true)).toMatchObject({ written: 0 })
  expect(isNamed(await bytesIn(open))).toBe(false)
  expect((await readIndex(open))?.replaced).toEqual([])
  // An export without people leaves nothing of one with people either, once its readers had their time.
  await run(open, true)
  await run(closed, true)
  await run(closed, false)
  now += 25 * 3_600_000
  await run(closed, false)
  expect((await readIndex(closed))?.files.map(({ table }) => table)).toEqual(tables)
  expect((await readdir(closed)).includes('game.player')).toBe(false)
  await world.api.close()
  await world.sandbox.close()
})

describe('a lake that is imported while a restriction is pending', () => {
  const ours = worldOf('server')
  const wars = `select value, observed_at from game.member_counter where counter = 'wars' and player_uuid = '${playerId(2)}' order by 2`
  const member = (fields: object) => guildBody('a', { 1: { rank: 'owner' }, 2: { ...fields } })
  const hides = member({ restrictions: { main_access: true } })
  let theirs: World
  let lake: ReturnType<typeof lakeBetween>
  beforeEach(async () => {
    theirs = await openWorld(await testDatabase('server'))
    lake = lakeBetween(theirs, ours)
    await syncGuild(theirs, member({ globalData: { wars: 5 } }), '01:00')
    await syncGuild(theirs, member({ globalData: { wars: 7 } }), '02:00')
    await lake.exported()
    await syncGuild(ours, member({ globalData: { wars: 8 } }), '10:00')
    await syncGuild(ours, hides, '10:10')
  })
  afterEach(async () => {
    await theirs.api.close()
    await theirs.sandbox.close()
  })
  const shown = `select delta from analytics.member_counter('${guildId('a')}', 'wars', '2026-06-01Z', '2026-06-02Z')
                  where player_uuid = '${playerId(2)}'`

  test('gives all of the history, which is masked until two responses lift the restriction', async () => {
    await lake.imported()
    expect(await ours.rows(wars)).toEqual([
      [5, '01:00'],
      [7, '02:00'],
      [8, '10:00'],
    ])
    expect(await ours.rows(shown)).toEqual([[null]])
    for (const at of ['10:20', '10:30']) await syncGuild(ours, member({ ...openMember, globalData: { wars: 8 } }), at)
    expect(await ours.rows(shown)).toEqual([[3]])
  })

  test('gives none of it once another response confirms the restriction', async () => {
    await lake.imported()
    await syncGuild(ours, hides, '10:20')
    expect(await ours.rows('select field_group, is_pending from sync.privacy_restriction')).toEqual([
      ['mainAccess', false],
    ])
    expect(await ours.rows(wars)).toEqual([])
  })

  test('that was confirmed before the import keeps all of it out', async () => {
    await syncGuild(ours, hides, '10:20')
    const done = await lake.imported()
    expect(done.tables.reduce((sum, { restricted }) => sum + restricted, 0)).toBeGreaterThan(0)
    expect(await ours.rows(wars)).toEqual([])
  })
})
