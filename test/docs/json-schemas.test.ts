import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { unknownFields } from '../../src/api/schemas/form/unknown.ts'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { buildProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { gitRepository } from '../support/git-repository.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'

beforeAll(buildProgram)

type Name = keyof typeof jsonSchemas

/** Every command whose `--json` has a schema, in an order in which each finds what it needs. */
const commands: readonly (readonly [Name, string])[] = [
  ['migrate', 'migrate'],
  ['sync', 'sync territories guild-list seasons online-players'],
  ['backfill-dry-run', 'backfill guilds --dry-run'],
  ['backfill', 'backfill guilds --limit 2'],
  ['status', 'status'],
  ['status-drift', 'status --drift'],
  ['runs', 'runs'],
  ['quarantine', 'quarantine --all'],
  ['doctor', 'doctor'],
  ['report', 'report'],
]

test('what --json prints is what docs/reference/json says, and no field more', async () => {
  const sandbox = await startSandbox({ seed: 5 })
  try {
    const environment = { DATABASE_URL: await testDatabaseUrl({ migrated: false }), WYNNSYNC_BASE_URL: sandbox.url }
    const hold = async (name: Name, args: readonly string[]) => {
      const { out, err } = await runInside([...args, '--json'], environment)
      const document: unknown = JSON.parse(out || 'null')
      const { error } = jsonSchemas[name].safeParse(document)
      expect([name, error?.issues ?? [], err]).toEqual([name, [], expect.any(String)])
      expect([name, unknownFields(jsonSchemas[name])(document)]).toEqual([name, []])
      return document
    }
    for (const [name, command] of commands) await hold(name, command.split(' '))
    const player = '00000000-0000-4000-8000-000000000001'
    await hold('privacy-show', ['privacy', 'show', player])
    await hold('privacy-purge', ['privacy', 'purge', player, '--dry-run'])
    await hold('lake-export', ['lake', 'export', join(await temporaryFolder(), 'lake')])
    const repository = await gitRepository([{ at: 0, files: { 'list.json': '{"Name":{"uuid":"a","prefix":"b"}}' } }])
    await hold('backfill-detect', ['backfill', '--from-git', repository, '--detect'])
    const target = await testDatabaseUrl({ migrated: false })
    await hold('move-dry-run', ['move', '--to', target, '--dry-run'])
    await hold('move', ['move', '--to', target])
    await hold('move-merge', ['move', '--to', target, '--merge', '--yes'])
  } finally {
    await sandbox.close()
  }
})
