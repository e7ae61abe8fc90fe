import { beforeAll, describe, expect, test } from 'vitest'
import { openServer } from '../../src/db/server/server.ts'
import { buildProgram, startProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { item } from '../support/world.ts'

describe('wynnsync replay', () => {
  beforeAll(buildProgram, 120_000)

  test('shows what differs, changes nothing without --yes, and survives a kill', async () => {
    const sandbox = await servedApi()
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: sandbox.url }
    serveItems(sandbox, [item('Elm'), item('Oak')])
    expect(await runInside(['sync', 'items'], environment)).toMatchObject({ code: 0 })

    expect(await runInside(['replay'], environment)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/game\.item +0 +0 +2\n(?:.*\n)*1 responses; nothing differs\n$/),
    })
    const db = await openServer(environment.DATABASE_URL)
    try {
      // As if the program had understood less when it came.
      await db.query(`update game.item set lore = 'lost' where internal_name = 'Elm'`)
      const { code, out } = await runInside(['replay', 'items', '--json'], environment)
      const { tables, swapped } = JSON.parse(out)
      expect({ code, swapped, item: tables[0] }).toEqual({
        code: 0,
        swapped: false,
        item: { table: 'game.item', onlyBefore: 1, onlyAfter: 1, equal: 1 },
      })
      const killed = startProgram(['replay', 'items', '--yes'], environment)
      setTimeout(() => killed.child.kill('SIGKILL'), 600)
      await killed.finished
      const again = await runInside(['replay', 'items', '--yes'], environment)
      expect(again).toMatchObject({
        code: 0,
        out: expect.stringContaining('the tables are replaced by the rebuilt ones'),
      })
      expect(await db.values('select internal_name, lore from game.item order by 1')).toEqual([
        ['Elm', null],
        ['Oak', null],
      ])
      expect(await db.values(`select nspname from pg_namespace where nspname like '%replay'`)).toEqual([])
    } finally {
      await db.close()
    }
  })

  test('says why it leaves a resource alone, and keeps no raw answers when that is off', async () => {
    const sandbox = await servedApi()
    const environment = {
      DATABASE_URL: await testDatabaseUrl(),
      WYNNSYNC_BASE_URL: sandbox.url,
      WYNNSYNC_RAW: 'off',
    }
    serveItems(sandbox, [item('Elm')])
    expect(await runInside(['sync', 'items'], environment)).toMatchObject({ code: 0 })
    expect(await runInside(['replay', 'items'], environment)).toMatchObject({
      code: 1,
      out: '',
      err: 'items: left alone, it has no archive\n',
    })
    expect(await runInside(['replay', 'nonsense'], environment)).toMatchObject({ code: 2 })
  })
})
