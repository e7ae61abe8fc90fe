import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { patchItems } from '../../../src/sandbox/index.ts'
import { given, producedAt, smallWorld, start } from '../given.ts'
import { type ErrorBody, type GuildBody, type MapBody, membersOf, type OnlineBody } from './bodies.ts'
import { givenGame } from './given-game.ts'

const small = { game: { guilds: 90, players: 300 }, limits: { guest: 10_000, token: 10_000 } }

describe('the routes of the game', () => {
  it('serve one copy until it expires, byte for byte, each route with its own time to live', async () => {
    const { get, clock } = await given(small)
    const routes: [string, number][] = [
      ['/guild/list/territory', 10],
      ['/guild/list/guild', 3600],
      ['/guild/list/guild?identifier=uuid', 3600],
      ['/guild/seasons', 600],
      ['/player', 30],
      ['/player?identifier=uuid', 30],
    ]
    const first = await Promise.all(routes.map(([path]) => get(path)))
    const [someGuild = ''] = Object.keys(first[2]?.body ?? {})
    const [somebody = ''] = Object.keys((await get<OnlineBody>('/player?identifier=uuid')).body.players)
    routes.push([`/guild/uuid/${someGuild}`, 120], [`/player/${somebody}?fullResult`, 120])
    const before = await Promise.all(routes.map(([path]) => get(path)))
    before.forEach((answer, nth) => {
      expect(answer.headers.get('cache-control')).toBe(`max-age=${routes[nth]?.[1]}`)
      expect(producedAt(answer.headers)).toBe('2026-06-01T12:00:20.000Z')
    })
    for (const [path, ttl] of [...routes].sort((one, other) => one[1] - other[1])) {
      const known = before[routes.findIndex(([name]) => name === path)]
      if (clock.now() < start + ttl * 1000 - 600) await clock.advanceTo(start + ttl * 1000 - 600)
      const again = await get(path)
      expect(again.text).toBe(known?.text)
      await clock.advanceTo(Math.max(clock.now(), start + ttl * 1000))
      expect(producedAt((await get(path)).headers)).not.toBe('2026-06-01T12:00:20.000Z')
    }
  })

  it('say when the game last ticked, in a form of its own, and show nothing younger', async () => {
    const { get, clock } = await given(small)
    await clock.advance(50 * 60_000)
    const { headers, body } = await get<MapBody>('/guild/list/territory')
    const tick = headers.get('territorylasttick') ?? ''
    expect(tick).toMatch(/^2026-06-01 12:50:\d\d\.\d{6}\+00:00$/)
    const produced = Date.parse(producedAt(headers))
    const ticked = Date.parse(tick.replace(' ', 'T'))
    expect(produced - ticked).toBeGreaterThanOrEqual(0)
    expect(produced - ticked).toBeLessThan(3000)
    const acquired = Object.values(body).flatMap((one) => (one.acquired === null ? [] : [Date.parse(one.acquired)]))
    expect(Math.max(...acquired)).toBeLessThanOrEqual(ticked)
    expect(Object.values(body).find((one) => one.acquired)?.acquired).toMatch(/\.\d{3}000Z$/)
  })

  it('find a guild by name, prefix and uuid, and key its members either way', async () => {
    const { get } = await given(small)
    const list = (await get<Record<string, { uuid: string; prefix: string }>>('/guild/list/guild')).body
    const [name = '', { uuid, prefix } = { uuid: '', prefix: '' }] = Object.entries(list)[0] ?? []
    const byName = (await get<GuildBody>(`/guild/${encodeURIComponent(name)}`)).body
    const byUuid = (await get<GuildBody>(`/guild/uuid/${uuid}?identifier=uuid`)).body
    expect((await get<GuildBody>(`/guild/prefix/${prefix}`)).body).toEqual(byName)
    expect([byUuid.uuid, byUuid.name, byUuid.prefix]).toEqual([uuid, name, prefix])
    expect(membersOf(byName).map(({ member }) => member.uuid)).toEqual(membersOf(byUuid).map(({ key }) => key))
    expect(membersOf(byUuid).map(({ member }) => member.username)).toEqual(membersOf(byName).map(({ key }) => key))
    expect(byName.members.total).toBe(membersOf(byName).length)
    expect(Object.keys(byName.members)).toEqual([
      'total',
      'owner',
      'chief',
      'strategist',
      'captain',
      'recruiter',
      'recruit',
    ])
  })

  it('answer 300 with everything that matches, and 404 for what is unknown', async () => {
    const { get, sandbox } = await given(small)
    const list = (await get<Record<string, { uuid: string; prefix: string | null }>>('/guild/list/guild')).body
    const prefixes = Object.values(list).flatMap(({ prefix }) => (prefix === null ? [] : [prefix]))
    const twice = prefixes.find((one, nth) => prefixes.findIndex((other) => fold(other) === fold(one)) !== nth) ?? ''
    const several = await get<ErrorBody>(`/guild/prefix/${twice}`)
    expect([several.status, several.body.error, several.body.code]).toEqual([300, 'MultipleObjectsReturned', 300])
    const matches = Object.entries(several.body.objects ?? {})
    expect(matches.length).toBe(2)
    for (const [uuid, one] of matches) expect([one.uuid, fold(String(one.prefix))]).toEqual([uuid, fold(twice)])

    for (const path of ['/guild/No Such Guild', '/guild/prefix/zzzzzz', '/guild/uuid/x', '/player/nobody_at_all']) {
      const { status, body } = await get<ErrorBody>(path)
      expect([status, body.error]).toEqual([404, 'NotFound'])
    }
    expect((await get<ErrorBody>('/player?identifier=x')).status).toBe(400)
    expect((await get('/guild/seasons', { method: 'POST' })).status).toBe(405)
    expect(new Set(sandbox.requests.map(({ bucket }) => bucket))).toEqual(new Set(['GUILD', 'PLAYER']))
  })

  it('answer 300 for a username that two players have, whatever its case', () => {
    const { game, source, ask } = givenGame()
    const [first] = game.realm.people
    const name = first?.username ?? ''
    for (const asked of [name, name.toUpperCase()]) {
      const found = source.answer({ method: 'GET', path: `/player/${asked}`, query: new URLSearchParams() }, start)
      expect(found).toMatchObject({ status: 300, objects: { [first?.uuid ?? '']: { username: name } } })
    }
    expect(ask(`/player/${first?.uuid}`, start)).toMatchObject({ username: name })
  })

  it('show one world by name or number', async () => {
    const { get, clock } = await given(small)
    await clock.advance(8 * 3_600_000)
    const all = (await get<OnlineBody>('/player')).body
    const world = Object.values(all.players).find((name) => name !== null) ?? ''
    const one = (await get<OnlineBody>(`/player?server=${world}`)).body
    expect(one.players).toEqual(Object.fromEntries(Object.entries(all.players).filter(([, name]) => name === world)))
    expect(one.total).toBeGreaterThanOrEqual(Object.keys(one.players).length)
    const numbered = (await get<OnlineBody>(`/player?server=${world.slice(2)}`)).body
    expect(numbered.total).toBeGreaterThanOrEqual(one.total)
  })
})

