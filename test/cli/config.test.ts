import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { UsageError } from '../../src/app/errors.ts'
import { temporaryFolder } from '../support/postgres.ts'

describe('the configuration', () => {
  test('takes the password of the database from PGPASSWORD where its URL has none, and hides it', async () => {
    const folder = await temporaryFolder()
    const password = 'p@ss:w/o#r%41d'
    const read = (DATABASE_URL: string) => readConfig({}, { DATABASE_URL, PGPASSWORD: password }, folder)
    const config = read('postgres://me@db.example/wynn')
    expect(decodeURIComponent(new URL(config.databaseUrl ?? '').password)).toBe(password)
    expect(inspect(config)).not.toContain(encodeURIComponent(password))
    expect(read('postgres://me:own@db.example/wynn').databaseUrl).toBe('postgres://me:own@db.example/wynn')
    expect(readConfig({}, { PGPASSWORD: password }, folder).databaseUrl).toBeUndefined()
  })

  test('has a default for everything but the token and the server', async () => {
    expect(readConfig({}, {}, await temporaryFolder())).toMatchObject({
      databaseUrl: undefined,
      baseUrl: 'https://api.wynncraft.com/v3',
      token: undefined,
      logLevel: 'info',
      concurrency: 4,
      plausibleShare: 0.9,
      plausibleShares: {},
      zeroShare: 0.25,
      absences: 2,
    })
  })

  test('comes from flags, else the environment, else .env', async () => {
    const folder = await temporaryFolder()
    const url = (host: string) => `http://${host}/v3`
    await writeFile(
      join(folder, '.env'),
      `WYNNSYNC_BASE_URL=${url('c')}\nWYNNSYNC_TOKEN="from file"\nWYNNSYNC_ABSENCES=3\n`,
    )
    const environment = { WYNNSYNC_BASE_URL: url('b'), WYNNSYNC_ABSENCES: '' }
    expect(readConfig({ baseUrl: url('a') }, environment, folder).baseUrl).toBe(url('a'))
    expect(readConfig({}, environment, folder)).toMatchObject({ baseUrl: url('b'), token: 'from file', absences: 3 })
    expect(readConfig({}, {}, folder).baseUrl).toBe(url('c'))
  })

  test.each([
    ['0.5', 0.5, {}],
    ['0.8, online-players=0.25,items=1', 0.8, { 'online-players': 0.25, items: 1 }],
    ['guild-list=0', 0.9, { 'guild-list': 0 }],
  ])('reads the shares %j', async (text, plausibleShare, plausibleShares) => {
    const read = readConfig({}, { WYNNSYNC_PLAUSIBLE_SHARE: text }, await temporaryFolder())
    expect(read).toMatchObject({ plausibleShare, plausibleShares })
  })

  test('reads what is removed when a player restricts something', async () => {
    const folder = await temporaryFolder()
    expect(readConfig({}, {}, folder).privacy).toBe('anonymize')
    expect(readConfig({}, { WYNNSYNC_PRIVACY: 'delete' }, folder).privacy).toBe('delete')
    expect(() => readConfig({}, { WYNNSYNC_PRIVACY: 'keep' }, folder)).toThrow('must be anonymize or delete')
  })

  test('reads for how long raw answers are kept', async () => {
    const folder = await temporaryFolder()
    expect(readConfig({}, {}, folder)).toMatchObject({ raw: true, rawDays: {} })
    const given = { WYNNSYNC_RAW: 'off', WYNNSYNC_RAW_DAYS: 'guilds=7, item-sets=forever' }
    expect(readConfig({}, given, folder)).toMatchObject({ raw: false, rawDays: { guilds: 7, 'item-sets': Infinity } })
    for (const wrong of ['7', 'guilds=', 'guilds=-1', 'guilds=ever'])
      expect(() => readConfig({}, { WYNNSYNC_RAW_DAYS: wrong }, folder)).toThrow('WYNNSYNC_RAW_DAYS: must give days')
    expect(() => readConfig({}, { WYNNSYNC_RAW: 'yes' }, folder)).toThrow('WYNNSYNC_RAW: must be on or off')
  })

  test.each(['2', 'items', 'items=', '0.5,', '0.5;items=1', 'items=0.5=1'])('refuses the shares %j', async (text) => {
    const folder = await temporaryFolder()
    expect(() => readConfig({}, { WYNNSYNC_PLAUSIBLE_SHARE: text }, folder)).toThrow(
      'WYNNSYNC_PLAUSIBLE_SHARE: must lie between 0 and 1, such as 0.9 or 0.9,online-players=0.5',
    )
  })

  test('is refused with everything that is wrong at once, and without a credential', async () => {
    const wrong = {
      DATABASE_URL: 'mysql://me:s3cret@host/x',
      WYNNSYNC_BASE_URL: 'ftp://host',
      WYNNSYNC_LOG_LEVEL: 'loud',
      WYNNSYNC_ABSENCES: '0',
      WYNNSYNC_PLAUSIBLE_SHARE: '2',
      WYNNSYNC_CONCURRENCY: 'many',
      WYNNSYNC_TOKEN: 't0ken',
    }
    const folder = await temporaryFolder()
    const refused = (() => {
      try {
        return readConfig({}, wrong, folder)
      } catch (error) {
        return error
      }
    })()
    if (!(refused instanceof UsageError)) throw new Error('it was accepted')
    const lines = refused.message.split('\n').slice(1)
    expect(lines).toHaveLength(6)
    expect(lines[0]).toBe('  DATABASE_URL (--database-url): must look like postgres://user:password@host:5432/database')
    expect(lines.at(-1)).toContain('WYNNSYNC_CONCURRENCY (--concurrency)')
    expect(refused.message).not.toMatch(/s3cret|t0ken/)
  })

  test('is refused when .env cannot be read', async () => {
    const file = join(await temporaryFolder(), '.env')
    await writeFile(file, '')
    expect(() => readConfig({}, {}, file)).toThrow(UsageError)
  })
})
