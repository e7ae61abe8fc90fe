import { beforeAll, describe, expect, test } from 'vitest'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { testDatabase } from '../support/postgres.ts'
import { isFields, recordedFolder, recordedResponses } from '../support/recorded.ts'
import { openWorld, type World } from '../support/world.ts'

const folder = recordedFolder('recordings')

describe('the recorded list of who is online, on the embedded database', () => {
  if (folder === undefined) return test.skip('was compared (skipped: recorded data absent)')
  const [answer] = recordedResponses(folder, '/player', 'identifier=uuid')
  const at = answer?.at ?? new Date(0)
  const listed = Object.entries(isFields(answer?.body) && isFields(answer.body.players) ? answer.body.players : {})
  const worlds = new Map<string, number>()
  for (const [, world] of listed) if (world !== null) worlds.set(String(world), (worlds.get(String(world)) ?? 0) + 1)
  const hour = new Date(Math.floor(at.getTime() / 3_600_000) * 3_600_000)
  const interval = [hour, new Date(hour.getTime() + 3_600_000)]
  let world: World

  beforeAll(async () => {
    world = await openWorld(await testDatabase('embedded'), { recordings: folder }, at.getTime())
    await expectEvery(world.db, { resource: 'online-players', everySeconds: 30, setBy: 'sync', at: new Date(0) })
    expect(await world.syncNow(onlinePlayers)).toMatchObject({ status: 'ok', observedAt: at.toISOString() })
    return async () => {
      await world.api.close()
      await world.sandbox.close()
    }
  })

  test('gives the number on each world', async () => {
    const rows = await world.db.values(
      'select world, hour, online_avg, online_max from analytics.world_peak($1, $2)',
      interval,
    )
    expect(rows.sort()).toEqual([...worlds].map(([name, online]) => [name, hour, online, online]).sort())
    expect(rows).toHaveLength(27)
    expect(await world.db.values('select world, online from analytics.world order by 1')).toEqual([...worlds].sort())
    expect(await world.db.values('select * from analytics.world_lifecycle')).toEqual([])
  })

  test('gives the total and who hides, for the half minute that the list speaks for', async () => {
    const total = isFields(answer?.body) ? Number(answer.body.total) : 0
    const rows = await world.db.query<Record<string, number | null>>(
      `select * from analytics.online_total($1, $2, '10 minutes')`,
      interval,
    )
    const told = rows.filter((row) => row.total_avg !== null)
    expect(told.map((row) => [row.total_avg, row.total_max, row.hidden_avg])).toEqual([
      [total, total, total - listed.length],
    ])
  })

  test('opens a session for everybody listed, of which only the latest login is known', async () => {
    const rows = await world.db.values(
      'select player_uuid::text, world, login_earliest, login_latest, logout_latest, is_open from analytics.player_session',
    )
    const expected = listed.map(([player, on]) => [player, on, null, at, null, true])
    const inOrder = (list: readonly (readonly unknown[])[]) =>
      [...list].sort((x, y) => (String(x) < String(y) ? -1 : 1))
    expect(inOrder(rows)).toEqual(inOrder(expected))
  })

  test('is one observation of its hour, and long out of date', async () => {
    const [row] = await world.db.query<Record<string, unknown>>(
      'select * from analytics.coverage($1, $2, $3) where observed > 0',
      ['online-players', ...interval],
    )
    expect(row).toMatchObject({ hour, observed: 1, unchanged: 0, rejected: 0 })
    expect(Number(row?.expected)).toBe(1 + Number(row?.missed))
    expect(await world.db.values('select last_observed_at, last_changed_at, is_late from analytics.freshness')).toEqual(
      [[at, at, true]],
    )
  })
})
