import { describe, expect, test } from 'vitest'
import { guildBody, guildId, syncGuild } from '../support/guild-answers.ts'
import { profile, syncPlayer } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const shown = {
  playtime: 7,
  firstJoin: '2011-11-11T00:00:00.000Z',
  online: true,
  server: 'EU1',
  lastJoin: '09:00',
  characters: {},
}

describe.each(kindsOfLongTests)('a NULL in a view has its reason beside it, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const player = () => world.rows('select playtime_hours, first_join, online, restricted from analytics.player')
  const member = () => world.rows('select online, server, restricted from analytics.guild_member')
  const memberIs = (fields: object) => guildBody('a', { 1: { rank: 'owner', ...fields } })

  test('also when a guild says it of a player', async () => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    expect(await player()).toEqual([[7, expect.anything(), true, []]])
    await syncGuild(world, memberIs({ restrictions: { main_access: true, online_status: true } }), '10:10')
    expect(await player()).toEqual([[null, null, null, ['mainAccess', 'onlineStatus']]])
    await syncGuild(world, memberIs({}), '10:20')
    await syncPlayer(world, 1, profile(1, shown), '10:30')
    expect(await player()).toEqual([[7, expect.anything(), true, []]])
  })

  test('also when the API refuses the profile', async () => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    for (const at of ['10:10', '10:20']) await syncPlayer(world, 1, null, at, 403)
    expect(await player()).toEqual([[null, null, true, ['mainAccess']]])
  })

  test('also when the profile says it of a member', async () => {
    await syncGuild(world, memberIs({ online: true, server: 'EU1' }), '10:00')
    await syncPlayer(world, 1, profile(1, { restrictions: { onlineStatus: true } }), '10:10')
    expect(await member()).toEqual([[null, null, ['onlineStatus']]])
    const activity = `select status, reason from analytics.member_activity('${guildId('a')}', '2026-06-01 10:20Z')`
    expect(await world.rows(activity)).toEqual([['unknown', 'hides whether online']])
  })
})
