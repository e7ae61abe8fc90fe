import { beforeAll, describe, expect, test } from 'vitest'
import { syncGuilds } from '../support/guild-answers.ts'
import { membersIn } from '../support/membership-changes.ts'
import { testDatabase } from '../support/postgres.ts'
import { isFields, recordedFolder, recordedPaths, recordedResponses } from '../support/recorded.ts'
import { openWorld, type World } from '../support/world.ts'

const folder = recordedFolder('recordings')

describe('the recorded guilds of 2024 on the embedded database', () => {
  if (folder === undefined) return test.skip('were compared (skipped: recorded data absent)')
  const bodies = recordedPaths(folder)
    .filter((path) => path.startsWith('/guild/uuid/'))
    .flatMap((path) => {
      const [first] = recordedResponses(folder, path)
      return first?.at.getUTCFullYear() === 2024 ? [{ key: path.slice('/guild/uuid/'.length), ...first }] : []
    })
  let world: World

  beforeAll(async () => {
    const first = Math.max(...bodies.map(({ at }) => at.getTime()))
    world = await openWorld(await testDatabase('embedded'), { recordings: folder }, first)
    const keys = bodies.map(({ key }) => key)
    expect(await syncGuilds(world, { keys })).toMatchObject({ status: 'ok', quarantined: 0, rejected: 0, inserted: 57 })
    return async () => {
      await world.api.close()
      await world.sandbox.close()
    }
  })

  test('are taken in whole: every member under the rank of the answer, and nobody joined or left', async () => {
    const rows = await world.db.query<{ guild: string; player: string; rank: string }>(
      `select guild_uuid::text as guild, player_uuid::text as player, rank from analytics.guild_member`,
    )
    const expected = bodies.flatMap(({ key, body }) =>
      [...membersIn(body)].map(([player, { rank }]) => ({ guild: key, player, rank })),
    )
    const inOrder = (list: typeof expected) => list.map((one) => Object.values(one).join(' ')).sort()
    expect(inOrder(rows)).toEqual(inOrder(expected))
    expect(rows).toHaveLength(1878)
    expect(rows.filter(({ rank }) => rank === 'captain')).toHaveLength(293)
    expect(await world.rows('select count(*) from analytics.membership_event')).toEqual([[0]])
  })

  test('have no wars, banner or structure where the answers have none', async () => {
    expect(
      await world.rows(
        `select count(*) filter (where wars is null) from game.guild_sample
         union all select count(*) filter (where banner_base is null) from game.guild
         union all select count(*) filter (where banner_base is not null and banner_structure is null) from game.guild`,
      ),
    ).toEqual([[12], [22], [2]])
  })

  test('tell who was online, and call nobody inactive of whom no login is told', async () => {
    for (const { key, at, body } of bodies.filter((_, nth) => nth % 8 === 0)) {
      const rows = await world.db.query<{ player: string; seen: Date | null; status: string }>(
        `select player_uuid::text as player, last_seen as seen, status from analytics.member_activity($1, $2)`,
        [key, new Date(at.getTime() + 1000)],
      )
      const online = new Set(onlineIn(body))
      expect(rows.map(({ player }) => player).sort()).toEqual([...membersIn(body).keys()].sort())
      for (const { player, seen, status } of rows)
        expect([seen, status]).toEqual(online.has(player) ? [at, 'active'] : [null, 'unknown'])
      const [cell] = await world.db.query('select * from analytics.guild_online_heatmap($1, $2, $3)', [
        key,
        at,
        new Date(at.getTime() + 1000),
      ])
      const count = isFields(body) ? body.online : undefined
      const [dow, hour] = [at.getUTCDay() || 7, at.getUTCHours()]
      expect(cell).toEqual({ dow, hour, online_avg: count, online_max: count, coverage: 1 })
    }
  })

  test('give ratings of seasons that nobody knows anything else of', async () => {
    const told = bodies.flatMap(({ key, at, body }) =>
      Object.entries(isFields(body) && isFields(body.seasonRanks) ? body.seasonRanks : {}).map(
        ([season, rank]): [string, string, number, Date] => [season, key, isFields(rank) ? Number(rank.rating) : 0, at],
      ),
    )
    const seasons = [...new Set(told.map(([season]) => season))]
    expect(seasons.length).toBeGreaterThan(3)
    for (const season of seasons) {
      const rows = await world.db.values(
        `select guild_uuid::text, reported_rating, as_of, holding_estimate, war_estimate, reason is not null
           from analytics.season_rating($1)`,
        [season],
      )
      const expected = told.flatMap(([one, key, rating, at]) =>
        one === season ? [[key, rating, at, null, null, true]] : [],
      )
      const inOrder = (list: readonly (readonly unknown[])[]) =>
        [...list].sort((x, y) => (String(x) < String(y) ? -1 : 1))
      expect(inOrder(rows)).toEqual(inOrder(expected))
    }
  })
})

function onlineIn(body: unknown): string[] {
  const ranks = isFields(body) && isFields(body.members) ? Object.values(body.members) : []
  const members = ranks.flatMap((ofRank) => (isFields(ofRank) ? Object.values(ofRank) : []))
  return members.flatMap((one) => (isFields(one) && one.online === true ? [String(one.uuid)] : []))
}
