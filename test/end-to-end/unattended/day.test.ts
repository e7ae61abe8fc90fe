import { describe, expect, test } from 'vitest'
import { resources } from '../../../src/resources/index.ts'
import type { LogEntry } from '../../../src/sandbox/http/routes-app.ts'
import type { SandboxOptions } from '../../../src/sandbox/index.ts'
import { effort } from '../../support/effort.ts'
import { letPass } from '../../support/pending.ts'
import { wrongRows } from '../../support/verified.ts'
import { dawn, playBackfill, playCrontab, playStart, type Stage, setStage } from './cast.ts'

const MINUTE = 60_000
/** In fewer than three measured minutes a single request would decide. */
const minutes = Math.max(effort.unattendedMinutes, 7)
const token = 'a-token-of-the-sandbox'

/** Who asks, how `RateLimit-Reset` is written, and how many requests a minute and bucket that allows. */
const days: readonly {
  name: string
  sandbox: Partial<SandboxOptions>
  token?: string
  limit: number
  toldLimit: boolean
}[] = [
  { name: 'a guest, seconds left', sandbox: { resetForm: 'delta' }, limit: 50, toldLimit: true },
  { name: 'a token, Unix seconds', sandbox: { resetForm: 'epoch' }, token, limit: 120, toldLimit: true },
  { name: 'a guest, no headers', sandbox: { faults: { 'no-limit-headers': 1 } }, limit: 50, toldLimit: false },
]

/** Requests of one bucket, those refused among them, by the minute of the clock. */
function byMinute(journal: readonly LogEntry[], bucket: string): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { at, bucket: of } of journal) {
    if (of === bucket) counts.set(Math.floor(at / MINUTE), (counts.get(Math.floor(at / MINUTE)) ?? 0) + 1)
  }
  return counts
}

/** Where two polls of a path are more than so many seconds apart, told with the polls before, in seconds since dawn. */
function pauses(journal: readonly LogEntry[], path: string, seconds: number): string[] {
  const at = journal.filter((entry) => entry.path === path).map((entry) => (entry.at - dawn) / 1000)
  return at.flatMap((one, index) =>
    index > 0 && one - (at[index - 1] ?? 0) > seconds
      ? [
          at
            .slice(Math.max(0, index - 14), index + 1)
            .map((each) => each.toFixed(1))
            .join(' '),
        ]
      : [],
  )
}

/** What is synced besides the content of the world. */
const withoutContent = resources.filter(({ route }) => /^\/(item|guild|player)(\/|$)/.test(route))
const isContent = ({ path }: LogEntry) =>
  /^\/(map|leaderboards|ability|aspects|classes|publisher|latest-news)(\/|$)/.test(path)

/** Plays so many minutes and keeps what the sandbox saw, although it remembers only the newest requests. */
async function playDay(stage: Stage, of: typeof resources, length: number): Promise<LogEntry[]> {
  const journal: LogEntry[] = []
  const seen = new Set<LogEntry>()
  const actors = [
    playStart(stage, of),
    playCrontab(stage, '* * * * *', 'territories'),
    playCrontab(stage, '* * * * *', 'online-players'),
    playCrontab(stage, '*/2 * * * *', 'guilds'),
    playBackfill(stage, 'players'),
  ]
  for (let passed = 0; passed < length; passed++) {
    await letPass(stage.clock, MINUTE)
    for (const entry of stage.sandbox.requests) {
      if (seen.has(entry)) continue
      seen.add(entry)
      journal.push(entry)
    }
  }
  stage.over.abort(new Error('the day is over'))
  await Promise.all(actors)
  expect(await wrongRows(stage.db)).toEqual([])
  return journal
}

const played = new Map<string, Promise<LogEntry[]>>()

/** The journal of such a day on which everything is synced: the first one that is asked for plays it. */
function wholeDay(day: (typeof days)[number]): Promise<LogEntry[]> {
  const journal = played.get(day.name) ?? playOnce(day, resources, minutes)
  played.set(day.name, journal)
  return journal
}

async function playOnce(day: (typeof days)[number], of: typeof resources, length: number): Promise<LogEntry[]> {
  const stage = await setStage({ game: { guilds: 320, players: 400 }, ...day.sandbox }, day.token)
  return await playDay(stage, of, length).finally(stage.close)
}

