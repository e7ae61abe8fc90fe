import { beforeAll, describe, expect, test } from 'vitest'
import { syncGuilds } from '../support/guild-answers.ts'
import { membersIn } from '../support/membership-changes.ts'
import { testDatabase } from '../support/postgres.ts'
import { recordedAnswers, recordedFolder, recordedPaths } from '../support/recorded.ts'
import { openWorld, type World } from '../support/world.ts'

const folder = recordedFolder('recordings')

describe('the recorded guilds of 2024 on the embedded database', () => {
  if (folder === undefined) return void test('were not compared: recorded data absent', () => {})
  const bodies = recordedPaths(folder)
    .filter((path) => path.startsWith('/guild/uuid/'))
    .flatMap((path) => {
      const [first] = recordedAnswers(folder, path)
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
})
