import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { UsageError } from '../../src/errors.ts'
import { temporaryFolder } from '../support/postgres.ts'

describe('the configuration', () => {
  test('has a default for everything but the token and the server', async () => {
    expect(readConfig({}, {}, await temporaryFolder())).toMatchObject({
      databaseUrl: undefined,
      baseUrl: 'https://api.wynncraft.com/v3',
      token: undefined,
      logLevel: 'info',
      concurrency: 4,
      plausibleShare: 0.9,
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
