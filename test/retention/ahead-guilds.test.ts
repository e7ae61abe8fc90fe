import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import { growingTables } from '../../src/resources/index.ts'
import { maintain } from '../../src/sync/retention/maintain.ts'
import { guildBody, guildId, type MemberFields, syncGuild } from '../support/guild-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { instantOf, worldOf } from '../support/world.ts'

/** Whole hours, such as begin and end anywhere, and such as reach into the time of which nothing is averaged. */
const intervals = [
  ['09:00', '15:00'],
  ['10:00', '12:00'],
  ['10:40', '12:20'],
  ['11:10', '11:50'],
  ['11:30', '12:00'],
  ['12:50', '14:30'],
] as const

/** Minutes after ten o'clock. */
const time = (minute: number) => `${10 + Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}`

describe.each(kindsOfLongTests)('what is made ahead of guilds, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const upkeep = () =>
    maintain(world.db, { now: new Date(world.clock.now()), tables: growingTables, retention: new Map() })
  const until = async () =>
    await world.rows(
      `select averaged_until from sync.tier where sample_table in ('game.guild_sample', 'game.member_counter') order by 1`,
    )
  const asked = async () => {
    const answers: unknown[][] = []
    for (const interval of intervals)
      for (const letter of ['a', 'b']) {
        const given = [guildId(letter), ...interval.map((at) => new Date(instantOf(at)))]
        for (const question of [
          'guild_online_heatmap($1, $2, $3)',
          'member_contribution($1, $2, $3)',
          `member_counter($1, 'wars', $2, $3)`,
        ])
          answers.push([
            letter,
            question,
            ...interval,
            ...(await world.db.values(`select * from analytics.${question}`, given)),
          ])
      }
    return answers
  }
  /** What the samples and the ledger alone say. */
  const sampled = async () => {
    await world.db.query('update sync.tier set averaged_until = null')
    return await asked()
  }

  /** Counters that rise, and now and then fall, or are hidden; members who come, go, and come back. */
  function guildOf(letter: string, random: () => number) {
    const members = new Map<number, { joined: string; contributed: number; wars: number }>()
    return (minute: number) => {
      for (const player of [1, 2, 3, 4, 5]) {
        const member = members.get(player)
        if (!member) {
          if (random() < 0.3) members.set(player, { joined: time(minute), contributed: 0, wars: 20 })
        } else if (player > 3 && random() < 0.06) members.delete(player)
        else {
          member.contributed = Math.floor(
            player > 1 && random() < 0.06 ? member.contributed / 2 : member.contributed + random() * 100,
          )
          member.wars += random() < 0.2 ? 1 : 0
        }
      }
      const told = [...members].map(([player, { wars, ...fields }]): [number, MemberFields] => [
        player,
        random() < 0.1 ? { ...fields, globalData: null } : { ...fields, globalData: { wars } },
      ])
      return guildBody(letter, Object.fromEntries(told), { online: Math.floor(random() * 20), wars: minute })
    }
  }

  test('says what the samples say, whenever it was made and whatever came late', async () => {
    const random = seededRandom(8)
    const [a, b] = [guildOf('a', random), guildOf('b', random)]
    const made: unknown[] = []
    let late: unknown
    for (let minute = 0, answers = 0; minute < 280; minute += 2 + Math.floor(random() * 7)) {
      // Of b no answer comes for hours, and then one that is hours old.
      if (minute >= 200 && !late) {
        await upkeep()
        await syncGuild(world, b(45), time(45))
        late = await until()
      }
      const [letter, body] = (minute > 25 && minute < 200) || random() < 0.5 ? ['a', a(minute)] : ['b', b(minute)]
      expect([letter, await syncGuild(world, body, time(minute))]).toMatchObject([
        letter,
        { status: expect.stringMatching(/^(ok|partial|unchanged)$/) },
      ])
      if (answers++ % 6 === 0) {
        await upkeep()
        made.push(...(await until()).flat())
      }
    }
    await upkeep()
    expect(new Set(made).size).toBeGreaterThan(2)
    expect(late).toEqual([['10:00'], ['10:00']])
    expect(await until()).toEqual([['13:00'], ['13:00']])
    const ahead = await asked()
    expect(JSON.stringify(ahead)).toContain('"reset"')
    expect(JSON.stringify(ahead)).toContain('"exact"')
    for (const [table, changed, restored] of [
      ['guild_hour', 'online_max = online_max + 100', 'online_max = online_max - 100'],
      ['member_counter_dip', `hour = hour + interval '1 day'`, `hour = hour - interval '1 day'`],
    ]) {
      // It is read, too.
      await world.db.query(`update game.${table} set ${changed}`)
      expect(await asked()).not.toEqual(ahead)
      await world.db.query(`update game.${table} set ${restored}`)
    }
    expect(await sampled()).toEqual(ahead)
  })
})
