import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { guildBody, guildId, syncGuild } from '../support/guild-answers.ts'
import { bothKinds } from '../support/postgres.ts'
import { serve } from '../support/web-world.ts'
import { worldOf } from '../support/world.ts'

describe.each(bothKinds)('moves of members on the %s database', (kind) => {
  const world = worldOf(kind)

  test('a change of sides is one row of the first page, and says from where', async () => {
    await syncGuild(world, guildBody('a', { 1: { rank: 'chief' }, 2: {}, 4: {} }), '10:00')
    await syncGuild(world, guildBody('b', { 3: {} }), '10:00')
    const later = { 1: { joined: '10:30' }, 3: { rank: 'chief' }, 5: { joined: '10:40' } }
    await syncGuild(world, guildBody('b', later), '11:00')
    // A leave is concluded from the second response without the member.
    for (const at of ['11:01', '12:00']) await syncGuild(world, guildBody('a', { 2: {} }), at)
    const { ask } = await serve(world)
    const { document } = parseHTML((await ask('/')).text)
    const rows = [...document.querySelectorAll('li')].flatMap((row) => {
      row.querySelector('time')?.remove()
      const text = row.textContent?.replaceAll(/\s+/g, ' ').trim() ?? ''
      return text.startsWith('Player') ? [text] : []
    })
    expect(rows.toSorted()).toEqual([
      'Player1 from Guild a to Guild b',
      'Player3 promoted to chief, Guild b',
      'Player4 left, Guild a',
      'Player5 joined as recruit, Guild b',
    ])
    const feed = (await ask('/feeds/guilds/bbb.atom')).text
    expect(feed).toContain('Player1 transferred from Guild a to Guild b')
    expect(feed).toContain('Player3 promoted from recruit to chief')
    expect((await ask('/feeds/guilds/aaa.atom')).text).toContain('Player4 left Guild a (some time after 1 Jun, 10:00)')
  })

  test('a change of sides says the name of the former guild, which is gone', async () => {
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner' }, 2: {} }), '10:00')
    await syncGuild(world, guildBody('b', { 3: {} }), '10:00')
    await syncGuild(world, guildBody('b', { 2: { joined: '10:30' }, 3: {} }), '11:00')
    for (const at of ['11:01', '12:00']) await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }), at)
    await world.db.query(`update game.guild set valid_until = '2026-06-01T12:10Z' where guild_uuid = $1`, [
      guildId('a'),
    ])
    const { ask } = await serve(world)
    expect((await ask('/feeds/guilds/bbb.atom')).text).toContain('Player2 transferred from Guild a to Guild b')
    expect(parseHTML((await ask('/')).text).document.querySelector('#moves')?.textContent).toContain('from Guild a to')
    const { document } = parseHTML((await ask('/guilds/bbb')).text)
    const rows = [...document.querySelectorAll('#moves tbody tr')].map((row) =>
      [1, 2, 5].map((place) => row.children[place]?.textContent),
    )
    expect(rows).toEqual([
      ['joined', 'Player2', 'Guild a'],
      ['transferred', 'Player2', 'Guild a'],
    ])
  })

  test('of many moves of a past period, who joined is among the latest although seen after it', async () => {
    const members = (rank: string) =>
      Object.fromEntries(Array.from({ length: 60 }, (_, nth) => [10 + nth, { rank }] as const))
    await syncGuild(world, guildBody('a', members('recruit')), '10:00')
    // So many are believed from the second response on.
    for (const at of ['11:00', '11:10']) await syncGuild(world, guildBody('a', members('captain')), at)
    const joined = { 1: { joined: '11:30' }, 2: { joined: '12:10' }, 3: { joined: '10:50' } }
    await syncGuild(world, guildBody('a', { ...members('captain'), ...joined }), '12:30')
    const { ask } = await serve(world)
    const { document } = parseHTML((await ask('/?from=2026-06-01T10:30:00Z&to=2026-06-01T12:00:00Z')).text)
    const moves = [...document.querySelectorAll('#moves li')].map(
      (row) => row.textContent?.replaceAll(/\s+/g, ' ').trim() ?? '',
    )
    expect(moves).toHaveLength(7)
    expect(moves[0]).toContain('Player1 joined as recruit')
    for (const move of moves.slice(1)) expect(move).toContain('promoted to captain')
  })
})
