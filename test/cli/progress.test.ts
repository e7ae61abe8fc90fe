import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import { shareUntil } from '../../src/cli/commands/backfill/backfill-from.ts'
import { type Context, withProgress } from '../../src/cli/context.ts'
import { noProgress } from '../../src/cli/output/progress.ts'
import { progressBar, progressLines } from '../../src/cli/output/progress-shown.ts'
import { inWorkFolder } from '../../src/lake/read/work-folder.ts'

/** What a bar writes, as a terminal of 120 columns gets it; without what moves the cursor. */
async function onTerminal() {
  const pieces: string[] = []
  const write = (piece: string) => {
    pieces.push(piece)
    return true
  }
  const stream = Object.assign(process.stderr, {}) as NodeJS.WriteStream
  const terminal = new Proxy(stream, {
    get: (of, name) => {
      const given = { write, isTTY: true, columns: 120, rows: 40 }
      return name in given ? given[name as keyof typeof given] : Reflect.get(of, name)
    },
  })
  const clock = virtualClock(0)
  return { clock, bar: await progressBar(clock, terminal), text: () => pieces.join('') }
}

describe('a progress bar', () => {
  test('says how much is done of how much, and is full only at the end', async () => {
    const { clock, bar, text } = await onTerminal()
    bar.begin('guilds')
    await clock.advance(1000)
    bar.seen('guilds', { records: 1, count: 4 }, 'keys')
    await clock.advance(3000)
    bar.seen('guilds', { records: 4, count: 4 }, 'keys')
    bar.end()
    expect(text()).toMatch(/guilds \[=*-+\] 1\/4 keys · 1\.0\/s · 3 s left/)
    expect(text()).toMatch(/guilds \[=+\] 4\/4 keys/)
  })

  test('says what is left of the work where the rest takes longer', async () => {
    const { clock, bar, text } = await onTerminal()
    const line = (at: number) => ({
      at,
      line: at,
      method: 'GET',
      path: '',
      query: '',
      status: 200,
      headers: {},
      body: '',
    })
    const shareOf = shareUntil([1, 2, 2, 3].map(line), ({ at }) => 2 * at)
    bar.begin('recordings')
    await clock.advance(10_000)
    bar.seen('recordings', { records: 1, count: 4, share: shareOf(1) }, 'responses')
    bar.end()
    expect(text()).toContain('1/4 responses · 0.1/s · 1 min left')
    expect([shareOf(2), shareOf(3), shareUntil([1, 2].map(line))(1)]).toEqual([5 / 8, 1, 1 / 2])
  })

  test('has no bar where the total is unknown', async () => {
    const { clock, bar, text } = await onTerminal()
    bar.begin('players')
    await clock.advance(2000)
    bar.seen('players', { records: 7, count: null }, 'keys')
    bar.end()
    expect(text()).toContain('players 7 keys · 3.5/s')
    expect(text()).not.toMatch(/\[[=-]|7\/7|undefined|NaN/)
  })

  test('is renewed every second while nothing is counted, and leaves no trace', async () => {
    const { clock, bar, text } = await onTerminal()
    bar.begin('restore')
    await clock.advance(3000)
    expect(text().match(/restore \.\.\. \d s/g)).toEqual(['restore ... 1 s', 'restore ... 2 s', 'restore ... 3 s'])
    bar.stop()
    const before = text()
    expect(before.endsWith('\r\u001b[K')).toBe(true)
    await clock.advance(60_000)
    expect(text()).toBe(before)
  })

  test('says of what mostly is brief nothing for two seconds', async () => {
    const { clock, bar, text } = await onTerminal()
    bar.during('watch add')
    await clock.advance(1999)
    expect(text()).toBe('')
    await clock.advance(1)
    expect(text()).toContain('watch add ... 2 s\r')
    bar.stop()
  })
})

/** What lines of progress say, with the seconds at which they do. */
function inLog() {
  const clock = virtualClock(0)
  const said: string[] = []
  const write = (line: string) => void said.push(`${clock.now() / 1000} ${line.replace(/^\S+ info /, '').trim()}`)
  return { clock, said, progress: progressLines(clock, createLog('info', clock, { write })) }
}

describe('progress in a log', () => {
  test('says every three seconds what goes on, and how much of it is done', async () => {
    const { clock, said, progress } = inLog()
    progress.during('restore')
    await clock.advance(3000)
    progress.begin('restore')
    await clock.advance(2000)
    progress.seen('game.item', { records: 30, count: 60 }, 'rows')
    await clock.advance(4000)
    progress.end()
    await clock.advance(3000)
    progress.stop()
    await clock.advance(60_000)
    expect(said).toEqual([
      '3 restore: goes on, 3 s so far',
      '6 game.item: 30 of 60 rows, 10.0/s, 3 s left',
      '9 game.item: 30 of 60 rows, 5.0/s, 6 s left',
      '12 restore: goes on, 12 s so far',
    ])
  })

  test('says nothing of what is over within seconds', async () => {
    const { clock, said, progress } = inLog()
    progress.during('query')
    await clock.advance(2999)
    progress.stop()
    await clock.advance(60_000)
    expect(said).toEqual([])
  })
})

test('what finds a full disk names the place that needs room', async () => {
  const context = { app: { clock: virtualClock(0) }, progress: noProgress } as unknown as Context
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  const work = withProgress(context, 'backup', () => Promise.reject(full), '/mnt/small')
  await expect(work).rejects.toThrow(
    'ENOSPC: no space left on device, write; make room on the disk of /mnt/small, and run the same command again',
  )
  // An import and a restore write copies of files, DuckDB's too.
  await expect(inWorkFolder(() => Promise.reject(full))).rejects.toThrow(
    `make room on the disk of the temporary folder ${tmpdir()}, which TMPDIR names`,
  )
  const others = [
    'IO Error: Could not write file "/x/rows.csv": No space left on device',
    'TransactionContext Error: Failed to commit: Could not write file "/x/history.duckdb.wal": No space left on device',
    'https://example.org/a.git: fatal: unable to write loose object file: No space left on device',
  ]
  for (const message of others)
    await expect(inWorkFolder(() => Promise.reject(new Error(message)))).rejects.toThrow('make room on the disk of')
  const other = new Error('another')
  await expect(withProgress(context, 'lake', () => Promise.reject(other))).rejects.toBe(other)
})
