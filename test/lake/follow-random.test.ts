import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { items } from '../../src/resources/items/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { followedLake, material } from '../support/followed-lake.ts'
import { place } from '../support/guild-answers.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { seedsOf } from '../support/seeds.ts'
import { emptyTables, instantOf } from '../support/world.ts'

const seeds = seedsOf(import.meta.filename)

describe('a lake whose past is', () => {
  const { theirs, follower, fresh, exported, follow, expectSame } = followedLake()

  const names = ['Ash', 'Elm', 'Fir', 'Oak', 'Yew']
  const timeAt = (minutes: number) => new Date(instantOf('08:00') + minutes * 60_000).toISOString().slice(11, 16)
  /** Some items, and their levels by name. */
  function someItems(random: () => number) {
    const listed = names.filter((name) => name === 'Ash' || random() < 0.8)
    const levelOf = Object.fromEntries(listed.map((name) => [name, 1 + Math.floor(3 * random())]))
    return { body: listed.map((name) => material(name, levelOf[name] ?? 0)), levelOf }
  }

  test.each(seeds)('corrected at random (seed %i) is followed', async (seed) => {
    const random = seededRandom(seed)
    const upTo = (count: number) => Math.floor(random() * count)
    let minutes = 0
    const guild = () => place('abcdef'[upTo(6)] ?? 'a', timeAt(minutes - 1))
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 4; n++) {
        minutes += 10
        await theirs.sync(items, someItems(random).body, timeAt(minutes), { absences: 1, plausibleShare: 0 })
        await theirs.sync(territories, { Oak: guild(), Elm: guild(), Yew: guild() }, timeAt(minutes))
        await syncOnline(theirs, onlineBody({ EU1: [1, upTo(4)], EU2: [upTo(9)] }), timeAt(minutes))
      }
      for (let n = 0; n < 6 && round > 0; n++) await correct(theirs.db, upTo)
      await exported()
      await follow()
      await emptyTables(fresh.db)
      await expectSame()
    }
  })

  test.each(seeds)('corrected at random (seed %i) changes nothing of what this database observed', async (seed) => {
    const random = seededRandom(seed)
    const upTo = (count: number) => Math.floor(random() * count)
    const observed = new Map<string, object>()
    for (let minutes = 0; minutes < 300; ) {
      for (let n = 0; n < 3; n++) {
        minutes += 10
        await theirs.sync(items, someItems(random).body, timeAt(minutes), { absences: 1, plausibleShare: 0 })
      }
      for (let n = upTo(4); n > 0; n--) await correct(theirs.db, upTo, 'game.item')
      for (let n = 1 + upTo(2); n > 0; n--) {
        minutes += upTo(2) === 0 ? 3 : 10
        const before = await follower.rows(currentLevels('infinity'))
        // Often what the lake said last.
        const own = upTo(2) === 0 && before.length > 0 ? undefined : someItems(random)
        const levelOf = own?.levelOf ?? (Object.fromEntries(before) as Record<string, number>)
        const body = own?.body ?? Object.entries(levelOf).map(([name, level]) => material(name, level))
        const { status } = await follower.sync(items, body, timeAt(minutes), { absences: 1, plausibleShare: 0 })
        expect(['ok', 'unchanged']).toContain(status)
        observed.set(timeAt(minutes), levelOf)
      }
      await exported()
      await follow()
      for (const [at, levelOf] of observed)
        expect([at, Object.fromEntries(await follower.rows(currentLevels(`2026-06-01T${at}Z`)))]).toEqual([at, levelOf])
    }
    expect(observed.size).toBeGreaterThan(3)
  })

  const currentLevels = (at: string) =>
    at === 'infinity'
      ? `select internal_name, level from game.item where valid_until = 'infinity' order by 1`
      : `select internal_name, level from game.item where valid_from <= '${at}' and valid_until > '${at}' order by 1`
})

/** Changes something of the past as a database may that learns better. */
async function correct(db: Database, upTo: (count: number) => number, of?: string): Promise<void> {
  const one = (table: string) => `(select ctid from ${table} order by md5(ctid::text || ${upTo(1e9)}) limit 1)`
  const versions = of ?? ['game.item', 'game.territory', 'game.territory_hold'][upTo(3)] ?? 'game.item'
  const key = versions === 'game.item' ? 'internal_name' : 'territory'
  const rows = ['game.online_sample', 'game.world_sample'][upTo(2)] ?? ''
  const statements = [
    `delete from ${versions} where ctid = ${one(versions)}`,
    `delete from ${versions} where ${key} = (select ${key} from ${versions} where ctid = ${one(versions)})`,
    `update ${versions} own set valid_until = coalesce((select min(valid_from) from ${versions} next where next.${key} = own.${key}
        and next.valid_from > own.valid_from), 'infinity') where ctid = ${one(versions)}`,
    // Not of the latest: it would end in the future, and such a row is refused.
    `update ${versions} set valid_until = valid_from + interval '1 minute' where ctid = ${one(versions)}
        and valid_from < (select max(valid_from) from ${versions})`,
    `delete from ${rows} where (tableoid, ctid) = (select tableoid, ctid from ${rows} order by md5(ctid::text || ${upTo(1e9)}) limit 1)`,
    `update game.world_sample set online = online + 1 where observed_at = (select max(observed_at) from game.world_sample)`,
  ]
  await db.transaction(async (sql) => {
    await sql.query('set constraints all deferred')
    await sql.query(statements[upTo(statements.length)] ?? '')
    await sql.query(
      `update ${versions} own set previous_until = (select max(valid_until) from ${versions} before
          where before.${key} = own.${key} and before.valid_from < own.valid_from)`,
    )
  })
}