test('the content of the world takes nothing from guilds and players', {
  timeout: minutes * 240_000,
}, async () => {
  expect([withoutContent.length, resources.length]).toEqual([10, 24])
  // An hour without it is enough to know how often each is asked for.
  const lengths = [Math.min(minutes, 60), minutes]
  const [day] = days
  if (!day) throw new Error('there is no day')
  const journals = [await playOnce(day, withoutContent, lengths[0] ?? 0), await wholeDay(day)]
  const [without = [], all = []] = journals
  expect(without.filter(isContent)).toEqual([])
  const asked = new Set(all.filter(isContent).map(({ path }) => path.split('/').slice(0, 3).join('/')))
  expect(asked.size).toBeGreaterThan(15)

  const whole = minutes - 4
  /** Requests a minute, without the first minutes, which learn, and the last, which was cut off. */
  const rate = (nth: 0 | 1, is: (entry: LogEntry) => boolean) => {
    const [journal = [], length = 0] = [journals[nth], lengths[nth]]
    const [from, to] = [dawn + 3 * MINUTE, dawn + (length - 1) * MINUTE]
    return journal.filter((one) => one.at >= from && one.at < to && is(one)).length / ((to - from) / MINUTE)
  }
  for (const bucket of ['GUILD', 'PLAYER']) {
    const ofPeople = ({ path, bucket: of }: LogEntry) => of === bucket && /^\/(guild|player)(\/|$)/.test(path)
    // A request may fall just beyond the first or the last minute.
    const used = Math.round(rate(1, ofPeople) * whole) + 1
    expect(used, `${bucket} by minute: ${[...byMinute(all, bucket).values()]}`).toBeGreaterThanOrEqual(
      0.98 * 50 * whole,
    )
    expect(all.filter((one) => one.bucket === bucket && isContent(one))).toEqual([])
  }
  for (const path of ['/guild/list/territory', '/player', '/guild/uuid/', '/player/']) {
    const of = (one: LogEntry) => (path.endsWith('/') ? one.path.startsWith(path) : one.path === path)
    // As often as without, but for what the jitter of a poll decides, and one that falls beyond the last minute.
    const [before, after] = [rate(0, of), rate(1, of)]
    expect(after * whole + 1, `${path}: ${before} a minute without, ${after} with`).toBeGreaterThanOrEqual(
      0.97 * before * whole,
    )
  }
})

describe.each(effort.everyAnswer ? days : days.slice(0, 1))(
  'a simulated stretch of start, three crontab lines and a backfill, as $name',
  (day) => {
    test('never overdraws, keeps every live poll on time, and uses what is left up', {
      timeout: minutes * 120_000,
    }, async () => {
      const journal = await wholeDay(day)

      expect(journal.filter(({ status }) => status === 429)).toEqual([])
      for (const bucket of ['GUILD', 'PLAYER', 'ITEMS'])
        for (const count of byMinute(journal, bucket).values()) expect(count).toBeLessThanOrEqual(day.limit)

      // The first minutes learn; the last one was cut off.
      const [first, last] = [Math.floor(dawn / MINUTE) + 3, Math.floor(dawn / MINUTE) + minutes - 1]
      for (const bucket of ['GUILD', 'PLAYER']) {
        const counts = byMinute(journal, bucket)
        const full = Array.from({ length: last - first + 1 }, (_, index) => counts.get(first + index) ?? 0)
        const used = full.reduce((sum, count) => sum + count, 0) / (full.length * day.limit)
        // Without headers the budget is a cautious guess.
        expect(used).toBeGreaterThanOrEqual(day.toldLimit ? 0.98 : 0.9)
      }

      const polls = (path: string) => journal.filter((entry) => entry.path === path).map(({ at }) => at)
      // The copy's time to live, the jitter, one request in the way, and what this clock may jump too far.
      expect(pauses(journal, '/guild/list/territory', 14)).toEqual([])
      expect(pauses(journal, '/player', 34)).toEqual([])

      // Every guild is asked for as often as the rest of the bucket allows, none is forgotten.
      const guilds = journal.filter(({ path, at }) => path.startsWith('/guild/uuid/') && at >= first * MINUTE)
      const listed = new Set(journal.filter(({ path }) => path.startsWith('/guild/uuid/')).map(({ path }) => path))
      const perMinute = guilds.length / (minutes - (first - Math.floor(dawn / MINUTE)))
      const live = polls('/guild/list/territory').length / minutes
      if (day.toldLimit) expect(perMinute).toBeGreaterThanOrEqual((day.limit - live - 1) * 0.97)
      // In a day some are founded and some disbanded.
      if (minutes > 15) expect(listed.size).toBeGreaterThanOrEqual(320)
    })
  },
)
