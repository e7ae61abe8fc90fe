import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readIndex } from '../../src/api/schemas/recordings/recording-index.ts'
import { readCredential } from '../../src/app/stored-credential.ts'
import { type ConfigFlags, readConfig, settingWarnings } from '../../src/base/config.ts'
import { setInEnvFile } from '../../src/base/env-file.ts'
import { UsageError } from '../../src/base/errors.ts'
import { readWatchFile } from '../../src/monitoring/watches/watch-store.ts'
import { buildProgram, type Environment, mainFile } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { temporaryFolder } from '../support/postgres.ts'

describe('the configuration', () => {
  test('takes the password of the database from PGPASSWORD where its URL has none, and hides it', async () => {
    const folder = await temporaryFolder()
    const password = 'p@ss:w/o#r%41d'
    const read = (DATABASE_URL: string) => readConfig({}, { DATABASE_URL, PGPASSWORD: password }, folder)
    const config = read('postgres://me@db.example/wynn')
    expect(decodeURIComponent(new URL(config.databaseUrl ?? '').password)).toBe(password)
    expect(inspect(config)).not.toContain(encodeURIComponent(password))
    expect(read('postgres://me:own@db.example/wynn').databaseUrl).toBe('postgres://me:own@db.example/wynn')
    expect(readConfig({}, { PGPASSWORD: password }, folder).databaseUrl).toBeUndefined()
  })

  test('has a default for everything but the token and the server', async () => {
    expect(readConfig({}, {}, await temporaryFolder())).toMatchObject({
      databaseUrl: undefined,
      baseUrl: 'https://api.wynncraft.com/v3',
      token: undefined,
      logLevel: 'info',
      concurrency: 4,
      plausibleShare: 0.9,
      plausibleShares: {},
      zeroShare: 0.25,
      absences: 2,
      trustedClock: 'both',
    })
  })

  test('takes blanks alone for nothing', async () => {
    const blank = { DATABASE_URL: ' ', WYNNSYNC_SHRUNKEN_HOURS: '  ', WYNNSYNC_ZERO_SHARE: ' ', WYNNSYNC_TOKEN: '\t' }
    const folder = await temporaryFolder()
    const { databaseUrl, shrunkenHours, zeroShare, token } = readConfig({}, blank, folder)
    expect({ databaseUrl, shrunkenHours, zeroShare, token }).toEqual({ shrunkenHours: 6, zeroShare: 0.25 })
  })

  test('comes from flags, else the environment, else .env', async () => {
    const folder = await temporaryFolder()
    const url = (host: string) => `http://${host}/v3`
    await writeFile(
      join(folder, '.env'),
      `WYNNSYNC_BASE_URL=${url('c')}\nWYNNSYNC_TOKEN="from file"\nWYNNSYNC_ABSENCES=3\n`,
    )
    const environment = { WYNNSYNC_BASE_URL: url('b'), WYNNSYNC_ABSENCES: '' }
    expect(readConfig({ baseUrl: url('a') }, environment, folder).baseUrl).toBe(url('a'))
    expect(readConfig({}, environment, folder)).toMatchObject({ baseUrl: url('b'), token: 'from file', absences: 3 })
    expect(readConfig({}, {}, folder).baseUrl).toBe(url('c'))
  })

  test('takes the database that the uppermost layer names, by a server or by a folder', async () => {
    const folder = await temporaryFolder()
    const [server, other] = ['postgres://me@db.example/wynn', 'postgres://me@db.example/other']
    await writeFile(join(folder, '.env'), `DATABASE_URL=${server}\nWYNNSYNC_DATA_DIR=/of/file\n`)
    const read = (flags: ConfigFlags, environment = {}) => {
      const { databaseUrl, dataDir } = readConfig(flags, environment, folder)
      return databaseUrl ?? dataDir
    }
    expect(read({})).toBe(server)
    expect(read({ dataDir: '/x' })).toBe('/x')
    expect(read({ dataDir: '/x' }, { DATABASE_URL: other })).toBe('/x')
    expect(read({}, { WYNNSYNC_DATA_DIR: '/y' })).toBe('/y')
    expect(read({}, { WYNNSYNC_DATA_DIR: '/y', DATABASE_URL: other })).toBe(other)
    expect(read({ databaseUrl: other }, { WYNNSYNC_DATA_DIR: '/y' })).toBe(other)
    expect(read({ databaseUrl: 'embedded' })).toBe('/of/file')
    expect(read({ databaseUrl: 'embedded', dataDir: '/x' })).toBe('/x')
    expect(read({}, { DATABASE_URL: 'embedded' })).toBe('/of/file')
    expect(read({ databaseUrl: other }, { DATABASE_URL: 'embedded' })).toBe(other)
    expect(() => read({ databaseUrl: other, dataDir: '/x' })).toThrow(
      '--database-url and --data-dir name two databases',
    )
    const environment = { WYNNSYNC_DATA_DIR: '/y' }
    expect(settingWarnings(environment, folder)).toEqual([expect.stringContaining('goes before DATABASE_URL of .env')])
    expect(settingWarnings(environment, folder, { dataDir: '/x' })).toEqual([])
    expect(settingWarnings({}, folder)).toEqual([])
  })

  test('takes no session token of a layer below for a key of its own', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, '.env'), 'AWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\nAWS_SESSION_TOKEN=c\n')
    expect(readConfig({}, {}, folder).s3).toMatchObject({ keyId: 'a', secret: 'b', sessionToken: 'c' })
    const own = { AWS_ACCESS_KEY_ID: 'd', AWS_SECRET_ACCESS_KEY: 'e' }
    expect(readConfig({}, own, folder).s3).toMatchObject({ keyId: 'd', secret: 'e', sessionToken: undefined })
  })

  test.each([
    ['0.5', 0.5, {}],
    ['0.8, online-players=0.25,items=1', 0.8, { 'online-players': 0.25, items: 1 }],
    ['guild-list=0', 0.9, { 'guild-list': 0 }],
  ])('reads the shares %j', async (text, plausibleShare, plausibleShares) => {
    const read = readConfig({}, { WYNNSYNC_PLAUSIBLE_SHARE: text }, await temporaryFolder())
    expect(read).toMatchObject({ plausibleShare, plausibleShares })
  })

  test('reads what is removed when a player restricts something', async () => {
    const folder = await temporaryFolder()
    expect(readConfig({}, {}, folder).privacy).toBe('anonymize')
    expect(readConfig({}, { WYNNSYNC_PRIVACY: 'delete' }, folder).privacy).toBe('delete')
    expect(() => readConfig({}, { WYNNSYNC_PRIVACY: 'keep' }, folder)).toThrow('must be anonymize or delete')
  })

  test('reads for how long raw answers are kept', async () => {
    const folder = await temporaryFolder()
    expect(readConfig({}, {}, folder)).toMatchObject({ raw: true, rawDays: {} })
    const given = { WYNNSYNC_RAW: 'off', WYNNSYNC_RAW_DAYS: 'guilds=7, item-sets=forever' }
    expect(readConfig({}, given, folder)).toMatchObject({ raw: false, rawDays: { guilds: 7, 'item-sets': Infinity } })
    for (const wrong of ['7', 'guilds=', 'guilds=-1', 'guilds=ever'])
      expect(() => readConfig({}, { WYNNSYNC_RAW_DAYS: wrong }, folder)).toThrow('WYNNSYNC_RAW_DAYS: must give days')
    expect(() => readConfig({}, { WYNNSYNC_RAW: 'yes' }, folder)).toThrow('WYNNSYNC_RAW: must be on or off')
  })

  test.each(['2', 'items', 'items=', '0.5,', '0.5;items=1', 'items=0.5=1'])('refuses the shares %j', async (text) => {
    const folder = await temporaryFolder()
    expect(() => readConfig({}, { WYNNSYNC_PLAUSIBLE_SHARE: text }, folder)).toThrow(
      'WYNNSYNC_PLAUSIBLE_SHARE: must lie between 0 and 1, such as 0.9 or 0.9,online-players=0.5',
    )
  })

  test('is refused with everything that is wrong at once, and without a credential', async () => {
    const wrong = {
      DATABASE_URL: 'mysql://me:s3cret@host/x',
      WYNNSYNC_BASE_URL: 'ftp://host',
      WYNNSYNC_LOG_LEVEL: 'loud',
      WYNNSYNC_ABSENCES: '0',
      WYNNSYNC_PLAUSIBLE_SHARE: '2',
      WYNNSYNC_CONCURRENCY: 'many',
      WYNNSYNC_TOKEN: 't0ken',
    }
    const folder = await temporaryFolder()
    const refused = (() => {
      try {
        return readConfig({}, wrong, folder)
      } catch (error) {
        return error
      }
    })()
    if (!(refused instanceof UsageError)) throw new Error('it was accepted')
    const lines = refused.message.split('\n').slice(1)
    expect(lines).toHaveLength(6)
    expect(lines[0]).toBe('  DATABASE_URL (--database-url): must look like postgres://user:password@host:5432/database')
    expect(lines.at(-1)).toContain('WYNNSYNC_CONCURRENCY (--concurrency)')
    expect(refused.message).not.toMatch(/s3cret|t0ken/)
  })

  test('is refused when .env cannot be read', async () => {
    const file = join(await temporaryFolder(), '.env')
    await writeFile(file, '')
    expect(() => readConfig({}, {}, file)).toThrow(UsageError)
  })
})

