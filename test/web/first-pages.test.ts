import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { serve, webWorld } from '../support/web-world.ts'

/** The database, and its statements: those that are idle, and the others. */
function watched(db: Database) {
  const [statements, others]: [string[], string[]] = [[], []]
  const transaction: Database['transaction'] = (work, limits) =>
    db.transaction((sql) => {
      const query: typeof sql.query = (...given) => {
        const list = limits?.whileIdle ? statements : others
        list.push(given[0])
        return sql.query(...given)
      }
      return work({ ...sql, query })
    }, limits)
  return { db: Object.assign(Object.create(db) as Database, { transaction }), statements, others }
}

describe('the pages that readers begin with, on the embedded database,', () => {
  const web = webWorld('embedded')

  test('are made once before the first request', { timeout: 120_000 }, async () => {
    const { db, statements } = watched(web.world.db)
    const { ask } = await serve({ ...web.world, db }, { makesFirstPages: true })
    const has = (part: string) => statements.some((text) => text.includes(part))
    for (const part of ['membership_event', 'member_activity', 'counter_top', "'territory' as kind"])
      await vi.waitUntil(() => has(part), { timeout: 60_000, interval: 50 })
    expect((await ask('/')).status).toBe(200)
    await sleep(2000)
    const made = statements.length
    await sleep(2000)
    expect(statements).toHaveLength(made)
  })

  test('are begun with the one at / before its address is told', { timeout: 60_000 }, async () => {
    const { db, others } = watched(web.world.db)
    await serve({ ...web.world, db }, { makesFirstPages: true })
    expect(others.filter((text) => text.includes('membership_event'))).toHaveLength(1)
  })

  test('keep no sync of the same process waiting', { timeout: 60_000 }, async () => {
    const { db, others } = watched(web.world.db)
    await serve({ ...web.world, db }, { makesFirstPages: true, isBesideSync: true })
    expect(others.filter((text) => text.includes('membership_event'))).toEqual([])
  })

  test('are left when the server ends', { timeout: 60_000 }, async () => {
    const { db, statements } = watched(web.world.db)
    const site = await serve({ ...web.world, db }, { makesFirstPages: true })
    await site.close()
    await sleep(1500)
    expect(statements).toEqual([])
  })

  test('are not made unless that is wanted', async () => {
    const { db, statements } = watched(web.world.db)
    await serve({ ...web.world, db })
    await sleep(1500)
    expect(statements).toEqual([])
  })
})
