import { expect, test } from 'vitest'
import { seededRandom } from '../../../src/base/clock.ts'
import type { CounterName } from '../../../src/sandbox/index.ts'
import { contributionIn } from '../../support/contribution.ts'
import type { Played } from './played.ts'
import { inOrder, momentsOf, once, plain } from './rows.ts'
import { answersAbout, changesIn } from './true-guild.ts'
import { TruePeople } from './true-people.ts'

const day = 86_400_000

/** Questions 7 to 9 and 13: who is a member, what they give and do. */
export function questionsOfMembers(of: () => Played): void {
  const told = once(() => {
    const played = of()
    const people = new TruePeople(played)
    const guilds = played.guilds
      .map((guild) => ({ guild, answers: answersAbout(played, people, guild) }))
      .filter(({ answers }) => answers.length > 1)
    return { played, db: played.db, people, guilds, random: seededRandom(9) }
  })
  const intervals = (answers: readonly { at: Date }[], random: () => number, count: number) => {
    const moments = momentsOf(
      answers.map(({ at }) => at.getTime()),
      random,
      count * 2,
    )
    return Array.from({ length: count }, (_, nth) => moments.slice(2 * nth, 2 * nth + 2).sort((a, b) => a - b))
  }

  test('7: who is inactive: from logins and answers until then, unknown only of those who hide', async () => {
    const { db, people, guilds, random, played } = told()
    const seen = { active: 0, inactive: 0, unknown: 0 }
    for (const { guild, answers } of guilds) {
      const last = answers.at(-1)?.at.getTime() ?? 0
      const instants = answers.map(({ at }) => at.getTime())
      for (const moment of momentsOf(instants, random, 3).filter((at) => at < last)) {
        const known = answers.filter(({ at }) => at.getTime() <= moment)
        const rows = await db.values(
          `select player_uuid::text, username, rank, last_seen, status, reason from analytics.member_activity($1, $2)`,
          [guild, new Date(moment)],
        )
        const latest = known.at(-1)
        expect(rows.map(([player]) => player).sort()).toEqual([...(latest?.members.keys() ?? [])].sort())
        for (const [player, username, rank, lastSeen, status, reason] of plain(rows)) {
          const name = String(player)
          expect([username, rank]).toEqual([latest?.members.get(name)?.username, latest?.members.get(name)?.rank])
          if (status === 'active' || status === 'inactive' || status === 'unknown') seen[status] += 1
          if (people.everHid(name, 'onlineStatus', played.until)) {
            const at = Date.parse(String(lastSeen))
            // What was hidden later is forgotten; what is left is true all the same.
            if (lastSeen !== null) expect(people.isOnline(name, at) || people.lastJoin(name, at) === at).toBe(true)
            else expect([status, typeof reason]).toEqual(['unknown', 'string'])
            continue
          }
          const shown = known.filter(({ members }) => members.has(name)).map(({ at }) => at.getTime())
          const expected = Math.max(
            ...shown.map((at) => people.lastJoin(name, at) ?? 0),
            ...shown.filter((at) => people.isOnline(name, at)),
          )
          const standing = expected > moment - 7 * day ? 'active' : expected === 0 ? 'unknown' : 'inactive'
          expect([name, status]).toEqual([name, standing])
          expect(lastSeen).toBe(expected === 0 ? null : new Date(expected).toISOString())
        }
      }
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
  })

  test('8: what each member contributed', async () => {
    const { db, guilds, random } = told()
    let gained = 0
    for (const { guild, answers } of guilds) {
      const contributed = contributionIn(answers)
      for (const [from = 0, to = 0] of intervals(answers, random, 2)) {
        const rows = await db.values(
          'select player_uuid::text, contributed, quality from analytics.member_contribution($1, $2, $3)',
          [guild, new Date(from), new Date(to)],
        )
        const expected = contributed(new Date(from), new Date(to))
        const found = rows.map(([player, given, quality]) => [player, { contributed: given, quality }] as const)
        expect(new Map(found.map(([player, one]) => [String(player), one]))).toEqual(expected)
        for (const { contributed: given } of expected.values()) gained += given ?? 0
      }
    }
    expect(gained).toBeGreaterThan(0)
  })

  test.each([
    ['wars', 'wars'],
    ['guildRaids.total', 'guildRaids'],
  ] as const)('13: %s of each member, unknown of those who hide them', async (name, counter: CounterName) => {
    const { db, played, people, guilds, random } = told()
    for (const { guild } of guilds) {
      const glitches = played.history.glitches.filter((one) => one.guild === guild)
      const valueAt = (player: string, at: number) => {
        const isOff = glitches.some(({ from, until }) => Date.parse(from) <= at && at < Date.parse(until))
        return name === 'guildRaids.total' && isOff ? 0 : played.game.counterAt(player, counter, at)
      }
      const answers = answersAbout(played, people, guild, valueAt)
      const risen = contributionIn(answers, false)
      for (const [from = 0, to = 0] of intervals(answers, random, 2)) {
        const rows = await db.values(
          'select player_uuid::text, delta, quality from analytics.member_counter($1, $2, $3, $4)',
          [guild, name, new Date(from), new Date(to)],
        )
        const expected = risen(new Date(from), new Date(to))
        expect(rows.map(([player]) => player).sort()).toEqual([...expected.keys()].sort())
        for (const [player, delta, quality] of rows) {
          const uuid = String(player)
          if (!people.everHid(uuid, 'mainAccess', played.until)) {
            const { contributed = null, quality: sure } = expected.get(uuid) ?? {}
            expect([uuid, delta, quality]).toEqual([uuid, contributed, sure])
          } else if (answers.every(({ at }) => people.hides(uuid, 'mainAccess', at.getTime())))
            expect([delta, quality]).toEqual([null, 'unknown'])
        }
      }
    }
  })

  test('9: who came, went and was promoted, as answers in a row can show it', async () => {
    const { db, guilds, played } = told()
    let checked = 0
    for (const { guild, answers } of guilds) {
      const expected = changesIn(answers).map(({ event, at, seenAt, player, from, to }) => [
        event,
        new Date(at).toISOString(),
        new Date(seenAt).toISOString(),
        player,
        from,
        to,
      ])
      const rows = await db.values(
        `select case when event in ('promoted', 'demoted') then 'rank' else event end, at, observed_at, player_uuid::text,
                coalesce(from_rank, ''), coalesce(to_rank, '')
           from analytics.membership_event where guild_uuid = $1 and event <> 'transferred'`,
        [guild],
      )
      expect(inOrder(plain(rows))).toEqual(inOrder(expected))
      checked += expected.length
    }
    expect(checked).toBeGreaterThan(5)
    const rows = await db.values(
      `select at, guild_uuid::text, player_uuid::text, other_guild_uuid::text from analytics.membership_event
        where event = 'transferred'`,
    )
    const { memberships } = played.history
    const untrue = plain(rows).filter(([at, guild, player, other]) => {
      const joined = Date.parse(String(at))
      const left = memberships.filter(
        (one) =>
          one.player === player && (one.guild === other || one.otherGuild === other) && Date.parse(one.at) <= joined,
      )
      const came = memberships.some((one) => one.player === player && one.guild === guild && one.at === at)
      return !came || left.length === 0
    })
    expect(untrue).toEqual([])
  })

  test('9: how many of those who joined are still there', async () => {
    const { db, guilds, played } = told()
    for (const { guild, answers } of guilds) {
      const changes = changesIn(answers)
      const instants = played.accepted.guilds.filter(({ key }) => key === guild).map(({ at }) => at)
      const joins = changes.filter(({ event, at }) => event === 'joined' && at >= played.from && at < played.until)
      const last = Math.max(...instants)
      // True: a response at or after that shows the member. False: the member had left. Undefined: neither.
      const isThere = (player: string, joinedAt: number, at: number) => {
        const left = changes.find((one) => one.event === 'left' && one.player === player && one.at > joinedAt)
        const shownUntil = Math.max(...instants.filter((instant) => !left || instant < left.seenAt))
        if (shownUntil >= at) return true
        return left && left.at <= at ? false : undefined
      }
      const expected = [...new Set(joins.map(({ at }) => monthOf(at)))].sort().map((month) => {
        const those = joins.filter(({ at }) => monthOf(at) === month)
        const after = [30, 90].map((days) => {
          const there = those.map(({ player, at }) => isThere(player, at, at + days * day))
          const isKnown = those.some(({ at }, nth) => at + days * day <= last && there[nth] !== undefined)
          const [stayed, unknown] = [true, undefined].map((is) => there.filter((one) => one === is).length)
          return { stayed: isKnown ? stayed : null, unknown }
        })
        return [month, those.length, ...after.map(({ stayed }) => stayed), ...after.map(({ unknown }) => unknown)]
      })
      const rows = await db.values('select * from analytics.member_retention($1, $2, $3)', [
        guild,
        new Date(played.from),
        new Date(played.until),
      ])
      expect(plain(rows)).toEqual(expected)
    }
  })
}

function monthOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 7)}-01T00:00:00.000Z`
}
