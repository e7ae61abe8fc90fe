import { beforeAll, describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import type { GameHistory } from '../../src/sandbox/index.ts'
import { effort } from '../support/effort.ts'
import { syncGuilds } from '../support/guild-answers.ts'
import { testDatabase } from '../support/postgres.ts'
import { isHidden, visibleMembers, visibleTerritories } from '../support/true-history.ts'
import { openWorld, type World } from '../support/world.ts'

const start = Date.parse('2026-06-01T12:00:00Z')
/** How often the map is asked for, in seconds: in CI at every third answer. */
const pace = effort.gameHours > 1 ? 10 : 30
const polls = (effort.gameHours * 3600) / pace

const text = (value: unknown) => (value instanceof Date ? value.toISOString() : value)
const inOrder = (rows: readonly (readonly unknown[])[]) => [...rows].sort((a, b) => (String(a) < String(b) ? -1 : 1))

describe(`${effort.gameHours} hours of the simulated game, polled every ${pace} seconds`, () => {
  let world: World
  let history: GameHistory
  let firstNames: string[]
  const polled: number[] = []
  const guilds: string[] = []

  beforeAll(async () => {
    world = await openWorld(await testDatabase('server'), { game: {}, seed: 3 }, start)
    const first = await world.api.guilds.territories()
    firstNames = Object.keys(first.body)
    const holders = world.sandbox.history().holds.filter(({ until }) => until === null)
    guilds.push(...[...new Set(holders.map(({ guild }) => guild))].slice(0, 15))
    for (let nth = 0; nth < polls; nth++) {
      await world.clock.advanceTo(start + nth * pace * 1000)
      const { status, observedAt, quarantined, error } = await world.syncNow(territories)
      expect([['ok', 'unchanged'].includes(status), quarantined, error]).toEqual([true, 0, undefined])
      polled.push(Date.parse(observedAt ?? ''))
      const guild = guilds[(pace === 10 ? nth / 2 : nth) % guilds.length]
      if (guild === undefined) continue
      const asked = await syncGuilds(world, { keys: [guild] })
      expect([asked.quarantined, asked.rejected, asked.error]).toEqual([0, 0, undefined])
    }
    history = world.sandbox.history()
    return async () => {
      await world.api.close()
      await world.sandbox.close()
    }
  }, 7_200_000)

  test('every capture that was visible between two polls is there once, at the right second', async () => {
    const expected = visibleTerritories(history, polled, firstNames)
    const rows = await world.db.values(
      `select territory, captured_at, observed_at, from_guild_uuid::text, to_guild_uuid::text, is_recapture from analytics.territory_capture`,
    )
    expect(inOrder(rows.map((row) => row.map(text)))).toEqual(inOrder(expected.captures))
    expect(rows.length).toBeGreaterThan(effort.gameHours * 20)
  })

  test('every hold has the right ends', async () => {
    const expected = visibleTerritories(history, polled, firstNames)
    const rows = await world.db.values(
      'select territory, held_from, held_until, guild_uuid::text from analytics.territory_hold',
    )
    expect(inOrder(rows.map((row) => row.map(text)))).toEqual(inOrder(expected.holds))
  })

  test('every joining, leaving and change of rank that answers could show is there once', async () => {
    let checked = 0
    for (const guild of guilds) {
      const answers = await world.db.query<{ at: Date }>(
        `select distinct observed_at as at from sync.observation where key = $1 and status in ('ok', 'unchanged') order by 1`,
        [guild],
      )
      const instants = answers.map(({ at }) => at.getTime())
      const confirmed = new Date(instants.at(-1) ?? 0)
      // Who is missing from the last answer only may still be there.
      const expected = visibleMembers(history, guild, instants).filter(
        ([event, at]) => !(event === 'left' && at === confirmed.toISOString()),
      )
      const rows = await world.db.query<Record<'event' | 'player' | 'from' | 'to', string> & { at: Date }>(
        `select event, observed_at as at, player_uuid::text as player, coalesce(from_rank, '') as from, coalesce(to_rank, '') as to
           from analytics.membership_event where guild_uuid = $1 and event <> 'transferred'`,
        [guild],
      )
      const found = rows.map(({ event, at, player, from, to }) => [
        event === 'promoted' || event === 'demoted' ? 'rank' : event,
        at.toISOString(),
        player,
        from,
        to,
      ])
      expect(inOrder(found)).toEqual(inOrder(expected))
      checked += expected.length
    }
    expect(checked).toBeGreaterThan(0)
  })

  test('joining is dated by the game, to the second', async () => {
    const joined = new Set(
      history.memberships
        .filter(({ event }) => event === 'joined' || event === 'transferred')
        .map(({ guild, player, at }) => `${guild} ${player} ${new Date(at).toISOString()}`),
    )
    const rows = await world.db.query<{ guild: string; player: string; at: Date }>(
      `select guild_uuid::text as guild, player_uuid::text as player, at from analytics.membership_event where event = 'joined'`,
    )
    expect(rows.filter(({ guild, player, at }) => !joined.has(`${guild} ${player} ${at.toISOString()}`))).toEqual([])
  })

  test('nobody who hides is called offline, and nobody else is unknown', async () => {
    const samples = await world.db.query<{ player: string; at: Date; online: boolean | null }>(
      'select player_uuid::text as player, observed_at as at, online from game.member_presence',
    )
    const wrong = samples.filter(
      ({ player, at, online }) => isHidden(history, player, at.getTime()) !== (online === null),
    )
    expect(wrong).toEqual([])
    expect(samples.some(({ online }) => online === null)).toBe(true)
  })
})