/** What `.env` with this content sets. */
async function fromEnvFile(content: string | Buffer) {
  const folder = await temporaryFolder()
  await writeFile(join(folder, '.env'), content)
  return readConfig({}, {}, folder)
}

describe('.env', () => {
  const url = 'postgres://me@db.example/history'

  test.each([
    ['with a byte order mark', `\ufeffDATABASE_URL=${url}\n`],
    ['with line ends of Windows', `\ufeff# mine\r\nDATABASE_URL=${url}\r\nWYNNSYNC_ABSENCES=3\r\n`],
    ['with line ends of old Macs', `WYNNSYNC_ABSENCES=3\rDATABASE_URL=${url}\r`],
    ['with export, blanks and a comment', `  export   DATABASE_URL = ${url}   # the server\n`],
    ['in quotes', `DATABASE_URL="${url}" # the server\nWYNNSYNC_TOKEN='a # b'\n`],
    ['beside what other programs have there', `KEY="-----BEGIN\nabc=\n-----END"\nDATABASE_URL=\`${url}\`\nfoo bar\n`],
    ['twice, where the last one counts', `DATABASE_URL=postgres://me@other.example/x\nDATABASE_URL=${url}\n`],
  ])('names the database %s', async (_form, content) => {
    expect((await fromEnvFile(content)).databaseUrl).toBe(url)
  })

  test('keeps a # that follows no blank, and backslashes', async () => {
    expect(await fromEnvFile('WYNNSYNC_TOKEN=ab#cd\nWYNNSYNC_DATA_DIR="C:\\new"\n')).toMatchObject({
      token: 'ab#cd',
      dataDir: 'C:\\new',
    })
  })

  test.each([
    [
      'UTF-16 with a mark',
      Buffer.from(`\ufeffDATABASE_URL=${url}\n`, 'utf16le'),
      /\.env is not UTF-8.*save it as UTF-8/,
    ],
    ['UTF-16 without one', Buffer.from(`DATABASE_URL=${url}\n`, 'utf16le'), /\.env is not UTF-8/],
    ['a password in Latin-1', Buffer.from('WYNNSYNC_TOKEN=p\u00e4ss\n', 'latin1'), /\.env line 1 is not UTF-8/],
    ['YAML', `A=1\nDATABASE_URL: ${url}\n`, /\.env line 2 is not understood; write DATABASE_URL=value/],
    ['commands of Windows', `set DATABASE_URL=${url}\n`, /line 1 is not understood/],
    ['PowerShell', `$env:DATABASE_URL = "${url}"\n`, /line 1 is not understood/],
    ['JSON', `{\n  "DATABASE_URL": "${url}"\n}\n`, /line 2 is not understood/],
    ['a quote that does not end', `WYNNSYNC_TOKEN="abc\nDATABASE_URL=${url}\n`, /line 1 is not understood/],
    ['text behind a quote', `DATABASE_URL="${url}" yes\n`, /line 1 is not understood/],
    ['a name alone', 'WYNNSYNC_TOKEN\n', /line 1 is not understood/],
  ])('is refused where it holds a setting in another form: %s', async (_form, content, message) => {
    const refused = await fromEnvFile(content).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(UsageError)
    expect(String(refused)).toMatch(message)
    expect(String(refused)).not.toMatch(/db\.example|p.ss|abc/)
  })

  test('passes no line end of the environment on', async () => {
    const given = { WYNNSYNC_DATA_DIR: '/data\r', WYNNSYNC_TOKEN: 'abc\r\n', WYNNSYNC_PRIVACY: '\r' }
    const read = readConfig({}, given, await temporaryFolder())
    expect(read).toMatchObject({ dataDir: '/data', token: 'abc', privacy: 'anonymize' })
  })

  test('is kept by init in the form in which it was, and never mixed with UTF-16', async () => {
    const file = join(await temporaryFolder(), '.env')
    await writeFile(file, '\ufeffexport DATABASE_URL=x\r\nA=1\r\n')
    setInEnvFile(file, { DATABASE_URL: 'y' })
    expect(await readFile(file, 'utf8')).toBe('A=1\nDATABASE_URL=y\n')
    await writeFile(file, Buffer.from('\ufeffA=1\n', 'utf16le'))
    expect(() => setInEnvFile(file, { DATABASE_URL: 'y' })).toThrow('save it as UTF-8')
  })
})

