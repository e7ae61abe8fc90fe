import { beforeAll, describe, expect, test } from 'vitest'
import { abilityTrees } from '../../src/resources/ability-trees/index.ts'
import { articles } from '../../src/resources/articles/index.ts'
import { aspects } from '../../src/resources/aspects/index.ts'
import { latestNews } from '../../src/resources/latest-news/index.ts'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { quests } from '../../src/resources/quests/index.ts'
import { videos } from '../../src/resources/videos/index.ts'
import { worldEvents } from '../../src/resources/world-events/index.ts'
import { planAbilities } from '../../src/sandbox/content/abilities.ts'
import { aspectsBody } from '../../src/sandbox/content/aspects.ts'
import { balanceChanges, patchInstants, questCount } from '../../src/sandbox/content/balance.ts'
import { announced, lootPoolsBody, worldEventStarts, worldEventsBody } from '../../src/sandbox/content/source.ts'
import type { Resource } from '../../src/sync/declare/resource.ts'
import { smallItemWorld } from '../support/item-world.ts'
import { testDatabase } from '../support/postgres.ts'
import { emptyTables, openWorld, type World } from '../support/world.ts'
import { type Board, readBoard, type Step, settled, stepsOf } from './true-content/boards.ts'
import { type Known, knownFrom, listsOf } from './true-content/published.ts'

const seed = 3
const hour = 3_600_000
const day = 24 * hour
const begin = Date.parse('2026-06-01T00:00:00Z')
const end = begin + 30 * day
/** In the first the pools rotate, in the second there is a balance patch. */
const outages = ['2026-06-10T18/2026-06-11T20', '2026-06-23T10/2026-06-24T08'].map((text) =>
  text.split('/').map((at) => Date.parse(`${at}:00:00Z`)),
)
/** Days on which a tenth of the requests fail at a gateway. */
const faulty = [4, 9, 15]
const boardTypes = ['guildLevel', 'guildTerritories', 'playerContent']

