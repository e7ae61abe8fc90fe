import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { settingNames } from '../../src/base/config.ts'
import { waysFor } from '../../src/cli/commands/init/init-command.ts'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { buildProgram, mainFile, runProgram } from '../support/cli.ts'
import { temporaryFolder, testDataDir } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'
import { hasTerminals, onTerminal } from '../support/terminal.ts'

beforeAll(buildProgram)

const token = 't0k3n-of-the-tester'

describe('wynnsync init', () => {
  test('asks nothing with --yes, keeps what .env has, checks it, and prints what to install', async () => {
    const api = await servedApi()
    const folder = await temporaryFolder()
    const file = join(folder, '.env')
    writeFileSync(file, `# mine\nWYNNSYNC_LOG_LEVEL=warn\nWYNNSYNC_DATA_DIR=/nowhere\n`)
    const dataDir = join(folder, "data 100%'s")
    const flags = ['--data-dir', dataDir, '--base-url', api.url, '--yes']
    const { code, out, err } = await runProgram(['init', ...flags, '--cron'], {}, folder)
    expect([code, err]).toEqual([0, expect.stringMatching(/for your eyes only[\s\S]*^database +fine/m)])
    expect(readFileSync(file, 'utf8')).toBe(
      `# mine\nWYNNSYNC_LOG_LEVEL=warn\nWYNNSYNC_DATA_DIR="${dataDir}"\nWYNNSYNC_BASE_URL=${api.url}\n`,
    )
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(out).toMatch(/^\* \* \* \* \* cd \S+ && \S+node\S* \S+main\.js sync [a-z -]*territories[a-z -]* --quiet$/m)
    // Read back by the program: no flag says it any more.
    const shown = await runProgram(['config', 'show', '--json'], {}, folder)
    expect(JSON.parse(shown.out).settings).toContainEqual({ name: 'WYNNSYNC_DATA_DIR', value: dataDir, source: '.env' })
    expect((await runProgram(['init', '--yes'], {}, folder)).err).toContain(
      '/.env is written, for your eyes only (no new settings)',
    )
    const ofShell = { WYNNSYNC_PRIVACY: 'delete', WYNNSYNC_LOG_LEVEL: 'info', WYNNSYNC_CLOCK: '' }
    expect((await runProgram(['init', '--yes'], ofShell, folder)).err).toMatch(
      /^Set in this environment only, and not in \S+\.env: WYNNSYNC_PRIVACY; a service or crontab has none of it/m,
    )
    const unit = await runProgram(['init', '--yes', '--systemd', '--json'], {}, folder)
    const document = jsonSchemas.init.parse(JSON.parse(unit.out))
    expect(document.run).toContain(`\nExecStart=${process.execPath} ${mainFile} start\n`)
    expect(document.run).toContain(`\nWorkingDirectory=${folder}\n`)
  })

  test('writes nothing that is wrong, and says so', async () => {
    const folder = await temporaryFolder()
    const wrong = await runProgram(['init', '--yes', '--database-url', 'sqlite://x'], {}, folder)
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('must look like postgres://') })
    const two = await runProgram(['init', '--yes', '--cron', '--systemd'], {}, folder)
    expect(two).toMatchObject({ code: 2, err: expect.stringContaining('choose one') })
    const blind = await runProgram(['init'], {}, folder)
    expect(blind).toMatchObject({ code: 2, err: expect.stringContaining('--yes asks none') })
    expect(existsSync(join(folder, '.env'))).toBe(false)
  })

  test.skipIf(!hasTerminals)('asks three questions on a terminal, and never shows the token', async () => {
    const api = await servedApi({ tokens: [token] })
    const folder = await temporaryFolder()
    const environment = { WYNNSYNC_BASE_URL: api.url, WYNNSYNC_DATA_DIR: await testDataDir() }
    const { send, until, finished, child } = onTerminal(['init'], environment, folder)
    onTestFinished(() => void child.kill('SIGKILL'))
    await until(/\[embedded\] $/)
    send('\r')
    await until(/leave it as it is\) $/)
    send(`x\u007f${token}\r`)
    await until(/systemd, cron, compose or start \[\w+\] $/)
    send('cron\r')
    const { code, out } = await finished
    expect(code).toBe(0)
    expect(out).toMatch(/credential +fine/)
    expect(out).toContain('# crontab -e')
    expect(out).not.toContain(token)
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe(`WYNNSYNC_TOKEN=${token}\n`)
  })
})

test('init offers compose only where it brings the database, and from a checkout', async () => {
  expect(waysFor(undefined, mainFile)).toContain('compose')
  expect(waysFor('postgres://me@db.example/history', mainFile)).toEqual(['systemd', 'cron', 'start'])
  expect(waysFor(undefined, join(await temporaryFolder(), 'dist', 'main.js'))).not.toContain('compose')
})

test('config show has every setting with its source, and no secret', async () => {
  const folder = await temporaryFolder()
  writeFileSync(join(folder, '.env'), `WYNNSYNC_TOKEN=${token}\nWYNNSYNC_ABSENCES=3\nWYNNSYNC_LOG_LEVEL=warn\n`)
  const environment = {
    DATABASE_URL: 'postgres://me:s3cret@db.example/history?password=s3cret',
    WYNNSYNC_WEBHOOK_URL: 'https://chat.example/s3cret',
    WYNNSYNC_LOG_LEVEL: 'error',
  }
  const { code, out } = await runProgram(['config', 'show', '--log-level', 'info', '--json'], environment, folder)
  expect(code).toBe(0)
  const { settings } = jsonSchemas['config-show'].parse(JSON.parse(out))
  expect(settings.map(({ name }) => name)).toEqual(settingNames)
  expect(settings).toEqual(
    expect.arrayContaining([
      { name: 'WYNNSYNC_TOKEN', value: '[hidden]', source: '.env' },
      { name: 'WYNNSYNC_WEBHOOK_URL', value: '[hidden]', source: 'environment' },
      { name: 'WYNNSYNC_ABSENCES', value: '3', source: '.env' },
      { name: 'WYNNSYNC_LOG_LEVEL', value: 'info', source: 'flag' },
      { name: 'WYNNSYNC_PLAUSIBLE_SHARE', value: '0.9', source: 'default' },
      { name: 'WYNNSYNC_USER_AGENT', value: null, source: null },
    ]),
  )
  const text = await runProgram(['config'], environment, folder)
  expect(text.out).toMatch(/^DATABASE_URL +postgres:\/\/me:\S+@db\.example\/history\S* +environment$/m)
  expect(text.out).toMatch(/^WYNNSYNC_USER_AGENT +\(not set\)$/m)
  for (const shown of [out, text.out]) expect(shown).not.toMatch(/s3cret|t0k3n/)
})
