import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { openServer } from '../../src/db/server/server.ts'
import { buildProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { testDatabaseUrl } from '../support/postgres.ts'

beforeAll(buildProgram)

test('web-key prints a key once, keeps its hash, and refuses what it cannot do', async () => {
  const url = await testDatabaseUrl()
  const run = async (...args: string[]) => await runInside(['web-key', ...args], { DATABASE_URL: url })
  expect(await run('list')).toMatchObject({ code: 0, out: expect.stringContaining('no keys') })
  const other = JSON.parse((await run('add', 'a', '--json')).out)
  expect(jsonSchemas['web-key-add'].safeParse(other).error).toBeUndefined()
  expect(await run('remove', 'a', '--yes')).toMatchObject({ code: 0, out: 'removed a\n' })
  const added = await run('add', 'my bot', '--quiet')
  expect(added).toMatchObject({ code: 0, out: expect.stringMatching(/^[\w-]{43}\n$/), err: '' })
  const key = added.out.trim()
  expect(await run('add', 'my bot')).toMatchObject({ code: 2, err: expect.stringContaining('already') })
  expect(await run('add', '<b>')).toMatchObject({ code: 2, out: '' })
  const listed = await run('list', '--json')
  expect(jsonSchemas['web-key-list'].safeParse(JSON.parse(listed.out)).error).toBeUndefined()
  expect(JSON.parse(listed.out)).toEqual({ keys: [{ name: 'my bot', createdAt: expect.any(String) }] })
  const db = await openServer(url)
  const rows = await db.query('select name, hash from sync.web_key').finally(() => db.close())
  expect(rows).toEqual([{ name: 'my bot', hash: new Uint8Array(createHash('sha256').update(key).digest()) }])
  expect(await run('remove', 'my bot')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/: add --yes, or --dry-run/),
  })
  const dry = await run('remove', 'my bot', '--dry-run')
  expect(dry).toMatchObject({ code: 0, out: 'would remove my bot; nothing was changed\n' })
  expect((await run('list', '--json')).out).toBe(listed.out)
  expect(await run('remove', 'bot')).toMatchObject({ code: 2, err: expect.stringContaining('there are: my bot') })
  expect(await run('remove', 'my bot', '--yes')).toMatchObject({ code: 0, out: 'removed my bot\n' })
})
