import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { growingTables } from '../../src/resources/index.ts'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { maintain } from '../../src/sync/retention/maintain.ts'
import { guildBody, guildId, playerId, syncGuilds } from '../support/guild-answers.ts'
import { chosenPart } from '../support/parts.ts'
import { profile, syncPlayers } from '../support/player-answers.ts'
import { testDatabase } from '../support/postgres.ts'
import { seedsOf } from '../support/seeds.ts'
import { headersOf, openWorld, type World } from '../support/world.ts'

/*
 * Gains against the truth, for each kind of counter: what is called exact is what the responses around both borders show, which lie as
 * close as is usual; every lower bound is at most the truth, and every upper bound at least. The guild and the player are watched every
 * ten minutes for some hours, then not for minutes to years; now and then a counter is not sent, begins again, dips, or is hidden.
 */

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const cadence = 10 * minute
/** Twice the usual time between two responses of the history. */
const close = 21 * minute
const begin = Date.parse('2024-11-03T05:07:00Z')
const end = Date.parse('2026-05-28T00:00:00Z')

interface Gain {
  readonly at: number
  readonly amount: number
}

/** A counter: what it gained when, the responses that have it, when it began again at 0, and the responses that show half of it. */
interface Truth {
  readonly kind: string
  readonly counter: string
  readonly entity: string
  readonly gains: readonly Gain[]
  readonly resets: readonly number[]
  readonly shownBy: readonly number[]
  readonly dips: ReadonlySet<number>
}

const board = 'guildWars'
const characterId = '11111111-0000-4000-8000-000000000001'
const total = (gains: readonly Gain[], from: number, to: number) =>
  gains.reduce((sum, { at, amount }) => sum + (at > from && at <= to ? amount : 0), 0)

function valueAt({ gains, resets }: Truth, at: number): number {
  const begun = Math.max(Number.NEGATIVE_INFINITY, ...resets.filter((one) => one <= at))
  return total(gains, begun, at)
}

const shownAt = (truth: Truth, at: number) => Math.floor(valueAt(truth, at) / (truth.dips.has(at) ? 2 : 1))

function responsesOf(random: () => number, watches: number): number[] {
  const found: number[] = []
  const sizes = Array.from({ length: watches }, () => 10 ** (random() * 4.5))
  const scale = (end - begin - watches * 4 * hour) / sizes.reduce((sum, one) => sum + one, 0)
  let at = begin
  for (const size of sizes) {
    const until = at + (1 + random() * 3) * hour
    for (; at < until; at += cadence + Math.floor(random() * 20_000)) found.push(at - (at % 1000))
    at += Math.max(size * scale, 40 * minute)
  }
  return found.filter((one) => one < end)
}

function gainsOf(random: () => number, responses: readonly number[]): Gain[] {
  const found: Gain[] = [{ at: begin - 300 * day, amount: 1000 }]
  for (const [nth, at] of responses.entries()) {
    const next = responses[nth + 1] ?? at + hour
    const several = next - at > hour ? Math.floor(random() * 5) : random() < 0.5 ? 1 : 0
    for (let one = 0; one < several; one++)
      found.push({ at: Math.floor(at + 1 + random() * (next - at - 1)), amount: 1 + Math.floor(random() * 40) })
  }
  return found.sort((a, b) => a.at - b.at)
}

