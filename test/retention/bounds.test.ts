import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import { maintainDatabase } from '../../src/cli/maintenance.ts'
import type { Database } from '../../src/db/database.ts'
import { resources } from '../../src/resources/index.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { readTiers } from '../../src/sync/overview/overview.ts'
import { monthOf } from '../../src/sync/retention/partitions.ts'
import { effort } from '../support/effort.ts'
import { kindsOfLongTests, testDatabase } from '../support/postgres.ts'
import { begin, live, work } from './year.ts'

/** What keeps each table from growing for ever. A new table has to say it here. */
const bounds: Readonly<Record<string, readonly string[]>> = {
  'its retention, and there are rows of it in this year': [
    'game.guild_hour',
    'game.guild_sample',
    'game.member_counter',
    'game.member_presence',
    'game.online_hour',
    'game.online_sample',
    'game.player_hop',
    'game.player_listing',
    'game.territory_resource',
    'game.world_hour',
    'game.world_sample',
    'sync.answer_span',
    'sync.coverage_hour',
    'sync.gap',
    'sync.guard_action',
    'sync.observation',
    'sync.quarantine',
    'sync.raw_answer',
    'sync.raw_body',
    'sync.run',
    'sync.unread',
  ],
  'the same, as other tables of the same kind show': [
    'game.character_counter',
    'game.character_profession',
    'game.guild_ranking',
    'game.leaderboard_place',
    'game.member_counter_dip',
    'game.player_counter',
    'game.player_ranking',
    'game.player_status',
    'sync.outbox',
  ],
  'the number of things that there are': [
    'game.character_quest',
    'game.enumeration',
    'sync.claim',
    'sync.budget',
    'sync.coverage_reach',
    'sync.installed_program',
    'sync.installed_sql',
    'sync.lock',
    'sync.origin',
    'sync.outbox_head',
    'sync.privacy_restriction',
    'sync.route_bucket',
    'sync.tier',
    'sync.verification',
    'sync.watch',
    'sync.watch_delivery',
    'sync.web_key',
    'sync.work_item',
  ],
  'what is imported from lakes: nothing comes without a command': [
    'sync.source',
    'sync.source_conflict',
    'sync.source_file',
    'sync.source_span',
    'sync.source_version',
  ],
  'nothing: a row each time the game, somebody in it or the API changes for good': [
    'game.ability',
    'game.ability_link',
    'game.article',
    'game.aspect',
    'game.aspect_tier',
    'game.camp',
    'game.camp_requirement',
    'game.camp_reward',
    'game.class',
    'game.class_archetype',
    'game.field_change',
    'game.gathering_node',
    'game.guild',
    'game.guild_banner_layer',
    'game.guild_listing',
    'game.guild_member',
    'game.guild_season',
    'game.item',
    'game.item_base',
    'game.item_drop_place',
    'game.item_drop_type',
    'game.item_element',
    'game.item_identification',
    'game.item_in_set',
    'game.item_ingredient',
    'game.item_major_id',
    'game.item_material_chance',
    'game.item_set',
    'game.item_set_bonus',
    'game.item_set_part',
    'game.item_skill',
    'game.leaderboard',
    'game.loot_pool',
    'game.loot_pool_reward',
    'game.map_marker',
    'game.news',
    'game.news_comments',
    'game.player',
    'game.player_character',
    'game.quest_count',
    'game.raid',
    'game.raid_requirement',
    'game.raid_reward',
    'game.recipe',
    'game.recipe_material',
    'game.recipe_sprite',
    'game.season',
    'game.season_reward',
    'game.territory',
    'game.territory_capture',
    'game.territory_hold',
    'game.territory_link',
    'game.video',
    'game.world',
    'game.world_event',
    'game.world_event_location',
    'game.world_event_occurrence',
    'game.world_event_requirement',
    'sync.drift',
    'sync.presence',
    'sync.privacy_action',
    'sync.unsent',
  ],
  'nothing: a row each time a person says something else': ['sync.backfill', 'sync.expectation'],
}
/** All of a year when somebody asks for it; a part of it shows as much. A February is too short for a month to go in time. */
const months = effort.everyAnswer ? 12 : 10
const [inTheYear = ''] = Object.keys(bounds)

async function tablesOf(db: Database): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `select relnamespace::regnamespace || '.' || relname as name from pg_class
      where relnamespace::regnamespace::text in ('game', 'sync') and relkind in ('r', 'p') and not relispartition order by 1`,
  )
  return rows.map(({ name }) => name)
}

async function rowsOf(db: Database, tables: readonly string[]): Promise<Map<string, number>> {
  const rows = await db.query<{ name: string; rows: number }>(
    tables.map((name) => `select '${name}' as name, count(*)::int as rows from ${name}`).join(' union all '),
  )
  return new Map(rows.map(({ name, rows }) => [name, rows]))
}

describe.each(kindsOfLongTests)('with a retention, on the %s database,', (kind) => {
  test('no table grows for ever but those of which it is known', async () => {
    const db = await testDatabase(kind)
    expect(await tablesOf(db)).toEqual(Object.values(bounds).flat().sort())
    const start = new Date('2024-01-01T00:00Z')
    for (const { name } of resources)
      await expectEvery(db, { resource: name, everySeconds: 14_400, setBy: 'sync', at: start })
    await begin(db, start)
    const log = createLog('silent', systemClock)
    const config = { retention: 'all=30d/90d; ledger=30d/90d', rawDays: {} }
    const counts: Map<string, number>[] = []
    for (let month = 0; month < months; month++) {
      const [from, to] = [monthOf(start, month), monthOf(start, month + 1)]
      await live(db, from, to)
      await work(db, from, to)
      const at = to.getTime()
      await maintainDatabase(db, { clock: { ...systemClock, now: () => at }, config, log })
      counts.push(await rowsOf(db, bounds[inTheYear] ?? []))
    }
    // Months differ by a tenth in their length.
    const most = (name: string, months: Map<string, number>[]) =>
      Math.max(...months.map((counted) => counted.get(name) ?? 0))
    const told = (bounds[inTheYear] ?? []).map((name) => {
      const [early, late] = [most(name, counts.slice(-6, -3)), most(name, counts.slice(-3))]
      return { name, early, late, isLevel: early > 0 && late <= early * 1.1 }
    })
    expect(told.filter(({ isLevel }) => !isLevel)).toEqual([])

    // What is gone is not taken for nothing: nobody watched then, as far as is known.
    const day = [start, new Date(start.getTime() + 86_400_000)]
    const player = '00000000-0000-4000-8000-000000000001'
    expect(
      await db.values(`select seconds_min, seconds_max from analytics.player_playtime('${player}', $1, $2)`, day),
    ).toEqual([[null, null]])
    expect(await db.values(`select * from analytics.coverage('online-players', $1, $2)`, day)).toEqual([])
    const tiers = new Map((await readTiers(db)).map((one) => [one.table, one]))
    const end = monthOf(start, months).getTime()
    const since = (days: number) => new Date(end - days * 86_400_000)
    expect([
      tiers.get('ledger/online-players'),
      tiers.get('game.player_listing'),
      tiers.get('game.world_hour'),
    ]).toEqual([
      { table: 'ledger/online-players', fineSince: since(30), coarseSince: since(90) },
      { table: 'game.player_listing', fineSince: since(90), coarseSince: null },
      undefined,
    ])
  })
})
