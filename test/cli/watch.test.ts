import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { virtualClock } from '../../src/app/clock.ts'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { buildProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { openReceiver } from '../support/receiver.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { hasTerminals, onTerminal } from '../support/terminal.ts'
import { item } from '../support/world.ts'

beforeAll(buildProgram)

test('watch add, list, test and remove edit the file, and show no secret', async () => {
  const [receiver, folder] = [await openReceiver(), await temporaryFolder()]
  const file = join(folder, 'watches.json')
  const said: string[] = []
  const run = async (...args: string[]) => {
    const { code, out, err } = await runInside(['watch', ...args], { WYNNSYNC_DATA_DIR: folder })
    said.push(out, err)
    return { code, out, err }
  }
  expect(await run('list')).toMatchObject({ code: 0, out: expect.stringContaining('no watches') })
  const [added, again] = [
    await run('add', 'mine', '--event', 'captured', '--event', 'lost', '--guild', 'ABC', '--discord', receiver.url),
    await run(
      'add',
      'mine',
      '--event',
      'item changed',
      '--item',
      'Oak Bow',
      '--at-least',
      '2/10',
      '--collect',
      '5m',
      '--webhook',
      receiver.url,
    ),
  ]
  expect([added.out, again.out]).toEqual([`added mine in ${file}\n`, `replaced mine in ${file}\n`])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    watches: [
      {
        ...{
          name: 'mine',
          events: ['item changed'],
          item: ['Oak Bow'],
          atLeast: { events: 2, minutes: 10 },
          groupSeconds: 300,
        },
        target: { type: 'webhook', url: receiver.url },
      },
    ],
  })
  const list = JSON.parse((await run('list', '--json')).out)
  expect(jsonSchemas['watch-list'].safeParse(list).error).toBeUndefined()
  expect(list.watches[0].target).toMatch(/^webhook at 127\.0\.0\.1:\d+$/)
  expect((await run('list')).out).toContain('Oak Bow')
  expect((await run('test', 'mine')).code).toBe(0)
  expect(jsonSchemas['watch-message'].safeParse(receiver.got[0]).error).toBeUndefined()
  for (const [args, message] of [
    [['test', 'yours'], 'watch not found: yours; there are: mine'],
    [['add', 'x', '--event', 'online', '--slack', receiver.url], 'must name players'],
    [['add', 'x', '--event', 'dance', '--slack', receiver.url], 'events.0'],
    [['add', 'x', '--event', 'news'], 'give one of --discord'],
    [['add', 'x', '--event', 'news', '--slack', 'file:///of-a-secret-name'], 'target.url'],
  ] as const)
    expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringContaining(message) })
  const { watches } = JSON.parse(readFileSync(file, 'utf8'))
  expect(await run('remove', 'mine')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/: add --yes, or --dry-run/),
  })
  expect(await run('remove', 'yours', '--dry-run')).toMatchObject({ code: 2 })
  expect(await run('remove', 'mine', '--dry-run')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^would remove/),
  })
  expect(JSON.parse(readFileSync(file, 'utf8')).watches).toEqual(watches)
  expect((await run('remove', 'mine', '--yes')).code).toBe(0)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ watches: [] })
  expect(said.join('')).not.toContain('of-a-secret-name')
})

test.skipIf(!hasTerminals)('watch remove asks on a terminal, and removes after yes alone', async () => {
  const folder = await temporaryFolder()
  const environment = { WYNNSYNC_DATA_DIR: folder }
  const add = ['watch', 'add', 'mine', '--event', 'news', '--command', 'true']
  expect((await runInside(add, environment)).code).toBe(0)
  const names = () =>
    JSON.parse(readFileSync(join(folder, 'watches.json'), 'utf8')).watches.map(({ name = '' }) => name)
  for (const [said, code, left] of [
    ['\r', 1, ['mine']],
    ['never\r', 1, ['mine']],
    // The end of what is typed, without an answer.
    ['\u0004', 1, ['mine']],
    ['yes\r', 0, []],
  ] as const) {
    const { until, send, finished } = onTerminal(['watch', 'remove', 'mine'], environment, folder)
    await until(/Remove the watch mine, which sends news to a .*\? yes or \[no\] $/)
    send(said)
    const ended = await finished
    expect([said, ended.code, names()]).toEqual([said, code, left])
    if (code === 1) expect(ended.out).toContain('nothing was changed')
  }
})

