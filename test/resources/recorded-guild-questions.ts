import { expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { contributionIn } from '../support/contribution.ts'
import { type Member, membersIn } from '../support/membership-changes.ts'
import { isFields, type RecordedResponse } from '../support/recorded.ts'

/** What an answer about a guild says of one member besides the membership. */
interface Shown {
  readonly online: boolean
  readonly lastJoin: string | null
  readonly hides: readonly string[]
  /** Guild raids; null where the answer does not tell. */
  readonly raids: number | null
}

/** One answer about a guild, read without the program. */
export interface SeriesAnswer {
  readonly at: Date
  readonly members: ReadonlyMap<string, Member>
  readonly shown: ReadonlyMap<string, Shown>
  /** Members online by the guild's own count. */
  readonly online: number
}

const day = 86_400_000

/** Reads an answer about a guild. */
export function seriesAnswer({ at, body }: RecordedResponse): SeriesAnswer {
  const shown = new Map<string, Shown>()
  const ranks = isFields(body) && isFields(body.members) ? Object.values(body.members) : []
  for (const record of ranks.flatMap((ofRank) => (isFields(ofRank) ? Object.values(ofRank) : []))) {
    if (!isFields(record)) continue
    const { uuid, online, lastJoin, restrictions, globalData } = record
    const raids = isFields(globalData) && isFields(globalData.guildRaids) ? Number(globalData.guildRaids.total) : null
    const rules = Object.entries(isFields(restrictions) ? restrictions : {})
    const hides = rules.filter(([, isOn]) => isOn === true).map(([rule]) => rule)
    shown.set(String(uuid), {
      online: online === true,
      lastJoin: typeof lastJoin === 'string' ? new Date(lastJoin).toISOString() : null,
      hides,
      raids,
    })
  }
  return { at, members: membersIn(body), shown, online: isFields(body) ? Number(body.online) : 0 }
}

/** Who ever hides something in these answers. */
function hiding(answers: readonly SeriesAnswer[], rule: string): Set<string> {
  return new Set(
    answers.flatMap(({ shown }) => [...shown].flatMap(([player, { hides }]) => (hides.includes(rule) ? [player] : []))),
  )
}

interface Series {
  readonly db: Database
  readonly key: string
  readonly answers: readonly SeriesAnswer[]
}

/** Questions 7, 9, 10, 12, 13 and 15 on the recorded series of a guild. */
export function questionsOfSeries(of: () => Series): void {
  const some = (answers: readonly SeriesAnswer[], count: number) =>
    answers.filter((_, nth) => nth % Math.floor(answers.length / count) === count)

  test('tells who is inactive', async () => {
    const { db, key, answers } = of()
    const secret = hiding(answers, 'online_status')
    expect(secret.size).toBeGreaterThan(5)
    for (const { at, shown } of some(answers, 4)) {
      const rows = await db.query<{ player: string; seen: Date | null; status: string }>(
        'select player_uuid::text as player, last_seen as seen, status from analytics.member_activity($1, $2)',
        [key, at],
      )
      expect(rows.map(({ player }) => player).sort()).toEqual([...shown.keys()].sort())
      const told = answers.filter((one) => one.at <= at)
      for (const { player, seen, status } of rows) {
        if (secret.has(player)) {
          expect([seen, status]).toEqual([null, 'unknown'])
          continue
        }
        const instants = told.flatMap((one) => {
          const { online = false, lastJoin = null } = one.shown.get(player) ?? {}
          return [...(lastJoin === null ? [] : [Date.parse(lastJoin)]), ...(online ? [one.at.getTime()] : [])]
        })
        const last = instants.length === 0 ? null : Math.max(...instants)
        expect(seen?.getTime() ?? null).toBe(last)
        const isActive = last !== null && last > at.getTime() - 7 * day
        expect(status).toBe(isActive ? 'active' : last === null ? 'unknown' : 'inactive')
      }
    }
  })

  test('tells the guild raids of each member, and of nobody who hides them', async () => {
    const { db, key, answers } = of()
    const secret = hiding(answers, 'main_access')
    const counted = answers.map(({ at, members, shown }) => ({
      at,
      members: new Map(
        [...members].flatMap(([player, member]): [string, Member][] => {
          const raids = shown.get(player)?.raids ?? null
          return raids === null ? [] : [[player, { ...member, contributed: raids }]]
        }),
      ),
    }))
    const risen = contributionIn(counted, false)
    for (const [from, to] of [
      [answers[0]?.at, answers.at(-1)?.at],
      [answers[50]?.at, answers[90]?.at],
    ]) {
      if (!from || !to) continue
      const expected = risen(from, to)
      const rows = await db.query<{ player: string; delta: number | null; quality: string }>(
        `select player_uuid::text as player, delta, quality from analytics.member_counter($1, 'guildRaids.total', $2, $3)`,
        [key, from, to],
      )
      for (const { player, delta, quality } of rows) {
        const { contributed = null, quality: sure = 'unknown' } = secret.has(player) ? {} : (expected.get(player) ?? {})
        expect([player, delta, quality]).toEqual([player, contributed, sure])
      }
      expect(rows.length).toBeGreaterThan(50)
    }
  })

  test('tells when the guild is online', async () => {
    const { db, key, answers } = of()
    const begin = Math.floor((answers[0]?.at.getTime() ?? 0) / day) * day + day
    const rows = await db.query<Record<string, number | null>>(
      'select * from analytics.guild_online_heatmap($1, $2, $3)',
      [key, new Date(begin), new Date(begin + 7 * day)],
    )
    const hours = new Map<number, number[]>()
    for (const { at, online } of answers) {
      const hour = Math.floor((at.getTime() - begin) / 3_600_000)
      hours.set(hour, [...(hours.get(hour) ?? []), online])
    }
    const cells = Array.from({ length: 168 }, (_, hour) => {
      const counts = hours.get(hour) ?? []
      const at = new Date(begin + hour * 3_600_000)
      const place = { dow: at.getUTCDay() || 7, hour: at.getUTCHours() }
      if (counts.length === 0) return { ...place, online_avg: null, online_max: null, coverage: 0 }
      const average = counts.reduce((sum, one) => sum + one) / counts.length
      return { ...place, online_avg: expect.closeTo(average), online_max: Math.max(...counts), coverage: 1 }
    })
    expect(rows).toEqual(cells.sort((one, other) => one.dow - other.dow || one.hour - other.hour))
  })

  test('tells who stayed, and the names and ranks that members had', async () => {
    const { db, key, answers } = of()
    const [first, last] = [answers[0]?.at ?? new Date(0), answers.at(-1)?.at ?? new Date(0)]
    const months = await db.values('select joined, still_after_30d from analytics.member_retention($1, $2, $3)', [
      key,
      first,
      last,
    ])
    const stays = new Set<string>()
    answers.forEach(({ members }, nth) => {
      for (const [player, { joined }] of members) {
        const before = answers[nth - 1]?.members.get(player)
        if (nth > 0 && before?.joined !== joined && Date.parse(joined) >= first.getTime())
          stays.add(`${player} ${joined}`)
      }
    })
    expect(months.reduce((sum, [joined]) => sum + Number(joined), 0)).toBe(stays.size)
    expect(months.map(([, stayed]) => stayed)).toEqual(months.map(() => null))
    const ever = [...new Set(answers.flatMap(({ members }) => [...members.keys()]))]
    for (const player of ever.filter((_, nth) => nth % 15 === 0)) {
      const known: unknown[][] = []
      for (const [nth, { at, members }] of answers.entries()) {
        const member = members.get(player)
        const open = known.at(-1)
        if (!member) {
          const isGone = answers[nth + 1] && !answers[nth + 1]?.members.has(player)
          if (open && open[1] === null && isGone) open[1] = at
        } else if (!open || open[1] !== null || String(open.slice(2)) !== `${member.username},${member.rank}`) {
          if (open && open[1] === null) open[1] = at
          known.push([at, null, member.username, member.rank])
        }
      }
      const rows = await db.values(
        'select valid_from, valid_until, username, guild_rank from analytics.player_biography($1)',
        [player],
      )
      expect(rows).toEqual(known)
    }
  })

  test('tells how many answers came in each hour', async () => {
    const { db, answers } = of()
    const hours = new Map<number, number>()
    for (const { at } of answers) {
      const hour = Math.floor(at.getTime() / 3_600_000)
      hours.set(hour, (hours.get(hour) ?? 0) + 1)
    }
    const rows = await db.query<{ hour: Date; observed: number; expected: number | null; coverage: number | null }>(
      `select hour, observed, expected, coverage from analytics.coverage('guilds', '-infinity', $1)`,
      [answers.at(-1)?.at ?? null],
    )
    // Nobody told how many were expected.
    for (const { hour, observed, expected, coverage } of rows)
      expect([hour, observed, expected, coverage]).toEqual([
        hour,
        hours.get(hour.getTime() / 3_600_000) ?? 0,
        null,
        null,
      ])
    expect(rows.length).toBeGreaterThan(300)
  })
}
