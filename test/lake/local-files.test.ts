import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { cp, mkdir, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { exportLake } from '../../src/lake/export.ts'
import { buildProgram, runProgram, startProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { readIndex, serve } from '../support/lake-folder.ts'
import { temporaryFolder, testDatabase, testDatabaseUrl } from '../support/postgres.ts'

describe('files of this machine during an import', () => {
  let lake: string
  beforeAll(async () => {
    await buildProgram()
    const db = await testDatabase('server')
    await db.query(
      `insert into game.quest_count (counted, quests, document, valid_from, hash)
       values ('Oak', 1, '{}', '2026-06-01T10:00Z', sha256('1'))`,
    )
    await db.query(`insert into sync.expectation values ('items', '2026-05-01Z', 60, 'sync')`)
    lake = join(await temporaryFolder(), 'lake')
    const options = { clock: virtualClock(Date.parse('2026-06-02Z')), program: 'test', people: true, keepMs: 0 }
    await exportLake(db, lake, { ...options, onProgress: () => {} })
  })

  test.each([
    ['pipe', (path: string) => void execFileSync('mkfifo', [path])],
    ['folder', (path: string) => mkdir(path)],
    ['device', (path: string) => symlink('/dev/zero', path)],
  ])('a %s in place of a file is refused, and the others are imported', async (_, make) => {
    const folder = join(await temporaryFolder(), 'lake')
    await cp(lake, folder, { recursive: true })
    const file = (await readIndex(folder))?.files.find(({ table }) => table === 'game.quest_count')
    const path = join(folder, file?.path ?? '')
    await rm(path)
    await make(path)
    const environment = { DATABASE_URL: await testDatabaseUrl() }
    const { code, out } = await runInside(['backfill', '--from-lake', folder, '--json'], environment)
    const { refused, tables } = JSON.parse(out)
    const reason = expect.stringMatching('no file but a folder, pipe or device|leads out of the lake|cannot be opened')
    expect([code, refused]).toEqual([3, [{ what: file?.path, reason }]])
    expect(tables.map((one: { table: string }) => one.table)).toContain('sync.expectation')
    // Once the file is there, the same call imports it.
    await rm(path, { recursive: true })
    await cp(join(lake, file?.path ?? ''), path)
    const again = await runInside(['backfill', '--from-lake', folder, '--json'], environment)
    expect([again.code, JSON.parse(again.out).refused]).toEqual([0, []])
  })

  /** A web server with the index only: it never answers for another file, or for none. */
  async function silent(isIndexThere: boolean) {
    const place = await serve(join(lake, '..'))
    const seen = { asked: 0 }
    const server = createServer((request, response) => {
      seen.asked++
      if (!isIndexThere || !request.url?.endsWith('/lake/index.json')) return
      void fetch(`${place}/index.json`).then(async (index) => response.end(await index.text()))
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return { seen, place: `http://127.0.0.1:${(server.address() as AddressInfo).port}/lake` }
  }

  test.each([true, false])('SIGTERM ends an import whose server does not answer (index: %s)', async (isIndexThere) => {
    const { seen, place } = await silent(isIndexThere)
    const environment = { DATABASE_URL: await testDatabaseUrl(), TMPDIR: await temporaryFolder() }
    const { child, finished } = startProgram(['backfill', '--from-lake', place], environment)
    while (seen.asked < (isIndexThere ? 2 : 1)) await delay(20)
    child.kill('SIGTERM')
    expect((await finished).code).not.toBe(0)
    expect(readdirSync(environment.TMPDIR)).toEqual([])
  })

  test('copies of a killed import are removed by the next call, those of a running one are not', async () => {
    const { seen, place } = await silent(true)
    const environment = { DATABASE_URL: await testDatabaseUrl(), TMPDIR: await temporaryFolder() }
    const killed = startProgram(['backfill', '--from-lake', place], environment)
    while (seen.asked < 2) await delay(20)
    const own = () => readdirSync(environment.TMPDIR).filter((name) => name.startsWith('wynnsync-lake-'))
    expect(own()).toHaveLength(1)
    const next = { ...environment, DATABASE_URL: await testDatabaseUrl() }
    expect((await runProgram(['backfill', '--from-lake', lake], next)).code).toBe(0)
    expect(own()).toHaveLength(1)
    killed.child.kill('SIGKILL')
    await killed.finished
    expect(own()).toHaveLength(1)
    expect((await runProgram(['backfill', '--from-lake', lake], next)).code).toBe(0)
    expect(own()).toEqual([])
  })
})
