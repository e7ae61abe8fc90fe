import { describe, expect, test } from 'vitest'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { guildId } from '../support/guild-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { headersOf, instantOf, worldOf } from '../support/world.ts'

const list = (letters: string) =>
  Object.fromEntries([...letters].map((letter) => [guildId(letter), { name: `Guild ${letter}`, prefix: letter }]))

describe.each(kindsOfPart)('a list of a wrong clock that is given up, on the %s database,', (kind) => {
  const world = worldOf(kind)

  test('does not keep a guild that it shows again: it ends where it had ended', async () => {
    await world.sync(guildList, list('abcdef'), '10:00')
    for (const at of ['11:00', '12:00', '10 10:00']) await world.sync(guildList, list('abcde'), at)
    await world.clock.advanceTo(instantOf('10 11:00'))
    world.sandbox.setAnswer(guildList.route, () => ({
      headers: headersOf(instantOf('11 10:00'), 60),
      body: list('abcdef'),
    }))
    expect(await world.syncNow(guildList)).toMatchObject({ status: 'ok', inserted: 1 })
    for (const at of ['10 12:00', '10 12:00']) await world.sync(guildList, list('abcde'), at)
    const guard = `select distinct action from sync.guard_action where guard = 'clock' order by 1`
    expect(await world.rows(guard)).toEqual([['given up']])
    for (const at of ['11 12:00', '12 13:00']) await world.sync(guildList, list('abcde1'), at)
    const ends = (await world.versions('guild_listing', 'guild_uuid')).map(([key, , until]) => [key, until])
    expect(ends.find(([key]) => key === guildId('f'))).toEqual([guildId('f'), '11:00'])
    expect(await world.rows('select living from sync.run order by started_at desc limit 1')).toEqual([[6]])
  })

  test('does not count what it lacked against a guild that the response shows for which it is given up', async () => {
    await world.sync(guildList, list('abcdef'), '10 09:00')
    await world.sync(guildList, list('abcde'), '10 10:00')
    await world.clock.advanceTo(instantOf('10 11:00'))
    world.sandbox.setAnswer(guildList.route, () => ({
      headers: headersOf(instantOf('11 10:00'), 60),
      body: list('abcde'),
    }))
    expect(await world.syncNow(guildList)).toMatchObject({ closed: 1 })
    await world.sync(guildList, list('abcdef'), '10 12:00')
    const guard = `select distinct action from sync.guard_action where guard = 'clock' order by 1`
    expect(await world.rows(guard)).toContainEqual(['given up'])
    expect(await world.rows('select * from sync.claim')).toEqual([])
    await world.sync(guildList, list('abcde'), '10 13:00')
    const ends = (await world.versions('guild_listing', 'guild_uuid')).map(([key, , until]) => [key, until])
    expect(ends).toContainEqual([guildId('f'), 'infinity'])
  })
})
