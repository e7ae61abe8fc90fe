import { describe, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { inProfiles } from '../../src/resources/personal.ts'
import { players } from '../../src/resources/players/index.ts'
import { decompressed } from '../../src/sync/archive/bodies.ts'
import { engineNaming } from '../../src/sync/privacy/named-columns.ts'
import { personKept, purge } from '../../src/sync/privacy/person.ts'
import { reachOf, replay } from '../../src/sync/replay/replay.ts'
import { engineOn } from '../support/archive.ts'
import { guildBody, guildId, playerId, syncGuild } from '../support/guild-answers.ts'
import { ofPart } from '../support/parts.ts'
import { confirmPlayer, onlineBody, profile, syncOnline, syncPlayer } from '../support/player-answers.ts'
import { kindsAtNight, testDatabase } from '../support/postgres.ts'
import { contentOf, instantOf, type World, worldOf } from '../support/world.ts'

const name = 'Made_Up_Name'

const uuid = playerId(1)
const undashed = uuid.replaceAll('-', '')

/** Every row of every table that Postgres has, and every archived body, in which the player is named: `table: text`. */
async function mentions(db: Database): Promise<string[]> {
  const tables = await db.query<{ name: string }>(
    `select relnamespace::regnamespace || '.' || quote_ident(relname) as name from pg_class
      where relkind in ('r', 'm') and relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema', 'pg_toast')`,
  )
  const rows = await db.query<{ name: string; row: string }>(
    tables
      .map((table) => `select '${table.name}' as name, each::text as row from ${table.name} each`)
      .join(' union all '),
  )
  for (const { body } of await db.query<{ body: Uint8Array }>('select body from sync.raw_body'))
    rows.push({ name: 'body', row: (await decompressed(body)).toString() })
  const hits = rows.filter(({ row }) =>
    [uuid, undashed, name].some((text) => row.toLowerCase().includes(text.toLowerCase())),
  )
  return [...new Set(hits.map((one) => `${one.name}: ${one.row.slice(0, 300)}`))]
}

const tablesIn = (hits: readonly string[]) => [...new Set(hits.map((hit) => hit.split(': ')[0] ?? ''))].sort()

const shown = (fields: object = {}) =>
  profile(1, {
    username: name,
    playtime: 12,
    globalData: { wars: 3 },
    online: true,
    server: 'EU1',
    guild: { uuid: guildId('a'), name: 'Guild a', prefix: 'aaa', rank: 'RECRUIT' },
    ...fields,
  })
const other = { rank: 'owner', globalData: { wars: 4 } }
const member = { username: name, globalData: { wars: 5 } }

/** Watches that are about these players, in order; without any, about all. */
async function watchPlayers(world: World, lists: readonly (readonly string[] | null)[]): Promise<void> {
  for (const [nth, players] of lists.entries())
    await world.db.query(
      `insert into sync.watch values ($1, '{"events": ["joined"]}', $2::text[], '{"type": "command", "command": "true"}', null)`,
      [`watch ${nth}`, players && [...players]],
    )
}

/** What puts a player into a table of the engine, case by case. */
const cases: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  'a profile, a guild and the list of who is online': async () => undefined,
  'a profile that cannot be read': (world) => syncPlayer(world, 1, shown({ username: 5, extra: name }), '09:00'),
  'a profile that names the player in upper case and without dashes': (world) =>
    syncPlayer(world, 1, shown({ novelty: [uuid.toUpperCase(), undashed, name] }), '09:00'),
  'a profile that is refused': (world) => syncPlayer(world, 1, null, '09:00', 403),
  'a profile that is not found': (world) => syncPlayer(world, 1, null, '09:00'),
  'a profile that the service fails to give': (world) => syncPlayer(world, 1, null, '09:00', 410),
  'a profile with numbers that fall to zero': (world) =>
    syncPlayer(world, 1, shown({ playtime: 0, globalData: { wars: 0 } }), '09:00'),
  'a profile older than the last one': (world) => syncPlayer(world, 1, shown(), '07:00'),
  'a member whose record cannot be read': (world) =>
    syncGuild(world, guildBody('c', { 1: { ...member, contributed: 'much' }, 2: other }), '09:00'),
  'a member that is missing': (world) => syncGuild(world, guildBody('a', { 2: other }), '09:00'),
  'a member with a field that is new': (world) =>
    syncGuild(world, guildBody('a', { 1: { ...member, novelty: `of ${name}` }, 2: other }), '09:00'),
  'a guild that names the player elsewhere': (world) =>
    syncGuild(world, guildBody('a', { 1: member, 2: other }, { leader: { uuid, who: name, [undashed]: 1 } }), '09:00'),
  'a guild whose answer is implausible': (world) =>
    syncGuild(
      world,
      { ...guildBody('a', { 1: member, 2: other }), members: { total: 2, owner: { [name]: 5 } } },
      '09:00',
    ),
  'a list that lacks the player beside one whose key cannot be read': (world) =>
    syncOnline(world, { total: 2, players: { Somebody: 'EU1', [playerId(2)]: 'EU1' } }, '09:00'),
  'watches, by uuid and by name': (world) => watchPlayers(world, [[uuid], [name.toUpperCase()], [playerId(2), name]]),
  'a list that names the player by name': (world) =>
    syncOnline(world, { total: 2, players: { [name]: 'EU1', [playerId(2)]: 'EU1' } }, '09:00'),
}

