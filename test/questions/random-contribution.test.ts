import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import { growingTables } from '../../src/resources/index.ts'
import { maintain } from '../../src/sync/retention/maintain.ts'
import { contributionIn } from '../support/contribution.ts'
import { guildBody, guildId, type MemberFields, syncGuild } from '../support/guild-answers.ts'
import { membersIn } from '../support/membership-changes.ts'
import { seedsOf } from '../support/seeds.ts'
import { instantOf, worldOf } from '../support/world.ts'

const RESPONSES = 90
const world = worldOf('server')
const every = 10 * 60_000
/** The nth response, ten minutes after the one before. */
const time = (nth: number) => `${String(1 + Math.floor(nth / 6)).padStart(2, '0')}:${nth % 6}0`

/** What a counter shows next: it rises, dips, is doubled for a response, or begins again. */
function next(shown: number, before: number, random: () => number): number {
  const kind = random()
  if (kind < 0.05) return 0
  if (kind < 0.1) return Math.floor(shown * random())
  if (kind < 0.14) return shown * 2
  if (kind < 0.2) return before
  return kind < 0.5 ? shown : shown + Math.floor(random() * 60)
}

/** So many that come at once are no mass return, which another response would have to confirm. */
const COMING = 4

/** Members 2 to 9 come, go and come back; the counter of member 1 never falls. */
function responses(random: () => number): object[] {
  const players = new Map([[1, { rank: 'owner', joined: '00:00', contributed: 5, before: 5 }]])
  const away = new Map<number, { joined: string; contributed: number }>()
  return Array.from({ length: RESPONSES }, (_, nth) => {
    let coming = 0
    for (let player = 2; player < 10; player++) {
      const member = players.get(player)
      if (!member && random() < 0.4 && (nth === 0 || coming < COMING)) {
        coming++
        // One comes back as if it had not been away, another one anew; some of these with the number that they had.
        const former = away.get(player)
        const joined = (random() < 0.4 ? former?.joined : undefined) ?? time(nth)
        const contributed = random() < 0.6 ? (former?.contributed ?? 0) : Math.floor(random() * 300)
        players.set(player, { rank: 'recruit', joined, contributed, before: contributed })
      } else if (member && random() < 0.04) {
        away.set(player, member)
        players.delete(player)
      } else if (member) {
        const contributed = next(member.contributed, member.before, random)
        players.set(player, { ...member, contributed, before: member.contributed })
      }
    }
    const owner = players.get(1)
    if (owner) owner.contributed += Math.floor(random() * 3)
    const shown = [...players].map(([player, { before: _, ...fields }]): [number, MemberFields] => [player, fields])
    return guildBody('a', Object.fromEntries(shown))
  })
}

test.each(seedsOf(import.meta.filename))(
  'contributions of random counters are those that all their responses give, seed %i',
  async (seed) => {
    const random = seededRandom(seed)
    const bodies = responses(random)
    for (const [nth, body] of bodies.entries()) await syncGuild(world, body, time(nth))
    const answers = bodies.map((body, nth) => ({ at: new Date(instantOf(time(nth))), members: membersIn(body) }))
    const expected = contributionIn(answers)
    const begin = instantOf(time(0))
    const found = { exact: 0, at_least: 0, clamped: 0, reset: 0 }
    /** @param after the response after which most intervals begin shortly */
    const compare = async (after?: number) => {
      for (let round = 0; round < 40; round++) {
        // Every fourth interval holds the first response.
        const near = after === undefined ? random() : (after + 9 * random()) / RESPONSES
        const shares = [round % 4 === 0 ? 0 : near, random()].sort((a, b) => a - b)
        // And a third of those a day before it.
        const early = round % 12 === 0 ? 24 * 3_600_000 : 0
        const [from = 0, to = 0] = shares.map(
          (share, nth) => begin + share * RESPONSES * every - (nth === 0 ? early : 0),
        )
        const given = [new Date(from), new Date(to)] as const
        const rows = await world.db.values(
          `select player_uuid::text, contributed, quality from analytics.member_contribution('${guildId('a')}', $1, $2)`,
          given,
        )
        const shown = rows.map(([player, contributed, quality]) => [player, { contributed, quality }] as const)
        expect(new Map(shown)).toEqual(expected(...given))
        for (const [, { quality }] of shown) if (quality !== 'unknown') found[quality as 'exact'] += 1
      }
    }
    await compare()
    // What is materialized ahead changes nothing.
    const now = new Date(begin + RESPONSES * every)
    await maintain(world.db, { now, tables: growingTables, retention: new Map() })
    const ofCounters = `sample_table = 'game.member_counter'`
    expect(await world.db.values(`select averaged_until from sync.tier where ${ofCounters}`)).toEqual([
      [expect.any(Date)],
    ])
    await compare()
    // Up to an instant in the middle, too: what follows is not materialized yet.
    for (const hours of [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3]) {
      const middle = new Date(begin + hours * 3_600_000)
      await world.db.query(`update sync.tier set averaged_until = $1 where ${ofCounters}`, [middle])
      await world.db.query('delete from game.member_counter_dip where hour >= $1', [middle])
      await compare(hours * 6)
    }
    for (const amount of Object.values(found)) expect(amount).toBeGreaterThan(10)
  },
)

test('a fall across the instant until which falls are materialized is not forgotten', async () => {
  for (const [at, contributed] of [
    ['10:00', 50],
    ['10:50', 100],
    ['11:10', 30],
    ['11:20', 40],
    ['12:05', 110],
  ] as const)
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner', contributed } }), at)
  const read = () =>
    world.rows(
      `select contributed, quality from analytics.member_contribution('${guildId('a')}', '2026-06-01 11:20Z', '2026-06-01 12:30Z')`,
    )
  expect(await read()).toEqual([[10, 'clamped']])
  await maintain(world.db, { now: new Date(instantOf('12:10')), tables: growingTables, retention: new Map() })
  expect(await world.rows('select averaged_until from sync.tier where averaged_until is not null limit 1')).toEqual([
    ['11:00'],
  ])
  expect(await read()).toEqual([[10, 'clamped']])
})
