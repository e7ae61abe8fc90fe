import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { openServer } from '../../src/db/server.ts'
import { RetryableError } from '../../src/errors.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { cuttableWay } from '../support/proxy.ts'

test('after an outage a lock is had at once, and what was held before is not held any more', async () => {
  const url = await testDatabaseUrl({ migrated: false })
  const way = await cuttableWay(url)
  const [db, other] = await Promise.all([openServer(way.url), openServer(url)])
  onTestFinished(async () => {
    await Promise.all([db.close(), other.close()])
    way.cut()
  })
  const lost = await db.tryLock('sync items')
  expect(lost).not.toBeNull()
  way.cut()
  // Until then the lock counts as held.
  await systemClock.sleep(50)
  for (let tried = 0; tried < 6; tried++) await expect(db.tryLock('sync items')).rejects.toThrow(RetryableError)
  await way.mend()

  const began = performance.now()
  const again = await db.tryLock('sync items')
  expect(performance.now() - began).toBeLessThan(300)
  expect(again).not.toBeNull()
  // Giving back what is lost gives back nothing of what is held now.
  await lost?.release()
  expect(await other.tryLock('sync items')).toBeNull()
  await again?.release()
  expect(await other.tryLock('sync items')).not.toBeNull()
})
