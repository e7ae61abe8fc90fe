import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../../src/db/database.ts'
import { itemMetadata } from '../../../src/resources/item-metadata/index.ts'
import { items } from '../../../src/resources/items/index.ts'
import { onlinePlayers } from '../../../src/resources/online-players/index.ts'
import { territories } from '../../../src/resources/territories/index.ts'
import type { FaultSpec } from '../../../src/sandbox/index.ts'
import { place, syncGuilds } from '../../support/guild-answers.ts'
import { onlineBody, syncPlayers } from '../../support/player-answers.ts'
import { testDatabase } from '../../support/postgres.ts'
import { openScene, type Scene, start } from './scene.ts'

const hour = 61 * 60_000

describe('what a faulty answer says', () => {
  let db: Database
  let scene: Scene
  let nth = 0
  beforeAll(async () => {
    db = await testDatabase('server')
  })
  afterEach(() => scene.close())

  async function open(): Promise<void> {
    scene = await openScene(db)
    nth = 0
  }

  /** The next hour begins, with other faults. */
  async function nextHour(faults: FaultSpec | null, seed?: number): Promise<void> {
    nth += 1
    await scene.playTo(start + nth * hour, [])
    scene.world.sandbox.setFaults(faults, seed)
  }

  test('of a field that vanishes is a change, and of its return a revert', async () => {
    await open()
    for (const faults of [null, { vanishing: 1 }, null]) {
      await nextHour(faults, 5)
      expect((await scene.world.syncNow(items)).status).not.toBe('failed')
    }
    const versions = await db.query<{ key: string; hashes: string[] }>(
      `select internal_name as key, array_agg(encode(hash, 'hex') order by valid_from) as hashes from game.item
        group by 1 having count(*) > 1`,
    )
    expect(versions.length).toBeGreaterThan(5)
    for (const { hashes } of versions) expect([hashes.length, hashes[2]]).toEqual([3, hashes[0]])
    const reverts = await db.query(`select from analytics.item_change where is_revert`)
    expect(reverts.length).toBeGreaterThan(0)
  })

  test('of unknown fields and texts is kept as it was, and reported once', async () => {
    await open()
    for (const faults of [null, { 'unknown-fields': 1 }, { 'unknown-fields': 1 }, { 'unknown-members': 1 }, null]) {
      await nextHour(faults)
      await scene.world.syncNow(items)
      await syncGuilds(scene.world, { keys: scene.keys.guilds })
    }
    const kept = await scene.world.rows(
      `select count(*) filter (where extra = '{"sandboxNovelty": {"times": 3, "unknown": "yes"}}'),
              count(*) filter (where extra is not null), count(*) filter (where tier = 'sandbox_unheard_of') > 0 from game.item`,
    )
    expect(kept).toEqual([[50, 50, true]])
    const drift = await scene.world.rows(
      `select resource, kind, path, member, count(*) from sync.drift where kind like 'unknown%' and (path like '%sandboxNovelty' or member like 'sandbox%')
        group by 1, 2, 3, 4 order by 1, 2, 3`,
    )
    expect(drift).toEqual([
      ['guilds', 'unknown_field', expect.stringContaining('/sandboxNovelty'), '', 1],
      ...drift.slice(1, -2).map((row) => ['guilds', 'unknown_field', row[2], '', 1]),
      ['items', 'unknown_field', '/sandboxNovelty', '', 1],
      ['items', 'unknown_member', '/tier', 'sandbox_unheard_of', 1],
    ])
    const ranks = await scene.world.rows(`select distinct rank from game.guild_member where rank like 'sandbox%'`)
    expect(ranks).toEqual([['sandbox_unheard_of']])
  })

  test('of people who hide is unknown, never false or zero, and ends nothing', async () => {
    await open()
    const ended = async () =>
      scene.world.rows(`select count(*) from game.player_character where valid_until < 'infinity'`)
    await nextHour(null)
    const { guilds: guildKeys, players } = scene.keys
    await syncPlayers(scene.world, { keys: players })
    const before = await ended()
    for (let times = 0; times < 2; times++) {
      await nextHour({ private: 1 })
      await syncPlayers(scene.world, { keys: players })
      await syncGuilds(scene.world, { keys: guildKeys })
    }
    // What they hide now is removed, not ended: they may have all of it still.
    expect(await ended()).toEqual(before)
    const hidden = await scene.world.rows(
      `select distinct online, world, last_join from game.player_status where observed_at = '${iso(2)}'`,
    )
    expect(hidden.flat().filter((one) => one !== null)).toEqual([])
    const counters = await scene.world.rows(
      `select count(*) from game.player_counter where observed_at > '${iso(1)}'
       union all select count(*) from game.character_counter where observed_at > '${iso(1)}'`,
    )
    expect(counters).toEqual([[0], [0]])
    const presence = await scene.world.rows(
      `select count(*) from game.member_presence presence
         join game.guild_member member using (guild_uuid, player_uuid)
        where 'onlineStatus' = any(member.restricted) and member.valid_from <= presence.observed_at
          and presence.observed_at < member.valid_until and presence.online is not null`,
    )
    expect(presence).toEqual([[0]])
  })

  test('of counters that are zero once, or doubled for a while, is not contributed', async () => {
    const stored = await contributions([null, { 'zero-counters': 1 }, null, { 'double-counters': 1 }, null])
    const truth = await contributions([null, null, null, null, null])
    expect(truth.size).toBeGreaterThan(5)
    const wrong = [...truth].filter(([player, { contributed }]) => stored.get(player)?.contributed !== contributed)
    // Whose very first number is doubled may as well have begun anew after it, and that is how it is labelled.
    expect(wrong.map(([player]) => stored.get(player)?.quality).filter((quality) => quality !== 'reset')).toEqual([])
    expect(wrong.length).toBeLessThan(2)
  })

  /** Who contributed how much between the first and the last hour, as the analytics tell. */
  async function contributions(plans: readonly (FaultSpec | null)[]) {
    await open()
    const [guild = ''] = scene.keys.guilds
    for (const faults of plans) {
      await nextHour(faults)
      await syncGuilds(scene.world, { keys: [guild] })
    }
    const rows = await db.query<{ player: string; contributed: number; quality: string }>(
      `select player_uuid::text as player, contributed, quality from analytics.member_contribution($1, $2, $3)
        where contributed > 0`,
      [guild, iso(1), iso(plans.length + 1)],
    )
    await scene.close()
    return new Map(rows.map((row) => [row.player, row]))
  }

  test('of half the enumerations ends none of the other half', async () => {
    await open()
    const { world } = scene
    for (const half of [true, false]) {
      world.sandbox.setAnswer('/item/metadata', null)
      await nextHour(null)
      expect(await world.syncNow(itemMetadata)).toMatchObject({ rejected: 0, closed: 0 })
      world.sandbox.setAnswer('/item/metadata', ({ query }) => (query.has('static') === half ? { body: {} } : null))
      for (let times = 0; times < 2; times++) {
        await nextHour(null)
        // What is more than half of the members is loaded.
        const run = await world.syncNow(itemMetadata)
        expect(run).toMatchObject({ status: expect.stringMatching(/^(partial|rejected)$/), closed: 0 })
      }
    }
  })

  test('without worlds does not bring a world down, nor its numbers to zero', async () => {
    await open()
    const { world } = scene
    for (const online of [
      { EU1: [1, 2], NA1: [3] },
      { EU1: [1], '-': [2, 3] },
      { EU1: [1], '-': [2, 3] },
      { EU1: [1, 2], NA1: [3] },
    ]) {
      world.sandbox.setAnswer('/player', () => ({ body: onlineBody(online) }))
      await nextHour(null)
      expect((await world.syncNow(onlinePlayers)).status).not.toBe('failed')
    }
    expect(await world.rows('select world, valid_until from game.world order by 1, 2')).toEqual([
      ['EU1', 'infinity'],
      ['NA1', 'infinity'],
    ])
    expect(await world.rows(`select online from game.world_sample where world = 'NA1'`)).toEqual([[1]])
  })

  test('of a territory whose guild or time of capture is missing neither loses nor captures it', async () => {
    await open()
    const { world } = scene
    const fields = [{}, { guild: undefined }, { guild: 'Guild a' }, { acquired: undefined }, {}]
    for (const field of fields) {
      await nextHour(null)
      world.sandbox.setAnswer('/guild/list/territory', () => ({ body: { Oak: { ...place('a', '09:00'), ...field } } }))
      expect((await world.syncNow(territories)).status).not.toBe('failed')
    }
    expect(await world.rows('select guild_name, acquired, valid_until from game.territory_hold')).toEqual([
      ['Guild a', '09:00', 'infinity'],
    ])
  })

  test('in a walk over items that are exchanged for good on the way is not believed until a walk is whole', async () => {
    await open()
    const { world } = scene
    await nextHour(null)
    await world.syncNow(items, { walk: true })
    await nextHour(null)
    const onProgress = ({ page }: { page: number }) => {
      if (page === 1) void scene.playTo(world.clock.now(), [world.clock.now()])
    }
    const walked = await world.syncNow(items, { walk: true, onProgress })
    expect(['ok', 'partial', 'unchanged']).toContain(walked.status)
    expect(walked.closed).toBe(0)
    for (let times = 0; times < 2; times++) {
      await nextHour(null)
      await world.syncNow(items, { walk: true })
    }
    const { body } = await world.api.items.database({ fullResult: true })
    const names = body.records.map((one) => Reflect.get(Object(one), 'internalName'))
    const living = await world.rows(`select internal_name from game.item where valid_until = 'infinity'`)
    expect(living.flat().sort()).toEqual(names.sort())
  })

  test('of a guild that cannot be asked for is temporary, when no other could', async () => {
    await open()
    const [guild = ''] = scene.keys.guilds
    await nextHour({ gateway: 1 })
    expect(await syncGuilds(scene.world, { keys: [guild] })).toMatchObject({ status: 'failed', temporary: true })
  })
})

/** The beginning of an hour, as text. */
function iso(hours: number): string {
  return new Date(start + hours * hour).toISOString()
}