describe('the other files that people may edit', () => {
  const watches = '{"watches":[]}'
  const credential = JSON.stringify({ kind: 'token', baseUrl: 'https://api.example/v3', token: 'abc' })
  const line = JSON.stringify({ at: '2026-05-01T00:00:00Z', method: 'GET', path: '/x', body: 'x.json.gz' })

  test.each([
    ['watches', 'watches.json', watches, (folder: string) => readWatchFile(join(folder, 'watches.json')).watches, []],
    ['credential', 'c.json', credential, (folder: string) => readCredential(join(folder, 'c.json'))?.token(), 'abc'],
    ['recordings', 'index.jsonl', `${line}\r\n`, (folder: string) => readIndex(folder).length, 1],
  ])('may have a byte order mark, and say when they are UTF-16: %s', async (_what, name, content, read, expected) => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, name), `\ufeff${content}`, { mode: 0o600 })
    expect(read(folder)).toEqual(expected)
    await writeFile(join(folder, name), Buffer.from(`\ufeff${content}`, 'utf16le'), { mode: 0o600 })
    expect(() => read(folder)).toThrow('save it as UTF-8')
  })
})

describe('a name that is no setting', () => {
  test('is reported with the setting that it may mean, wherever it is given, and a setting is not', async () => {
    const folder = await temporaryFolder()
    const content =
      'DATABSE_URL=x\ndatabase_url=x\nWYNNSYNC_PRIVCY=delete\nOTHER=1\nPOSTGRES_PASSWORD=1\nWYNNSYNC_RAW=on\nWYNNSYNC_X=\n'
    await writeFile(join(folder, '.env'), content)
    const environment = { WYNNSYNC_TOKE: 'x', DATABSE_URL: 'x', WYNNSYNC_RAW: 'off', WYNNSYNC_EMPTY: '' }
    expect(settingWarnings(environment, folder)).toEqual([
      'the environment sets WYNNSYNC_TOKE, which is no setting of wynnsync and has no effect; did you mean WYNNSYNC_TOKEN?',
      '.env sets DATABSE_URL, which is no setting of wynnsync and has no effect; did you mean DATABASE_URL?',
      '.env sets database_url, which is no setting of wynnsync and has no effect; did you mean DATABASE_URL?',
      '.env sets WYNNSYNC_PRIVCY, which is no setting of wynnsync and has no effect; did you mean WYNNSYNC_PRIVACY?',
    ])
    await writeFile(join(folder, '.env'), 'WYNNSYNC_RAW=on\nWYNNSYNC_RAW=off\n')
    expect(settingWarnings({}, folder)).toEqual(['.env sets WYNNSYNC_RAW more than once: the last line counts'])
    // What the script of `examples` and compose read.
    expect(settingWarnings({ WYNNSYNC_BACKUP: 's3://bucket/wynnsync' } as object, '/nowhere')).toEqual([])
  })

  test('is in the log of every command, and not with --quiet', async () => {
    const environment = { WYNNSYNC_PRIVCY: 'delete' }
    const { code, out, err } = await runInside(['config', 'show', '--json'], environment)
    expect([code, err]).toEqual([0, expect.stringMatching(/warn the environment sets WYNNSYNC_PRIVCY.*PRIVACY\?\n$/)])
    expect(() => JSON.parse(out)).not.toThrow()
    expect((await runInside(['config', 'show', '--quiet'], environment)).err).toBe('')
  })
})

