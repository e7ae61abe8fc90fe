import { beforeAll, describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { testDatabase } from '../support/postgres.ts'
import { isFields, type RecordedAnswer, recordedAnswers, recordedFolder } from '../support/recorded.ts'
import { openWorld, type World } from '../support/world.ts'

interface Standing {
  readonly guild: string | null
  readonly acquired: string | null
}

function standingsOf(body: unknown): Map<string, Standing> {
  return new Map(
    Object.entries(isFields(body) ? body : {}).map(([territory, record]) => {
      const { guild, acquired } = isFields(record) ? record : {}
      const uuid = isFields(guild) && typeof guild.uuid === 'string' ? guild.uuid : null
      const since = typeof acquired === 'string' && uuid !== null ? new Date(acquired).toISOString() : null
      return [territory, { guild: uuid, acquired: since }]
    }),
  )
}

/** Every capture and loss that two answers in a row show, and every hold, by comparing them territory by territory. */
function compare(answers: readonly RecordedAnswer[]) {
  const captures: unknown[][] = []
  const holds: { territory: string; guild: string; from: string; until: string | null }[] = []
  let losses = 0
  const open = new Map<string, (typeof holds)[number]>()
  let before = new Map<string, Standing>()
  answers.forEach(({ at, body }, nth) => {
    const now = standingsOf(body)
    for (const [territory, { guild, acquired }] of now) {
      const earlier = before.get(territory)
      if (nth > 0 && earlier && earlier.guild === guild && earlier.acquired === acquired) continue
      if (nth > 0 && guild === null && earlier?.guild) losses += 1
      if (nth > 0 && guild !== null)
        captures.push([territory, acquired, at.toISOString(), earlier?.guild ?? null, guild, earlier?.guild === guild])
      const last = open.get(territory)
      if (last) last.until = guild === null ? at.toISOString() : acquired
      open.delete(territory)
      if (guild === null) continue
      const hold = { territory, guild, from: acquired ?? '', until: null }
      open.set(territory, hold)
      holds.push(hold)
    }
    before = now
  })
  return { captures, holds, losses }
}

const text = (value: unknown) => (value instanceof Date ? value.toISOString() : value)
const inOrder = (rows: readonly (readonly unknown[])[]) =>
  [...rows].sort((a, b) => (String([a[0], a[1]]) < String([b[0], b[1]]) ? -1 : 1))

describe.each([
  { folder: 'recordings', kind: 'embedded', counts: [2081, 1068, 0] },
  { folder: 'recordings-2026', kind: 'server', counts: [2080, 1065, 4] },
] as const)('the recorded territories of $folder on the $kind database', ({ folder: name, kind, counts }) => {
  const folder = recordedFolder(name)
  if (folder === undefined) return void test('were not compared: recorded data absent', () => {})
  const answers = recordedAnswers(folder, '/guild/list/territory')
  const expected = compare(answers)
  let world: World

  beforeAll(async () => {
    world = await openWorld(await testDatabase(kind), { recordings: folder }, answers[0]?.at.getTime() ?? 0)
    for (const { at } of answers) {
      await world.clock.advanceTo(at.getTime())
      expect(await world.syncNow(territories)).toMatchObject({ status: 'ok', quarantined: 0, closed: 0 })
      expect(await world.syncNow(territories)).toMatchObject({ status: 'unchanged' })
    }
    return async () => {
      await world.api.close()
      await world.sandbox.close()
    }
  })

  test('give exactly the captures of a comparison of the files', async () => {
    const rows = await world.db.values(
      `select territory, captured_at, observed_at, from_guild_uuid, to_guild_uuid, is_recapture from analytics.territory_capture`,
    )
    const found = rows.map((row) => row.map(text))
    expect(inOrder(found)).toEqual(inOrder(expected.captures))
    const again = expected.captures.filter((capture) => capture[5] === true).length
    expect([expected.captures.length, again, expected.losses]).toEqual(counts)
  })

  test('give exactly the holds of a comparison of the files', async () => {
    const rows = await world.db.values(
      `select territory, held_from, held_until, guild_uuid, is_current, acquired = held_from from analytics.territory_hold`,
    )
    const holds = expected.holds.map(({ territory, guild, from, until }) => [
      territory,
      from,
      until,
      guild,
      until === null,
      true,
    ])
    expect(inOrder(rows.map((row) => row.map(text)))).toEqual(inOrder(holds))
  })

  test('show each snapshot again as the map of its moment', async () => {
    for (const { at, body } of answers) {
      const rows = await world.db.query<{ territory: string; guild_uuid: string | null }>(
        'select territory, guild_uuid from analytics.map_at($1)',
        [at],
      )
      const shown = new Map(rows.map(({ territory, guild_uuid: guild }) => [territory, guild]))
      expect(shown).toEqual(new Map([...standingsOf(body)].map(([territory, { guild }]) => [territory, guild])))
    }
  })
})
