import { expect, test } from 'vitest'
import { seededRandom } from '../../../src/base/clock.ts'
import { hour, type Played } from './played.ts'
import { inOrder, momentsOf, once, plain } from './rows.ts'
import { holdsAt, type Stretch, stretchesSeen, TrueMap } from './true-map.ts'

/** Questions 1 to 4 and 6: who held what. */
export function questionsOfTheMap(of: () => Played): void {
  const told = once(() => {
    const played = of()
    const truth = new TrueMap(played)
    const answers = played.accepted.territories.map(({ at }) => at)
    const stretches = stretchesSeen(truth, answers)
    const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString())
    const captures = stretches.filter(({ guild, before }) => guild !== null && before !== undefined)
    const random = seededRandom(4)
    const moments = momentsOf(answers, random)
    return { played, db: played.db, truth, answers, stretches, captures, iso, random, moments }
  })

  test('1: whoever held a place while an answer could show it is named, with the second of the capture', async () => {
    const { db, truth, answers, moments, random, iso } = told()
    const places = [...truth.places.keys()]
    let visible = 0
    for (const moment of moments) {
      for (let nth = 0; nth < 6; nth++) {
        const territory = places[Math.floor(random() * places.length)] ?? ''
        const rows = await db.values(
          `select guild_uuid::text, guild_name, guild_prefix, held_from, held_until
             from analytics.territory_owner_at($1, $2)`,
          [territory, new Date(moment)],
        )
        const hold = truth.at(territory, moment)
        const seenAt = hold ? answers.find((at) => at >= hold.from && at < hold.until) : undefined
        // A hold that no answer fell into is not to be seen; where nobody held it, only from the first answer on.
        if (!hold || seenAt === undefined) continue
        visible += 1
        const [row] = plain(rows)
        expect(row?.slice(0, 4)).toEqual([hold.guild, ...truth.called(hold.guild, seenAt), iso(hold.from)])
        const until = row?.[4] === null ? null : Date.parse(String(row?.[4]))
        // It ends when the next capture that was seen was, which is not before it ended in truth.
        if (until !== null) expect(until).toBeGreaterThanOrEqual(hold.until)
        else expect(answers.at(-1)).toBeLessThan(Math.max(hold.until, (answers.at(-1) ?? 0) + 1))
      }
    }
    expect(visible).toBeGreaterThan(moments.length)
  })

  test('1: at the instant of an answer it is exactly so, also where nobody holds it', async () => {
    const { db, truth, answers } = told()
    for (const at of answers.filter((_, nth) => nth % Math.ceil(answers.length / 8) === 1)) {
      const rows = await db.values('select territory, guild_uuid::text from analytics.map_at($1)', [new Date(at)])
      const shown = new Map(rows.map(([territory, guild]) => [territory, guild]))
      for (const territory of truth.places.keys()) {
        const hold = truth.at(territory, at)
        if (hold !== undefined) expect([territory, shown.get(territory)]).toEqual([territory, hold?.guild ?? null])
      }
    }
  })

  test('2: every hold has its ends, its length and the names of its time', async () => {
    const { db, truth, stretches, answers, iso } = told()
    const expected = stretches.flatMap((one) => {
      if (one.guild === null) return []
      const seconds = ((one.until ?? answers.at(-1) ?? 0) - one.from) / 1000
      const names = truth.called(one.guild, one.seenAt)
      const ends = [iso(one.from), iso(one.until), seconds.toFixed(3), one.until === null]
      return [[one.territory, one.guild, ...names, ...ends]]
    })
    const rows = await db.values(
      `select territory, guild_uuid::text, guild_name, guild_prefix, held_from, held_until,
              round(extract(epoch from held_for), 3)::text, is_current from analytics.territory_hold`,
    )
    expect(inOrder(plain(rows))).toEqual(inOrder(expected))
    expect(expected.length).toBeGreaterThan(400)
  })

  test('3: every capture that answers could show, and no other', async () => {
    const { db, truth, captures, iso, played } = told()
    const expected = captures.map(({ territory, from, seenAt, before = null, guild }) => [
      iso(from),
      iso(seenAt),
      territory,
      before,
      truth.called(before, seenAt)[0],
      guild,
      truth.called(guild, seenAt)[0],
      before === guild,
    ])
    const rows = await db.values(
      `select captured_at, observed_at, territory, from_guild_uuid::text, from_guild_name, to_guild_uuid::text, to_guild_name,
              is_recapture from analytics.territory_capture`,
    )
    // A guild that took another name meanwhile is called by the one under which its hold was first seen.
    const unnamed = (row: readonly unknown[]) => row.filter((_, nth) => nth !== 4)
    expect(inOrder(plain(rows).map(unnamed))).toEqual(inOrder(expected.map(unnamed)))
    const really = new Set(played.history.captures.map(({ at, territory, to }) => `${at} ${territory} ${to}`))
    const untrue = plain(rows).filter(([at, , territory, , , to]) => !really.has(`${at} ${territory} ${to}`))
    expect(untrue).toEqual([])
    expect(rows.length).toBeGreaterThan(20)
  })

  test('3: who takes how many from whom', async () => {
    const { db, captures, moments } = told()
    for (let nth = 0; nth + 1 < Math.min(moments.length, 12); nth += 2) {
      const [from = 0, to = 0] = moments.slice(nth, nth + 2).sort((a, b) => a - b)
      const counts = new Map<string, number>()
      for (const one of captures)
        if (one.from >= from && one.from < to)
          counts.set(`${one.guild} ${one.before ?? null}`, (counts.get(`${one.guild} ${one.before ?? null}`) ?? 0) + 1)
      const rows = await db.values(
        'select attacker_uuid::text, defender_uuid::text, captures from analytics.capture_matrix($1, $2)',
        [new Date(from), new Date(to)],
      )
      const found = new Map(rows.map(([attacker, defender, count]) => [`${attacker} ${defender}`, count]))
      expect(found).toEqual(counts)
    }
  })

  test('4: the map of any moment, and how many each guild held', async () => {
    const { db, truth, stretches, moments, iso } = told()
    for (const at of moments.slice(0, 20)) {
      const then = stretches.filter((one) => holdsAt(one, at))
      const rows = await db.values(
        'select territory, guild_uuid::text, guild_name, guild_prefix, held_from from analytics.map_at($1)',
        [new Date(at)],
      )
      const expected = then.map((one) => [
        one.territory,
        one.guild,
        ...truth.called(one.guild, one.seenAt),
        iso(one.from),
      ])
      expect(inOrder(plain(rows))).toEqual(inOrder(expected))
    }
    const [from = 0, to = 0] = [moments[0], moments[1]].map(Number).sort((a, b) => a - b)
    const step = Math.max(60_000, Math.floor((to - from) / 7))
    const rows = await db.values(
      'select at, guild_uuid::text, territories from analytics.guild_territory_count($1, $2, $3::interval)',
      [new Date(from), new Date(to), `${step} milliseconds`],
    )
    const expected = []
    for (let at = from; at < to; at += step) expected.push(...countsAt(stretches, at).map((row) => [iso(at), ...row]))
    expect(inOrder(plain(rows))).toEqual(inOrder(expected))
  })

  test('6: what was stored and produced while a guild held a place, whenever a number changed', async () => {
    const { db, played, stretches, truth, iso } = told()
    const expected: unknown[][] = []
    const before = new Map<string, string>()
    for (const { at, territory, hq, treasury, defences, resources } of played.places)
      for (const { type, generation, stored, limit } of resources) {
        const key = `${territory} ${type}`
        const said = `${generation} ${stored} ${limit}`
        if (before.get(key) === said) continue
        before.set(key, said)
        const holder = stretches.find((one) => one.territory === territory && holdsAt(one, at))?.guild
        if (holder) expected.push([holder, iso(at), territory, type, stored, limit, generation, treasury, defences, hq])
      }
    const watched = [...new Set(played.places.map(({ territory }) => territory))]
    const found: unknown[][] = []
    for (const guild of new Set([...truth.holds.values()].flatMap((list) => list.map((one) => one.guild)))) {
      const rows = await db.values(
        `select at, territory, resource, stored, storage_limit, generation, treasury, defences, is_hq
           from analytics.territory_economy($1, $2, $3) where territory = any($4::text[])`,
        [guild, new Date(played.from - hour), new Date(played.until), watched],
      )
      found.push(...plain(rows).map((row) => [guild, ...row]))
    }
    expect(inOrder(found)).toEqual(inOrder(expected))
    expect(found.length).toBeGreaterThan(50)
  })
}

function countsAt(stretches: readonly Stretch[], at: number): [string, number][] {
  const counts = new Map<string, number>()
  for (const one of stretches)
    if (one.guild !== null && holdsAt(one, at)) counts.set(one.guild, (counts.get(one.guild) ?? 0) + 1)
  return [...counts]
}