describe('of a month of pools, events, patches, news and leaderboards, each question has the answer of the true history', {
  timeout: 900_000,
}, () => {
  let world: World
  const polls: Record<string, number[]> = {}
  const boards: Board[] = []

  async function sync(resource: unknown, at: number): Promise<void> {
    const one = resource as Resource
    const { status, observedAt } = await world.syncNow(one)
    expect(status).not.toBe('rejected')
    if (status === 'ok' || status === 'unchanged')
      polls[one.name] = [...(polls[one.name] ?? []), observedAt ? Date.parse(observedAt) : at]
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
      if (nth % 24 === 6) await sync(abilityTrees, at)
      if (nth % 24 === 6) await sync(aspects, at)
      if (nth % 24 === 6) await sync(quests, at)
      if (nth % 24 === 9) for (const one of [articles, latestNews, videos]) await sync(one, at)
      if (nth % 36 === 5 && !faulty.includes(Math.floor(nth / 24))) {
        await sync(leaderboards, at)
        for (const type of boardTypes) boards.push(await readBoard(world.sandbox.url, type))
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
      expect([type, rows.slice(0, places.length)]).toEqual([type, places.map(({ place, name }) => [place, name])])
      // What one response alone lacked is not taken for empty.
      const next = boards.find((one) => one.type === type && one.at > at)
      if (next) expect(rows.length).toBeLessThanOrEqual(Math.max(places.length, next.places.length))
    }
    const moved = await world.rows(`select count(*) > 100 from game.leaderboard_place`)
    expect(moved).toEqual([[true]])
  })

  test('leaderboard_history: every step of everybody, and how much of the time is known', async () => {
    for (const type of boardTypes) {
      const seen = settled(boards.filter((one) => one.type === type))
      const everybody = [...new Set(seen.flatMap(({ places }) => places.flatMap(({ uuid }) => uuid ?? [])))]
      const truth = everybody.flatMap((uuid) => stepsOf(uuid, seen).map((step) => ({ uuid, ...step })))
      const rows = await world.db.query<Step & { uuid: string; time: Date; coverage: number | null }>(
        `select who.uuid, step.at as time, step.place, step.score, step.delta, step.coverage
           from unnest($1::text[]) as who(uuid)
          cross join lateral analytics.leaderboard_history($2, who.uuid, ${instant(begin)}, ${instant(end)}) step`,
        [everybody, type],
      )
      const steps = rows.map(({ uuid, time, place, score, delta }) => ({
        uuid,
        at: time.getTime(),
        place,
        score,
        delta,
      }))
      expect(steps).toEqual(truth)
      expect(truth.length).toBeGreaterThan(everybody.length)
      for (const { coverage } of rows) expect(coverage ?? 0.5).toBeLessThanOrEqual(1)
    }
  })

  test('news: what was published, edited and removed, when a response first showed it', async () => {
    const lists = listsOf(seed, begin)
    const truth = Object.entries(lists).flatMap(([name, listAt]) => knownFrom(polls[name] ?? [], listAt))
    const text = ({ kind, key, title, publishedAt, editedAt, removedAt }: Known) =>
      JSON.stringify([kind, key, title, publishedAt, editedAt, kind === 'news' ? null : removedAt])
    const rows = await world.db.query<Record<'publishedAt' | 'editedAt' | 'removedAt', Date | null> & Known>(
      `select kind, key, title, published_at as "publishedAt", edited_at as "editedAt", removed_at as "removedAt" from analytics.news`,
    )
    const told = rows.map((row) => {
      const ms = (name: 'publishedAt' | 'editedAt' | 'removedAt') => row[name]?.getTime() ?? null
      return text({ ...row, publishedAt: ms('publishedAt'), editedAt: ms('editedAt'), removedAt: ms('removedAt') })
    })
    expect(told.sort()).toEqual(truth.map(text).sort())
    for (const name of ['editedAt', 'removedAt'] as const)
      expect(truth.filter((one) => one.kind !== 'video' && one[name] !== null).length).toBeGreaterThan(3)
  })

  const questSteps = () =>
    pollsOf(quests).flatMap((at, nth) => {
      const before = pollsOf(quests)[nth - 1]
      if (before === undefined) return []
      const [old, young] = [before, at].map((until) => questCount(seed, { from: begin, until }))
      return old === young ? [] : [{ at, old, young }]
    })

  test('quest_change: each change of the number, when a response first showed it', async () => {
    expect(questSteps().length).toBe(2)
    const rows = await world.db.query<{ at: Date }>(
      'select changed_at as at, old_value as old, new_value as young from analytics.quest_change order by 1',
    )
    expect(rows.map((row) => ({ ...row, at: row.at.getTime() }))).toEqual(questSteps())
  })

  test('patch: how much each balance patch changed, and the article nearest to it', async () => {
    const changes = balanceChanges(seed, { from: begin, until: end })
    const shown = (resource: Resource, at: number) => pollsOf(resource).find((poll) => poll > at) ?? 0
    const published = knownFrom(pollsOf(articles), listsOf(seed, begin).articles ?? (() => []))
    const truth = patchInstants({ from: begin, until: end }).map((at, nth) => {
      const own = changes.filter((one) => one.at === at)
      const seenAt = [abilityTrees, aspects, quests].map((resource) => shown(resource, at))
      const [since, until] = [Math.min(...seenAt), Math.max(...seenAt)]
      const near = published.map(({ key, title, publishedAt }) => {
        const distance = Math.max(since - (publishedAt ?? 0), (publishedAt ?? 0) - until)
        return { key: Number(key), title, distance }
      })
      const [nearest] = near.sort((one, other) => one.distance - other.distance || one.key - other.key)
      const sizes = (of: 'mana' | 'percent') => own.reduce((sum, one) => sum + one[of].size, 0)
      const counts = [
        sizes('mana'),
        sizes('percent'),
        questSteps().filter((one) => one.at === shown(quests, at)).length,
      ]
      return [nth + 1, since, until, 0, ...counts, nearest?.title]
    })
    const rows = await world.db.values(
      `select patch, started_at, ended_at, items_changed, abilities_changed, aspects_changed, quests_changed, nearest_article
         from analytics.patch order by 1`,
    )
    expect(rows.map((row) => row.map((value) => (value instanceof Date ? value.getTime() : value)))).toEqual(truth)
  })
})
