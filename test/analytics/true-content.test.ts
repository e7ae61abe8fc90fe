import { beforeAll, describe, expect, test } from 'vitest'
import { abilityTrees } from '../../src/resources/ability-trees/index.ts'
import { aspects } from '../../src/resources/aspects/index.ts'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { worldEvents } from '../../src/resources/world-events/index.ts'
import { planAbilities } from '../../src/sandbox/content/ability-plan.ts'
import { aspectsBody } from '../../src/sandbox/content/aspects.ts'
import { balanceChanges } from '../../src/sandbox/content/balance.ts'
import { announced, lootPoolsBody, worldEventStarts, worldEventsBody } from '../../src/sandbox/content/happenings.ts'
import type { Resource } from '../../src/sync/resource.ts'
import { smallItemWorld } from '../support/item-world.ts'
import { testDatabase } from '../support/postgres.ts'
import { emptyTables, openWorld, type World } from '../support/world.ts'

const seed = 3
const hour = 3_600_000
const day = 24 * hour
const begin = Date.parse('2026-06-01T00:00:00Z')
const end = begin + 25 * day
/** In the first the pools rotate, in the second there is a balance patch. */
const outages = ['2026-06-10T18/2026-06-11T20', '2026-06-23T10/2026-06-24T08'].map((text) =>
  text.split('/').map((at) => Date.parse(`${at}:00:00Z`)),
)
/** Days on which a tenth of the requests fail at a gateway. */
const faulty = [4, 9, 15]

interface Board {
  readonly type: string
  readonly at: number
  readonly places: readonly (readonly [place: number, name: string | null])[]
}

