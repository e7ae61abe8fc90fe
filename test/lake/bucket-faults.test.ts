import { beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { backupDatabase } from '../../src/lake/backup/backup.ts'
import { restoreDatabase } from '../../src/lake/backup/restore.ts'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { verifyBackup, verifyLake } from '../../src/lake/verify-places.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { listOf, openBucket } from '../support/bucket.ts'
import { place } from '../support/guild-answers.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'
import { openWorld, type World } from '../support/world.ts'

const PLACE = 's3://bucket/of/wynn'
const PAGE = '<html><body>Sign in to the network</body></html>'

let world: World
beforeAll(async () => {
  world = await openWorld(await testDatabase('server'))
  await world.sync(territories, { Here: place('a', '07:00'), There: place('b', '07:30') }, '08:00')
})

/** Another name, of which a new file comes. */
const change = () => world.db.query(`update game.territory_hold set guild_name = 'x' || guild_name`)

/** A bucket with a backup or lake of the database, and what is done with it. */
async function placeOf(kind: 'backup' | 'lake') {
  const bucket = await openBucket()
  const s3 = { keyId: 'key', secret: 'secret', sessionToken: undefined, region: 'us-east-1', endpoint: bucket.endpoint }
  const clock = { ...systemClock, sleep: () => Promise.resolve() }
  const settings = { s3, clock, dataDir: await temporaryFolder() }
  const options = { settings, clock, program: 'test', onProgress: () => {}, onChecked: () => {} }
  const verify = kind === 'lake' ? verifyLake : verifyBackup
  const write = async () =>
    kind === 'lake'
      ? await exportLake(world.db, PLACE, { ...options, people: true, keepMs: 0 })
      : await backupDatabase(world.db, PLACE, options)
  const read = async (target: Database) =>
    kind === 'lake'
      ? await importLake(target, openPlace(PLACE, settings), { ...options, maxBytes: 1e9 })
      : await restoreDatabase(target, PLACE, options)
  /** So many requests that a pattern matches, such as `PUT .*json`, get another answer. */
  const during = async (which: RegExp, times: number, fault: number | string, work: () => Promise<unknown>) => {
    let hit = 0
    bucket.before = (method, key) => (which.test(`${method} ${key}`) && hit++ < times ? fault : undefined)
    const error: unknown = await work().then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    bucket.before = () => undefined
    expect([String(which), hit]).toEqual([String(which), expect.any(Number)])
    expect(hit).toBeGreaterThan(0)
    return error as Error | undefined
  }
  const wrong = async () => (await verify(PLACE, options)).filter((check) => check.wrong > 0)
  await write()
  await world.sync(territories, { Here: place('b', '08:30'), There: place('b', '07:30') }, '08:40')
  return { bucket, write, read, verify: () => verify(PLACE, options), wrong, during }
}

const requests = [/^GET of.*json$/, /^GET $/, /^PUT .*(gz|parquet)$/, /^PUT .*(backup|index).json$/] as const

describe.each(['backup', 'lake'] as const)('a bucket with a %s', (kind) => {
  test.each([
    ['is away', 500],
    ['ends the connection in the middle of a body', 'cut'],
    ['has something before it that answers with a page', PAGE],
  ] as const)(
    'that %s is asked again, and what stays so is temporary: nothing is believed to be there that is not',
    async (_, fault) => {
      const { write, wrong, during } = await placeOf(kind)
      for (const which of requests) {
        await change()
        expect(await during(which, 1, fault, write)).toBe(undefined)
        await change()
        const error = await during(which, 1000, fault, write)
        expect([String(which), error?.name, error?.message]).toEqual([
          String(which),
          'RetryableError',
          expect.stringMatching(/^127\.0\.0\.1:\d+, bucket bucket: /),
        ])
        expect(await wrong()).toEqual([])
        await write()
        expect(await wrong()).toEqual([])
      }
    },
  )

  test('that refuses a request says so, and of no file that it is damaged', async () => {
    const { write, read, verify, wrong, during } = await placeOf(kind)
    const target = await testDatabase('server')
    for (const [which, work] of [
      ...requests.map((request) => [request, write] as const),
      [/^GET .*(gz|parquet)$/, () => read(target)],
      [/^GET .*(gz|parquet)$/, verify],
    ] as const) {
      await change()
      const error = await during(which, 1, 403, work)
      expect(error?.message).toMatch(/^127\.0\.0\.1:\d+, bucket bucket: status 403$/)
      expect(await wrong()).toEqual([])
    }
  })

  test('whose list lacks the newest file, or has an old tag of the list, loses nothing', async () => {
    const { bucket, write, wrong, during } = await placeOf(kind)
    await write()
    const newest = [...bucket.objects].filter(([key]) => /(gz|parquet)$/.test(key)).slice(0, -1)
    await during(/^GET $/, 1, listOf(newest), write)
    expect(await wrong()).toEqual([])
    await write()
    expect(await wrong()).toEqual([])
  })

  test('that ends the connection in the middle of a file names it, and the next call goes on', async () => {
    const { read, during, wrong } = await placeOf(kind)
    const target = await testDatabase('server')
    const error = await during(/^GET .*(gz|parquet)$/, 1, 'cut', () => read(target))
    expect(error).toMatchObject({
      name: 'RetryableError',
      message: expect.stringMatching(/^game\.[\w/.=-]+ came only in part: /),
    })
    expect(await wrong()).toEqual([])
    await read(target)
  })
})

test('a bucket behind a proxy that marks tags as weak gets its backup; where tags are others, that is said', async () => {
  const { bucket, write, wrong } = await placeOf('backup')
  bucket.tagAs = (tag) => `W/${tag}`
  await write()
  expect(await wrong()).toEqual([])
  await change()
  bucket.tagAs = () => '"of the proxy"'
  await expect(write()).rejects.toThrow(/backup\.json is as it was, but the tag that was sent for it is refused/)
  expect(await wrong()).toEqual([])
  bucket.tagAs = (tag) => tag
  await write()
  expect(await wrong()).toEqual([])
})
