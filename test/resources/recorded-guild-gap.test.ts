import { describe, expect, test } from 'vitest'
import { syncGuilds } from '../support/guild-answers.ts'
import { type Member, membersIn } from '../support/membership-changes.ts'
import { testDatabase } from '../support/postgres.ts'
import { recordedFolder, recordedPaths, recordedResponses } from '../support/recorded.ts'
import { openWorld } from '../support/world.ts'

const folder = recordedFolder('recordings')

describe('a recorded guild that was not watched for two years', () => {
  if (folder === undefined) return test.skip('was compared (skipped: recorded data absent)')
  const path = recordedPaths(folder).find((one) => one.startsWith('/guild/uuid/ee860b7c')) ?? ''

  test('has bounds of what members contributed in a period that begins in between, and nothing exact', async () => {
    // The one of 2024, and the first hours of 2026.
    const responses = recordedResponses(folder, path)
      .slice(0, 25)
      .map(({ at, body }) => ({ at, members: membersIn(body) }))
    const [old, first] = responses
    const last = responses.at(-1)
    if (!old || !first || !last) throw new Error('the recordings have no such guild')
    expect([old.at.getUTCFullYear(), first.at.getUTCFullYear()]).toEqual([2024, 2026])
    const world = await openWorld(await testDatabase('server'), { recordings: folder }, old.at.getTime())
    try {
      for (const { at } of responses) {
        await world.clock.advanceTo(at.getTime())
        const { quarantined, rejected } = await syncGuilds(world, { keys: [path.slice('/guild/uuid/'.length)] })
        expect([quarantined, rejected]).toEqual([0, 0])
      }
      const from = new Date('2026-05-01T00:00:00Z')
      const rows = await world.db.query<
        Record<'player' | 'quality', string> & Record<'contributed' | 'most' | 'share', number | null>
      >(
        `select player_uuid::text as player, contributed, at_most as most, share, quality from analytics.member_contribution($1, $2, $3)`,
        [path.slice('/guild/uuid/'.length), from, last.at],
      )
      const same = (one: Member | undefined, other: Member) => one?.joined === other.joined
      let bounded = 0
      for (const { player, contributed, most, share, quality } of rows) {
        const shown = responses.slice(1).flatMap(({ members }) => members.get(player) ?? [])
        expect([share, quality]).toEqual([null, shown.length === 0 ? 'unknown' : 'at_least'])
        const [begin, end] = [shown[0], shown.at(-1)]
        if (!begin || !end || !same(begin, end) || Date.parse(begin.joined) > from.getTime()) continue
        const before = old.members.get(player)
        const made = end.contributed - begin.contributed
        expect([player, contributed]).toEqual([player, made])
        if (most === null) continue
        bounded += 1
        expect([player, most]).toEqual([player, end.contributed - (same(before, end) ? (before?.contributed ?? 0) : 0)])
      }
      expect(bounded).toBeGreaterThan(50)
    } finally {
      await world.api.close()
      await world.sandbox.close()
    }
  })
})
