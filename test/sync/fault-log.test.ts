import { expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { FatalError } from '../../src/base/errors.ts'
import type { Database } from '../../src/db/database.ts'
import { itemSets } from '../../src/resources/item-sets/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { faultsOnce } from '../../src/sync/run/run-log.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { item, worldOf } from '../support/world.ts'

const world = worldOf('server')

test('a full disk is one line for all resources that meet it, and later one with their number', async () => {
  const lines: string[] = []
  const clock = virtualClock(world.clock.now(), { auto: true })
  const line = (level: string) => (_fields: object, message: string) => void lines.push(`${level}: ${message}`)
  const silent = () => {}
  const log = faultsOnce({ debug: silent, info: silent, warn: line('warn'), error: line('error') }, clock)
  let writes = 0
  const transaction = async () => {
    throw new FatalError(`could not extend file base/5/${writes++}: no space left on the disk of database`, {
      context: { sqlState: '53100' },
    })
  }
  const db: Database = { ...world.db, transaction }
  world.sandbox.setAnswer(items.route, () => ({ body: [item('Ash')] }))
  world.sandbox.setAnswer(itemSets.route, () => ({ body: {} }))
  const guards = { plausibleShare: 0.5, absences: 2, zeroShare: 0.25, accept: false }
  const engine = { db, api: world.api, clock, program: 'test', guards, log }
  for (const resource of [items, itemSets, items])
    expect(await runResource(resource, engine)).toMatchObject({ status: 'failed' })
  expect(lines).toEqual([expect.stringMatching(/^error: failed: could not extend file base/)])
  await clock.advance(60_000)
  await runResource(items, engine)
  expect(lines.slice(1)).toEqual([
    expect.stringMatching(/no space left on the disk of database; the same of 2 other runs since the line before$/),
  ])
})
