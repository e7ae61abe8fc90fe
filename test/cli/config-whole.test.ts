import { beforeAll, describe, expect, test } from 'vitest'
import { buildProgram, runProgram } from '../support/cli.ts'
import { temporaryFolder } from '../support/postgres.ts'

const wrong = {
  WYNNSYNC_SCHEDULE: 'moon=off; territories=61 * * * *',
  WYNNSYNC_RETENTION: 'all=1x; moon_sample=30d',
  WYNNSYNC_RAW_DAYS: 'moon=7',
  WYNNSYNC_PLAUSIBLE_SHARE: '0.9,moon=0.5',
  WYNNSYNC_USER_AGENT: 'a\u00e4',
  WYNNSYNC_ABSENCES: '0',
}

describe('a wrong configuration', () => {
  beforeAll(buildProgram, 120_000)

  test.each([
    ['doctor'],
    ['status'],
    ['sync'],
    ['start'],
    ['query', 'item'],
    ['report'],
    ['migrate'],
    ['backfill', 'items'],
  ])('is refused as a whole by %s %s, with everything that is wrong, and nothing is opened', async (...args) => {
    const dataDir = `${await temporaryFolder()}/data`
    const { code, out, err } = await runProgram(args.filter(Boolean), { ...wrong, WYNNSYNC_DATA_DIR: dataDir })
    expect([code, out]).toEqual([2, ''])
    for (const part of [
      /WYNNSYNC_SCHEDULE: moon=off: no resource is called moon/,
      /WYNNSYNC_SCHEDULE: territories=61 \* \* \* \*: /,
      /WYNNSYNC_RETENTION: all=1x: must look like/,
      /WYNNSYNC_RETENTION: moon_sample=30d: there are all, ledger/,
      /WYNNSYNC_RAW_DAYS: no resource is called moon/,
      /WYNNSYNC_PLAUSIBLE_SHARE: no resource is called moon/,
      /WYNNSYNC_USER_AGENT: must be printable ASCII/,
      /WYNNSYNC_ABSENCES: /,
    ])
      expect(err).toMatch(part)
  })
})
