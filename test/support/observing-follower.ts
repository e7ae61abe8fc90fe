import { join } from 'node:path'
import { beforeEach, expect } from 'vitest'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import type { ImportOptions } from '../../src/lake/import/plan.ts'
import { takenTables } from '../../src/lake/import/taken-tables.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { material } from './followed-lake.ts'
import { guildBody, guildId, place, syncGuild } from './guild-answers.ts'
import { changeIndex, linesOf } from './lake-folder.ts'
import { onlineBody, syncOnline } from './player-answers.ts'
import { temporaryFolder } from './postgres.ts'
import { wrongRows } from './verified.ts'
import { instantOf, type World, worldOf } from './world.ts'

/** Three items, of which the level of one is given. */
export const some = (level: number) => [material('Ash', level), material('Fir', 1), material('Yew', 1)]

const rowTables = takenTables.flatMap((one) =>
  one.kind === 'rows' && !one.isAverage && !one.isSession ? [one.table] : [],
)

/** A database that imports two lakes and observes itself, and what of that is lost. */
export function observingFollower() {
  const theirs = worldOf('server')
  const others = worldOf('server')
  const follower = worldOf('server')
  const onProgress = () => {}
  let folder: string
  /** Rows that own responses wrote, by table. */
  let own: Map<string, Set<string>>

  beforeEach(async () => {
    folder = await temporaryFolder()
    own = new Map()
    for (const { db } of [theirs, others, follower])
      for (const { name } of [territories, onlinePlayers, items, guilds, leaderboards])
        await setExpectedInterval(db, {
          resource: name,
          everySeconds: 600,
          setBy: 'start',
          at: new Date(instantOf('07:00')),
        })
  })

  /** Exports a database, and imports that into the follower, at the later of their times. */
  async function follow(world: World = theirs, until?: string, options: Partial<ImportOptions> = {}): Promise<void> {
    const lake = join(folder, world === theirs ? 'theirs' : 'others')
    await exportLake(world.db, lake, { clock: world.clock, program: 'test', people: true, keepMs: 0, onProgress })
    if (until !== undefined)
      await changeIndex(lake, ({ coverage }) => {
        for (const one of coverage) Object.assign(one, { until: new Date(instantOf(until)).toISOString() })
      })
    if (follower.clock.now() < world.clock.now()) await follower.clock.advanceTo(world.clock.now())
    const done = await importLake(follower.db, openPlace(lake), {
      clock: follower.clock,
      maxBytes: 1e9,
      onProgress,
      ...options,
    })
    expect(done.refused).toEqual([])
    expect(await wrongRows(follower.db)).toEqual([])
  }

  /** What is written meanwhile is to stay. */
  async function staying(work: () => Promise<unknown>): Promise<void> {
    const before = new Map<string, Set<string>>()
    for (const table of rowTables) before.set(table, new Set(await linesOf(follower.db, table)))
    await work()
    for (const table of rowTables)
      for (const line of await linesOf(follower.db, table))
        if (!before.get(table)?.has(line)) own.set(table, (own.get(table) ?? new Set()).add(line))
  }

  async function lost(): Promise<string[]> {
    const found: string[] = []
    for (const [table, lines] of own) {
      const now = new Set(await linesOf(follower.db, table))
      for (const line of lines) if (!now.has(line)) found.push(`${table} ${line}`)
    }
    return found
  }

  /** Everything is another thing than before. */
  async function observe(world: World, at: string, nth: number, letter = 'a'): Promise<void> {
    await world.sync(territories, { Oak: place('abcdefghi'[nth] ?? 'z', at), Elm: place('b', '07:00') }, at)
    await world.sync(items, some(nth), at)
    await syncOnline(world, onlineBody({ EU1: [1, 10 + nth], EU2: Array.from({ length: nth }, (_, n) => 20 + n) }), at)
    await syncGuild(world, guildBody(letter, { 1: { rank: 'owner', contributed: nth }, 2: {} }, { level: nth }), at)
  }
  const observeOwn = (at: string, nth: number) => staying(() => observe(follower, at, nth))

  /** A row of each table less, so that each file is another one. */
  async function loseSome(world: World = theirs, at = '08:10'): Promise<void> {
    for (const table of ['world_sample', 'online_sample', 'guild_sample', 'member_counter'])
      await world.db.query(`delete from game.${table} where observed_at = '2026-06-01T${at}Z'`)
  }

  const levels = () =>
    follower.rows(`select level, valid_from, valid_until from game.item where internal_name = 'Ash' order by 2`)
  const guildLevels = (letter: string) =>
    follower.rows(`select level, observed_at from game.guild_sample where guild_uuid = '${guildId(letter)}' order by 2`)

  /** As if the hours before were counted, and the responses in them not needed any more. */
  async function compact(before: string): Promise<void> {
    const at = new Date(instantOf(before))
    for (const { name } of [territories, items, onlinePlayers, guilds])
      await follower.db.query(
        `insert into sync.coverage_reach (resource, counted_until, thinned_until) values ($1, $2, $2)
         on conflict (resource) do update set counted_until = excluded.counted_until, thinned_until = excluded.thinned_until`,
        [name, at],
      )
    await follower.db.query(
      `delete from sync.run where observed_at < $1 and observed_at > (select min(observed_at) from sync.run first where first.resource = run.resource)`,
      [at],
    )
    await follower.db.query(
      `delete from sync.observation one where received_at < $1
          and received_at > (select min(received_at) from sync.observation first where first.resource = one.resource)`,
      [at],
    )
  }

  return {
    theirs,
    others,
    follower,
    own: () => own,
    follow,
    staying,
    lost,
    observe,
    observeOwn,
    loseSome,
    levels,
    guildLevels,
    compact,
  }
}
