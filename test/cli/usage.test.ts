import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buildProgram, runProgram, startProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { temporaryFolder, testDatabaseUrl, testDataDir } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'

const commands = ['sync', 'status', 'query', 'dictionary', 'serve-db', 'migrate', 'demo', 'sandbox']

beforeAll(buildProgram)

describe('wynnsync', () => {
  test.each([
    [['fly'], "unknown command 'fly'\n"],
    [['stat'], "unknown command 'stat'; did you mean status or start?"],
    [['auth', 'lgoin'], "unknown command 'lgoin'; did you mean login?"],
    [['sync', '--fast'], "unknown option '--fast'"],
    [['sync', 'tiems'], 'no resource is called tiems; did you mean items?'],
    [['sync', 'item', 'xyzzy'], 'did you mean items, item-sets or item-metadata?\nno resource is called xyzzy; '],
    [['sync', '--concurrency', '0'], '--concurrency'],
    [['sync', '--accept'], 'name it, as in wynnsync sync items --accept'],
    [['backfill', '--from', process.execPath], `${process.execPath} is a file: unpack it first`],
    [['backfill', '--from-git', '.', '--map', 'a.yaml=items'], 'files of git are read as JSON alone'],
    [['status', '--log-level', 'loud'], 'must be one of trace, debug, info, warn, error, silent'],
    [['status', '--database-url', 'postgres://u:PG%ZZ@127.0.0.1/x'], 'percent-encoded'],
    [['sync', 'territories', '--guild', 'GLD'], '--guild does nothing without guilds'],
    [['migrate', '--database-url', 'sqlite://x'], 'must look like postgres://'],
    [['backfill', 'items', '--from-lake', '/tmp/lake'], 'imports all resources of a lake: its ledger'],
    [['sandbox', '--port', 'many'], '--port must be a whole number'],
    [['sandbox', '--dialect', 'klingon'], 'Allowed choices are live, documented'],
    [['demo', '--seed', 'x'], '--seed must be a whole number'],
  ])('ends with 2 after %j and says what to write instead', async (args, said) => {
    const { code, out, err } = await runInside(args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(said)
    expect(err).not.toMatch(/^ +at /m)
  })

  test.each([
    [['sync', 'tiems', '--json'], 'no resource is called tiems; did you mean items?'],
    [['sync', '--json', '--database-url', 'sqlite://x'], 'must look like postgres://'],
  ])('prints one JSON document with the error after %j', async (args, said) => {
    const { code, out, err } = await runInside(args)
    expect([code, JSON.parse(out)]).toEqual([2, { runs: [], error: expect.stringContaining(said) }])
    expect(err).toContain(said)
  })

  test.each([
    ['/proc/x', 'created'],
    ['/proc/x/y', 'created'],
    ['/dev/null/x', 'created'],
    ['/dev/null', 'created'],
    ['/proc', 'written'],
  ])('ends with 2 where the data folder is %s, which cannot be %s', async (folder, what) => {
    const { child, finished } = startProgram(['migrate', '--data-dir', folder])
    const deadline = setTimeout(() => child.kill('SIGKILL'), 20_000)
    const { code, out, err } = await finished
    clearTimeout(deadline)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(new RegExp(`^wynnsync: the data folder ${folder} cannot be ${what}: .*--data-dir`))
  })

  test.each([
    [['query', 'item', '--raw'], '--raw does nothing without --csv'],
    [['query', 'item', '--all'], '--all does nothing without --list'],
    [['query', '--list', '--csv'], '--csv does nothing with --list'],
    [['query', 'item', '--list'], '--list shows all questions: leave out item, or --list'],
    [['query', 'item', '--explain', '--limit', '5'], '--limit does nothing with --explain'],
    [['query', 'item', '--csv', '--json'], '--csv does nothing with --json'],
    [['query', 'item', '--ndjson', '--json'], '--ndjson does nothing with --json'],
    [['query', 'item', '--ndjson', '--csv'], '--csv does nothing with --ndjson'],
    [['query', 'item', '--sql', '--csv'], '--csv does nothing with --sql'],
    [['dictionary', '--html', '--json'], '--html does nothing with --json'],
    [['demo', '--database-url', 'postgres://x@localhost/x'], '--database-url does nothing in demo'],
    [['demo', '--json'], '--json does nothing in demo'],
    [['start', '--metrics-host', '::'], '--metrics-host does nothing without --metrics-port'],
    [['start', '--web-host', '::'], '--web-host does nothing without --web-port'],
    [['start', '--no-people'], '--no-people does nothing without --web-port'],
    [['start', '--rate-limit', '5'], '--rate-limit does nothing without --web-port'],
    [['backfill', 'guilds', '--map', 'a=guilds'], '--map does nothing without --from-git'],
    [['backfill', 'guilds', '--detect'], '--detect does nothing without --from-git'],
    [['backfill', 'guilds', '--max-bytes', '5'], '--max-bytes does nothing without --from-lake'],
    [
      ['sync', 'items', 'recipes', '--limit', '5'],
      '--limit does nothing without a worklist: leaderboards, guilds, players',
    ],
  ])('ends with 2 after %j, where a flag has nothing to do', async (args, said) => {
    expect(await runInside(args)).toEqual({ code: 2, out: '', err: `wynnsync: ${said}\n` })
  })

  test('names the flag of a port that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const server = { DATABASE_URL: await testDatabaseUrl() }
    for (const [command, flag, environment] of [
      ['sandbox', '--port', server],
      ['serve', '--port', server],
      ['start', '--metrics-port', server],
      ['start', '--web-port', server],
      ['serve-db', '--port', { WYNNSYNC_DATA_DIR: await testDataDir() }],
    ] as const) {
      const { code, err } = await runInside([command, flag, String(port), '--log-level', 'error'], environment)
      const said = `${flag} ${port}: another program listens on it; choose another, or 0 for a free one\n`
      expect([command, code, err]).toEqual([command, 2, `wynnsync: ${said}`])
    }
  })

  test('sandbox prints a command for a second terminal that works as it stands', async () => {
    const folder = await temporaryFolder()
    const { child, finished } = startProgram(['sandbox', '--port', '0'], {}, folder)
    onTestFinished(() => void child.kill('SIGKILL'))
    let said = ''
    for await (const piece of child.stdout ?? []) {
      said += piece
      if (said.includes('stop: ')) break
    }
    const [, line = ''] = /^ +wynnsync (sync .*)$/m.exec(said) ?? []
    const synced = await runProgram(line.split(' '), { WYNNSYNC_CLOCK: '' }, folder)
    expect(synced.out + synced.err).toMatch(/territories +ok/)
    expect([synced.code, readdirSync(folder)]).toEqual([0, expect.arrayContaining(['sandbox-data'])])
    child.kill('SIGTERM')
    expect((await finished).code).toBe(0)
  })

  test.each([
    ['--at', '2026-05-01'],
    ['--speed', '60'],
  ])(
    'sandbox in another time (%s %s) prints whose clock the second terminal is to trust, and that works',
    async (...flags) => {
      const folder = await temporaryFolder()
      const { child, finished } = startProgram(['sandbox', '--port', '0', ...flags], {}, folder)
      onTestFinished(() => void child.kill('SIGKILL'))
      let said = ''
      for await (const piece of child.stdout ?? []) {
        said += piece
        if (said.includes('stop: ')) break
      }
      const [, clock = '', line = ''] = /^ +WYNNSYNC_CLOCK=(\S+) wynnsync (sync .*)$/m.exec(said) ?? []
      const synced = await runProgram(line.split(' '), { WYNNSYNC_CLOCK: clock }, folder)
      expect([clock, synced.code, synced.out + synced.err]).toEqual([
        'api',
        0,
        expect.stringMatching(/territories +ok/),
      ])
      if (flags[0] === '--at') {
        const refused = await runProgram(line.split(' '), { WYNNSYNC_CLOCK: '' }, folder)
        expect([refused.code, refused.out + refused.err]).toEqual([
          3,
          expect.stringMatching(/until they agree within an hour/),
        ])
      }
      child.kill('SIGTERM')
      expect((await finished).code).toBe(0)
    },
  )

  test('tells its version, and shows an example for every command', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    const head = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).stdout?.trim() ?? ''
    const named = head === '' ? version : `${version} (${head.slice(0, 8)})`
    for (const flag of ['--version', '-V'])
      expect(await runProgram([flag])).toEqual({ code: 0, out: `${named}\n`, err: '' })
    const helps = await Promise.all(commands.map((command) => runInside([command, '--help'])))
    expect(helps.map(({ code, err }) => [code, err])).toEqual(commands.map(() => [0, '']))
    for (const [index, { out }] of helps.entries()) {
      expect(out).toMatch(new RegExp(`^Usage: wynnsync ${commands[index]}`))
      expect(out).toMatch(/Examples:\n {2}\$ /)
      for (const flag of ['--database-url', '--base-url', '--data-dir', '--json', '--quiet', '--log-level', '--help'])
        expect(out).toContain(flag)
    }
  })

  test('never shows a credential: not on stdout or stderr, not at level trace, not in its title', async () => {
    const [token, password] = ['t0k3n-of-the-tester', 's3cret-of-the-tester']
    const api = await servedApi({ tokens: [token] })
    let title = ''
    api.setAnswer('/item/database', () => {
      title = readFileSync(`/proc/${running.child.pid}/cmdline`, 'utf8')
      return { status: 401, body: { error: 'InvalidTokenError', detail: `Bearer ${token} is not known` } }
    })
    const url = new URL(await testDatabaseUrl())
    const flags = ['--json', '--log-level', 'trace', '--base-url', api.url]
    const running = startProgram(['sync', 'items', ...flags, '--database-url', url.href], { WYNNSYNC_TOKEN: token })
    const refused = await running.finished
    expect(refused.code).toBe(1)
    expect(JSON.parse(refused.out).runs[0].error).toContain('401')
    expect(title).toContain('wynnsync')
    expect(title).not.toContain(url.password)
    url.password = password
    const shutOut = await runProgram(['sync', 'items', ...flags, '--database-url', url.href], { WYNNSYNC_TOKEN: token })
    expect(shutOut.code).toBe(1)
    expect(JSON.parse(shutOut.out).runs[0].error).toContain('check the user and the password')
    const misread = await runProgram(['status', '--database-url', `postgres://me:${password}@ho st/x`])
    expect(misread.code).toBe(2)
    for (const { out, err } of [refused, shutOut, misread]) {
      expect(out + err).not.toContain(token)
      expect(out + err).not.toContain(password)
      expect(out + err).not.toContain(decodeURIComponent(new URL(await testDatabaseUrl()).password))
    }
  })

  test('a base URL that cannot be used ends a sync into a server, too', async () => {
    const base = ['--base-url', 'http://127.0.0.1:1/v3?a=b', '--database-url', await testDatabaseUrl()]
    const { code, err } = await runProgram(['sync', 'territories', ...base])
    expect([code, err]).toEqual([2, expect.stringContaining('the base URL must hold no')])
  })

  test('stops soon after SIGTERM, with a ledger row that says so', async () => {
    const api = await servedApi()
    const asked = new Promise<void>((resolve) => {
      api.setAnswer('/item/database', () => {
        resolve()
        return new Promise(() => {})
      })
    })
    const environment = { DATABASE_URL: await testDatabaseUrl() }
    const { child, finished } = startProgram(['sync', 'items', '--json', '--base-url', api.url], environment)
    await asked
    child.kill('SIGTERM')
    const { code, out } = await finished
    // Nothing is wrong that trying later would not mend.
    expect(code).toBe(75)
    expect(JSON.parse(out).runs).toMatchObject([{ status: 'failed', error: 'interrupted by SIGTERM' }])
    const ledger = await runProgram(['runs', '--json'], environment)
    expect(JSON.parse(ledger.out).runs).toMatchObject([{ status: 'interrupted', error: 'interrupted by SIGTERM' }])
    expect(JSON.parse((await runProgram(['runs', '--failed', '--json'], environment)).out).runs).toEqual([])
  })
})
