import { expect, test } from 'vitest'
import { hour, type Played } from './played.ts'
import { polled } from './timetable.ts'

/** Question 15: how complete and fresh it is. */
export function questionsOfCoverage(of: () => Played): void {
  test.each(polled)('15: how completely %s were observed in each hour, by the timetable', async (resource) => {
    const { db, slots, accepted, from } = of()
    const made = new Map<number, number>()
    const lost = new Map<number, number>()
    const all = slots.filter((slot) => slot.resource === resource)
    const first = all.find(({ isLost }) => !isLost)?.at ?? 0
    // What comes after the last answer is lost as well, up to this day.
    const last = all.findLast(({ isLost }) => !isLost)?.at ?? 0
    for (const { at, isLost } of all) {
      if (at < first || at > last) continue
      const begin = Math.floor(at / hour)
      const counts = isLost ? lost : made
      counts.set(begin, (counts.get(begin) ?? 0) + 1)
    }
    const ended = Math.floor(last / hour) * hour
    const rows = await db.query<Record<string, number> & { hour: Date }>(
      'select hour, expected, observed, missed, rejected, coverage from analytics.coverage($1, $2, $3)',
      [resource, new Date(from - hour), new Date(ended)],
    )
    const expected = Array.from({ length: (ended - Math.floor(first / hour) * hour) / hour }, (_, nth) => {
      const begin = Math.floor(first / hour) + nth
      const [observed, missed] = [made.get(begin) ?? 0, lost.get(begin) ?? 0]
      const share = observed + missed === 0 ? null : expect.closeTo(observed / (observed + missed))
      return {
        hour: new Date(begin * hour),
        expected: observed + missed,
        observed,
        missed,
        rejected: 0,
        coverage: share,
      }
    })
    expect(rows).toEqual(expected)
    expect(accepted[resource].length).toBeGreaterThan(0)
  })

  test('15: how fresh each resource is', async () => {
    const { db, accepted, paces, itemWorlds } = of()
    const rows = await db.query<Record<string, unknown>>(
      `select resource, last_observed_at, last_changed_at, extract(epoch from expected_every)::float as every, is_late, age
         from analytics.freshness`,
    )
    const found = new Map(rows.map((row) => [row.resource, row]))
    for (const resource of polled) {
      const row = found.get(resource)
      const { at = 0, askedAt = 0 } = accepted[resource].at(-1) ?? {}
      expect(row?.last_observed_at).toEqual(new Date(at))
      expect(row?.every).toBe(paces[resource])
      const isLate = Date.now() - askedAt > 1500 * paces[resource]
      expect([resource, row?.is_late]).toEqual([resource, isLate])
    }
    // The first answer, the one after a patch, and the next, which is the second without what was removed.
    const { at: patched = 0 } = itemWorlds.at(-1) ?? {}
    const after = accepted.items.filter(({ at }) => at >= patched)
    const news = itemWorlds.length === 1 ? after[0] : (after[1] ?? after[0] ?? accepted.items.at(-1))
    expect(found.get('items')?.last_changed_at).toEqual(new Date(news?.at ?? 0))
  })
}
