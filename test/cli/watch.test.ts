import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { openServer } from '../../src/db/server/server.ts'
import { buildProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { openReceiver } from '../support/receiver.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { hasTerminals, onTerminal } from '../support/terminal.ts'
import { item } from '../support/world.ts'

beforeAll(buildProgram)

async function rowsIn(url: string): Promise<object[]> {
  const db = await openServer(url)
  return await db.query('select * from sync.watch order by name').finally(() => db.close())
}

test('watch add, list, test and remove edit the database, and show no secret', async () => {
  const [receiver, folder, url] = [await openReceiver(), await temporaryFolder(), await testDatabaseUrl()]
  const stored = () => rowsIn(url)
  const said: string[] = []
  const run = async (...args: string[]) => {
    const { code, out, err } = await runInside(['watch', ...args], { DATABASE_URL: url, WYNNSYNC_DATA_DIR: folder })
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
  expect([added.out, again.out]).toEqual([
    expect.stringMatching(/^added mine in .+\n$/),
    expect.stringMatching(/^replaced mine in .+\n$/),
  ])
  expect(await stored()).toEqual([
    {
      name: 'mine',
      rule: { events: ['item changed'], item: ['Oak Bow'], atLeast: { events: 2, minutes: 10 }, groupSeconds: 300 },
      player: null,
      target: { type: 'webhook', url: receiver.url },
      site: null,
    },
  ])
  expect(readdirSync(folder)).toEqual([])
  const list = JSON.parse((await run('list', '--json')).out)
  expect(jsonSchemas['watch-list'].safeParse(list).error).toBeUndefined()
  expect(list.watches[0].target).toMatch(/^webhook at 127\.0\.0\.1:\d+$/)
  expect((await run('list')).out).toContain('Oak Bow')
  const tested = await run('test', 'mine')
  expect(tested).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^nothing of it happened .* was sent to the webhook at /),
  })
  expect(jsonSchemas['watch-message'].safeParse(receiver.got[0]).error).toBeUndefined()
  for (const [args, message] of [
    [['test', 'yours'], 'watch not found: yours; there are: mine'],
    [['add', 'x', '--event', 'online', '--slack', receiver.url], 'must name players'],
    [['add', 'x', '--event', 'dance', '--slack', receiver.url], 'events.0'],
    [['add', 'x', '--event', 'news'], 'give one of --discord'],
    [['add', 'x', '--event', 'news', '--slack', 'file:///of-a-secret-name'], 'target.url'],
  ] as const)
    expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringContaining(message) })
  const before = await stored()
  expect(await run('remove', 'mine')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/: add --yes, or --dry-run/),
  })
  expect(await run('remove', 'yours', '--dry-run')).toMatchObject({ code: 2 })
  expect(await run('remove', 'mine', '--dry-run')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^would remove/),
  })
  expect(await stored()).toEqual(before)
  expect((await run('remove', 'mine', '--yes')).code).toBe(0)
  expect(await stored()).toEqual([])
  expect(said.join('')).not.toContain('of-a-secret-name')
})

