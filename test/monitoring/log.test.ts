import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createApp } from '../../src/app/app.ts'
import { virtualClock } from '../../src/base/clock.ts'
import { readConfig, secretsIn } from '../../src/base/config.ts'
import { createLog, writerTo } from '../../src/base/log.ts'
import { items } from '../../src/resources/items/index.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { runInside } from '../support/cli-inside.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { instantOf, item, worldOf } from '../support/world.ts'

const secrets = {
  DATABASE_URL: 'postgres://somebody:pass%2Fw0rd-of-db@127.0.0.1:5432/wynn',
  WYNNSYNC_TOKEN: 'token"with-a-quote',
  WYNNSYNC_CLIENT_SECRET: 'secret of a client',
  WYNNSYNC_WEBHOOK_URL: 'https://chat.example/hook/5up3r?s=1',
}
const parts = ['pass%2Fw0rd-of-db', 'token"with-a-quote', 'token\\"with', 'secret of a client', 'secret%20of', '5up3r']

describe('the log', () => {
  test.each(['text', 'json'] as const)('shows no secret, wherever it stands in a line of %s', async (format) => {
    const config = readConfig({}, secrets, await temporaryFolder())
    const written: string[] = []
    const write = (text: string) => void written.push(text)
    const log = createLog('trace', virtualClock(0), { format, secrets: secretsIn(config), write })
    for (const secret of Object.values(secrets)) {
      log.info({ url: secret, deep: { list: [secret] }, [secret]: 1 }, `said ${secret} twice: ${secret}`)
      log.debug({ err: new Error(`failed with ${secret}`) }, encodeURIComponent(secret))
      log.child({ bound: secret }).warn('bound')
    }
    log.info({ config: inspect(config) }, 'all of it')
    expect(written.length).toBeGreaterThan(10)
    for (const part of parts) expect(written.join('')).not.toContain(part)
    expect(written.join('')).toContain('[hidden]')
  })

  test('and the refusal of a wrong webhook show nothing of its URL', async () => {
    const folder = await temporaryFolder()
    for (const url of ['https://me:5up3r@chat.example/', 'ftp://chat.example/5up3r', '5up3r']) {
      const read = () => readConfig({}, { WYNNSYNC_WEBHOOK_URL: url }, folder)
      expect(read).toThrow(/WYNNSYNC_WEBHOOK_URL: must be/)
      expect(read).not.toThrow(/5up3r/)
    }
  })

  test('is JSON, a line an object, where that is wished', async () => {
    const written: string[] = []
    const write = (text: string) => void written.push(text)
    createLog('info', virtualClock(5), { format: 'json', write }).warn({ resource: 'items', run: 'r' }, 'words')
    expect(written.map((line) => JSON.parse(line))).toEqual([
      { level: 40, time: 5, resource: 'items', run: 'r', msg: 'words' },
    ])
    const config = readConfig({}, { WYNNSYNC_LOG_FORMAT: 'json' }, await temporaryFolder())
    expect([config.logFormat, createApp(config).log.level]).toEqual(['json', 'info'])
  })
})

