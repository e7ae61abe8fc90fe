import { expect, test } from 'vitest'
import type { Played } from './played.ts'
import { answersAbout } from './true-guild.ts'
import { TruePeople } from './true-people.ts'

/** Question 10: when a guild is online. */
export function questionsOfHours(of: () => Played): void {
  test('10: how many of a guild are online at which hour of the week, hidden ones included', async () => {
    const played = of()
    const { db } = played
    const people = new TruePeople(played)
    for (const guild of played.guilds) {
      const answers = answersAbout(played, people, guild)
      if (answers.length < 2) continue
      const shown = answers.filter(({ members }) => members.size > 0)
      const [from, to] = [shown[0]?.at ?? new Date(0), shown.at(-1)?.at ?? new Date(0)]
      const hours = new Map<number, number[]>()
      for (const { at, members } of shown.slice(0, -1)) {
        const online = [...members.keys()].filter((player) => people.isOnline(player, at.getTime())).length
        const begin = Math.floor(at.getTime() / 3_600_000)
        hours.set(begin, [...(hours.get(begin) ?? []), online])
      }
      const cells = new Map<string, { averages: number[]; most: number; cells: number }>()
      // A guild that one response alone showed has an empty period, of which there is no hour.
      const begin = from < to ? Math.floor(from.getTime() / 3_600_000) : Infinity
      for (let at = begin; at * 3_600_000 < to.getTime(); at++) {
        const when = new Date(at * 3_600_000)
        const name = `${when.getUTCDay() || 7} ${when.getUTCHours()}`
        const cell = cells.get(name) ?? { averages: [], most: -1, cells: 0 }
        const counts = hours.get(at) ?? []
        if (counts.length > 0) cell.averages.push(counts.reduce((sum, one) => sum + one) / counts.length)
        cells.set(name, { ...cell, most: Math.max(cell.most, ...counts), cells: cell.cells + 1 })
      }
      const rows = await db.query<Record<'dow' | 'hour' | 'coverage', number> & Record<string, number | null>>(
        'select * from analytics.guild_online_heatmap($1, $2, $3)',
        [guild, from, to],
      )
      expect(rows.length).toBe(cells.size)
      for (const { dow, hour, online_avg: average, online_max: most, coverage } of rows) {
        const cell = cells.get(`${dow} ${hour}`)
        const { averages = [], most: highest = -1 } = cell ?? {}
        if (averages.length === 0) expect([average, most, coverage]).toEqual([null, null, 0])
        else {
          expect(average).toBeCloseTo(averages.reduce((sum, one) => sum + one) / averages.length)
          expect([most, coverage]).toEqual([highest, expect.closeTo(averages.length / (cell?.cells ?? 1))])
        }
      }
    }
  })
}