describe('the map', () => {
  it('has places with quirks: links to nowhere, corners in any order, typographic apostrophes, nobody as owner', async () => {
    const { get } = await given(small)
    const { body } = await get<MapBody>('/guild/list/territory')
    const all = Object.entries(body)
    expect(all.length).toBe(400)
    expect(all.flatMap(([, { links }]) => links.filter((name) => !(name in body))).length).toBeGreaterThanOrEqual(3)
    expect(all.filter(([, { location }]) => (location.start[0] ?? 0) > (location.end[0] ?? 0)).length).toBeGreaterThan(
      50,
    )
    expect(all.some(([name]) => name.includes('’'))).toBe(true)
    for (const [, { guild, acquired }] of all)
      if (guild.uuid === null) expect([guild.name, acquired]).toEqual([null, null])
    expect(all.some(([, { guild }]) => guild.uuid === null)).toBe(true)
  })

  it('changes its resources and treasuries with time', async () => {
    const { get, clock } = await given(small)
    const before = (await get<MapBody>('/guild/list/territory')).body
    await clock.advance(26 * 3_600_000)
    const after = (await get<MapBody>('/guild/list/territory')).body
    const differing = (key: keyof MapBody[string]) =>
      Object.keys(before).filter((name) => JSON.stringify(before[name]?.[key]) !== JSON.stringify(after[name]?.[key]))
    expect(differing('resources').length).toBeGreaterThan(300)
    expect(differing('treasury').length).toBeGreaterThan(20)
    expect(differing('defences').length).toBeGreaterThan(20)
  })
})