function truthsOf(random: () => number): { responses: number[]; truths: Truth[]; hidden: ReadonlySet<number> } {
  const responses = responsesOf(random, 4)
  const some = (count: number) => {
    const start = Math.floor(8 + random() * (responses.length - count - 16))
    return responses.slice(start, start + count)
  }
  const [lacking, hidden] = [new Set(some(5)), new Set(some(6))]
  const without = (set: ReadonlySet<number>) => responses.filter((one) => !set.has(one))
  const resets = [some(1)[0] ?? begin, some(1)[0] ?? begin].map((one) => one + 1).sort()
  const gains = () => gainsOf(random, responses)
  const player = playerId(1)
  const character = `${player}/${characterId}`
  const truths: Omit<Truth, 'dips'>[] = [
    { kind: 'guild', counter: 'wars', entity: guildId('a'), gains: gains(), resets: [], shownBy: without(lacking) },
    { kind: 'guild', counter: 'raids', entity: guildId('a'), gains: gains(), resets, shownBy: responses },
    { kind: 'player', counter: 'wars', entity: player, gains: gains(), resets: [], shownBy: without(hidden) },
    { kind: 'player', counter: 'raids.total', entity: player, gains: gains(), resets, shownBy: without(hidden) },
    { kind: 'character', counter: 'mobsKilled', entity: character, gains: gains(), resets: [], shownBy: responses },
    { kind: 'profession', counter: 'fishing', entity: character, gains: gains(), resets: [], shownBy: responses },
    {
      kind: 'member',
      counter: 'contributed',
      entity: `${guildId('a')}/${player}`,
      gains: gains(),
      resets: [],
      shownBy: responses,
    },
    // Now and then it is on no place of the board.
    {
      kind: 'leaderboard',
      counter: board,
      entity: guildId('a'),
      gains: gains(),
      resets: [],
      shownBy: without(new Set(some(4))),
    },
  ]
  // A dip is known as one by the responses beside it, not across a gap of more than a week.
  const inOneWatch = responses.filter((at, nth) => (responses[nth + 4] ?? end) - at < 5 * cadence)
  const dips = new Set(
    [1, 3].flatMap((count) => {
      const start = responses.indexOf(inOneWatch[Math.floor(random() * inOneWatch.length)] ?? begin) + 1
      return responses.slice(start, start + count)
    }),
  )
  const none = new Set<number>()
  return {
    responses,
    truths: truths.map((one) => ({ ...one, dips: one.counter === 'mobsKilled' ? dips : none })),
    hidden,
  }
}

async function load(world: World, { responses, truths, hidden }: ReturnType<typeof truthsOf>): Promise<void> {
  const find = (kindOf: string, counter: string) =>
    truths.find((one) => one.kind === kindOf && one.counter === counter) ?? fail(`no truth of ${counter}`)
  const [wars, raids] = [find('guild', 'wars'), find('guild', 'raids')]
  const [own, ownRaids] = [find('player', 'wars'), find('player', 'raids.total')]
  const [mobs, fishing] = [find('character', 'mobsKilled'), find('profession', 'fishing')]
  const [contributed, score] = [find('member', 'contributed'), find('leaderboard', board)]
  world.sandbox.setAnswer('/leaderboards/types', () => ({ body: [board], headers: headersOf(begin, 120) }))
  for (const at of responses) {
    await world.clock.advanceTo(at)
    const headers = headersOf(at, 120)
    const numbers = { wars: wars.shownBy.includes(at) ? valueAt(wars, at) : null, raids: valueAt(raids, at) }
    const guild = guildBody('a', { 1: { rank: 'owner', contributed: valueAt(contributed, at) } }, numbers) as {
      members: Record<string, Record<string, { joined?: string }>>
    }
    for (const member of Object.values(guild.members.owner ?? {}))
      member.joined = new Date(begin - 301 * day).toISOString()
    world.sandbox.setAnswer(`/guild/uuid/${guildId('a')}`, () => ({ headers, body: guild }))
    expect(await syncGuilds(world, { keys: [guildId('a')] })).toMatchObject({ quarantined: 0, rejected: 0 })
    const isHidden = hidden.has(at)
    const open = profile(1, {}).restrictions as Record<string, boolean>
    const body = profile(1, {
      ...(isHidden
        ? {}
        : { globalData: { wars: valueAt(own, at), raids: { total: valueAt(ownRaids, at), list: {} } } }),
      restrictions: { ...open, mainAccess: isHidden },
      characters: {
        [characterId]: {
          type: 'ARCHER',
          level: 20,
          xp: 5,
          gamemode: [],
          mobsKilled: shownAt(mobs, at),
          professions: { fishing: { level: valueAt(fishing, at), xpPercent: 5 } },
        },
      },
    })
    world.sandbox.setAnswer(`/player/${playerId(1)}`, () => ({ headers, body }))
    const places = (score.shownBy.includes(at) ? ['a', 'b'] : ['b', 'c']).map((letter, nth) => ({
      uuid: guildId(letter),
      name: `Guild ${letter}`,
      prefix: letter.repeat(3),
      score: letter === 'a' ? valueAt(score, at) : 0,
      metaScore: nth,
    }))
    const ranking = Object.fromEntries(places.map((one, nth) => [String(nth + 1), one]))
    world.sandbox.setAnswer(`/leaderboards/${board}`, () => ({ headers, body: ranking }))
    expect(await world.syncNow(leaderboards)).toMatchObject({ quarantined: 0, rejected: 0 })
    expect(await syncPlayers(world, { keys: [playerId(1)] })).toMatchObject({ quarantined: 0, rejected: 0 })
  }
}

