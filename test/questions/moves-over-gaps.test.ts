import { expect, test } from 'vitest'
import { movesFigure } from '../../src/drawing/guild/guild-moves.ts'
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
  // Those are of a period that has all of the gap.
  const whole = { from: new Date('2026-06-01T10:00:00Z'), to, guild: guildId('a'), writtenAt: to }
  expect((await movesFigure(world.db, guildId('a'), whole)).title).toBe('0 members joined, 3 left; 0 ranks changed')
})

test('what a response showed that was not believed alone may have happened before it', async () => {
  const show = (at: string, rank: string, joined: string) =>
    syncGuild(
      world,
      guildBody(
        'c',
        Object.fromEntries(
          [1, 2, 3, 4, 5, 6].map((player) => [player, player === 1 ? { rank: 'owner' } : { rank, joined }]),
        ),
      ),
      at,
    )
  for (const at of ['10:00', '10:10']) await show(at, 'recruit', '00:00')
  // So many have another rank, and came again: that takes two responses.
  for (const at of ['20 10:00', '20 10:10', '20 10:20']) await show(at, 'captain', '19 09:00')
  const events = await world.rows(
    `select distinct event, observed_at, not_before from analytics.membership_event where guild_uuid = '${guildId('c')}' order by 1`,
  )
  expect(events.map(([event, , notBefore]) => [event, notBefore])).toEqual([
    ['joined', '10:10'],
    ['left', '10:10'],
    ['promoted', '10:10'],
  ])
})

test('who left some time in a gap is not counted as still there at its end', async () => {
  const show = (at: string, ...players: readonly number[]) =>
    syncGuild(
      world,
      guildBody(
        'b',
        Object.fromEntries(
          players.map((player) => [
            player,
            player === 1 ? { rank: 'owner' } : { joined: `0${player} 09:00`, rank: 'recruit' },
          ]),
        ),
      ),
      at,
    )
  const retention = async () =>
    await world.rows(
      `select joined, still_after_30d, still_after_90d, unknown_after_30d, unknown_after_90d
         from analytics.member_retention('${guildId('b')}', '2026-06-01Z', '2026-07-01Z')`,
    )
  await show('01 10:00', 1)
  for (const at of ['05 10:00', '05 10:10']) await show(at, 1, 2, 3, 4, 5)
  expect(await retention()).toEqual([[4, null, null, 4, 4]])
  // Player3 is gone before 30 days, Player4 at some time in a gap of two months.
  for (const at of ['10 10:00', '10 10:10', '10 10:20']) await show(at, 1, 2, 4, 5)
  expect(await retention()).toEqual([[4, null, null, 3, 3]])
  for (const at of ['71 10:00', '71 10:10', '71 10:20']) await show(at, 1, 2, 5)
  expect(await retention()).toEqual([[4, 2, null, 1, 2]])
})

test('what one response shows of many who came again is no fall of their counters, before another one says so, too', async () => {
  const show = (at: string, joined: string, contributed: number) =>
    syncGuild(
      world,
      guildBody(
        'd',
        Object.fromEntries(
          [1, 2, 3, 4, 5, 6].map((player) => [
            player,
            player === 1 ? { rank: 'owner' } : { joined, contributed, globalData: { wars: 100 + contributed } },
          ]),
        ),
      ),
      at,
    )
  const ask = (from: string, to: string) =>
    world.rows(
      `select distinct contributed, given.quality, given.at_most, delta, counted.quality, counted.at_most
         from analytics.member_contribution('${guildId('d')}', '2026-06-20 ${from}Z', '2026-06-20 ${to}Z') given
         join analytics.member_counter('${guildId('d')}', 'wars', '2026-06-20 ${from}Z', '2026-06-20 ${to}Z') counted using (player_uuid)
        where given.username <> 'Player1'`,
    )
  for (const [at, contributed] of [
    ['20 12:00', 0],
    ['20 12:10', 30],
    ['20 12:20', 50],
  ] as const)
    await show(at, '00:00', contributed)
  await show('20 12:30', '20 12:25', 3)
  expect(await ask('12:00', '12:25')).toEqual([[50, 'exact', 50, 50, 'exact', 50]])
  // Whether it is of this stay, or of another one, is not known.
  expect(await ask('12:00', '12:35')).toEqual([[50, 'at_least', null, 50, 'at_least', null]])
  expect(await ask('12:31', '12:35')).toEqual([[null, 'unknown', null, null, 'unknown', null]])
  await show('20 12:40', '20 12:25', 7)
  expect(await ask('12:00', '12:25')).toEqual([[50, 'exact', 50, 50, 'exact', 50]])
  expect((await ask('12:00', '12:45')).map((one) => one.slice(0, 3))).toEqual([[57, 'exact', 57]])
})
