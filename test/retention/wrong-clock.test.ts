import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import { maintainDaily, maintainDatabase } from '../../src/cli/maintenance.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { place } from '../support/guild-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { instantOf, worldOf } from '../support/world.ts'

const map = (stored: number) => ({
  Oak: place('a', '08:00', { resources: [{ type: 'ORE', generation: 1, baseGeneration: 1, stored, limit: 9 }] }),
})

describe.each(kindsOfPart)('upkeep on the %s database', (kind) => {
  const world = worldOf(kind)
  const months = async () => {
    const rows = await world.rows(
      `select inhrelid::regclass::text from pg_inherits where inhparent = 'game.territory_resource'::regclass order by 1`,
    )
    return rows.flat().flatMap((name) => /_(\d{4}_\d\d)$/.exec(String(name))?.[1] ?? [])
  }
  const appAt = (instant: string) => ({
    clock: { ...systemClock, now: () => Date.parse(instant) },
    log: createLog('error', systemClock),
    config: { retention: 'all=90d', rawDays: {} },
  })

  test('makes partitions from the oldest accepted sample to two months ahead, whatever a wrong clock said', async () => {
    world.sandbox.setAnswer('/guild/list/territory', () => {
      const [expires = '', date = ''] = [10_000, 0].map((ms) => new Date(ms).toUTCString())
      return { headers: { 'Cache-Control': 'max-age=10', Expires: expires, Date: date }, body: map(1) }
    })
    expect(await world.syncNow(territories)).toMatchObject({ status: 'rejected' })
    await world.sync(territories, map(1), '10:00')
    await world.sync(territories, map(2), '11:00')
    await maintainDatabase(world.db, appAt('2026-06-01T12:00:00Z'))
    expect(await months()).toEqual(['2026_06', '2026_07', '2026_08'])
  })

  test('by a clock that is decades ahead neither makes their partitions nor removes what is kept, and is due again soon', async () => {
    await world.sync(territories, map(1), '10:00')
    await world.sync(territories, map(2), '11:00')
    await maintainDatabase(world.db, appAt('2080-01-01T00:00:00Z'))
    expect((await months()).at(-1)).toBe('2026_09')
    expect(await world.rows('select stored from game.territory_resource order by observed_at')).toEqual([[1], [2]])
    await world.db.query(`update sync.tier set checked_at = '2080-01-01Z'`)
    await maintainDaily(world.db, appAt('2026-06-02T12:00:00Z'))
    const [[checked] = []] = await world.db.values('select max(checked_at) from sync.tier')
    expect((checked as Date).getTime()).toBeGreaterThan(instantOf('10:00'))
    expect((checked as Date).getTime()).toBeLessThan(instantOf('30 10:00'))
  })
})