describe.each(kindsAtNight)('what names a player, on the %s database,', (kind) => {
  const world = Object.assign(worldOf(kind), { raw: true })

  async function observed(): Promise<void> {
    await syncPlayer(world, 1, shown(), '08:00')
    await syncPlayer(world, 2, profile(2), '08:00')
    await syncGuild(world, guildBody('a', { 1: member, 2: other }), '08:01')
    await syncOnline(world, onlineBody({ EU1: [1, 2] }), '08:02')
  }
  const purged = () =>
    world.db.transaction((sql) => purge(sql, inProfiles, { playerUuid: uuid, at: new Date(instantOf('11:00')) }))

  // Each second one on either database.
  const half = (nth: number) => Object.entries(cases).filter((_, at) => at % 2 === nth)
  test.each(ofPart({ quick: half(0), rest: half(1) }))(
    'is in no table or archived body after a purge: %s',
    async (_, happen) => {
      await observed()
      await happen(world)
      expect(await mentions(world.db)).not.toEqual([])
      await purged()
      expect(await mentions(world.db)).toEqual([])
      expect(await personKept(world.db, inProfiles, uuid)).toMatchObject({ tables: [], restrictions: [] })
      // Others keep what is theirs.
      expect(await world.rows(`select count(*)::int from game.player where player_uuid = '${playerId(2)}'`)).toEqual([
        [1],
      ])
      expect((await personKept(world.db, inProfiles, playerId(2))).tables.map(({ table }) => table)).toEqual(
        expect.arrayContaining(['game.player', 'game.guild_member', 'sync.observation', 'sync.raw_answer']),
      )
    },
  )

  test.each(ofPart({ quick: ['4000', 'White', 'total'], rest: ['Owner', 'online', 'uuid', 'EU1'] }))(
    'takes nothing of others with it where the player is called %s',
    async (called) => {
      const banner = { base: 'WHITE', tier: 1, structure: 'x', layers: [] }
      const before = { 1: { username: called }, 2: other, 3: { username: 'White_Rabbit' } }
      await syncPlayer(world, 1, shown({ username: called }), '08:00')
      await syncGuild(world, guildBody('a', before, { banner }), '08:01')
      await syncGuild(world, guildBody('a', { 1: { username: called }, 2: other }, { banner }), '08:10')
      await syncOnline(world, onlineBody({ EU1: [1, 2] }), '08:12')
      const others = async () => {
        const content = await contentOf(world.db)
        const rows = Object.entries(content).flatMap(([table, all]) =>
          all.map((row) => `${table} ${JSON.stringify(row)}`),
        )
        return rows.filter(
          (row) => !row.includes(uuid) && !/^sync\.(observation|work_item|privacy_action|lock|coverage)/.test(row),
        )
      }
      const known = await others()
      expect(known.some((row) => row.startsWith('sync.claim'))).toBe(true)
      await purged()
      expect(await others()).toEqual(known)
      const engine = engineOn(world, world.db, false)
      const { swapped, lost } = await replay(engine, { resources: [guilds, onlinePlayers], swap: true })
      expect({ swapped, lost }).toEqual({ swapped: true, lost: [] })
      expect((await others()).filter((row) => /^game\./.test(row))).toEqual(known.filter((row) => /^game\./.test(row)))
      expect(await world.rows(`select distinct key from sync.observation where resource = 'guilds'`)).toEqual([
        [guildId('a')],
      ])
    },
  )

  test('leaves the others in a watch, and takes a watch along that is about nobody else', async () => {
    await observed()
    const others = [playerId(2), `${name}_2`, 'Somebody']
    await watchPlayers(world, [[name, ...others], [uuid, name.toLowerCase()], others, null])
    const { tables } = await personKept(world.db, inProfiles, uuid)
    expect(tables).toContainEqual(expect.objectContaining({ table: 'sync.watch', rows: 2 }))
    const removed = await purged()
    expect(removed.filter(({ table }) => table === 'sync.watch').map(({ rows }) => rows)).toEqual([1, 1])
    expect(await world.rows('select name, player from sync.watch order by name')).toEqual([
      ['watch 0', others],
      ['watch 2', others],
      ['watch 3', null],
    ])
  })

  test('is missed by no replay once it was purged', async () => {
    await observed()
    expect((await reachOf(world.db, players)).missing).toBeNull()
    await purged()
    expect((await reachOf(world.db, players)).missing).toBeNull()
  })

  test('goes with the policy delete too, and `privacy show` says of every table that still has it', async () => {
    await observed()
    for (const [title, happen] of Object.entries(cases)) if (!/refused|not found/.test(title)) await happen(world)
    const rest = profile(1, { username: name, restrictions: { mainAccess: true } })
    await confirmPlayer(world, 1, rest, '10:00', 'delete')
    // What the response itself shows is recorded, and the player stays on the worklist.
    const left = [
      'game.player',
      'partitions.player_status_rest',
      'sync.observation',
      'sync.privacy_restriction',
      'sync.raw_answer',
      'sync.work_item',
    ]
    const found = await mentions(world.db)
    expect(tablesIn(found)).toEqual(['body', ...left])
    expect(found).toHaveLength(left.length + 1)
    const { tables, restrictions } = await personKept(world.db, inProfiles, uuid)
    const named = tables.map(({ table }) => table.replace('game.player_status', 'partitions.player_status_rest'))
    expect([...named, 'sync.privacy_restriction'].sort()).toEqual(left)
    expect(restrictions).toHaveLength(1)
  })

  test('is a word like any other where no resource about people says it', async () => {
    await observed()
    await world.db.query(
      `insert into sync.guard_action (at, resource, key, guard, reason, run_id)
       values (now(), 'territories', null, 'absence', $1, gen_random_uuid()), (now(), 'guilds', null, 'absence', $1, gen_random_uuid())`,
      [`missing: ${name}`],
    )
    await purged()
    expect(
      await world.rows("select resource, reason from sync.guard_action where reason like 'missing%' order by 1"),
    ).toEqual([
      ['guilds', 'missing: removed'],
      ['territories', `missing: ${name}`],
    ])
  })
})

