import { expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../src/app/app.ts'
import { virtualClock } from '../../src/base/clock.ts'
import { readConfig } from '../../src/base/config.ts'
import { keepVerified, verifyMetrics, verifyWarnings } from '../../src/cli/commands/start/start-verify.ts'
import { openServer } from '../../src/db/server/server.ts'
import { lastVerification } from '../../src/sync/verify/verification.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { instantOf } from '../support/world.ts'

const HOUR = 3_600_000

test('start verifies an hour after it began and then weekly, daily while something is wrong, and says what it found', async () => {
  const databaseUrl = await testDatabaseUrl()
  const db = await openServer(databaseUrl)
  onTestFinished(() => db.close())
  const clock = virtualClock(instantOf('00:00'))
  const app = createApp(readConfig({ databaseUrl, logLevel: 'silent' }, {}), { clock })
  const ending = new AbortController()
  const verifying = keepVerified(app, db, ending.signal)
  onTestFinished(async () => {
    ending.abort()
    await verifying
  })
  /** When the database was verified, in hours of the clock, once that is so. */
  const verifiedAt = async (hour: number) => {
    await expect
      .poll(
        async () => {
          await clock.advanceTo(Math.max(clock.now(), instantOf('00:00') + hour * HOUR))
          return ((await lastVerification(db))?.at.getTime() ?? 0) - instantOf('00:00')
        },
        { timeout: 60_000 },
      )
      .toBe(hour * HOUR)
    return await lastVerification(db)
  }
  await clock.advanceTo(instantOf('00:59'))
  expect(await lastVerification(db)).toBe(undefined)
  expect(await verifyMetrics(app, db)).toEqual([])
  expect(await verifiedAt(1)).toMatchObject({ wrong: 0, found: [] })
  expect(await verifyWarnings(db)).toEqual([])
  await db.query(
    `insert into sync.raw_body (hash, body, bytes, first_at) values ('\\x00', '\\x00', 1, '2026-06-01'), ('\\x01', '\\x01', 1, '2026-06-01')`,
  )
  const week = 1 + 7 * 24
  expect(await verifiedAt(week)).toMatchObject({
    wrong: 4,
    found: [
      { check: 'archive body', table: 'sync.raw_body', wrong: 2 },
      { check: 'archive unused', table: 'sync.raw_body', wrong: 2 },
    ],
  })
  expect(await verifyWarnings(db)).toEqual([
    'verify found rows that are wrong: archive body sync.raw_body: 2, archive unused sync.raw_body: 2',
  ])
  const samples = (await verifyMetrics(app, db)).map(({ name, samples: [sample] }) => [name, sample?.value])
  expect(samples).toEqual([
    ['wynnsync_verify_age_seconds', 0],
    ['wynnsync_verify_wrong_rows', 4],
  ])
  await db.query('delete from sync.raw_body')
  expect(await verifiedAt(week + 24)).toMatchObject({ wrong: 0 })
  expect(await verifyWarnings(db)).toEqual([])
  // The clock was ahead by a year then.
  await db.query(`update sync.verification set at = at + interval '1 year'`)
  expect(await verifiedAt(2 * week + 23)).toMatchObject({ wrong: 0 })
})
