import { readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Database, Sql } from '../../src/db/database.ts'
import { type DuckDb, openDuckDb } from '../../src/lake/duckdb.ts'
import { exportLake } from '../../src/lake/export.ts'
import { sha256Of } from '../../src/lake/file-hash.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { takenTables } from '../../src/lake/import/taken-tables.ts'
import type { LakeIndex } from '../../src/lake/index-file.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { inProfiles } from '../../src/resources/personal.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { purge } from '../../src/sync/privacy/person.ts'
import { guildBody, guildId, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { changeIndex, readIndex } from '../support/lake-folder.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'
import { instantOf, openWorld } from '../support/world.ts'

const name = 'Made_Up_Name'
const now = instantOf('12:00')
const clock = { now: () => now, sleep: async () => {} } as never

/** A small lake with players. */
async function publish(): Promise<string> {
  const world = await openWorld(await testDatabase('server'))
  await world.sync(territories, { Here: place('a', '07:00'), There: place('b', '07:30') }, '08:00')
  await syncGuild(world, guildBody('a', { 1: { username: name, rank: 'owner' }, 2: {} }), '08:01')
  await syncOnline(world, onlineBody({ EU1: [1, 2] }), '08:02')
  await world.sync(territories, { Here: place('b', '08:30'), There: place('b', '07:30') }, '08:40')
  await syncGuild(world, guildBody('a', { 1: { username: name, rank: 'owner' }, 2: { rank: 'chief' } }), '08:41')
  await syncOnline(world, onlineBody({ EU1: [2], EU2: [1] }), '08:42')
  const folder = join(await temporaryFolder(), 'lake')
  await exportLake(world.db, folder, { clock, program: 'test', people: true, keepMs: 0, onProgress: () => {} })
  await world.api.close()
  await world.sandbox.close()
  return folder
}

const take = (db: Database, folder: string, maxBytes = 1e9) =>
  importLake(db, openPlace(folder), { clock, maxBytes, onProgress: () => {} })

/** Makes a file of a table anew, with its size and SHA-256 in the index. */
async function craft(folder: string, table: string, make: (path: string) => Promise<unknown>): Promise<string> {
  const file = (await readIndex(folder))?.files.find((one) => one.table === table)
  if (!file) throw new Error(`the lake has no ${table}`)
  const path = join(folder, file.path)
  await make(path)
  const [sha256, { size }] = [await sha256Of(path), await stat(path)]
  const duck = await openDuckDb()
  const counted = await duck
    .rows(`select num_rows::integer as rows from parquet_file_metadata('${path}')`)
    .catch(() => [])
  duck.close()
  await changeIndex(folder, ({ files }) => {
    for (const one of files)
      if (one.path === file.path) Object.assign(one, { rows: file.rows, ...counted[0], sha256, bytes: size })
  })
  return path
}

function rewrite(duck: DuckDb, sql: (from: string) => string) {
  return async (path: string) => {
    await duck.run(`copy (${sql(`read_parquet('${path}')`)}) to '${path}.new' (format parquet)`)
    await rename(`${path}.new`, path)
  }
}

describe.each(['server', 'embedded'] as const)('into the %s database', (kind) => {
  let folder: string
  let duck: DuckDb
  beforeAll(async () => {
    folder = await publish()
    duck = await openDuckDb()
  })

  test('a player who was removed, known here or not, or hides something does not return, others do', async () => {
    const db = await testDatabase(kind)
    const own = await openWorld(db)
    await syncGuild(own, guildBody('a', { 1: { username: name, rank: 'owner' }, 2: { rank: 'captain' } }), '07:50')
    await own.api.close()
    await own.sandbox.close()
    await db.transaction((sql) => purge(sql, inProfiles, { playerUuid: playerId(1), at: new Date(instantOf('07:55')) }))
    const { refused, tables } = await take(db, folder)
    expect(refused).toEqual([])
    expect(tables.some(({ restricted }) => restricted > 0)).toBe(true)
    expect(await tablesWith(db, [playerId(1), name])).toEqual([])
    expect(await ranksOf(db)).toEqual(['captain', 'recruit', 'chief'])
    const stranger = await testDatabase(kind)
    await stranger.transaction((sql) => purge(sql, inProfiles, { playerUuid: playerId(1), at: new Date(now) }))
    await take(stranger, folder)
    expect(await tablesWith(stranger, [playerId(1), name])).toEqual([])
    expect(await ranksOf(stranger)).toEqual(['recruit', 'chief'])
    const hiding = await testDatabase(kind)
    await hiding.query(`insert into sync.privacy_restriction values ($1, 'onlineStatus', 'players/x', now())`, [
      playerId(2),
    ])
    await take(hiding, folder)
    expect(await tablesWith(hiding, [playerId(2)])).toEqual(['sync.privacy_restriction'])
  })

  test('a crafted lake breaks no constraint, and what is right of it loads', async () => {
    const db = await testDatabase(kind)
    await craft(
      folder,
      'game.territory_hold',
      rewrite(
        duck,
        (from) => `select * from ${from}
          union all by name (select * replace (valid_from - interval '10 minutes' as valid_from, valid_until + interval '10 minutes' as valid_until) from ${from} where territory = 'Here' limit 1)
          union all by name (select * replace (valid_from + interval '1 second' as valid_from) from ${from} where territory = 'Here' limit 1)
          union all by name (select * replace ('Back' as territory, valid_from - interval '1 day' as valid_until) from ${from} limit 1)
          union all by name (select * replace ('Later' as territory, timestamptz '2199-01-01' as valid_from) from ${from} limit 1)
          union all by name (select * replace ('Nul' || chr(0) as territory) from ${from} limit 1)
          union all by name (select * replace ('Long' || repeat('x', 5000) as territory) from ${from} limit 1)
          union all by name (select * replace ('Escape' || chr(27) || '[31m' || chr(8238) as territory) from ${from} where territory = 'There')
          union all by name (select * replace ('Number' as territory, '{"a":1e99999}'::json as document) from ${from} limit 1)
          union all by name (select * replace ('Wide' as territory, ('[' || repeat('[1],', 9000) || '1]')::json as document) from ${from} where territory = 'There' limit 1)
          union all by name (select * replace ('Deep' as territory, (repeat('[', 100000) || '1' || repeat(']', 100000))::json as document) from ${from} limit 1)
          union all by name (select * replace ('Deep too' as territory, (repeat('[[],', 100000) || '1' || repeat(']', 100000))::json as document) from ${from} limit 1)`,
      ),
    )
    await craft(
      folder,
      'game.guild_member',
      rewrite(duck, (from) => `select * replace ('archmage' as rank) from ${from}`),
    )
    await craft(folder, 'game.territory', (path) => writeFile(path, 'PAR1 this is no file of that kind PAR1'))
    await craft(
      folder,
      'game.world_sample',
      rewrite(duck, (from) => `select * replace (9e18::bigint as online) from ${from}`),
    )
    const [outside] = [join(await temporaryFolder(), 'secret')]
    await craft(folder, 'game.world', async (path) => {
      await rename(path, outside)
      await symlink(outside, path)
    })
    await craft(folder, 'game.guild', (path) => rm(path).then(() => writeFile(path, '')))
    await changeIndex(folder, ({ files }) => {
      for (const file of files) if (file.table === 'game.online_sample') Object.assign(file, { sha256: 'f'.repeat(64) })
    })
    const done = await take(db, folder)
    const reasons = Object.fromEntries(done.refused.map(({ what, reason }) => [what.replace(/\/.*/, ''), reason]))
    expect(reasons).toEqual({
      'game.territory': expect.stringMatching('no Parquet'),
      'game.world_sample': expect.stringMatching('columns'),
      'game.world': expect.stringMatching('out of the lake'),
      'game.guild': expect.stringMatching('Parquet'),
      'game.online_sample': expect.stringMatching('SHA-256'),
    })
    expect(done.tables.find(({ table }) => table === 'game.territory_hold')).toMatchObject({ refused: 7 })
    const holds = await db.values(`select territory from game.territory_hold group by 1 order by territory collate "C"`)
    expect(holds.flat()).toEqual(['Escape\u001b[31m\u202e', 'Here', 'There', 'Wide'])
    expect((await db.values('select distinct rank from game.guild_member')).flat()).toEqual(['archmage'])
    await expectChains(db)
    // The database goes on with responses of its own.
    const world = await openWorld(db)
    const run = await world.sync(territories, { Here: place('c', '12:30'), There: place('b', '07:30') }, '13:00')
    const holder = `select guild_uuid from game.territory_hold where territory = 'Here' and valid_until = 'infinity'`
    expect([run.status, await db.values(holder)]).toEqual(['ok', [[guildId('c')]]])
    await world.api.close()
    await world.sandbox.close()
  })

  test('a key that is too long for an index costs its row, also where rows are copied as they are', async () => {
    const own = await publish()
    // What an index stores of a text that repeats is short.
    const long = `(select string_agg(sha256(nth::varchar), '') from range(100) numbers(nth))`
    await craft(
      own,
      'game.territory',
      rewrite(
        duck,
        (from) =>
          `select * from ${from} union all by name (select * replace (${long} as territory) from ${from} limit 1)`,
      ),
    )
    const db = await testDatabase(kind)
    const { refused, tables } = await take(db, own)
    expect(refused).toEqual([])
    expect(tables.find(({ table }) => table === 'game.territory')).toMatchObject({ refused: 1, taken: 2 })
  })

  test('a file with a value that only Postgres refuses is refused, and the others load', async () => {
    const own = await publish()
    const wrong = join(await temporaryFolder(), 'wrong.csv')
    await writeFile(wrong, 'no,instant,is,in,this,line\n')
    const db = await testDatabase(kind)
    const unfit = (sql: Sql): Pick<Sql, 'copyCsv'> => ({
      copyCsv: (table, columns, path) => sql.copyCsv(table, columns, /hold/.test(table) ? wrong : path),
    })
    const { refused, tables } = await take(
      {
        ...db,
        transaction: (work, ...limits) => db.transaction((sql) => work({ ...sql, ...unfit(sql) }), ...limits),
      },
      own,
    )
    expect(refused).toEqual([{ what: expect.stringMatching(/^game.territory_hold/), reason: expect.any(String) }])
    const taken = tables.filter((one) => one.taken > 0).map(({ table }) => table)
    expect(taken).toEqual(expect.arrayContaining(['game.territory', 'game.guild_member', 'game.world_sample']))
    expect(await db.values('select * from game.territory_hold')).toEqual([])
  })

  test('sessions that are inverted are refused, and those that overlap break no question', async () => {
    const own = await publish()
    const at = (time: string, column: string) => `timestamptz '2026-06-01 ${time}:00Z' as ${column}`
    const row = (from: string, until: string, out: string) =>
      [
        at(from, 'first_listed_at'),
        at(until, 'last_listed_at'),
        at(out, 'logout_latest'),
        at(out, 'first_unlisted_at'),
        'null::timestamptz as login_earliest',
        `'${playerId(9)}' as player_uuid`,
      ].join(', ')
    const rows = [row('08:03', '08:30', '08:31'), row('08:05', '08:10', '08:11'), row('08:20', '08:15', '08:25')]
    const crafted = rows.map((one) => (from: string) => `(select * replace (${one}) from ${from} limit 1)`)
    await craft(
      own,
      'game.player_listing',
      rewrite(duck, (from) =>
        [`select * from ${from}`, ...crafted.map((one) => one(from))].join(' union all by name '),
      ),
    )
    const db = await testDatabase(kind)
    const { refused, tables } = await take(db, own)
    expect(refused).toEqual([])
    expect(tables.find(({ table }) => table === 'game.player_listing')).toMatchObject({ refused: 1, taken: 4 })
    expect((await db.values('select count(*) from analytics.player_session')).map(Number)[0]).toBeGreaterThan(1)
    for (const player of [playerId(1), playerId(9)])
      expect(
        await db.query(`select * from analytics.player_playtime($1, '2026-06-01Z', '2026-06-02Z')`, [player]),
      ).toHaveLength(1)
  })

  test('an index that is none is refused before anything is read', async () => {
    const db = await testDatabase(kind)
    await expect(take(db, folder, 1000)).rejects.toThrow('--max-bytes')
    const wrong = async (change: (index: LakeIndex) => void, reason: string) => {
      const before = await readFile(join(folder, 'index.json'))
      await changeIndex(folder, change)
      await expect(take(db, folder)).rejects.toThrow(reason)
      await writeFile(join(folder, 'index.json'), before)
    }
    const path = (value: unknown) => (index: LakeIndex) => void Object.assign(index.files[0] ?? {}, { path: value })
    for (const one of [
      '../../etc/passwd',
      '/etc/passwd',
      'https://example.org/x.parquet',
      'game.item/../../x.parquet',
      7,
    ])
      await wrong(path(one), 'outside of the lake')
    await wrong((index) => void Object.assign(index, { at: '2199-01-01T00:00:00Z' }), 'future')
    await wrong((index) => void Object.assign(index, { source: '\u001b[2J' }), 'not that of a lake')
    await wrong((index) => void Object.assign(index.files[0] ?? {}, { bytes: -1 }), 'not that of a lake')
    await wrong(
      (index) => void Object.assign(index.files[0] ?? {}, { table: 'pg_catalog.pg_authid' }),
      'not that of a lake',
    )
    await wrong((index) => void Object.assign(index, { format: 99 }), 'format 99')
    expect(await tablesWith(db, [guildId('a')])).toEqual([])
  })
})

const ranksOf = async (db: Database) =>
  (
    await db.values('select rank from game.guild_member where player_uuid = $1 order by valid_from', [playerId(2)])
  ).flat()

/** The tables in whose rows one of these texts is. */
async function tablesWith(db: Database, texts: readonly string[]): Promise<string[]> {
  const tables = await db.query<{ name: string }>(
    `select schemaname || '.' || tablename as name from pg_tables where schemaname in ('game', 'sync') order by 1`,
  )
  const found: string[] = []
  for (const { name: table } of tables) {
    const [row] = await db.query<{ found: boolean }>(
      `select exists (select from ${table} one where one::text ~ $1) as found`,
      [texts.join('|')],
    )
    if (row?.found && !table.includes('privacy_action')) found.push(table)
  }
  return found
}

/** No two versions of a key overlap, and each names the end of the one before it. */
async function expectChains(db: Database): Promise<void> {
  for (const one of takenTables) {
    if (one.kind !== 'versions') continue
    const rows = await db.query(
      `select * from (select *, lag(valid_until) over (partition by ${one.key.join(', ')} order by valid_from) as before from ${one.table}) version
        where before > valid_from or previous_until is distinct from before or valid_until <= valid_from`,
    )
    expect([one.table, rows]).toEqual([one.table, []])
  }
}
