import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exportLake } from '../../src/lake/export.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { place, playerId } from '../support/guild-answers.ts'
import { readIndex } from '../support/lake-folder.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { temporaryFolder } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const world = worldOf('server')

test('a page beside a lake names what is in it, with files that are there, and no player', async () => {
  const folder = join(await temporaryFolder(), 'lake')
  const hostile = '<script>alert(1)</script>'
  const made = async (program: string) => {
    const options = { clock: world.clock, program, people: false, keepMs: 0, onProgress: () => {} }
    await exportLake(world.db, folder, options)
    return readFileSync(join(folder, 'index.html'), 'utf8')
  }
  await world.sync(territories, { [hostile]: place('a', '07:00') }, '08:00')
  await syncOnline(world, onlineBody({ EU1: [1, 2] }), '08:00')
  await made('1.0')
  await world.sync(territories, { [hostile]: place('b', '08:05') }, '08:10')
  const page = await made('2.0')
  const index = await readIndex(folder)
  const files = index?.files ?? []
  expect(files.length).toBeGreaterThan(5)

  const links = [...page.matchAll(/<a href="([^"]+)"/g)].map(([, path = '']) => path)
  expect(links.filter((path) => !existsSync(join(folder, path)))).toEqual([])
  expect(links.filter((path) => path.endsWith('.parquet')).sort()).toEqual(files.map(({ path }) => path).sort())
  for (const { table, rows } of files.filter(({ month }) => month === null))
    expect(page).toContain(`${table}: ${rows} rows, `)
  expect(page).toContain('When it happened: acquired of the hold')
  expect(page).toContain('Written by wynnsync 2.0.')
  for (const row of [hostile, playerId(1)]) expect(page).not.toContain(row)
})
