import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { webWorld } from '../support/web-world.ts'

const [HOLDS, SESSIONS, BOARDS] = [205, 52, 40]

/** A minute of the tenth day. */
const minute = (nth: number) =>
  `10 ${String(Math.floor(nth / 60)).padStart(2, '0')}:${String(nth % 60).padStart(2, '0')}`

describe('what a page has no room for', () => {
  const web = webWorld('server', async (world) => {
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }), '10:00')
    const reward = (name: string, tier: string) => ({ name, tier, type: 'ITEM', amount: 1, always: false })
    const rewards = [reward('Ash Ring', 'RARE'), reward('Old Bow', 'MYTHIC'), reward('Pale Cap', 'FABLED')]
    await world.sync(lootPools, [{ name: 'Vault', internalName: 'vault', type: 'RAID', rewards }], '10:00')
    for (const at of ['10:00', '09 10:00']) await world.sync(territories, { Oak: place('c', '09:00') }, at)
    for (let nth = 0; nth < HOLDS; nth++)
      await world.sync(territories, { Oak: place(nth % 2 === 0 ? 'a' : 'b', minute(nth)) }, minute(nth))
    for (let nth = 0; nth < SESSIONS; nth++) {
      await syncOnline(world, onlineBody({ EU1: [1, 2] }), minute(300 + 4 * nth))
      await syncOnline(world, onlineBody({ EU1: [2] }), minute(302 + 4 * nth))
    }
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
    }
  }

  test('counts where the longest hold of a territory is said, and is said to be there', async () => {
    const { rows, text } = await pageOf('/territories/Oak')
    expect(text('#hold-list h3')).toMatch(/^Held longest by Guild c: 8 days from 1 Jun, 09:00, /)
    expect(rows('hold-list')).toBe(200)
    expect(text('#hold-list .note:last-child')).toBe(`The latest 200 of ${HOLDS + 1}; CSV of all.`)
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