describe('a user without a home folder', () => {
  beforeAll(buildProgram)
  // A number that no list of users has; only root can become another user.
  const own = process.getuid?.() === 0 ? { uid: 63_451, gid: 63_451 } : {}
  const run = (args: readonly string[], env: Environment = {}) =>
    spawnSync(process.execPath, [mainFile, ...args], { env, encoding: 'utf8', cwd: '/', ...own })

  test.skipIf(own.uid === undefined)('can call everything that needs none', () => {
    for (const args of [['--version'], ['--help'], ['config', 'show'], ['query', '--help']])
      expect(run(args)).toMatchObject({ status: 0, stderr: '' })
    expect(run(['query', 'item', '--list'])).not.toMatchObject({ stderr: expect.stringContaining('    at ') })
  })

  test.skipIf(own.uid === undefined).each([[{}], [{ HOME: '' }]])('is asked where the data lives (%j)', (env) => {
    const { status, stderr } = run(['status'], env)
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^wynnsync: this user has no home folder: .*WYNNSYNC_DATA_DIR/),
    ])
  })

  test.skipIf(own.uid === undefined)('works with WYNNSYNC_DATA_DIR', async () => {
    // Another user cannot enter the folder of a test.
    const folder = await mkdtemp(join(tmpdir(), 'wynnsync-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await chmod(folder, 0o777)
    const { status, stderr } = run(['migrate'], { WYNNSYNC_DATA_DIR: join(folder, 'data') })
    expect([status, stderr]).toEqual([0, expect.not.stringMatching(/error|warn/)])
  })
})
