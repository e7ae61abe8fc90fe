import { beforeAll, describe, expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import { contributionIn } from '../support/contribution.ts'
import { effort } from '../support/effort.ts'
import { syncGuilds } from '../support/guild-answers.ts'
import { changesBetween, type Member, membersIn } from '../support/membership-changes.ts'
import { testDatabase } from '../support/postgres.ts'
import { type RecordedResponse, recordedFolder, recordedPaths, recordedResponses } from '../support/recorded.ts'
import { openWorld, type World } from '../support/world.ts'
import { questionsOfSeries, type SeriesAnswer, seriesAnswer } from './recorded-guild-questions.ts'

const folder = recordedFolder('recordings')
/** Every answer of these ten hours, with a gap of two among them; of the other days those where a member came, went or changed. */
const wholeTime = '2026-05-26T1'

interface Known extends SeriesAnswer {
  readonly members: Map<string, Member>
}

/** Every change, by comparing the answers pair by pair. */
function changesOf(answers: readonly Known[]): string[][] {
  return answers.flatMap(({ at, members }, nth) => {
    const before = answers[nth - 1]
    return before ? changesBetween(before.members, members, at.toISOString()) : []
  })
}

/** Those that tell all that happened, each with the one before and the one after as a second witness. */
function telling(answers: readonly Known[]): Known[] {
  const eventful = answers.map(
    ({ at, members }, nth) =>
      nth > 0 && changesBetween(answers[nth - 1]?.members ?? members, members, String(at)).length > 0,
  )
  return answers.filter(
    ({ at }, nth) =>
      at.toISOString().startsWith(wholeTime) ||
      nth === 0 ||
      nth === answers.length - 1 ||
      [eventful[nth - 1], eventful[nth], eventful[nth + 1]].includes(true),
  )
}

const inOrder = (rows: readonly (readonly unknown[])[]) => [...rows].sort((a, b) => (String(a) < String(b) ? -1 : 1))

describe('the recorded series of one guild', () => {
  if (folder === undefined) return test.skip('was compared (skipped: recorded data absent)')
  const path = recordedPaths(folder).find((one) => one.startsWith('/guild/uuid/ee860b7c')) ?? ''
  const key = path.slice('/guild/uuid/'.length)
  const every = effort.everyAnswer
  let world: World
  let all: Known[]
  let used: Known[]

  beforeAll(async () => {
    all = recordedResponses(folder, path)
      .filter(({ at }) => at.getUTCFullYear() === 2026)
      .map((answer: RecordedResponse) => ({ ...seriesAnswer(answer), members: membersIn(answer.body) }))
    used = every ? all : telling(all)
    world = await openWorld(await testDatabase('server'), { recordings: folder }, used[0]?.at.getTime() ?? 0)
    for (const { at } of used) {
      await world.clock.advanceTo(at.getTime())
      const { error, quarantined, rejected } = await syncGuilds(world, { keys: [key] })
      expect([error, quarantined, rejected]).toEqual([undefined, 0, 0])
    }
    return async () => {
      await world.api.close()
      await world.sandbox.close()
    }
  }, 600_000)

  test('has the changes it is known for, and the answers taken tell all of them', () => {
    const kinds = changesOf(all).map(([event]) => event)
    const count = (kind: string) => kinds.filter((one) => one === kind).length
    // 39 members came and 39 went; two more went and came between two answers.
    expect([count('joined') - 2, count('left') - 2, count('rank'), count('renamed')]).toEqual([39, 39, 96, 3])
    expect(changesOf(used)).toEqual(changesOf(all))
  })

  test('gives exactly the membership and rank changes of a comparison of the files', async () => {
    const rows = await world.db.query<Record<'event' | 'player' | 'from' | 'to', string> & { at: Date }>(
      `select event, observed_at as at, player_uuid::text as player, coalesce(from_rank, '') as from, coalesce(to_rank, '') as to
         from analytics.membership_event where event <> 'transferred'`,
    )
    const found = rows.map(({ event, at, player, from, to }) => [
      event === 'promoted' || event === 'demoted' ? 'rank' : event,
      at.toISOString(),
      player,
      from,
      to,
    ])
    expect(inOrder(found)).toEqual(inOrder(changesOf(used).filter(([event]) => event !== 'renamed')))
    const renames = await world.db.query(
      `select from game.guild_member after join game.guild_member before using (guild_uuid, player_uuid)
        where after.previous_until = before.valid_until and after.username <> before.username`,
    )
    expect(renames).toHaveLength(3)
  })

  test('shows the members of any answer again', async () => {
    for (const { at, members } of used.filter((_, nth) => nth % 20 === 0)) {
      const rows = await world.db.query<{ player: string; rank: string }>(
        `select player_uuid::text as player, rank from game.guild_member where valid_from <= $1 and $1 < valid_until`,
        [at],
      )
      expect(new Map(rows.map(({ player, rank }) => [player, rank]))).toEqual(
        new Map([...members].map(([player, { rank }]) => [player, rank])),
      )
    }
  })

  questionsOfSeries(() => ({ db: world.db, key, answers: used }))

  describe('contributions', () => {
    const random = seededRandom(8)
    const contributionFrom = async (from: Date, to: Date) => {
      const rows = await world.db.query<{ player: string; contributed: number | null; quality: string }>(
        'select player_uuid::text as player, contributed, quality from analytics.member_contribution($1, $2, $3)',
        [key, from, to],
      )
      return new Map(rows.map(({ player, contributed, quality }) => [player, { contributed, quality }]))
    }
    const instant = () => {
      const [first, last] = [used[0]?.at.getTime() ?? 0, used.at(-1)?.at.getTime() ?? 0]
      return new Date(first - 3_600_000 + Math.floor(random() * (last - first + 7_200_000)))
    }

    test('of any interval are those of an own computation from the files', async () => {
      const contributed = contributionIn(used)
      for (let nth = 0; nth < (effort.everyAnswer ? 12 : 5); nth++) {
        const [from = new Date(0), to = new Date(0)] = [instant(), instant()].sort((a, b) => a.getTime() - b.getTime())
        const found = await contributionFrom(from, to)
        const expected = contributed(from, to)
        for (const [player, row] of found) expect([player, row]).toEqual([player, expected.get(player)])
        expect([...expected.keys()].filter((player) => !found.has(player))).toEqual([])
      }
    })

    test('of adjacent intervals add up to those of the whole, as far as they are no bounds', async () => {
      const cuts = [
        new Date('2026-05-01Z'),
        ...Array.from({ length: 3 }, instant).sort(),
        new Date('2026-07-01Z'),
      ].sort((a, b) => a.getTime() - b.getTime())
      const parts = new Map<string, number>()
      for (const [nth, from] of cuts.slice(0, -1).entries())
        for (const [player, { contributed }] of await contributionFrom(from, cuts[nth + 1] ?? from))
          parts.set(player, (parts.get(player) ?? 0) + (contributed ?? 0))
      const whole = await contributionFrom(new Date('2026-05-01Z'), new Date('2026-07-01Z'))
      expect([...parts.keys()].sort()).toEqual([...whole.keys()].sort())
      for (const [player, { contributed }] of whole) expect(parts.get(player)).toBeLessThanOrEqual(contributed ?? 0)
    })

    test('never exceed the rises that the answers show, and are just these where nothing ever fell', async () => {
      const whole = await contributionFrom(used[0]?.at ?? new Date(0), used.at(-1)?.at ?? new Date(0))
      let plain = 0
      for (const [player, { contributed, quality }] of whole) {
        const series = used.flatMap(({ members }) => members.get(player) ?? [])
        const isNewcomer = !used[0]?.members.has(player)
        const rises = series.map((one, nth) => {
          const before = series[nth - 1]
          return !before || before.joined !== one.joined
            ? before || isNewcomer
              ? one.contributed
              : 0
            : one.contributed - before.contributed
        })
        const shown = rises.filter((rise) => rise > 0).reduce((sum, rise) => sum + rise, 0)
        expect(contributed).toBeLessThanOrEqual(shown)
        if (rises.some((rise) => rise < 0)) expect(['clamped', 'reset', 'at_least']).toContain(quality)
        else {
          expect([player, contributed]).toEqual([player, shown])
          plain += 1
        }
      }
      expect(plain).toBeGreaterThan(100)
      expect(plain).toBeLessThan(whole.size)
    })
  })
})