describe('lines of errors', () => {
  function linesAt(level: 'info' | 'debug', ...args: [object, string]): string {
    const written: string[] = []
    createLog(level, virtualClock(0), { write: (text) => void written.push(text) }).error(...args)
    return written.join('')
  }

  test('show the message of the error, once, with those of its causes', () => {
    const error = new Error('no answer', { cause: new Error('refused') })
    const line = (message: string, err: unknown = error) => linesAt('info', { err, path: '/x' }, message)
    expect(line('a request failed')).toBe('1970-01-01T00:00:00Z error a request failed: no answer: refused path=/x\n')
    expect(line('a request failed: no answer')).toContain(' a request failed: no answer: refused path=/x\n')
    expect(line('no answer: refused, again')).toContain(' no answer: refused, again path=/x\n')
    expect(line('')).toContain(' error no answer: refused path=/x\n')
    expect(line('it failed', 'text')).toContain(' it failed: text path=/x\n')
    expect(line('it failed', new Error('two\nlines'))).toContain(' it failed: two\\u000alines path=/x\n')
  })

  test('have their stack below them at debug, whatever the level of the line', () => {
    const err = new Error('no answer')
    expect(linesAt('info', { err }, 'it failed')).not.toContain('log.test.ts')
    expect(linesAt('debug', { err }, 'it failed')).toMatch(
      / it failed: no answer\n {2}Error: no answer\n {6}at .*log\.test\.ts/,
    )
  })

  test('are those of commands, too', async () => {
    const DATABASE_URL = await testDatabaseUrl()
    const run = (level: string) => runInside(['query', 'no-such-question', '--log-level', level], { DATABASE_URL })
    expect((await run('debug')).err).toMatch(
      / debug the command failed: .*no-such-question.*\n {2}\w*Error: .*\n {6}at /,
    )
    expect((await run('info')).err).not.toContain(' at ')
  })
})

describe('a log that cannot be written', () => {
  test.each(['text', 'json'] as const)(
    'drops lines, counts them, and says so once when it works again (%s)',
    (format) => {
      const written: string[] = []
      let fails = false
      let writableLength = 0
      const stream = {
        get writableLength() {
          return writableLength
        },
        write(text: string, done: (error?: Error) => void) {
          if (!fails) written.push(text)
          done(fails ? new Error('full') : undefined)
          return true
        },
      } as unknown as NodeJS.WriteStream
      const clock = virtualClock(0)
      const log = createLog('info', clock, { format, write: writerTo(stream, clock, format) })
      log.info('first')
      fails = true
      for (let n = 0; n < 5; n++) log.info('lost')
      fails = false
      writableLength = 2_000_000
      log.info('lost too: nothing reads')
      writableLength = 0
      log.info('second')
      log.info('third')
      const text = written.join('')
      expect(text).not.toContain('lost')
      expect(text.match(/the log lacks 6 lines: they could not be written/g)).toHaveLength(1)
      expect(text).toMatch(/first.*the log lacks.*second.*third/s)
      if (format === 'json') for (const line of text.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg')
    },
  )

  test('writes a line in which a secret looks like a part of the line', () => {
    const written: string[] = []
    const write = (text: string) => void written.push(text)
    createLog('info', virtualClock(1_234_567), { secrets: ['1234567'], write }).info('words')
    expect(written.join('')).toMatch(/\[hidden\].*words/)
  })
})

describe('of a run', () => {
  const world = worldOf('embedded')

  test('every line carries its resource and its id, whatever happens', async () => {
    const lines: { fields: object; message: string }[] = []
    const line = (fields: object, message: string) => void lines.push({ fields, message })
    const log = { debug: line, info: line, warn: line, error: line }
    const guards = { plausibleShare: 0.9, absences: 2, zeroShare: 0.25 }
    const engine = { db: world.db, api: world.api, clock: world.clock, program: 'test', guards, log }
    const trees = ['Ash', 'Elm', 'Oak', 'Yew'].map((name) => item(name, { novelty: 1 }))
    const answers = [trees, [...trees, { internalName: 5 }], [], trees.slice(1), { status: 404 }]
    for (const [nth, answer] of answers.entries()) {
      await world.clock.advanceTo(instantOf(`1${nth}:00`))
      const headers = { 'Cache-Control': 'max-age=60', Expires: new Date(world.clock.now() + 60_000).toUTCString() }
      world.sandbox.setAnswer('/item/database', () =>
        Array.isArray(answer) ? { headers, body: answer } : { ...answer, body: {} },
      )
      lines.length = 0
      const { runId } = await runResource(items, engine)
      expect(lines.length).toBeGreaterThan(0)
      for (const { fields } of lines) expect(fields).toMatchObject({ resource: 'items', run: runId })
      expect(await world.rows(`select count(*) from sync.run where run_id = '${runId}'`)).toEqual([[1]])
    }
  })
})
