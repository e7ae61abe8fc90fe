import { openServer } from '../../../src/db/server/server.ts'
import { runNode } from '../child.ts'
import type { Part } from '../part.ts'
import type { Outcome } from '../target.ts'
import { measureYear, wholeYear } from '../year/year.ts'

/** How long the slowest question about such a period may take, p95 in ms. */
const limits = { 'a day, week or month': 100, 'a year': 300 }

export const year: Part = async ({ program, createDatabase, extent, say }) => {
  const url = await createDatabase('year')
  await runNode([program, 'migrate'], { DATABASE_URL: url })
  const db = await openServer(url)
  try {
    // Full hours, so that what is asked does not depend on the minute.
    const until = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000)
    const latencies = await measureYear(db, { ...wholeYear, ...extent, until }, say)
    return Object.entries(limits).flatMap(([period, atMost]): Outcome[] => {
      const asked = latencies.filter(({ of }) => /\byear\b/.test(of) === (period === 'a year'))
      if (asked.length === 0) return []
      const name = `8 questions about ${period} (${extent.days} days, ${extent.guilds} guilds${extent.isWhole ? ', whole budget' : ''})`
      return [
        {
          target: { name, unit: 'ms', bound: { of: 'measured', atMost } },
          measured: Math.max(...asked.map(({ p95 }) => p95)),
        },
      ]
    })
  } finally {
    await db.close()
  }
}