test.skipIf(!hasTerminals)('watch remove asks on a terminal, and removes after yes alone', async () => {
  const folder = await temporaryFolder()
  const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_DATA_DIR: folder }
  const add = ['watch', 'add', 'mine', '--event', 'news', '--command', 'true']
  expect((await runInside(add, environment)).code).toBe(0)
  const names = async () => {
    const { out } = await runInside(['watch', 'list', '--json'], environment)
    return JSON.parse(out).watches.map(({ name = '' }) => name)
  }
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
    expect([said, ended.code, await names()]).toEqual([said, code, left])
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
  // A test is the latest that it is about, also where it was not taken, and changes nothing of what is sent.
  const tested = await run('watch', 'test', 'bows')
  expect(tested).toMatchObject({ code: 0, out: expect.stringContaining('the latest that it is about, of ') })
  expect(receiver.got.at(-1)).toMatchObject({
    id: expect.stringMatching(/^test_/),
    watch: 'bows',
    title: 'test of bows: item changed',
    events: [{ text: 'Oak Bow: 1 changed' }],
  })
  expect(JSON.parse((await run('status', '--json')).out).watches).toEqual(watches)
  const db = await openServer(environment.DATABASE_URL)
  await db.query(`insert into sync.watch values ('later', '{"events": ["dance"]}', null, '{"type": "pigeon"}', null)`)
  await db.close()
  const { findings } = JSON.parse((await run('doctor', '--json')).out)
  expect(findings).toContainEqual(
    expect.objectContaining({
      check: 'watches',
      verdict: 'problem',
      seen: expect.stringMatching(
        /cannot read the watch later: events\.0 must be one of .*; target\.type must be one of/,
      ),
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

test('a watch that one user adds is delivered by the service of another, whose folder has nothing of it', async () => {
  const [receiver, DATABASE_URL] = [await openReceiver(), await testDatabaseUrl()]
  const api = await servedApi({ clock: virtualClock(Date.now() - 7_300_000) })
  const mine = { DATABASE_URL, WYNNSYNC_DATA_DIR: await temporaryFolder() }
  const service = { DATABASE_URL, WYNNSYNC_DATA_DIR: await temporaryFolder() }
  const sync = async (lore: string) => {
    await api.clock.moveTo(api.clock.now() + 3_600_000)
    serveItems(api, [item('Oak Bow', { lore })])
    return await runInside(['sync', 'items', '--base-url', api.url], service)
  }
  await sync('old')
  const add = [
    'watch',
    'add',
    'bows',
    '--event',
    'item changed',
    '--webhook',
    receiver.url,
    '--site',
    'https://example.org',
  ]
  expect((await runInside(add, mine)).code).toBe(0)
  expect((await sync('new')).code).toBe(0)
  expect(receiver.got).toMatchObject([
    { watch: 'bows', events: [{ text: 'Oak Bow: 1 changed', url: 'https://example.org/items/Oak%20Bow' }] },
  ])
  // Another watch has the same site, and one that is added anew begins anew.
  const other = ['watch', 'add', 'other', '--event', 'news', '--webhook', receiver.url]
  await runInside(other, mine)
  await runInside(['watch', 'remove', 'bows', '--yes'], mine)
  await sync('newer')
  await runInside(add.slice(0, -2), mine)
  expect((await sync('newest')).code).toBe(0)
  expect(receiver.got).toHaveLength(2)
  expect(await rowsIn(DATABASE_URL)).toMatchObject([
    { name: 'bows', site: 'https://example.org' },
    { name: 'other', site: 'https://example.org' },
  ])
})

describe('watches.json of an earlier version', () => {
  const target = { type: 'slack', url: 'https://chat.example/of-a-secret-name' }
  const one = { name: 'mine', events: ['joined'], player: ['Somebody'], groupSeconds: 60, target }

  async function withFile(content: unknown) {
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_DATA_DIR: await temporaryFolder() }
    const file = join(environment.WYNNSYNC_DATA_DIR, 'watches.json')
    const write = (text: unknown) => writeFileSync(file, typeof text === 'string' ? text : JSON.stringify(text))
    write(content)
    const files = () =>
      readdirSync(environment.WYNNSYNC_DATA_DIR)
        .filter((name) => name.startsWith('watches'))
        .sort()
    const run = async (...args: string[]) => await runInside(args, environment)
    return { environment, file, write, files, run }
  }

  test.each([['list'], ['remove', 'mine', '--dry-run']])('is only read by watch %s', async (...args) => {
    const { environment, file, files, run } = await withFile({ watches: [one] })
    expect(await run('watch', ...args)).toMatchObject({
      code: 0,
      out: expect.stringContaining('mine'),
      err: expect.stringContaining(`the watches are those of ${file}: the next start or sync takes them over`),
    })
    expect(files()).toEqual(['watches.json'])
    expect(await rowsIn(environment.DATABASE_URL)).toEqual([])
  })

  test('is taken into a database without watches once, by watch add', async () => {
    const { environment, file, files, run, write } = await withFile({ site: 'https://example.org', watches: [one] })
    const add = ['watch', 'add', 'another', '--event', 'news', '--command', 'true']
    const { code, err } = await run(...add)
    expect([code, err]).toEqual([
      0,
      expect.stringContaining(`${file} are in the database now; the file is ${file}.taken`),
    ])
    expect(files()).toEqual(['watches.json.taken'])
    expect(statSync(`${file}.taken`).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(`${file}.taken`, 'utf8')).watches).toEqual([one])
    const { events, groupSeconds } = one
    expect((await rowsIn(environment.DATABASE_URL)).find((row) => Object(row).name === 'mine')).toEqual({
      name: 'mine',
      rule: { events, groupSeconds },
      player: ['Somebody'],
      target,
      site: 'https://example.org',
    })
    expect((await run('watch', 'list')).err).toBe('')
    // What a kill leaves before the file is renamed; then a file that somebody goes on to edit.
    write({ watches: [one] })
    await run(...add)
    expect(files()).toEqual(['watches.json.taken', 'watches.json.taken-2'])
    write({ watches: [{ ...one, name: 'edited' }] })
    expect((await run('watch', 'list')).err).toContain('is not read, because the database has watches')
    expect(files()).toContain('watches.json')
    expect((await rowsIn(environment.DATABASE_URL)).map((row) => Object(row).name)).not.toContain('edited')
    const { findings } = JSON.parse((await run('doctor', '--json', '--base-url', 'http://127.0.0.1:1')).out)
    expect(findings).toContainEqual(
      expect.objectContaining({ check: 'watches', verdict: 'warning', seen: expect.stringContaining('is not read') }),
    )
  })

  test('stays where it cannot be used, and is named by all that would take it', async () => {
    const { environment, files, run, write } = await withFile(
      '{"watches": [{"url": "https://chat.example/of-a-secret-name"}]',
    )
    const api = await servedApi({ clock: virtualClock(Date.now() - 7_300_000) })
    serveItems(api, [item('Oak Bow')])
    const said: string[] = []
    for (const [text, problem] of [
      [undefined, 'watches.json is not JSON'],
      [{ watches: [{ ...one, colour: 1 }] }, 'watches.0 has unknown fields: colour'],
      [{ watches: [{ ...one, target: { type: 'command', command: 'a\0b' } }] }, 'that a database cannot store'],
    ] as const) {
      if (text) write(text)
      for (const args of [
        ['list'],
        ['add', 'x', '--event', 'news', '--command', 'true'],
        ['remove', 'mine', '--yes'],
      ]) {
        const { code, err } = await run('watch', ...args)
        expect([args[0], code, err]).toEqual([args[0], 2, expect.stringContaining(problem)])
        said.push(err)
      }
      const sync = await run('sync', 'items', '--base-url', api.url)
      expect([sync.code, sync.err]).toEqual([0, expect.stringContaining(problem)])
      const doctor = await run('doctor', '--base-url', api.url)
      expect(doctor.out.replaceAll(/\s+/g, ' ')).toMatch(/watches problem /)
      said.push(sync.err, doctor.out)
    }
    expect(files()).toEqual(['watches.json'])
    expect(await rowsIn(environment.DATABASE_URL)).toEqual([])
    expect(said.join('')).not.toContain('of-a-secret-name')
  })

  test('begins an embedded database where there is none yet', async () => {
    const folder = await temporaryFolder()
    const environment = { WYNNSYNC_DATA_DIR: folder }
    expect(await runInside(['watch', 'list'], environment)).toMatchObject({ code: 0, err: '' })
    expect(existsSync(join(folder, 'postgres'))).toBe(false)
    writeFileSync(join(folder, 'watches.json'), JSON.stringify({ watches: [one] }))
    expect((await runInside(['watch', 'list'], environment)).out).toContain('Somebody')
    expect([existsSync(join(folder, 'watches.json')), existsSync(join(folder, 'postgres'))]).toEqual([true, false])
    const add = ['watch', 'add', 'another', '--event', 'news', '--command', 'true']
    expect((await runInside(add, environment)).code).toBe(0)
    expect((await runInside(['watch', 'list'], environment)).out).toContain('Somebody')
    expect(existsSync(join(folder, 'watches.json'))).toBe(false)
  })
})

test('a watch that this version cannot read is named, stays, and stops no other', async () => {
  const [receiver, DATABASE_URL] = [await openReceiver(), await testDatabaseUrl()]
  const environment = { DATABASE_URL, WYNNSYNC_DATA_DIR: await temporaryFolder() }
  const api = await servedApi({ clock: virtualClock(Date.now() - 7_300_000) })
  const run = async (...args: string[]) => await runInside([...args, '--base-url', api.url], environment)
  const sync = async (lore: string) => {
    await api.clock.moveTo(api.clock.now() + 3_600_000)
    serveItems(api, [item('Oak Bow', { lore })])
    return await run('sync', 'items')
  }
  await sync('old')
  await run('watch', 'add', 'bows', '--event', 'item changed', '--webhook', receiver.url)
  const db = await openServer(DATABASE_URL)
  for (const [name, rule, target] of [
    ['later', { events: ['dance'] }, { type: 'pigeon', url: 'https://chat.example/of-a-secret-name' }],
    ['odd', ['of-a-secret-name'], 'of-a-secret-name'],
  ] as const)
    await db.query('insert into sync.watch values ($1, $2::text::jsonb, null, $3::text::jsonb, null)', [
      name,
      JSON.stringify(rule),
      JSON.stringify(target),
    ])
  await db.query(`insert into sync.watch_delivery (watch, number, attempts) values ('later', 1, 0)`)
  const synced = await sync('new')
  expect([synced.code, receiver.got.length]).toEqual([0, 1])
  expect(synced.err).toContain(
    'watch later sends nothing, because this version cannot read it: events.0 must be one of',
  )
  expect(await db.values(`select watch, number from sync.watch_delivery order by watch`)).toContainEqual(['later', 1])
  const list = await run('watch', 'list', '--json')
  expect([list.code, JSON.parse(list.out).watches.length]).toEqual([0, 1])
  expect(list.err).toContain('watch odd sends nothing')
  expect(await run('watch', 'test', 'later')).toMatchObject({ code: 2 })
  expect([synced.err, list.err, list.out].join('')).not.toContain('of-a-secret-name')
  for (const name of ['later', 'odd']) expect((await run('watch', 'remove', name, '--yes')).code).toBe(0)
  expect(await db.values('select name from sync.watch')).toEqual([['bows']])
  await db.close()
})
