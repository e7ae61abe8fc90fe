import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { play } from '../questions/true-game/play.ts'
import { effort } from '../support/effort.ts'
import { everyAnswer, givenOf } from '../support/every-question.ts'
import { different, serve } from '../support/lake-folder.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'

const hours = Math.max(4, effort.gameHours)
/** Views of tables with a row for what a player hides; the own database also knows since whom to leave out, which is in no lake. */
const sayNothing = (name: string) => /^(member_presence|player_status)(_sample)?$/.test(name)
const isKnown = (line: string) => !line.includes('"online": null')
const skipped = hours > 24 ? 0 : 37.6

/** The running gap without its end: it grows while one database is asked after the other. */
function withoutNow(line: string, until: number): string {
  const { missed, ended_at, ...gap } = JSON.parse(line)
  return Date.parse(ended_at) > until ? JSON.stringify(gap) : line
}

describe(`of ${hours} hours of the simulated game, imported from a lake by an empty database`, {
  timeout: 900_000,
}, () => {
  let source: Database
  let db: Database
  let from = 0
  let until = 0
  /** Who hides something since a single response, whom a lake leaves out. */
  let doubted: readonly string[] = []
  beforeAll(async () => {
    source = await testDatabase('server')
    const played = await play(source, 20, hours, skipped)
    from = played.from
    until = played.until
    const folder = join(await temporaryFolder(), 'lake')
    const clock = virtualClock(until)
    doubted = (await source.values('select player_uuid::text from sync.privacy_restriction where is_pending')).map(
      String,
    )
    await exportLake(source, folder, { clock, program: 'test', people: true, keepMs: 0, onProgress: () => {} })
    db = await testDatabase('server')
    const place = openPlace(await serve(join(folder, '..')))
    const done = await importLake(db, place, { clock, maxBytes: 1e9, onProgress: () => {} })
    expect(done.refused).toEqual([])
  }, 3_600_000)

  test('every question has the same answer, but for where it comes from', async () => {
    const given = await givenOf(source, new Date(from), new Date(until))
    const [own, imported] = [await everyAnswer(source, given), await everyAnswer(db, given)]
    const wrong = Object.entries(own).flatMap(([name, lines]) => {
      const [ours, others] = [lines, imported[name] ?? []].map((some) =>
        some
          .filter((line) => (!sayNothing(name) || isKnown(line)) && !doubted.some((uuid) => line.includes(uuid)))
          // How many have a counter: those who are left out are counted in the own database alone.
          .map((line) => (name === 'counter' ? line.replace(/"entities": \d+/, '') : line))
          .map((line) => (name === 'unobserved' ? withoutNow(line, until) : line)),
      )
      if (!ours || !others) return []
      const found = different(others, ours)
      return found.flat().length > 0 || others.length !== ours.length ? [[name, others.length, ours.length, found]] : []
    })
    expect(wrong).toEqual([])
    // Of questions about what is not played (news, leaderboards ...) there is nothing to compare.
    expect(Object.values(own).filter((lines) => lines.length > 0).length).toBeGreaterThan(40)
  })
})
