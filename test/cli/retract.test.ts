import { beforeAll, describe, expect, test } from 'vitest'
import { buildProgram, runProgram } from '../support/cli.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { recordingFolder } from '../support/recording-folder.ts'
import { item } from '../support/world.ts'

const request = '/item/database?fullResult'
const folderOf = (bodies: Readonly<Record<string, readonly object[]>>) =>
  recordingFolder(Object.entries(bodies).map(([at, body]) => ({ at, path: request, body: [...body] })))

describe('retract', () => {
  beforeAll(buildProgram, 120_000)

  test('takes back a folder of recordings, after it has shown what that comes to, and the folder can be loaded again', async () => {
    const DATABASE_URL = await testDatabaseUrl()
    const run = (...args: string[]) => runProgram([...args, '--json'], { DATABASE_URL })
    const names = async () => {
      const { out } = await run('query', 'item')
      return (JSON.parse(out) as { internal_name: string }[]).map((row) => row.internal_name).sort()
    }
    const right = await folderOf({ '10:00': [item('Ash'), item('Elm')] })
    const wrong = await folderOf({ '11:00': [item('Ash'), item('Elm'), item('Oak')] })
    for (const folder of [right, wrong]) expect((await run('backfill', 'items', '--from', folder)).code).toBe(0)
    expect(await names()).toEqual(['Ash', 'Elm', 'Oak'])

    const rehearsal = await run('retract', wrong, '--dry-run')
    expect(JSON.parse(rehearsal.out)).toMatchObject({
      source: wrong,
      kind: 'recordings',
      dryRun: true,
      resources: [
        {
          resource: 'items',
          responses: 1,
          tables: [
            { table: 'game.item', removed: 1 },
            { table: 'game.field_change', removed: 1 },
          ],
        },
      ],
    })
    expect(await names()).toEqual(['Ash', 'Elm', 'Oak'])
    // Without a terminal nobody can be asked.
    expect((await run('retract', wrong)).code).toBe(2)

    expect((await run('retract', wrong, '--yes')).code).toBe(0)
    expect(await names()).toEqual(['Ash', 'Elm'])
    const verified = await run('verify')
    expect([verified.code, verified.out]).toEqual([0, expect.anything()])
    const again = await run('retract', wrong, '--yes')
    expect([again.code, again.err]).toEqual([2, expect.stringContaining(`there are: ${right} (recordings, `)])
    expect((await run('backfill', 'items', '--from', wrong)).code).toBe(0)
    expect(await names()).toEqual(['Ash', 'Elm', 'Oak'])
  })

  test('takes back a period of a resource, and says which bounds it needs', async () => {
    const DATABASE_URL = await testDatabaseUrl()
    const run = (...args: string[]) => runProgram(args, { DATABASE_URL })
    const level = (level: number) => [{ ...item('Ash'), requirements: { level } }]
    const folder = await folderOf({ '10:00': level(1), '11:00': level(90), '12:00': level(1), '13:00': level(2) })
    expect((await run('backfill', 'items', '--from', folder)).code).toBe(0)
    const bounds = ['--from', '2026-06-01T11:00:00Z', '--to', '2026-06-01T12:00:00Z']
    for (const [args, message] of [
      [['items'], 'the period of items needs --from and --to'],
      [['items', ...bounds.slice(0, 2)], 'the period of items needs --from and --to'],
      [['items', '--from', '2026-06-02', '--to', '2026-06-01'], '--from must lie before --to'],
      [['nothing', ...bounds], '--from and --to belong to a resource, and nothing is none'],
      [['nothing'], 'source not found: nothing; there are: '],
    ] as const) {
      const { code, err } = await run('retract', ...args, '--yes')
      expect([code, err]).toEqual([2, expect.stringContaining(message)])
    }
    const { code, out } = await run('retract', 'items', ...bounds, '--yes')
    expect([code, out]).toEqual([0, expect.stringMatching(/items +responses +1/)])
    const { out: versions } = await runProgram(['query', 'item_change', '--json'], { DATABASE_URL })
    const changes = JSON.parse(versions) as { changed_at: string }[]
    expect(changes.map(({ changed_at }) => changed_at.slice(11, 16))).toEqual(['13:00'])
  })
})
