import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { buildProgram, runProgram } from '../support/cli.ts'
import { temporaryFolder } from '../support/postgres.ts'
import { recordingFolder } from '../support/recording-folder.ts'
import { item } from '../support/world.ts'

beforeAll(buildProgram, 120_000)

test('a backup is restored into a new folder, and into no other place than an empty database', async () => {
  const folder = await temporaryFolder()
  const run = (...args: string[]) => runProgram([...args, '--data-dir', join(folder, 'data')], {}, folder)
  const recordings = await recordingFolder([
    { at: '10:00', path: '/item/database?fullResult', body: [item('Ash'), item('Elm')] },
  ])
  expect((await run('backfill', 'items', '--from', recordings)).code).toBe(0)
  const planned = jsonSchemas.backup.parse(JSON.parse((await run('backup', './backup', '--dry-run', '--json')).out))
  expect([planned.dryRun, planned.written > 0]).toEqual([true, true])
  expect((await run('restore', './backup')).code).toBe(2)
  const written = jsonSchemas.backup.parse(JSON.parse((await run('backup', './backup', '--json')).out))
  expect(written).toMatchObject({ rows: planned.rows, files: planned.files })
  const again = await run('backup', './backup')
  expect([again.code, again.out]).toEqual([0, expect.stringMatching(/^0 rows in 0 files written in /)])

  const restore = (...args: string[]) =>
    runProgram(['restore', './backup', ...args, '--data-dir', join(folder, 'restored')], {}, folder)
  const restored = await restore('--json')
  expect([restored.code, restored.err]).toEqual([0, expect.any(String)])
  expect(jsonSchemas.restore.parse(JSON.parse(restored.out))).toMatchObject({
    rows: written.rows,
    wrong: 0,
    resumed: 0,
  })
  const full = await restore()
  expect([full.code, full.err]).toEqual([2, expect.stringContaining('a restore needs an empty database')])
  const asked = await runProgram(['query', 'item', '--json', '--data-dir', join(folder, 'restored')], {}, folder)
  expect(JSON.parse(asked.out)).toHaveLength(2)
  // A new database in the folder of a lost one has nothing of it.
  await rm(join(folder, 'data'), { recursive: true })
  expect((await run('migrate')).code).toBe(0)
  const emptied = await run('backup', './backup')
  expect([emptied.code, emptied.err]).toEqual([2, expect.stringContaining('is the backup of another database')])
  // One that was restored goes on with the backup.
  const goesOn = await runProgram(['backup', './backup', '--data-dir', join(folder, 'restored')], {}, folder)
  expect([goesOn.code, goesOn.err]).toEqual([0, expect.any(String)])

  const first = await runProgram(
    ['restore', './none', '--if-any', '--json', '--data-dir', join(folder, 'new')],
    {},
    folder,
  )
  expect(jsonSchemas.restore.parse(JSON.parse(first.out))).toMatchObject({ at: null, rows: 0 })
  expect([first.code, (await run('restore', './none')).code]).toEqual([0, 2])
  for (const place of ['', 'https://example.org/backup'])
    expect((await runProgram(['backup', place, '--data-dir', join(folder, 'data')], {}, folder)).code).toBe(2)
})
