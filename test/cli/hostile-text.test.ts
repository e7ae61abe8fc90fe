import { describe, expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import { visibleLine, visibleText } from '../../src/base/terminal-text.ts'
import { progressLines } from '../../src/cli/output/progress-shown.ts'
import { formatCsv } from '../../src/questions/asking/rows-text.ts'
import type { Environment } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { item } from '../support/world.ts'

/** One of each kind that a terminal acts upon: ESC, BEL, CR, backspace, DEL, C1, bidi, zero-width, separators, tag. */
const hostile = [
  '\u001b[2J\u001b]0;title\u0007\r\b\u007f\u009b31m\u0085',
  '\u202e\u2066\u2069\u200e\u061c\u200b\u200d\u2060\ufeff\u2028\u2029\u{e0041}\u00ad',
].join('')
const isUnprintable = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

describe('text that a terminal would act upon', () => {
  test('is shown as escapes, of which JSON means the same', () => {
    expect(visibleText(hostile)).not.toMatch(isUnprintable)
    expect(visibleText('a\tb\nc\r\nd e\u0301 \u{1f3f0}')).toBe('a\tb\nc\r\nd e\u0301 \u{1f3f0}')
    expect(visibleText('\u202e\u{e0041}\ud800')).toBe('\\u202e\\udb40\\udc41\\ud800')
    expect(visibleLine('a\tb\nc\r\nd')).toBe('a\\u0009b\\u000ac\\u000d\\u000ad')
    const document = { [hostile]: [hostile, '\ud800'] }
    expect(JSON.parse(visibleText(JSON.stringify(document)))).toEqual(document)
  })

  test.each(['text', 'json'] as const)('never reaches a log line of %s, nor forges one', async (format) => {
    const clock = virtualClock(0)
    const written: string[] = []
    const log = createLog('trace', clock, { format, write: (text) => void written.push(text) })
    const forged = `${hostile}\n2026-05-01T08:16:56Z info items: all is well`
    log.warn({ resource: forged, key: forged, deep: [forged], [forged]: 1 }, forged)
    log.debug({ err: new Error(forged) }, 'with a stack')
    const progress = progressLines(clock, log)
    progress.begin(forged)
    await clock.advance(20_000)
    progress.seen(forged, { page: 1, pages: null, records: 1, count: null })
    await clock.advance(20_000)
    progress.stop()
    expect(written).toHaveLength(15)
    expect(written.join('')).not.toMatch(isUnprintable)
    expect(written.join('')).not.toMatch(/^2026/m)
  })
})

describe('CSV', () => {
  const texts = ['=1+1', '+1', '@SUM(A1)', '\tx', '\rx', '-1+2', '-x', '-5', '-0.5', 'a=b', '-', '', "'x"]

  test('gives text that a spreadsheet would run an apostrophe, and numbers none', () => {
    const rows = [...texts, -5, -0.5, new Date(0)].map((a) => ({ a }))
    const cells = ["'=1+1", "'+1", "'@SUM(A1)", "'\tx", `"'\rx"`, "'-1+2", "'-x", '-5', '-0.5', 'a=b', '-', '""', "'x"]
    expect(formatCsv(['a'], rows)).toBe(`${['a', ...cells, '-5', '-0.5', '1970-01-01T00:00:00.000Z'].join('\r\n')}\r\n`)
  })

  test('has none where it is to be raw', () => {
    const rows = texts.map((a) => ({ a }))
    expect(formatCsv(['a'], rows, { raw: true })).toContain('\r\n=1+1\r\n+1\r\n@SUM(A1)\r\n')
  })
})

describe('wynnsync, asking an API that sends such text', () => {
  async function hostileApi() {
    const api = await servedApi({ game: false })
    serveItems(api, [
      item(`Bow ${hostile}`, { type: 'weapon', lore: hostile, identifications: { rawStrength: 1 } }),
      item('Formula', { lore: '=HYPERLINK("http://x.example")' }),
      { internalName: 5, displayName: hostile },
      item('Spear', { [`field ${hostile}`]: hostile, type: `type ${hostile}` }),
    ])
    const refusal = { error: `Error ${hostile}`, detail: `${hostile}\nwynnsync: all is well`, code: 400 }
    for (const path of ['/item/recipe/database', '/guild/seasons'])
      api.setAnswer(path, () => ({ status: 400, body: refusal }))
    return api
  }

  test('writes it nowhere as it came: sync, status, query, doctor, logs', async () => {
    const api = await hostileApi()
    const environment: Environment = {
      DATABASE_URL: await testDatabaseUrl(),
      WYNNSYNC_DATA_DIR: await temporaryFolder(),
      WYNNSYNC_BASE_URL: api.url,
      WYNNSYNC_LOG_LEVEL: 'trace',
    }
    const commands = [
      ['sync', 'items', 'recipes', 'seasons'],
      ['sync', 'items', 'recipes', '--json'],
      ['status'],
      ['status', '--json'],
      ['status', '--drift'],
      ['query', 'item'],
      ['query', 'item', '--json'],
      ['query', `no ${hostile}`],
      ['doctor'],
      ['sync', 'recipes', '--log-level', 'debug'],
    ]
    const texts: string[] = []
    for (const args of [...commands, ['sync', 'recipes']]) {
      const format = texts.length === commands.length ? { WYNNSYNC_LOG_FORMAT: 'json' } : {}
      const { out, err } = await runInside(args, { ...environment, ...format })
      expect([args, out.match(isUnprintable), err.match(isUnprintable)]).toEqual([args, null, null])
      expect([args, /^wynnsync: all is well/m.test(out + err)]).toEqual([args, false])
      if (args.includes('--json')) expect(() => JSON.parse(out)).not.toThrow()
      texts.push(out + err)
    }
    for (const nth of [0, 1, 2, 3, 5, 6, 8, 9, 10])
      expect([nth, texts[nth]]).toEqual([nth, expect.stringContaining('\\u202e')])
    const csv = await runInside(['query', 'item', '--csv'], environment)
    expect(csv.out).toContain(hostile)
    expect(csv.out).toContain(`"'=HYPERLINK(""http://x.example"")"`)
    const raw = await runInside(['query', 'item', '--csv', '--raw'], environment)
    expect(raw.out).toContain(`,"=HYPERLINK(""http://x.example"")"`)
  })
})
