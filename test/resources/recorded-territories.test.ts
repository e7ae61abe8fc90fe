import { beforeAll, describe, expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { testDatabase } from '../support/postgres.ts'
import { isFields, type RecordedResponse, recordedFolder, recordedResponses } from '../support/recorded.ts'
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
function compare(answers: readonly RecordedResponse[]) {
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
  if (folder === undefined) return test.skip('were compared (skipped: recorded data absent)')
  const answers = recordedResponses(folder, '/guild/list/territory')
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

  test('name the holder of a place at any moment, and how many places each guild held', async () => {
    const random = seededRandom(3)
    const [first = 0, last = 0] = [answers[0], answers.at(-1)].map((one) => one?.at.getTime())
    const holding = (at: number) =>
      expected.holds.filter(({ from, until }) => Date.parse(from) <= at && (until === null || at < Date.parse(until)))
    for (let nth = 0; nth < 10; nth++) {
      const at = Math.floor(first + random() * (last - first))
      const then = holding(at)
      const one = then[Math.floor(random() * then.length)]
      const rows = await world.db.values(
        'select guild_uuid, held_from, held_until from analytics.territory_owner_at($1, $2)',
        [one?.territory ?? null, new Date(at)],
      )
      expect(rows.map((row) => row.map(text))).toEqual([[one?.guild, one?.from, one?.until]])
      const counts = await world.db.query<{ guild_uuid: string; territories: number }>(
        `select guild_uuid, territories from analytics.guild_territory_count($1, $2, '1 hour')`,
        [new Date(at), new Date(at + 1000)],
      )
      expect(Object.fromEntries(counts.map((row) => [row.guild_uuid, row.territories]))).toEqual(
        tallied(then.map(({ guild }) => guild)),
      )
    }
  })

  test('count who takes how many from whom between two snapshots', async () => {
    for (const [nth, { at }] of answers.slice(0, -1).entries()) {
      const until = answers[nth + 1]?.at ?? at
      const rows = await world.db.values(
        'select attacker_uuid, defender_uuid, captures from analytics.capture_matrix($1, $2)',
        [at, until],
      )
      const then = expected.captures.filter(([, acquired]) => {
        const instant = Date.parse(String(acquired))
        return instant >= at.getTime() && instant < until.getTime()
      })
      const found = rows.map(([attacker, defender, captures]): [string, unknown] => [
        `${attacker} ${defender}`,
        captures,
      ])
      expect(Object.fromEntries(found)).toEqual(tallied(then.map((capture) => `${capture[4]} ${capture[3]}`)))
    }
  })

  test('tell what a guild had in its territories, whenever it was another number', async () => {
    const holders = Object.entries(tallied(expected.holds.map(({ guild }) => guild))).sort(
      (one, two) => two[1] - one[1],
    )
    for (const [guild] of holders.slice(0, 3)) {
      const shown = new Map<string, string>()
      const stored: unknown[][] = []
      for (const { at, body } of answers)
        for (const [territory, record] of Object.entries(isFields(body) ? body : {}))
          for (const one of isFields(record) && Array.isArray(record.resources) ? record.resources : []) {
            const said = JSON.stringify([one.generation, one.baseGeneration, one.stored, one.limit])
            if (shown.get(`${territory} ${one.type}`) === said) continue
            shown.set(`${territory} ${one.type}`, said)
            if (standingsOf({ [territory]: record }).get(territory)?.guild !== guild) continue
            stored.push([
              territory,
              at.toISOString(),
              one.type,
              one.stored ?? null,
              one.limit ?? null,
              one.generation ?? null,
            ])
          }
      const rows = await world.db.values(
        `select territory, at, resource, stored, storage_limit, generation from analytics.territory_economy($1, $2, $3)`,
        [guild, answers[0]?.at ?? null, new Date('2030-01-01Z')],
      )
      const byPlace = (list: readonly (readonly unknown[])[]) => list.map(String).sort()
      expect(byPlace(rows.map((row) => row.map(text)))).toEqual(byPlace(stored))
    }
  })
})

function tallied(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
