import { expect, test } from 'vitest'
import { movesFigure } from '../../src/analytics/report/guild/guild-moves.ts'
import { guildBody, guildId, syncGuild } from '../support/guild-answers.ts'
import { worldOf } from '../support/world.ts'

const world = worldOf('server')

test('who left some time in a gap is counted in no cell of a chart, and the event says after which response', async () => {
  const show = (at: string, ...players: readonly number[]) =>
    syncGuild(
      world,
      guildBody(
        'a',
        Object.fromEntries(players.map((player) => [player, { rank: player === 1 ? 'owner' : 'recruit' }])),
      ),
      at,
    )
  await show('10:00', 1, 2, 3, 4, 5, 6, 7, 8)
  await show('10:10', 1, 2, 3, 4, 5, 6, 7, 8)
  for (const at of ['20 10:00', '20 10:10', '20 10:20']) await show(at, 1, 2, 3, 4, 5, 6)
  for (const at of ['20 10:30', '20 10:40']) await show(at, 1, 2, 3, 4, 5)
  expect(
    await world.rows(`select event, username, at, not_before from analytics.membership_event order by at, username`),
  ).toEqual([
    ['left', 'Player7', '20 10:00', '10:10'],
    ['left', 'Player8', '20 10:00', '10:10'],
    ['left', 'Player6', '20 10:30', '20 10:20'],
  ])
  const [from, to] = [new Date('2026-06-19T00:00:00Z'), new Date('2026-06-21T00:00:00Z')]
  const figure = await movesFigure(world.db, guildId('a'), { from, to, guild: guildId('a'), writtenAt: to })
  expect(figure.title).toBe('0 members joined, 1 left; 0 ranks changed')
  expect(figure.lead).toMatch(/Some time in .* \.\. .*, 2 left: counted in no cell\./)
})
