import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { instantOf, worldOf } from '../support/world.ts'

describe.each(kindsOfPart)('what is claimed about a key that is over, in the %s database,', (kind) => {
  const world = worldOf(kind)
  const claims = () => world.rows('select resource, kind from sync.claim order by 1, 2')

  test('goes with a guild that the API does not know any more', async () => {
    await syncGuild(world, guildBody('b', { 8: { rank: 'owner' } }), '09:00')
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner' }, 2: {} }), '10:00')
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }), '10:10')
    expect(await claims()).toEqual([['guilds/members', 'missing']])
    world.sandbox.setAnswer(`/guild/uuid/${guildId('a')}`, () => ({ status: 404, body: { error: 'GuildNotFound' } }))
    for (const at of ['02 10:00', '03 10:00']) {
      await world.clock.advanceTo(instantOf(at))
      await syncGuilds(world, { keys: [guildId('a')] })
    }
    expect(await world.rows(`select count(*)::int from game.guild where valid_until = 'infinity'`)).toEqual([[1]])
    expect(await claims()).toEqual([])
  })

  test('goes with a version that ended otherwise', async () => {
    const rest = { Elm: place('b', '09:00'), Ash: place('b', '09:00') }
    await world.sync(territories, { ...rest, Oak: place('a', '08:00') }, '10:00')
    await world.sync(territories, rest, '10:00:10')
    for (const table of ['territory', 'territory_hold'])
      await world.db.query(`update game.${table} set valid_until = '2026-06-01T10:00:05Z' where territory = 'Oak'`)
    await world.db.query('update sync.run set living = 2')
    for (const at of ['10:00:20', '10:00:30']) await world.sync(territories, rest, at)
    expect(await claims()).toEqual([])
  })
})
