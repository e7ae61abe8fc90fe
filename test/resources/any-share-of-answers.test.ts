import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { guilds } from '../../src/resources/guilds/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { effort } from '../support/effort.ts'
import { guildBody, guildId, type MemberFields, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { kindsOfLongTests, testDatabase } from '../support/postgres.ts'
import { seedsOf } from '../support/seeds.ts'
import { emptyTables, instantOf, openWorld, timeOf, type World } from '../support/world.ts'

const minute = 60_000
const start = instantOf('10:00')
const clock = (at: number) => timeOf(new Date(at))
const iso = (at: number) => new Date(at).toISOString()

/** What happens in one minute, and which of the answers so far then arrives: the newest, none, or an older one. */
const step = record({
  who: constantFrom(0, 0, 1, 2),
  what: integer({ min: 0, max: 4 }),
  arrives: constantFrom<'now' | 'never' | number>('now', 'now', 'now', 'never', 1, 2, 3),
  repeats: constantFrom(1, 1, 2),
})
const steps = array(step, { minLength: 4, maxLength: 14 })

/** The answers as they arrive, each as `[speaks for, what it says]`. */
function arrivals<S>(
  told: readonly { at: number; state: S }[],
  plan: readonly { arrives: unknown; repeats: number }[],
) {
  return plan.flatMap(({ arrives, repeats }, nth) => {
    const one = arrives === 'never' ? undefined : told[arrives === 'now' ? nth : nth - Number(arrives)]
    return one ? Array.from({ length: repeats }, () => one) : []
  })
}

interface Member {
  readonly rank: string
  readonly joined: number
}

/**
 * Where the rank that an answer shows may be missing, and which one is there instead, by member and instant. A rank that is back, the one
 * before the last, may be that of an old copy. It waits for an answer of another cache window, and for as long as the last one was shown,
 * up to an hour. Where an answer shows the last one again before that, the last one was there throughout.
 */
function takenBack(
  answers: readonly { at: number; state: ReadonlyMap<number, Member> }[],
): ReadonlyMap<string, string> {
  const taken = new Map<string, string>()
  const spells = new Map<string, { rank: string; from: number; waits: number; shownAt: number[] }[]>()
  for (const { at, state } of answers)
    for (const [one, { rank, joined }] of state) {
      const runs = spells.get(`${one} ${joined}`) ?? []
      spells.set(`${one} ${joined}`, runs)
      const [before, last] = [runs.at(-2), runs.at(-1)]
      if (last?.rank === rank) {
        if (at - last.from >= last.waits) last.waits = 0
        last.shownAt.push(at)
      } else if (last && last.waits > 0 && before?.rank === rank) {
        for (const shownAt of last.shownAt) taken.set(`${one} ${shownAt}`, rank)
        runs.pop()
        before.shownAt.push(...last.shownAt, at)
      } else {
        const isBack = last !== undefined && before?.rank === rank
        const waits = isBack ? Math.max(guilds.cacheSeconds * 1000, Math.min(at - last.from + 1, 60 * minute)) : 0
        runs.push({ rank, from: at, waits, shownAt: [at] })
      }
    }
  return taken
}

const seeds = seedsOf(import.meta.filename)

describe.each(kindsOfLongTests)('any share of the answers, in any order, on the %s database', (kind) => {
  let world: World
  beforeAll(async () => {
    world = await openWorld(await testDatabase(kind))
    return async () => {
      await world.api.close()
      await world.sandbox.close()
    }
  })

  test.each(seeds)('shows no capture and no holder that was not (seed %i)', async (seed) => {
    const names = ['Oak', 'Elm', 'Ash']
    const property = asyncProperty(steps, async (plan) => {
      await emptyTables(world.db)
      const state = new Map<string, { guild: string | null; since: number }>(
        names.map((name) => [name, { guild: 'a', since: start - 3_600_000 }]),
      )
      const truth: string[] = []
      const told = plan.map(({ who, what }, nth) => {
        const at = start + (nth + 1) * minute
        const name = names[who] ?? ''
        const guild = ['a', 'b', 'c', null, undefined][what]
        if (guild !== undefined && !(guild === null && state.get(name)?.guild === null)) {
          state.set(name, { guild, since: at - 20_000 })
          truth.push(`${name} ${guild && guildId(guild)} ${iso(at - 20_000)}`)
        }
        return { at, state: new Map(state) }
      })
      const arrived = arrivals(told, plan)
      for (const { at, state: shown } of arrived) {
        const body = Object.fromEntries(
          [...shown].map(([name, { guild, since }]) => [name, place(guild, guild === null ? null : clock(since))]),
        )
        await world.sync(territories, body, clock(at))
      }
      const captures = await world.db.query<{ name: string; guild: string; at: Date }>(
        'select territory as name, to_guild_uuid::text as guild, captured_at as at from analytics.territory_capture',
      )
      const found = captures.map(({ name, guild, at }) => `${name} ${guild} ${at.toISOString()}`)
      expect(found.filter((one) => !truth.includes(one))).toEqual([])
      expect(new Set(found).size).toBe(found.length)
      // At every instant an accepted answer speaks for, the map is what it said.
      const accepted = await world.db.query<{ at: Date }>(
        `select observed_at as at from sync.run where status in ('ok', 'unchanged')`,
      )
      expect(accepted.length > 0).toBe(arrived.length > 0)
      for (const { at } of accepted) {
        const shown = told.find((one) => one.at === at.getTime())?.state
        const map = await world.db.query<{ name: string; guild: string | null }>(
          'select territory as name, guild_uuid::text as guild from analytics.map_at($1)',
          [at],
        )
        expect(Object.fromEntries(map.map(({ name, guild }) => [name, guild]))).toEqual(
          Object.fromEntries([...(shown ?? [])].map(([name, { guild }]) => [name, guild && guildId(guild)])),
        )
      }
      const overlaps = await world.db.query(
        `select from game.territory_hold a join game.territory_hold b using (territory)
          where a.valid_from < b.valid_from and b.valid_from < a.valid_until`,
      )
      expect(overlaps).toEqual([])
    })
    await assert(property, { numRuns: effort.everyAnswer ? 25 : 12, seed })
  })

  test.each(seeds)('shows nobody join, leave or rise who did not (seed %i)', async (seed) => {
    const ranks = ['recruit', 'captain', 'chief']
    const property = asyncProperty(steps, async (plan) => {
      await emptyTables(world.db)
      const state = new Map<number, Member>([2, 3, 4].map((one) => [one, { rank: 'recruit', joined: start }]))
      const joins = new Set<string>()
      /** From when to when each was a member, and under which rank. */
      const stays: { player: number; rank: string; from: number; until: number }[] = []
      const told = plan.map(({ who, what }, nth) => {
        const at = start + (nth + 1) * minute
        const player = who + 2
        const before = state.get(player)
        const rank = ranks[what]
        if (!before && rank !== undefined) {
          state.set(player, { rank, joined: at - 20_000 })
          joins.add(`${playerId(player)} ${iso(at - 20_000)}`)
        } else if (before && rank !== undefined) state.set(player, { ...before, rank })
        else state.delete(player)
        const members = new Map(state)
        for (const [one, { rank: held }] of members)
          stays.push({ player: one, rank: held, from: at, until: at + minute })
        return { at, state: members }
      })
      for (const { at, state: members } of arrivals(told, plan)) {
        const body: Record<number, MemberFields> = { 1: { rank: 'owner' } }
        for (const [one, { rank, joined }] of members) body[one] = { rank, joined: clock(joined) }
        await syncGuild(world, guildBody('a', body), clock(at))
      }
      const events = await world.db.query<{ event: string; player: string; at: Date; seen: Date; to: string | null }>(
        'select event, player_uuid::text as player, at, observed_at as seen, to_rank as to from analytics.membership_event',
      )
      const wrong = events.filter(({ event, player, at, seen, to }) => {
        const there = stays.filter((one) => playerId(one.player) === player)
        const rankAt = (instant: number) => there.find(({ from }) => from === instant)?.rank
        if (event === 'joined') return !joins.has(`${player} ${at.toISOString()}`) || rankAt(seen.getTime()) !== to
        const then = told.find((one) => one.at === seen.getTime())?.state.get(Number(player.slice(-12)))
        if (event === 'left') return at > seen || (then !== undefined && then.joined < at.getTime())
        return rankAt(seen.getTime()) !== to
      })
      expect(wrong).toEqual([])
      const accepted = await world.db.query<{ at: Date }>(
        `select distinct observed_at as at from sync.observation where status in ('ok', 'unchanged') order by 1`,
      )
      const answers = accepted.map(({ at }) => ({
        at: at.getTime(),
        state: told.find((one) => one.at === at.getTime())?.state ?? new Map<number, Member>(),
      }))
      const taken = takenBack(answers)
      for (const { at, state: shown } of answers) {
        const versions = await world.db.query<{ player: string; rank: string }>(
          `select player_uuid::text as player, rank from game.guild_member
            where rank <> 'owner' and valid_from <= $1 and $1 < valid_until`,
          [new Date(at)],
        )
        const found = new Map(versions.map(({ player, rank }) => [player, rank]))
        // Who is there is known at once; who is not, only when a second answer says so.
        for (const [one, { rank }] of shown)
          expect([rank, taken.get(`${one} ${at}`) ?? rank]).toContain(found.get(playerId(one)))
      }
    })
    await assert(property, { numRuns: effort.everyAnswer ? 25 : 12, seed })
  })
})
