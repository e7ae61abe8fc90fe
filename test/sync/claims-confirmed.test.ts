import { describe, expect, test } from 'vitest'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { PreparedBefore } from '../../src/sync/normalize/prepared-before.ts'
import { guildId, place } from '../support/guild-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const rest = { Elm: place('b', '09:00'), Ash: place('b', '09:00') }
const map = { ...rest, Oak: place('a', '08:00') }
const listOf = (letters: string) =>
  Object.fromEntries([...letters].map((one) => [guildId(one), { name: `Guild ${one}`, prefix: one.repeat(3) }]))

describe.each(kindsOfPart)('that a key is back, in the %s database,', (kind) => {
  const world = worldOf(kind)
  const claims = () => world.rows('select kind, subject, times from sync.claim order by kind, subject')

  test('is confirmed by a response with nothing new, where its records are remembered', async () => {
    const before = new PreparedBefore()
    await world.sync(guildList, listOf('abcd'), '10:00', { before })
    for (const at of ['11:00', '12:00']) await world.sync(guildList, listOf('abc'), at, { before })
    for (const at of ['13:00', '14:00', '15:00']) await world.sync(guildList, listOf('abcd'), at, { before })
    expect(await claims()).toEqual([])
    for (const at of ['20 11:00', '20 12:00']) await world.sync(guildList, listOf('abc'), at, { before })
    expect(await world.versions('guild_listing', 'guild_uuid')).toContainEqual([guildId('d'), '10:00', '20 11:00'])
  })

  test('is confirmed by a response that shows it otherwise', async () => {
    await world.sync(territories, map, '10:00')
    for (const at of ['10:00:10', '10:00:20']) await world.sync(territories, rest, at)
    await world.sync(territories, map, '10:00:30')
    for (const [at, treasury] of [
      ['10:01', 'Low'],
      ['10:02', 'High'],
      ['10:03', 'Low'],
    ] as const)
      await world.sync(territories, { ...rest, Oak: place('a', '08:00', { treasury }) }, at)
    expect(await claims()).toEqual([])
    for (const at of ['12:00', '12:00:10']) await world.sync(territories, rest, at)
    expect((await world.versions('territory', 'territory')).filter(([key]) => key === 'Oak')).toEqual([
      ['Oak', '10:00', '10:01'],
      ['Oak', '10:01', '10:02'],
      ['Oak', '10:02', '10:03'],
      ['Oak', '10:03', '12:00'],
    ])
  })
})
