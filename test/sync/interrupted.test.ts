import { describe, expect, test } from 'vitest'
import { InterruptedError } from '../../src/base/errors.ts'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { readRuns } from '../../src/sync/overview/ledger-runs.ts'
import { readFailures } from '../../src/sync/overview/overview.ts'
import { answerGuild, guildBody, guildId, syncGuilds } from '../support/guild-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { item, worldOf } from '../support/world.ts'

const reason = new InterruptedError('interrupted by SIGTERM')
const owner = { 1: { rank: 'owner' } }

describe.each(kindsOfPart)('a run that a signal ends, on the %s database', (kind) => {
  const world = worldOf(kind)

  test('is interrupted in the ledger: no failure of any overview, and the next run takes it up', async () => {
    await world.sync(items, [item('Ash')], '10:00')
    await world.clock.advance(3_600_000)
    const ending = new AbortController()
    world.sandbox.setAnswer(items.route, () => {
      ending.abort(reason)
      return new Promise(() => {})
    })
    const run = await world.syncNow(items, { signal: ending.signal, notifies: true })
    expect(run).toMatchObject({ status: 'interrupted', error: 'interrupted by SIGTERM', temporary: true })
    expect(await world.rows('select status, error from sync.run order by started_at')).toEqual([
      ['ok', null],
      ['interrupted', 'interrupted by SIGTERM'],
    ])
    expect(await world.rows("select change from sync.outbox where change->>'event' = 'failure'")).toEqual([])
    expect(await readFailures(world.db, new Date(0), 5)).toEqual([])
    const wanted = { resources: [], failed: true, since: undefined, limit: 0 }
    expect(await readRuns(world.db, wanted)).toEqual([])
    expect(world.log.filter((line) => /^(warn|error):/.test(line))).toEqual([])
    expect(await world.rows(`select last_status from analytics.freshness where resource = 'items'`)).toEqual([
      ['interrupted'],
    ])
    expect(await world.sync(items, [item('Ash'), item('Birch')], '12:00')).toMatchObject({ status: 'ok', inserted: 1 })
  })

  test('of a worklist is interrupted where its requests are cut, and where none was answered', async () => {
    const known = ['a', 'b', 'c'].map((one) => [guildId(one), { name: `Guild ${one}`, prefix: one.repeat(3) }])
    await world.sync(guildList, Object.fromEntries(known), '10:00')
    for (const one of ['a', 'b', 'c']) await answerGuild(world, guildBody(one, owner), '10:00')
    expect(await syncGuilds(world, { stopping: AbortSignal.abort(reason) })).toMatchObject({ status: 'interrupted' })
    const ending = new AbortController()
    const seen = { onProgress: () => ending.abort(reason) }
    expect(await syncGuilds(world, { stopping: ending.signal, ...seen })).toMatchObject({ status: 'ok', pages: 1 })
    const cut = new AbortController()
    const atFirst = { onProgress: () => cut.abort(reason) }
    expect(await syncGuilds(world, { signal: cut.signal, ...atFirst })).toMatchObject({
      status: 'interrupted',
      inserted: 1,
      error: 'interrupted by SIGTERM',
    })
    expect(await syncGuilds(world)).toMatchObject({ status: 'ok', pages: 1 })
    expect(await world.rows("select count(*) from sync.run where status = 'failed'")).toEqual([[0]])
  })
})