/** Borders at responses, a moment beside them, within a time of watching, and anywhere. */
function periodOf(random: () => number, responses: readonly number[]): readonly [number, number] {
  const instant = () => {
    const response = responses[Math.floor(random() * responses.length)] ?? begin
    const kind = random()
    if (kind < 0.2) return response
    if (kind < 0.3) return response + 1000
    if (kind < 0.4) return response - 1000
    if (kind < 0.5) return response - (response % day)
    if (kind < 0.8) return response + Math.floor(random() * close) - close / 2
    return Math.floor(begin - 20 * day + random() * (end - begin + 40 * day))
  }
  const [from = 0, to = 0] = [instant(), instant()].sort((a, b) => a - b)
  return [from, to === from ? from + minute : to]
}

function fail(message: string): never {
  throw new Error(message)
}

interface Said {
  readonly gained: number | null
  readonly at_most: number | null
  readonly quality: string
  readonly coverage: number | null
}

function check(truth: Truth, from: number, to: number, said: Said, found: Record<string, number>): void {
  const { kind, counter, shownBy } = truth
  const made = total(truth.gains, from, to)
  const around = (at: number) => [shownBy.findLast((one) => one <= at), shownBy.find((one) => one >= at)] as const
  const [[base, afterFrom], [top, afterTo]] = [around(from), around(to)]
  const at = { kind, counter, from: new Date(from), to: new Date(to), ...said, made }
  found[said.quality] = (found[said.quality] ?? 0) + 1
  if (said.coverage !== null && !(said.coverage >= 0 && said.coverage <= 1))
    expect({ ...at, isShare: false }).toEqual({})
  if (said.quality === 'unknown') expect(at).toMatchObject({ gained: null, at_most: null })
  else if (said.quality === 'exact') {
    const gaps = [(afterFrom ?? from) - (base ?? 0), (afterTo ?? to) - (top ?? 0)]
    const shown = shownAt(truth, top ?? 0) - shownAt(truth, base ?? 0)
    expect({ ...at, gaps, isClose: Math.max(...gaps) <= close }).toEqual({
      ...at,
      gaps,
      isClose: true,
      gained: shown,
      at_most: shown,
    })
  } else if (said.quality === 'at_least') {
    if ((said.gained ?? Number.POSITIVE_INFINITY) > made) expect({ ...at, isBound: false }).toEqual({})
  } else {
    // It fell, which is known.
    expect([at, truth.resets.length + truth.dips.size > 0]).toEqual([at, true])
    // What a dip hid is shown by the response after it.
    const shown = shownBy.findLast((one) => one <= from && !truth.dips.has(one))
    if ((said.gained ?? Number.POSITIVE_INFINITY) > total(truth.gains, shown ?? 0, to))
      expect({ ...at, isBound: false }).toEqual({})
  }
  if (said.quality === 'at_least' && said.at_most !== null) {
    found.most = (found.most ?? 0) + 1
    // What fell and rose again between two responses cannot be known.
    if (truth.resets.length + truth.dips.size === 0 && said.at_most < made)
      expect({ ...at, isBound: false }).toEqual({})
  }
}

/** Each best day, week and month is one that was so, and no number was reached at a time when it was not. */
async function compareRecords(db: Database, truth: Truth, found: Record<string, number>): Promise<void> {
  const { kind, counter, entity, shownBy } = truth
  const best = await db.query<Said & { period: string; from_time: Date | null }>(
    `select best.*, null::real as coverage from analytics.best($1, $2, $3) best`,
    [kind, counter, entity],
  )
  for (const one of best) {
    const begun = one.from_time
    if (begun === null) continue
    const length = { day: 1, week: 7 }[one.period]
    const ended = length ? begun.getTime() + length * day : Date.UTC(begun.getUTCFullYear(), begun.getUTCMonth() + 1)
    check(truth, begun.getTime(), ended, one, found)
  }
  const last = shownBy.at(-1) ?? 0
  const value = Math.ceil(valueAt(truth, last) * 0.7)
  const [first] = await db.query<{ at: Date; not_before: Date | null }>(
    'select at, not_before from analytics.first_to($1, $2, $4) where entity = $3',
    [kind, counter, entity, value],
  )
  expect(first?.at === undefined || valueAt(truth, first.at.getTime()) >= value).toBe(true)
  if (first?.not_before) expect(shownAt(truth, first.not_before.getTime())).toBeLessThan(value)
}

