import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { readQuestions } from '../../src/questions/questions.ts'
import { pagingNames } from '../../src/web/api/arguments.ts'
import { addWebKey, removeWebKey } from '../../src/web/http/key-store.ts'
import { createKeys } from '../../src/web/http/keys.ts'
import type { Reader } from '../../src/web/reading.ts'
import { guildId } from '../support/guild-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { hostile } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'

const anInstant = 'an instant such as 2026-05-01T20:00Z, now or -7d'

/** How old something is differs from one answer to the next. */
function withoutAge(rows: readonly object[]): object[] {
  return rows.map((row) => ({ ...row, age: null }))
}

/** What questions are asked about. */
const some: Readonly<Record<string, string>> = {
  guild: guildId('a'),
  player: '00000000-0000-4000-8000-000000000001',
  territory: 'Oak',
  step: '1 hour',
  season: '1',
  internal_name: 'bow',
  material: 'x',
  kind: 'guild',
  counter: 'wars',
  entity_name: guildId('a'),
  resource: 'items',
  type: 'guildLevel',
  entity: guildId('a'),
}

describe.each(kindsAtNight)('the read API on the %s database', (kind) => {
  const lived = webWorld(kind)
  const { served } = lived

  test('answers a function by its named arguments, with names resolved and instants as in query', async () => {
    const { ask, json } = await served()
    const { status, text, headers } = await ask('/api/v1/territory_owner_at?territory=Oak&at=2026-06-01T10:45Z')
    expect([status, headers['content-type']]).toEqual([200, 'application/json'])
    expect(JSON.parse(text)).toEqual({
      question: 'territory_owner_at',
      arguments: { territory: 'Oak', at: '2026-06-01T10:45Z' },
      rows: [expect.objectContaining({ territory: 'Oak', guild_uuid: guildId('b') })],
      next: null,
    })
    const query = new URLSearchParams({ guild: hostile.guild, from_time: '-1d' })
    const named = await json(`/api/v1/member_contribution?${query}`)
    expect(named.arguments.guild).toBe(guildId('a'))
    expect(named.arguments.to_time).toBe(new Date(lived.world.clock.now()).toISOString())
    // All since joining, which was within the period.
    expect(named.rows[0]).toMatchObject({ username: hostile.player, contributed: 150 })
    const week = await json(`/api/v1/member_contribution?${new URLSearchParams({ guild: hostile.guild })}`)
    expect(week.rows.length).toBeGreaterThan(0)
  })

  test('answers a view, filtered and in both orders', async () => {
    const { json } = await served()
    const all = await json('/api/v1/territory_capture')
    expect(all.rows.length).toBeGreaterThan(2)
    const reversed = await json('/api/v1/territory_capture?order=desc')
    expect(reversed.rows).toEqual(all.rows.toReversed())
    const oak = await json('/api/v1/territory_capture?territory=Oak')
    expect(oak.rows).toEqual(all.rows.filter(({ territory }: { territory: string }) => territory === 'Oak'))
    const ofGuild = await json(`/api/v1/territory_capture?${new URLSearchParams({ to_guild_uuid: hostile.prefix })}`)
    expect(ofGuild.arguments).toEqual({ to_guild_uuid: guildId('a') })
  })

  test('has each question of which a page links the CSV', async () => {
    const folder = join(import.meta.dirname, '../../src/web')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
    const linked = files.flatMap((file) =>
      [...readFileSync(join(folder, file), 'utf8').matchAll(/\bcsvLink\(\s*'(\w+)'/g)].map(([, name]) => name),
    )
    const { json } = await served()
    const { paths } = await json('/openapi.json')
    expect(linked.length).toBeGreaterThan(10)
    expect(linked.filter((name) => paths[`/api/v1/${name}`] === undefined)).toEqual([])
  })

  test('walks every view and function page by page, each row once, in one order', async () => {
    const { json } = await served()
    const columns = new Set<string>()
    for (const { name, kind, parameters, columns: own } of await readQuestions(lived.world.db)) {
      for (const one of [...parameters, ...own]) columns.add(one.name)
      if (parameters.some(({ optional }) => !optional) || name.startsWith('watch') || name.includes('known')) continue
      if ((await json(`/api/v1/${name}`)).status === 404) continue
      for (const order of kind === 'view' ? ['asc', 'desc'] : ['']) {
        const start = `/api/v1/${name}?limit=2${order && `&order=${order}`}`
        const whole = withoutAge((await json(start.replace('limit=2', 'limit=10000'))).rows)
        const walked: unknown[] = []
        let next: string | null = start
        while (next) {
          const page: { rows: object[]; next: string | null } = await json(next)
          expect(page.rows.length, next).toBeLessThanOrEqual(2)
          walked.push(...withoutAge(page.rows))
          next = page.next
        }
        expect([name, walked]).toEqual([name, whole])
      }
    }
    // Where a column has the name, it is filtered with an operator: format=eq.legacy.
    for (const reserved of pagingNames.filter((one) => one !== 'format')) expect(columns).not.toContain(reserved)
  })

  test('answers as CSV where that is accepted, and not again what the client has', async () => {
    const { ask } = await served()
    const csv = await ask('/api/v1/freshness', { accept: 'text/csv' })
    expect(csv.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      vary: expect.stringMatching(/^Accept\b/),
    })
    expect(csv.text).toMatch(/^resource,last_observed_at,/)
    const { headers, text } = await ask('/api/v1/item')
    expect([headers['cache-control'], text.length > 0]).toEqual(['no-cache', true])
    const again = await ask('/api/v1/item', { 'if-none-match': String(headers.etag) })
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', headers.etag])
    expect((await ask('/api/v1/item', { accept: 'text/csv' })).headers.etag).not.toBe(headers.etag)
  })

  test('answers the same within a minute, so that a client which has the answer is told so', async () => {
    const { ask, json } = await served()
    const { clock, db } = lived.world
    await clock.advanceTo(Math.ceil(clock.now() / 60_000) * 60_000)
    const paths = Object.keys((await json('/openapi.json')).paths).filter((path) => path.startsWith('/api/v1/'))
    const questions = (await readQuestions(db)).filter(({ name, parameters }) => {
      const needed = parameters.filter((one) => !one.optional && !/^(from|to)_time$/.test(one.name))
      return paths.includes(`/api/v1/${name}`) && needed.every((one) => one.name in some)
    })
    const requests = questions.map(({ name, parameters }) => {
      const given = parameters.flatMap(({ name: one }) => (one in some ? [[one, String(some[one])] as const] : []))
      return `/api/v1/${name}?${new URLSearchParams(Object.fromEntries(given))}`
    })
    expect(requests.length).toBeGreaterThan(40)
    // How old it is follows from the clock of the database.
    const steady = [...requests, '/api/v1/map_at?at=-1h'].filter((path) => !path.includes('freshness'))
    const tags = new Map<string, string>()
    for (const path of steady) tags.set(path, String((await ask(path)).headers.etag))
    await clock.advanceTo(clock.now() + 59_000)
    for (const [path, etag] of tags)
      expect([path, (await ask(path, { 'if-none-match': etag })).status]).toEqual([path, 304])
  })

  test.each([
    ['/api/v1/fly', 404, 'unknown-question', {}],
    ['/api/v1/watch?resource_name=items', 404, 'unknown-question', {}],
    ['/api/v2', 404, 'not-found', {}],
    ['/api/v1/item?colour=red', 400, 'bad-argument', { argument: 'colour' }],
    ['/api/v1/item?tier=a%00b', 400, 'bad-argument', { argument: 'tier' }],
    ['/api/v1/item?limit=0', 400, 'bad-argument', { argument: 'limit' }],
    ['/api/v1/item?limit=10001', 400, 'bad-argument', { argument: 'limit' }],
    ['/api/v1/item?order=up', 400, 'bad-argument', { argument: 'order' }],
    ['/api/v1/map_at?at=noon', 400, 'bad-argument', { argument: 'at', detail: `at must be ${anInstant}, got noon` }],
    ['/api/v1/map_at?at=2026-02-30', 400, 'bad-argument', { argument: 'at' }],
    ['/api/v1/season_rating?season=x', 400, 'bad-argument', { argument: 'season' }],
    ['/api/v1/season_rating?season=9999999999', 400, 'bad-argument', { argument: 'season' }],
    ['/api/v1/item?level=high', 400, 'bad-argument', { argument: 'level' }],
    ['/api/v1/territory?is_hq=maybe', 400, 'bad-argument', { argument: 'is_hq' }],
    ['/api/v1/territory_capture?captured_at=then&territory=Oak', 400, 'bad-argument', { argument: 'captured_at' }],
    ['/api/v1/online_total?step=0+hours', 400, 'bad-argument', { argument: 'step' }],
    ['/api/v1/online_total?step=1+hour&from_time=-1d&to_time=x', 400, 'bad-argument', { argument: 'to_time' }],
    ['/api/v1/map_at?at=now&at=now', 400, 'bad-argument', { argument: 'at' }],
    ['/api/v1/territory_owner_at', 400, 'bad-argument', { argument: 'territory' }],
    ['/api/v1/member_counter?guild=QQQ&counter=wars', 404, 'name-not-found', { similar: [] }],
  ])('says of %s as %i what is wrong', async (path, status, name, more) => {
    const { ask } = await served()
    const wrong = await ask(path)
    expect([wrong.status, wrong.headers['content-type']]).toEqual([status, 'application/problem+json'])
    expect(JSON.parse(wrong.text)).toMatchObject({ type: `/api#${name}`, status, title: expect.any(String), ...more })
    expect(wrong.text).not.toContain('wynnsync query')
    expect(wrong.text).not.toMatch(/invalid|out of range|syntax|timestamp/)
  })

  test('leaves out what is about single players, if so started', async () => {
    const { ask, json } = await served({ people: false })
    const paths = Object.keys((await json('/openapi.json')).paths)
    expect(paths).toContain('/api/v1/territory_hold')
    expect(paths.filter((path) => /member_|player/.test(path))).toEqual(['/api/v1/member_retention'])
    // Whose counters are asked for may be a player.
    expect(paths.filter((path) => /gained|timeline|best|first_to|leaderboard_(at|history)$/.test(path))).toEqual([])
    const all = await readQuestions(lived.world.db)
    const refused: string[] = []
    for (const { name, kind } of all.filter(({ kind }) => kind === 'view')) {
      const { status, text } = await ask(`/api/v1/${name}`)
      expect(text, `${kind} ${name}`).not.toContain(JSON.stringify(hostile.player).slice(1, -1))
      if (status === 403) refused.push(name)
    }
    expect(refused).toEqual(
      expect.arrayContaining(['guild_member', 'membership_event', 'news', 'player', 'player_session']),
    )
  })

  test('has the same ETag while nothing but an age moves', async () => {
    const { ask, json } = await served()
    for (const accept of ['application/json', 'text/csv']) {
      const first = await ask('/api/v1/freshness', { accept })
      const again = await ask('/api/v1/freshness', { accept, 'if-none-match': String(first.headers.etag) })
      expect([accept, first.status, again.status]).toEqual([accept, 200, 304])
    }
    expect((await json('/api/v1/freshness')).rows[0]).toHaveProperty('age')
  })

  test('shows nowhere what a player restricted', async () => {
    const { json } = await served()
    const { rows } = await json(`/api/v1/guild_member?player_uuid=00000000-0000-4000-8000-000000000003`)
    for (const row of rows) expect(row).toMatchObject({ online: null, restricted: ['onlineStatus'] })
    const sessions = await json('/api/v1/player_session?limit=1000')
    expect(sessions.rows.length).toBeGreaterThan(0)
  })

  test('limits the requests of an address, and says what is left', async () => {
    const { ask } = await served({ requestsPerMinute: 2 })
    const first = await ask('/api/v1/world')
    expect(first.headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '1' })
    await ask('/api/v1/world')
    const refused = await ask('/api/v1/world')
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, refused.headers['ratelimit-reset']])
    expect(JSON.parse(refused.text)).toMatchObject({ type: '/api#too-many-requests' })
    await lived.world.clock.sleep(60_000)
    expect((await ask('/api/v1/world')).status).toBe(200)
  })

  test('gives each key a limit of its own, and refuses one that nothing has', async () => {
    const { db, clock } = lived.world
    const [key, other] = await Promise.all(
      ['bot', 'other'].map(async (name) => String(await addWebKey(db, { name, createdAt: new Date(clock.now()) }))),
    )
    expect(await addWebKey(db, { name: 'bot', createdAt: new Date(clock.now()) })).toBeUndefined()
    const { ask } = await served({ requestsPerMinute: 2 })
    const remaining = async (headers: Record<string, string>, path = '/api/v1/world') => {
      const { status, headers: got } = await ask(path, headers)
      return [status, got['ratelimit-limit'], got['ratelimit-remaining']]
    }
    expect(await remaining({ authorization: `Bearer ${key}` })).toEqual([200, '20', '19'])
    expect(await remaining({ 'x-api-key': String(key) }, '/worlds')).toEqual([200, '20', '18'])
    expect(await remaining({ 'x-api-key': String(other) })).toEqual([200, '20', '19'])
    expect(await remaining({ authorization: 'Basic YTpi' })).toEqual([200, '2', '1'])
    const wrong = await ask('/api/v1/world', { authorization: `Bearer ${key}x` })
    expect([wrong.status, wrong.headers['www-authenticate']]).toEqual([401, 'Bearer'])
    expect(JSON.parse(wrong.text)).toMatchObject({ type: '/api#wrong-key', status: 401 })
    expect((await ask('/worlds', { 'x-api-key': '' })).status).toBe(429)
    expect(await remaining({ authorization: `Bearer ${key}` })).toEqual([200, '20', '17'])
    await removeWebKey(db, 'bot')
    await clock.sleep(60_000)
    expect((await ask('/worlds', { authorization: `Bearer ${key}` })).status).toBe(401)
  })

  test('takes no key that was removed, also while the clock is behind where it was', async () => {
    const { db } = lived.world
    let now = lived.world.clock.now()
    const key = String(await addWebKey(db, { name: 'late', createdAt: new Date(now) }))
    const keys = createKeys({ read: (ask) => ask(db) } as Reader, { now: () => now, sleep: async () => {} })
    const app = new Hono().get('/', async (context) => context.json((await keys(context)) ?? null))
    const ask = async () => await (await app.request('/', { headers: { 'x-api-key': key } })).json()
    expect(await ask()).toBe('late')
    await removeWebKey(db, 'late')
    now -= 3_600_000
    expect(await ask()).toBe(null)
  })

  test('answers under known host names only, reads only, and lets nothing be framed or run', async () => {
    const { ask } = await served({ hostNames: ['Wynn.example'] })
    for (const host of ['localhost', '127.0.0.1', '[::1]', 'wynn.example:80'])
      expect([host, (await ask('/api/v1/world', { host })).status]).toEqual([host, 200])
    for (const host of ['evil.example', 'localhost.evil.example'])
      expect((await ask('/api/v1/world', { host })).status).toBe(421)
    const { headers } = await ask('/api/v1/world')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['access-control-allow-origin']).toBeUndefined()
    const post = await ask('/api/v1/world', {}, 'POST')
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  test.runIf(kind === 'server')('ends a statement that takes too long', async () => {
    const { ask } = await served({ timeoutMs: 1 })
    const statuses = new Set<number>()
    for (const path of ['/api/v1/player_session', '/api/v1/item_change', '/api/v1/world_peak']) {
      const { status, text } = await ask(path)
      statuses.add(status)
      if (status === 503) expect(JSON.parse(text)).toMatchObject({ type: '/api#statement-timeout' })
    }
    expect([...statuses]).toContain(503)
  })

  test('is described by a document with every question, whose references lead somewhere', async () => {
    const { json } = await served()
    const document = await json('/openapi.json')
    expect([document.openapi, document.info.version]).toEqual(['3.1.0', 'test'])
    const operation = document.paths['/api/v1/member_activity'].get
    expect(operation.parameters[0]).toMatchObject({ name: 'guild', in: 'query', required: true })
    const ids = Object.values<{ get: { operationId: string } }>(document.paths).map(({ get }) => get.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)]
    expect(references.length).toBeGreaterThan(ids.length)
    for (const [, reference = ''] of references) {
      const found = reference.split('/').reduce((at, part) => at?.[part], document)
      expect(found, reference).toBeDefined()
    }
  })

  test('is described with all values of columns and arguments that a question makes itself, and answers no other', async () => {
    const { ask, json } = await served()
    const { paths } = await json('/openapi.json')
    const gained = paths['/api/v1/gained'].get
    expect(gained.parameters[0].schema.enum).toContain('profession')
    const closed = (await readQuestions(lived.world.db)).flatMap(({ name, parameters, columns }) => {
      const needed = parameters.filter((one) => !one.optional && !/^(from|to)_time$/.test(one.name))
      if (!(`/api/v1/${name}` in paths) || !needed.every((one) => one.name in some)) return []
      const given = needed.map((one): [string, string] => [one.name, String(some[one.name])])
      return columns.flatMap((one) => (one.values ? [{ name, column: one.name, values: one.values, given }] : []))
    })
    const seen = new Map<string, Set<string | null>>()
    for (const { name, column, values, given } of closed) {
      const { text } = await ask(`/api/v1/${name}?${new URLSearchParams([...given, ['limit', '1000']])}`)
      const found = new Set<string | null>(
        JSON.parse(text).rows.map((row: Record<string, string | null>) => row[column]),
      )
      expect([name, column, [...found].filter((one) => one !== null && !values.includes(one))]).toEqual([
        name,
        column,
        [],
      ])
      seen.set(`${name}.${column}`, found)
    }
    expect([...seen.values()].filter((found) => found.size > 0).length).toBeGreaterThan(6)
  })

  test('is described with what several questions have said once', async () => {
    const { ask, json } = await served()
    const { paths, components } = await json('/openapi.json')
    const said = new Map<string, number>()
    // biome-ignore lint/suspicious/noExplicitAny: any part of the document
    const count = (part: any): void => {
      if (typeof part !== 'object' || part === null) return
      if (typeof part.description === 'string' && 'type' in part) {
        const text = JSON.stringify(part)
        said.set(text, (said.get(text) ?? 0) + 1)
      }
      Object.values(part).forEach(count)
    }
    type Described = {
      parameters: { name: string; schema: object }[]
      // biome-ignore lint/suspicious/noExplicitAny: any part of the document
      responses: any
    }
    const asked = Object.entries<{ get: Described }>(paths).filter(([path]) => path.startsWith('/api/v1/'))
    count([asked, components.schemas])
    // Columns of several names may have one meaning.
    expect([...said].filter(([, times]) => times > 6)).toEqual([])
    for (const [, { get }] of asked) for (const one of get.parameters) expect(one).toHaveProperty('schema')
    const columns = asked.flatMap(([, { get }]) =>
      Object.keys(get.responses[200].content['application/json'].schema.properties.rows.items.properties),
    )
    // A column is its name, its type and where its meaning stands, and the same for its filter: 620 bytes where all of it is said each time.
    const { text } = await ask('/openapi.json')
    expect(text.length / columns.length).toBeLessThan(400)
  })

  test('lists all that have an ambiguous name', async () => {
    await lived.world.db.query(
      `insert into game.guild_listing (guild_uuid, name, prefix, valid_from, hash) values ($1, 'Twin', $2, '2026-01-01Z', '\\x00')`,
      [guildId('c'), hostile.prefix],
    )
    const { ask } = await served()
    const { status, text } = await ask(`/api/v1/guild_member?${new URLSearchParams({ guild_uuid: hostile.prefix })}`)
    expect(status).toBe(409)
    const uuids = JSON.parse(text).holders.map(({ uuid }: { uuid: string }) => uuid)
    expect(uuids.sort()).toEqual([guildId('a'), guildId('c')])
  })

  test('gives the rows after those of the page before, also when some of these are gone', async () => {
    const { ask, json } = await served()
    const first = await ask('/api/v1/territory_hold?limit=1')
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(String(first.headers.link)) ?? []
    expect(JSON.parse(first.text).next).toBe(next)
    const before = (await json('/api/v1/territory_hold')).rows
    const { territory } = before[0]
    await lived.world.db.query('delete from game.territory_hold where territory = $1', [territory])
    const rest = (await json(next.replace('limit=1', 'limit=100'))).rows
    expect(rest).toEqual(before.filter((row: { territory: string }) => row.territory !== territory))
    for (const wrong of ['x', Buffer.from('{}').toString('base64url')]) {
      expect((await ask(`/api/v1/territory_hold?cursor=${wrong}`)).status).toBe(400)
    }
    expect((await ask(next.replace('?', '?territory=Elm&'))).status).toBe(400)
    expect((await ask(next.replace('territory_hold', 'territory_capture'))).status).toBe(400)
  })
})