test('a sync from a crontab sends what it changed; status and doctor say what is wrong with a watch', async () => {
  let status = 404
  const receiver = await openReceiver(() => status)
  const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_DATA_DIR: await temporaryFolder() }
  // Of the last two hours: what is older is no news.
  const api = await servedApi({ clock: virtualClock(Date.now() - 7_300_000) })
  const run = async (...args: string[]) => await runInside([...args, '--base-url', api.url], environment)
  const sync = async (lore: string) => {
    await api.clock.moveTo(api.clock.now() + 3_600_000)
    serveItems(api, [item('Oak Bow', { lore })])
    expect((await run('sync', 'items')).code).toBe(0)
  }
  await sync('old')
  await run('watch', 'add', 'bows', '--event', 'item changed', '--webhook', receiver.url)
  await sync('new')
  expect(receiver.got).toMatchObject([{ events: [{ text: 'Oak Bow: 1 changed' }] }])
  const { watches } = JSON.parse((await run('status', '--json')).out)
  expect(watches).toMatchObject([{ watch: 'bows', error: 'status 404', deliveredAt: null }])
  expect((await run('status')).out).toMatch(/Watches whose messages do not arrive\n.*\nbows .*status 404/)
  status = 204
  writeFileSync(join(environment.WYNNSYNC_DATA_DIR, 'watches.json'), '{"watches": [{"name": "x", "target": 3}]}')
  const { findings } = JSON.parse((await run('doctor', '--json')).out)
  expect(findings).toContainEqual(
    expect.objectContaining({
      check: 'watches',
      verdict: 'problem',
      seen: expect.stringContaining('watches.0.target'),
    }),
  )
})

test('watch add checks names against the database, and doctor reports those that nothing has', async () => {
  const [receiver, api] = [await openReceiver(), await servedApi({ game: { guilds: 3, players: 20 } })]
  const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_DATA_DIR: await temporaryFolder() }
  const run = async (...args: string[]) => await runInside([...args, '--base-url', api.url], environment)
  const add = async (name: string, ...args: string[]) =>
    await run('watch', 'add', name, '--event', 'captured', '--webhook', receiver.url, ...args)
  // No guild is known yet.
  expect(await add('first', '--guild', 'NOSUCHGUILD')).toMatchObject({
    code: 0,
    err: expect.stringContaining('guild not found: NOSUCHGUILD; nothing is sent'),
  })
  expect((await run('sync', 'guild-list', 'territories', 'guilds')).code).toBe(0)
  const rows = async (question: string) => JSON.parse((await run('query', question, '--json')).out)
  const [[guild], [territory]] = [await rows('guild'), await rows('territory')]
  const misspelt = `${guild.name}x`
  expect(await add('third', '--guild', misspelt)).toMatchObject({
    code: 2,
    err: expect.stringContaining(`guild not found: ${misspelt}; did you mean ${guild.name} [${guild.prefix}]`),
  })
  expect(await add('third', '--territory', `${territory.territory}x`)).toMatchObject({
    code: 2,
    err: expect.stringContaining(`did you mean ${territory.territory}`),
  })
  expect(await add('third', '--player', 'Nobody')).toMatchObject({
    code: 0,
    err: expect.stringContaining('player not found'),
  })
  const known = ['--guild', guild.prefix, '--guild', guild.name, '--guild', guild.guild_uuid]
  expect(await add('fourth', ...known, '--territory', territory.territory)).toMatchObject({ code: 0, err: '' })
  const { findings } = JSON.parse((await run('doctor', '--json')).out)
  const [finding] = findings.filter(({ check }: { check: string }) => check === 'watches')
  expect(finding).toMatchObject({
    verdict: 'warning',
    seen: expect.stringContaining('first: guild not found: NOSUCHGUILD'),
  })
  expect(finding.seen).toContain('third: player not found: Nobody')
  expect(finding.seen).not.toContain('fourth')
})