describe('of weeks of pools, events, patches and leaderboards, each question has the answer of the true history', {
  timeout: 900_000,
}, () => {
  let world: World
  const polls: Record<string, number[]> = {}
  const boards: Board[] = []

  async function sync(resource: unknown, at: number): Promise<void> {
    const one = resource as Resource
    const { status } = await world.syncNow(one)
    expect(status).not.toBe('rejected')
    if (status === 'ok' || status === 'unchanged') polls[one.name] = [...(polls[one.name] ?? []), at]
  }

  async function noteBoards(at: number): Promise<void> {
    for (const type of ['guildLevel', 'guildTerritories', 'playerContent']) {
      const body = (await (await fetch(`${world.sandbox.url}/leaderboards/${type}`)).json()) as Record<
        string,
        { name: string }
      >
      const places = Object.entries(body).map(
        ([place, { name }]) => [Number(place), name === 'redacted' ? null : name] as const,
      )
      boards.push({ type, at, places })
    }
  }

  beforeAll(async () => {
    const db = await testDatabase('server')
    await emptyTables(db)
    const game = { guilds: 40, players: 120, resourceSeconds: 86_400 }
    world = await openWorld(db, { seed, game, items: smallItemWorld() }, begin)
    for (let nth = 0; begin + nth * hour < end; nth++) {
      const at = begin + nth * hour
      if (outages.some(([from = 0, to = 0]) => at >= from && at < to)) continue
      if (at > world.clock.now()) await world.clock.advanceTo(at)
      world.sandbox.setFaults(faulty.includes(Math.floor(nth / 24)) ? { gateway: 0.1 } : null, nth)
      await sync(worldEvents, at)
      if (nth % 6 === 0) await sync(lootPools, at)
      if (nth % 12 === 6) await sync(abilityTrees, at)
      if (nth % 12 === 6) await sync(aspects, at)
      if (nth % 36 === 5 && !faulty.includes(Math.floor(nth / 24))) {
        await sync(leaderboards, at)
        await noteBoards(world.clock.now())
      }
    }
  }, 1_800_000)

  const pollsOf = (resource: Resource) => polls[resource.name] ?? []
  const instant = (at: number) => `'${new Date(at).toISOString()}'`

  test('world_event_schedule: every start that a response announced, and no other', async () => {
    const starts = worldEventStarts(seed, begin, end)
    const seen = starts.filter(({ at }) => pollsOf(worldEvents).some((poll) => poll >= at - announced && poll < at))
    expect(seen.length).toBeGreaterThan(2000)
    expect(seen.length).toBeLessThan(starts.length)
    const rows = await world.db.query<{ name: string; at: Date; level: number | null }>(
      `select internal_name as name, at, level from analytics.world_event_schedule(${instant(begin)}, ${instant(end)})`,
    )
    const text = (name: string, at: number) => `${name} ${new Date(at).toISOString()}`
    expect(rows.map(({ name, at }) => text(name, at.getTime())).sort()).toEqual(
      seen.map(({ name, at }) => text(name, at)).sort(),
    )
    const levels = new Map(worldEventsBody(seed, begin).map(({ internalName, level }) => [internalName, level]))
    for (const { name, level } of rows) expect(level).toBe(levels.get(name))
  })

  test('loot_pool_at: what each pool had by the last response', async () => {
    const { items } = smallItemWorld()
    for (let at = begin + 5 * hour; at < end; at += 29 * hour) {
      const poll = pollsOf(lootPools).findLast((one) => one < at - hour) ?? 0
      const truth = lootPoolsBody(seed, undefined, items, poll).flatMap(({ name, rewards }) =>
        rewards.map((one) => `${name}/${one.name}`),
      )
      const rows = await world.rows(
        `select pool || '/' || reward from analytics.loot_pool_at(${instant(at - hour + 1)})`,
      )
      expect(rows.flat().sort()).toEqual(truth.sort())
    }
  })

  test('reward_appearance: how often each reward came', async () => {
    const { items } = smallItemWorld()
    const times = new Map<string, number>()
    let before = new Set<string>()
    for (const poll of pollsOf(lootPools)) {
      const now = new Set(
        lootPoolsBody(seed, undefined, items, poll).flatMap(({ name, rewards }) =>
          rewards.map((one) => `${name}/${one.name}`),
        ),
      )
      for (const one of now) if (!before.has(one)) times.set(one, (times.get(one) ?? 0) + 1)
      before = now
    }
    const rows = await world.rows(`select pool || '/' || reward, times from analytics.reward_appearance`)
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(times))
  })

  test('ability_change and aspect_change: what each balance patch changed, when a response first showed it', async () => {
    const changes = balanceChanges(seed, { from: begin, until: end })
    expect(new Set(changes.map(({ at }) => at)).size).toBe(2)
    const shown = (resource: Resource, at: number) => pollsOf(resource).find((poll) => poll > at) ?? 0
    const abilities = changes.flatMap(({ at, class: name, mana }) =>
      [...mana.keys()].map((id) => {
        const named = planAbilities(seed, name).abilities.find((one) => one.id === id)?.name
        return `${new Date(shown(abilityTrees, at)).toISOString().slice(0, 13)} ${name} ${named}`
      }),
    )
    const at = `to_char(date_trunc('hour', changed_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24')`
    const rows = await world.rows(`select ${at} || ' ' || class || ' ' || name from analytics.ability_change`)
    expect(rows.flat().sort()).toEqual(abilities.sort())
    const names = changes.flatMap(({ at: patch, class: name, percent }) =>
      aspectsBody(seed, name, new Map())
        .filter(({ internalName }) => percent.has(internalName))
        .map((one) => `${new Date(shown(aspects, patch)).toISOString().slice(0, 13)} ${name} ${one.name}`),
    )
    const changed = await world.rows(
      `select distinct ${at} || ' ' || class || ' ' || name from analytics.aspect_change`,
    )
    expect(changed.flat().sort()).toEqual(names.sort())
  })

  test('leaderboard_at: who was on which place at each response', async () => {
    expect(boards.length).toBeGreaterThan(30)
    for (const { type, at, places } of boards) {
      const rows = await world.rows(`select place, name from analytics.leaderboard_at('${type}', ${instant(at)})`)
      expect([type, rows.slice(0, places.length)]).toEqual([type, places])
      // What one response alone lacked is not taken for empty.
      const next = boards.find((one) => one.type === type && one.at > at)
      if (next) expect(rows.length).toBeLessThanOrEqual(Math.max(places.length, next.places.length))
    }
    const moved = await world.rows(`select count(*) > 100 from game.leaderboard_place`)
    expect(moved).toEqual([[true]])
  })
})
