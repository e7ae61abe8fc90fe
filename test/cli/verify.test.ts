import { beforeAll, describe, expect, test } from 'vitest'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { openServer } from '../../src/db/server/server.ts'
import { afterwards } from '../support/afterwards.ts'
import { buildProgram, runProgram } from '../support/cli.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { recordingFolder } from '../support/recording-folder.ts'
import { item } from '../support/world.ts'

describe('verify', () => {
  beforeAll(buildProgram, 120_000)

  test('ends with 0 and changes nothing where all is right, with 3 and the rows where it is not, and with 2 where there is nothing', async () => {
    const url = await testDatabaseUrl({ migrated: false })
    const run = (...args: string[]) => runProgram(args, { DATABASE_URL: url })
    const nothing = await run('verify')
    expect([nothing.code, nothing.out]).toEqual([2, ''])
    const folder = await recordingFolder([
      { at: '10:00', path: '/item/database?fullResult', body: [item('Ash'), item('Elm')] },
    ])
    expect((await run('backfill', 'items', '--from', folder)).code).toBe(0)

    const right = await run('verify')
    expect([right.code, right.out]).toEqual([
      0,
      expect.stringMatching(/^\d+ checks of \d+ tables in .*: nothing is wrong\n$/),
    ])
    const db = await openServer(url)
    afterwards(() => db.close())
    await db.query('delete from sync.raw_body')
    const wrong = await run('verify')
    expect([wrong.code, wrong.out]).toEqual([3, expect.stringMatching(/archive response +sync\.raw_answer +1 /)])
    const document = jsonSchemas.verify.parse(JSON.parse((await run('verify', '--json')).out))
    expect(document.wrong).toBe(1)
    expect(document.checks.filter((check) => check.wrong > 0)).toEqual([
      expect.objectContaining({
        check: 'archive response',
        examples: [expect.objectContaining({ resource: 'items' })],
      }),
    ])
  })

  test('says of a repair only what it has put right', async () => {
    const url = await testDatabaseUrl()
    const run = (...args: string[]) => runProgram(args, { DATABASE_URL: url })
    const folder = await recordingFolder([{ at: '10:00', path: '/item/database?fullResult', body: [item('Ash')] }])
    expect((await run('backfill', 'items', '--from', folder)).code).toBe(0)
    const db = await openServer(url)
    afterwards(() => db.close())
    for (const name of ['order', 'after', 'end', 'start', 'chain'])
      await db.query(`alter table game.item drop constraint if exists item_${name} cascade`)
    await db.query(`update game.item set valid_until = valid_from - interval '1 h'`)
    const { code, out } = await run('verify', '--repair', '--yes', '--json')
    const { repaired, checks } = jsonSchemas.verify.parse(JSON.parse(out))
    expect([code, repaired, checks.flatMap(({ check, wrong }) => (wrong > 0 ? [check] : []))]).toEqual([
      3,
      [],
      ['chain'],
    ])
  })
})
