import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { openServer } from '../../src/db/server/server.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { buildProgram, type Environment } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { guildBody, guildId, place, syncGuild } from '../support/guild-answers.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { openWorld } from '../support/world.ts'

beforeAll(buildProgram)

describe('wynnsync report', () => {
  let environment: Environment
  let folder: string
  const report = (...args: string[]) => runInside(['report', ...args], environment, folder)

  beforeAll(async () => {
    environment = { DATABASE_URL: await testDatabaseUrl() }
    folder = await temporaryFolder()
    const db = await openServer(environment.DATABASE_URL ?? '')
    const world = await openWorld(db)
    for (const letter of ['a', 'b']) {
      await syncGuild(world, guildBody(letter, { 1: { rank: 'owner' } }, { prefix: 'two' }), '10:00')
    }
    await Promise.all([world.api.close(), world.sandbox.close(), db.close()])
  })

  test('writes report.html into the working directory and its path on stdout', async () => {
    const { code, out, err } = await report('--quiet')
    expect([code, out, err]).toEqual([0, `${join(folder, 'report.html')}\n`, ''])
    expect(await readFile(join(folder, 'report.html'), 'utf8')).toMatch(/^<!doctype html>/)
  })

  test('takes a guild by its name, a period and a file; tells them as JSON', async () => {
    const period = ['--from', '2026-06-01', '--to', '2026-06-02']
    const { code, out } = await report('--guild', 'Guild b', ...period, '--out', 'b.html', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({
      path: join(folder, 'b.html'),
      from: '2026-06-01T00:00:00.000Z',
      to: '2026-06-02T00:00:00.000Z',
      guild: guildId('b'),
      bytes: expect.any(Number),
    })
    const page = await readFile(join(folder, 'b.html'), 'utf8')
    expect(page).toContain('Guild b [two]')
    expect(page).toContain('<main class="brief">')
    await report('--tables', '--out', 'b.html')
    expect(await readFile(join(folder, 'b.html'), 'utf8')).toContain('<main class="">')
  })

  test.each([
    [
      ['--guild', 'two'],
      [guildId('a'), guildId('b')],
    ],
    [['--guild', 'nobody'], ['--guild: guild not found: nobody']],
    [['--from', 'yesterweek'], ['--from must be an instant']],
  ])('%j is wrong usage, and says what', async (args, messages) => {
    const { code, out, err } = await report(...args)
    expect([code, out]).toEqual([2, ''])
    for (const message of messages) expect(err).toContain(message)
  })

  test('a guild with the largest part of the map holds the most of it, and most only from a majority on', async () => {
    const db = await openServer(environment.DATABASE_URL ?? '')
    const world = await openWorld(db)
    const titles: string[] = []
    for (const [holders, at] of [
      ['aabc', '11:00'],
      ['aaac', '12:00'],
    ] as const) {
      const places = [...holders].map((guild, nth) => [`Place ${nth}`, place(guild, at)])
      await world.sync(territories, Object.fromEntries(places), at)
      expect((await report('--out', 'map.html')).code).toBe(0)
      const page = await readFile(join(folder, 'map.html'), 'utf8')
      titles.push(/<figure id="map"[\s\S]*?<h3>(.*?)<\/h3>/.exec(page)?.[1] ?? page)
    }
    await Promise.all([world.api.close(), world.sandbox.close(), db.close()])
    expect(titles).toEqual([
      'Guild a holds the most: 2 of 4 territories',
      'Guild a holds most of the map: 3 of 4 territories',
    ])
  })

  test('a file that cannot be written is a failure', async () => {
    const { code, err } = await report('--out', join(folder, 'nowhere', 'x.html'))
    expect(code).toBe(1)
    expect(err).toMatch(/the report cannot be written to .*x\.html: ENOENT/)
  })
})