test('every column that can name a player is declared beside its table, or exempt with a reason', async () => {
  const db = await testDatabase('server')
  const columns = await db.query<{ table: string; name: string }>(
    `select attrelid::regclass::text as table, attname::text as name from pg_attribute join pg_class on pg_class.oid = attrelid
      where relkind in ('r', 'p') and not relispartition and attnum > 0 and not attisdropped
        and atttypid::regtype::text in ('uuid', 'text', 'json', 'jsonb', 'bytea', 'text[]')
        and (relnamespace = 'sync'::regnamespace or relname = 'field_change' or relnamespace = 'game'::regnamespace
             and exists (select from pg_attribute uuid where uuid.attrelid = pg_class.oid and uuid.atttypid = 'uuid'::regtype))
      order by 1, 2`,
  )
  // Tables about players lose the whole row; another test compares them with the tables that have players in them.
  const whole = new Set([
    'sync.installed_sql',
    'sync.installed_program',
    ...inProfiles.tables.map(({ table }) => table),
  ])
  const declared = new Map(
    [...engineNaming, ...inProfiles.naming].map((one) => [
      one.table,
      [...one.columns.map(({ name }) => name), ...Object.keys(one.exempt)],
    ]),
  )
  const undeclared = columns.filter(({ table, name }) => !whole.has(table) && !declared.get(table)?.includes(name))
  expect(undeclared.map(({ table, name }) => `${table}.${name}`)).toEqual([])
})
