import { expect, test } from 'vitest'
import { hour, type Played } from './played.ts'
import { inOrder, once, plain } from './rows.ts'
import { holding, type Known, onlineAnswers, worldsUp } from './true-online.ts'

/** Question 11: how many are online where, and which worlds come and go. */
export function questionsOfWorlds(of: () => Played): void {
  const told = once(() => {
    const played = of()
    const accepted = played.accepted['online-players'].map(({ at }) => at)
    const answers = onlineAnswers(played, accepted)
    return { played, db: played.db, answers, known: holding(answers), ups: worldsUp(answers) }
  })
  // Of a month, some days: the first, one in the middle, and the last.
  const stretches = ({ from, until }: Played) => {
    const length = Math.min(until - from, 24 * hour)
    const starts = until - from > length ? [from, (from + until) / 2, until - length] : [from]
    return starts.map((start) => [Math.floor(start / hour) * hour, Math.floor(start / hour) * hour + length] as const)
  }

  test('11: how many are online, and how many of them hide', async () => {
    const { db, played, known } = told()
    let checked = 0
    for (const [from, to] of stretches(played)) {
      const step = 20 * 60_000
      const rows = await db.query<Record<string, number | null> & { at: Date }>(
        'select * from analytics.online_total($1, $2, $3::interval)',
        [new Date(from), new Date(to), '20 minutes'],
      )
      expect(rows.length).toBe(Math.ceil((to - from) / step))
      for (const { at, total_avg: average, total_max: most, hidden_avg: hidden } of rows) {
        const [begin, end] = [at.getTime(), Math.min(at.getTime() + step, to)]
        const parts = within(known, begin, end)
        if (parts.length === 0) {
          expect([average, most, hidden]).toEqual([null, null, null])
          continue
        }
        checked += 1
        expect(average).toBeCloseTo(averageOf(parts, ({ total }) => total))
        expect(hidden).toBeCloseTo(averageOf(parts, (one) => one.hidden))
        expect(most).toBe(Math.max(...parts.map(({ value }) => value.total)))
      }
    }
    expect(checked).toBeGreaterThan(6)
  })

  test('11: how many are listed on each world in each hour', async () => {
    const { db, played, known, ups } = told()
    for (const [from, to] of stretches(played)) {
      const expected = new Map<string, readonly [number, number]>()
      for (let begin = from; begin < to; begin += hour) {
        const sums = new Map<string, Known<number>[]>()
        for (const { world, from: up, until: down, counts } of ups) {
          if (up >= begin + hour || down <= begin) continue
          const numbers = counts.map(({ at, online }, nth) => ({
            from: at,
            until: Math.min(counts[nth + 1]?.at ?? Number.POSITIVE_INFINITY, down),
            value: online,
          }))
          const watched = within(known, begin, Math.min(begin + hour, to))
          const near = within(numbers, begin, Math.min(begin + hour, to))
          const parts = watched.flatMap((one) => within(near, one.from, one.until))
          if (parts.length > 0) sums.set(world, [...(sums.get(world) ?? []), ...parts])
        }
        for (const [world, parts] of sums)
          expected.set(`${world} ${begin}`, [
            averageOf(parts, (online) => online),
            Math.max(...parts.map(({ value }) => value)),
          ])
      }
      const rows = await db.query<Record<string, number> & { world: string; hour: Date }>(
        'select * from analytics.world_peak($1, $2)',
        [new Date(from), new Date(to)],
      )
      const found = new Map(rows.map((row) => [`${row.world} ${row.hour.getTime()}`, row]))
      expect([...found.keys()].sort()).toEqual([...expected.keys()].sort())
      for (const [cell, [average, most]] of expected) {
        expect(found.get(cell)?.online_avg).toBeCloseTo(average)
        expect([cell, found.get(cell)?.online_max]).toEqual([cell, most])
      }
    }
  })

  test('11: when worlds came up and went down', async () => {
    const { db, played, ups, answers } = told()
    const iso = (at: number) => new Date(at).toISOString()
    const expected = ups.flatMap(({ world, from, until }) => [
      ...(from === answers[0]?.at ? [] : [[world, 'up', iso(from), iso(from)]]),
      ...(Number.isFinite(until) ? [[world, 'down', iso(until), iso(until)]] : []),
    ])
    const rows = await db.values('select world, event, at, observed_at from analytics.world_lifecycle')
    expect(inOrder(plain(rows))).toEqual(inOrder(expected))
    // Whatever really was down while two whole answers came, and had somebody on it before, is told.
    const { worlds } = played.history
    for (const [nth, { world, at, event }] of worlds.entries()) {
      const began = Date.parse(at)
      const end = worlds.slice(nth).find((one) => one.world === world && one.event === 'up')
      const witnesses = answers.filter((one) => one.isWhole && one.at >= began && one.at < Date.parse(end?.at ?? ''))
      const before = ups.find((one) => one.world === world && one.from < began && one.until > began)
      if (event === 'up' || !before || witnesses.length < 2) continue
      expect([world, before.until]).toEqual([world, witnesses[0]?.at])
    }
  })
}

/** The parts of some stretches that lie in [from, to). */
function within<T>(stretches: readonly Known<T>[], from: number, to: number): Known<T>[] {
  return stretches.flatMap((one) => {
    const part = { from: Math.max(one.from, from), until: Math.min(one.until, to), value: one.value }
    return part.from < part.until ? [part] : []
  })
}

function averageOf<T>(parts: readonly Known<T>[], number: (value: T) => number): number {
  const seconds = parts.reduce((sum, { from, until }) => sum + until - from, 0)
  return parts.reduce((sum, { from, until, value }) => sum + number(value) * (until - from), 0) / seconds
}
