import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { webWorld } from '../support/web-world.ts'

const [HOLDS, SESSIONS, BOARDS, PATCHES] = [205, 52, 40, 203]

describe('what a page has no room for', () => {
  const web = webWorld('server', async (world) => {
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }), '10:00')
    const reward = (name: string, tier: string) => ({ name, tier, type: 'ITEM', amount: 1, always: false })
    const rewards = [reward('Ash Ring', 'RARE'), reward('Old Bow', 'MYTHIC'), reward('Pale Cap', 'FABLED')]
    await world.sync(lootPools, [{ name: 'Vault', internalName: 'vault', type: 'RAID', rewards }], '10:00')
    for (const at of ['10:00', '09 10:00']) await world.sync(territories, { Oak: place('c', '09:00') }, at)
    await syncOnline(world, onlineBody({ EU1: [2] }), '10 10:00')
    // Each hold and session a minute after the one before.
    await world.db.query(`update game.territory_hold set valid_until = '2026-06-10Z'`)
    await world.db.query(
      `insert into game.territory_hold (territory, guild_uuid, guild_name, valid_from, valid_until, previous_until, observed_at, document, hash)
       select 'Oak', holder.uuid, holder.name, at, case when nth < ${HOLDS} then at + interval '1 minute' else 'infinity' end, at, at, '{}', '\\x00'
         from generate_series(1, ${HOLDS}) nth
        cross join lateral (select timestamptz '2026-06-10Z' + make_interval(mins => nth - 1) as at) moment
         join (values (0, $1::uuid, 'Guild a'), (1, $2::uuid, 'Guild b')) holder(side, uuid, name) on holder.side = nth % 2`,
      [guildId('a'), guildId('b')],
    )
    await world.db.query(
      `insert into game.player_listing (player_uuid, first_listed_at, last_unlisted_at, last_listed_at, first_unlisted_at, world, last_world)
       select $1, at, at - interval '20 seconds', at + interval '20 seconds', at + interval '40 seconds', 'EU1', 'EU1'
         from generate_series(timestamptz '2026-06-10Z', timestamptz '2026-06-10Z' + make_interval(mins => ${SESSIONS - 1}), interval '1 minute') at`,
      [playerId(1)],
    )
    await world.db.query(
      `insert into game.field_change (resource, key, changed_at, path, old_value, new_value, is_revert)
       select 'items', 'bow', timestamptz '2025-06-01Z' + make_interval(days => nth), '/averageDps', to_jsonb(nth), to_jsonb(nth + 1), false
         from generate_series(1, ${PATCHES}) nth`,
    )
    // A player who went from the last place of each board to the first, and others on the places left behind.
    await world.db.query(
      `insert into game.leaderboard_place (type, place, player_uuid, name, score, observed_at)
       select 'board' || board, place, holder.uuid, holder.name, 1, timestamptz '2026-06-02Z' + make_interval(mins => 25 - place + holder.later)
         from generate_series(1, ${BOARDS}) board cross join generate_series(1, 25) place
        cross join (values ($1::uuid, 'Player1', 0), ($2::uuid, 'Player2', 1)) holder(uuid, name, later)
        where holder.later = 0 or place > 1`,
      [playerId(1), playerId(2)],
    )
  })
  const pageOf = async (path: string) => {
    const { ask } = await web.served()
    const { status, text } = await ask(path)
    expect([path, status]).toEqual([path, 200])
    const { document } = parseHTML(text)
    return {
      rows: (id: string) => document.querySelectorAll(`#${id} tbody tr`).length,
      text: (selector: string) => String(document.querySelector(selector)?.textContent),
      link: (selector: string) => String(document.querySelector(selector)?.getAttribute('href')),
    }
  }

  test('is of patches on a page of its own', async () => {
    const first = await pageOf('/patches')
    expect(first.text('h1')).toMatch(`${PATCHES} patches seen, the last on `)
    expect([first.rows('list'), first.text('#list h3')]).toEqual([
      200,
      expect.stringMatching(`^1 to 200 of ${PATCHES}. The latest: `),
    ])
    const rest = await pageOf(first.link('header p.at a'))
    expect([rest.rows('list'), rest.text('h1')]).toEqual([PATCHES - 200, first.text('h1')])
    // By another heading, those that come last are on the other page.
    const oldest = await pageOf('/patches?sort=-seen')
    expect(oldest.text('#list tbody tr')).toMatch(/^1\D?2025-06-02/)
    // A link to another period leads to its first page.
    expect(rest.link('.period > a')).not.toContain('page=')
  })

  test('counts where the longest hold of a territory is said, and is said to be there', async () => {
    const { rows, text } = await pageOf('/territories/Oak')
    expect(text('#hold-list h3')).toMatch(/^Held longest by Guild c: 8 days from 1 Jun, 09:00, /)
    expect(rows('hold-list')).toBe(100)
    expect(text('#hold-list .note:last-child')).toBe(`The latest 100 of ${HOLDS + 1}; CSV of all.`)
  })

  test('counts among the sessions of a player', async () => {
    const { rows, text } = await pageOf(`/players/${playerId(1)}`)
    expect([text('#session-list h3'), rows('session-list')]).toEqual(['More than 50 sessions, the latest on EU1', 50])
    expect(text('#session-list .note:last-child')).toBe('The latest 50; CSV')
  })

  test('counts among the places that a player has on leaderboards', async () => {
    const { rows, text } = await pageOf(`/players/${playerId(1)}`)
    expect([text('#board-list h3'), rows('board-list')]).toEqual([
      `${BOARDS} places on leaderboards, as last seen`,
      BOARDS,
    ])
  })

  test('is of loot what is not the rarest, by the tiers as the API spells them', async () => {
    expect((await pageOf('/?to=2026-06-01T11:00Z')).text('#loot ul')).toMatch(/Old Bow/)
  })
})