describe('the control of the game', () => {
  const history = (url: string, query = '') => fetch(url.replace('/v3', `/__sandbox/history${query}`))

  it('tells the history over HTTP as in process, free of the budget', async () => {
    const { sandbox, clock } = await given({ ...small, limits: { guest: 1, token: 1 } })
    await clock.advance(3_600_000)
    expect(await (await history(sandbox.url)).json()).toEqual(JSON.parse(JSON.stringify(sandbox.history())))
    const [from, to] = ['2026-06-01T12:10:00Z', '2026-06-01T12:40:00.000Z']
    expect(await (await history(sandbox.url, `?from=${from}&to=${to}`)).json()).toEqual(
      JSON.parse(JSON.stringify(sandbox.history(from, to))),
    )
    expect((await history(sandbox.url, '?from=yesterday')).status).toBe(400)
    const [session] = sandbox.history().sessions
    const counter = `/__sandbox/counter?player=${session?.player}&name=playtime`
    const { value } = (await (await fetch(sandbox.url.replace('/v3', counter))).json()) as { value: number }
    expect(value).toBe(sandbox.counterAt(session?.player ?? '', 'playtime'))
    expect(value).toBeGreaterThan(0)
  })

  it('is off when no game is wanted', async () => {
    const { sandbox, get } = await given({ game: false })
    expect((await get('/guild/list/territory')).status).toBe(404)
    expect((await history(sandbox.url)).status).toBe(404)
    expect(() => sandbox.history()).toThrow(RangeError)
  })

  it('may begin at another instant than the sandbox', async () => {
    const { get } = await given({ game: { ...small.game, startedAt: '2026-05-31T00:00:00Z' } })
    expect((await get('/guild/list/territory')).status).toBe(200)
  })

  it('runs faster than the clock when people watch', async () => {
    const { sandbox } = await given({ clock: systemClock, speed: 100_000, game: small.game })
    const before = sandbox.clock.now()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(sandbox.clock.now() - before).toBeGreaterThan(1_000_000)
  })
})

describe('items', () => {
  it('are patched by the game now and then, and the history tells how', async () => {
    const { get, clock, sandbox } = await given({ items: undefined, ...small })
    const names = async () =>
      (await get<{ internalName: string }[]>('/item/database?fullResult')).body.map((item) => item.internalName)
    const before = new Set(await names())
    await clock.advance(72 * 3_600_000)
    const after = new Set(await names())
    const [patch] = sandbox.history().itemPatches
    // Twelve are retuned, and one has its lore corrected.
    expect(patch?.changed.length).toBe(13)
    expect([...after].filter((name) => !before.has(name))).toEqual(patch?.added)
    expect([...before].filter((name) => !after.has(name))).toEqual(patch?.removed)
  })

  it('are left alone when the caller chose them', async () => {
    const chosen = smallWorld(60)
    const { sandbox, clock } = await given({ ...small, items: chosen })
    await clock.advance(96 * 3_600_000)
    expect(sandbox.history().itemPatches).toEqual([])
    const exchanged = await given(small)
    exchanged.sandbox.setItemWorld(patchItems(chosen, 1, 2))
    await exchanged.clock.advance(96 * 3_600_000)
    expect(exchanged.sandbox.history().itemPatches).toEqual([])
  })
})

function fold(text: string): string {
  return text.toLowerCase()
}