async function compare(
  db: Database,
  truth: Truth,
  [from, to]: readonly [number, number],
  found: Record<string, number>,
  step: number,
): Promise<void> {
  const asked = [truth.kind, truth.counter, truth.entity, new Date(from), new Date(to)]
  const [said] = await db.query<Said>('select * from analytics.gained($1, $2, $3, $4, $5)', asked)
  if (!said) throw new Error('no row')
  check(truth, from, to, said, found)
  const [top] = await db.query<Said>('select * from analytics.top_gained($1, $2, $4, $5, 3) where entity = $3', asked)
  // Who gained nothing for certain is not among them.
  if ((said.gained ?? 0) > 0)
    expect(top).toMatchObject({ gained: said.gained, quality: said.quality, at_most: said.at_most })
  else expect(top).toBe(undefined)
  const cells = await db.query<Said & { at: Date; value: number | null }>(
    'select * from analytics.timeline($1, $2, $3, $4, $5, make_interval(secs => $6))',
    [...asked, step / 1000],
  )
  for (const [nth, cell] of cells.entries()) {
    const at = cell.at.getTime()
    check(truth, at, Math.min(at + step, to), cell, {})
    const [before, after] = [truth.shownBy.findLast((one) => one <= at), truth.shownBy.find((one) => one >= at)]
    if (cell.value !== null)
      expect({ nth, at: cell.at, value: cell.value, isClose: (after ?? at) - (before ?? 0) <= close }).toMatchObject({
        value: shownAt(truth, before ?? 0),
        isClose: true,
      })
  }
}

test.each(seedsOf(import.meta.filename))(
  'no gain is a false fact, whoever watched when, seed %i',
  async (seed) => {
    const random = seededRandom(seed)
    const truth = truthsOf(random)
    const world = await openWorld(await testDatabase('server'), {}, begin)
    try {
      await load(world, truth)
      const found: Record<string, number> = {}
      const ask = async () => {
        for (const one of truth.truths) {
          await compareRecords(world.db, one, found)
          for (let round = 0; round < 20; round++) {
            const period = periodOf(random, truth.responses)
            const step = Math.max(
              minute,
              Math.ceil((period[1] - period[0]) / (1 + Math.floor(random() * 12)) / 1000) * 1000,
            )
            await compare(world.db, one, period, found, step)
          }
        }
      }
      await ask()
      // A new seed may draw none of some kind.
      for (const kind of chosenPart() === 'fresh' ? [] : ['exact', 'at_least', 'unknown', 'most', 'reset'])
        expect([kind, found[kind]]).not.toEqual([kind, undefined])
      const fine = (...names: string[]) => new Map(names.map((name) => [name, { fine: 60 }]))
      const samples = ['guild_sample', 'player_counter', 'character_counter', 'character_profession'].concat(
        'member_counter',
        'leaderboard_place',
      )
      for (const retention of [fine(...samples), fine(...samples, 'ledger')]) {
        await maintain(world.db, { now: new Date(end), tables: growingTables, retention })
        await ask()
      }
    } finally {
      await world.api.close()
      await world.sandbox.close()
    }
  },
  300_000,
)

test('no more is certain than what is so whether a counter dipped or began again', async () => {
  const random = seededRandom(1)
  const db = await testDatabase('server')
  let least = 0
  for (let round = 0; round < 300; round++) {
    const isReset = random() < 0.5
    let [made, value] = [0, 50]
    const length = 4 + Math.floor(random() * 10)
    const rows = Array.from({ length }, (_, nth) => {
      const gained = Math.floor(random() * random() * 100)
      value = (isReset && random() < 0.15 ? 0 : value) + gained
      made += gained
      // The first and the last are no dips: then there is nothing by which one could know.
      return {
        made,
        shown: !isReset && nth % (length - 1) > 0 && random() < 0.2 ? Math.floor(50 * random()) : value,
      }
    })
    const steps = await db.query<{ together: number; lowest: number; highest: number }>(
      'select together, lowest, highest from analytics.counter_steps($1::timestamptz[], $2::float8[], null, false) order by observed_at',
      [rows.map((_, nth) => new Date(begin + nth * cadence)), rows.map(({ shown }) => shown)],
    )
    for (let from = 0; from < rows.length; from++)
      for (let to = from + 1; to < rows.length; to++) {
        const [base, top] = [steps[from] ?? fail('no step'), steps[to] ?? fail('no step')]
        const said = Math.max(0, Math.min(top.together - base.together, top.lowest - base.highest))
        const truth = (rows[to]?.made ?? 0) - (rows[from]?.made ?? 0)
        if (said > truth) expect({ rows, from, to, said, truth }).toEqual({})
        least += said / truth >= 1 ? 1 : 0
      }
  }
  expect(least).toBeGreaterThan(1000)
})
