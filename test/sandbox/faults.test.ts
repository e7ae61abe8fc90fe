import { describe, expect, it } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { type FaultName, faultNames } from '../../src/sandbox/index.ts'
import { given, smallWorld, start } from './given.ts'

const game = { guilds: 60, players: 300 }

/** What a request came to: the error's name when there was no answer. */
async function outcome(url: string, init: RequestInit = {}) {
  try {
    const response = await fetch(url, init)
    const { status, headers } = response
    const text = await response.text().catch(() => 'cut off')
    return { status, headers, text }
  } catch {
    return { status: 0, headers: new Headers(), text: 'no answer' }
  }
}

/** A sandbox in which one fault spoils every answer. */
async function spoilt(fault: FaultName) {
  const clock = virtualClock(start, { auto: true })
  const at = await given({ game, items: smallWorld(50), clock, faults: { [fault]: 1 } })
  return { ...at, clock, ask: (route: string, init: RequestInit = {}) => outcome(at.sandbox.url + route, init) }
}

interface Online {
  readonly players: Readonly<Record<string, unknown>>
}

async function aGuild(get: Awaited<ReturnType<typeof given>>['get']): Promise<string> {
  const { body } = await get<Record<string, unknown>>('/guild/list/guild?identifier=uuid')
  return Object.keys(body)[0] ?? ''
}

describe('a fault', () => {
  it.each([
    ['storm', 429, /TooManyRequest/],
    ['bare-storm', 429, /request_id/],
    ['gateway', 502, /upstream server|^$|InternalError|ring-balancer|unexpected error/],
    ['html', 502, /^<!DOCTYPE html>/],
    ['empty-body', 200, /^$/],
    ['nothing', 200, /^(\{\}|\[\])$/],
    ['reset', 0, /no answer/],
  ] as const)('%s gives %s instead of an answer', async (fault, status, body) => {
    const { ask } = await spoilt(fault)
    const { status: seen, text } = await ask('/item/sets')
    expect(text).toMatch(body)
    if (fault === 'gateway' || fault === 'html') expect([200, 500, 502, 503, 524]).toContain(seen)
    else expect(seen).toBe(status)
  })

  it.each([
    ['stray-forbidden', '/player/', 403],
    ['stray-not-found', '/guild/uuid/', 404],
  ] as const)('%s refuses in words that the application does not use', async (fault, route, status) => {
    const { ask, get } = await spoilt(fault)
    const key =
      route === '/player/'
        ? Object.keys((await get<Online>('/player?identifier=uuid')).body.players)[0]
        : await aGuild(get)
    for (let nth = 0; nth < 8; nth++) {
      const seen = await ask(`${route}${key}`)
      expect(seen.status).toBe(status)
      expect(seen.text).toMatch(/^$|^<!DOCTYPE html>|^\{"message":/)
    }
  })

  it.each([
    ['forbidden', 403],
    ['not-found', 404],
  ] as const)('%s refuses in the words of the application, never twice in a row', async (fault, status) => {
    const { ask, get } = await spoilt(fault)
    const [player] = Object.keys((await get<Online>('/player?identifier=uuid')).body.players)
    const answers = []
    for (let nth = 0; nth < 5; nth++) answers.push(await ask(`/player/${player}`))
    expect(answers.map((one) => one.status)).toEqual([status, 200, 200, 200, status])
    expect(JSON.parse(answers[0]?.text ?? '')).toMatchObject({ error: expect.any(String), code: status })
    expect((await ask('/item/sets')).status).toBe(200)
  })

  it('truncates bodies, some with a length that fits and some by hanging up', async () => {
    const { ask } = await spoilt('truncated')
    const seen = new Set<string>()
    for (let nth = 0; nth < 12; nth++) {
      const { text } = await ask('/item/sets')
      expect(() => JSON.parse(text)).toThrow()
      seen.add(text === 'cut off' ? 'cut' : 'short')
    }
    expect([...seen].sort()).toEqual(['cut', 'short'])
  })

  it('lets a body drip on the clock of the sandbox, and loses nothing of it', async () => {
    const { ask, clock } = await spoilt('drip')
    const { text } = await ask('/item/database?fullResult')
    expect(JSON.parse(text)).toHaveLength(50)
    expect(clock.now() - start).toBeGreaterThan(20_000)
  })

  it('leaves headers out or makes nonsense of them', async () => {
    const bare = await (await spoilt('no-limit-headers')).ask('/item/sets')
    expect([...bare.headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([])
    const odd = await (await spoilt('odd-limit-headers')).ask('/item/sets')
    expect(odd.headers.get('ratelimit-remaining')).not.toMatch(/^\d{1,15}$/)
    const uncached = await (await spoilt('no-cache-headers')).ask('/item/sets')
    expect([uncached.headers.get('expires'), uncached.headers.get('cache-control')]).toEqual([null, null])
    const unclear = await (await spoilt('odd-cache-headers')).ask('/item/sets')
    expect(Date.parse(unclear.headers.get('expires') ?? '')).not.toBe(start - 500 + 120_000)
  })

  it('sets the clock of an address off by the same minutes for a while', async () => {
    const { ask } = await spoilt('skew')
    const shifts: number[] = []
    for (let nth = 0; nth < 8; nth++) {
      const { headers } = await ask('/item/sets')
      shifts.push(Date.parse(headers.get('date') ?? '') - (start - 500))
      const [expires, date] = ['expires', 'date'].map((name) => Date.parse(headers.get(name) ?? ''))
      expect((expires ?? 0) - (date ?? 0)).toBe(120_000)
    }
    expect(new Set(shifts.slice(0, 4)).size).toBe(1)
    expect(new Set(shifts.slice(4)).size).toBe(1)
    expect(shifts.every((shift) => shift !== 0 && Math.abs(shift) <= 540_000)).toBe(true)
  })

  it('repeats an older copy, to the same request only', async () => {
    const { ask, clock } = await spoilt('stale')
    const [first] = [await ask('/guild/list/territory')]
    await clock.advance(60_000)
    const again = await ask('/guild/list/territory')
    expect([again.text, again.headers.get('expires')]).toEqual([first.text, first.headers.get('expires')])
    expect(again.headers.get('date')).not.toBe(first.headers.get('date'))
    const names = await ask('/guild/list/guild')
    const uuids = await ask('/guild/list/guild?identifier=uuid')
    expect(names.text).not.toBe(uuids.text)
  })

  it('leaves members out while the total stays', async () => {
    const { get, sandbox } = await spoilt('partial-members')
    const uuid = await aGuild(get)
    const { body } = await get<{ members: Record<string, object> & { total: number } }>(`/guild/uuid/${uuid}`)
    const { total, ...ranks } = body.members
    const came = Object.values(ranks).flatMap(Object.keys).length
    expect(came).toBeLessThan(total)
    expect(sandbox.faultsDone()).toEqual({
      total: 1,
      byFault: { 'partial-members': { [`/guild/uuid/${uuid}`]: 1 } },
    })
  })

  it('puts another listing behind the first page', async () => {
    const { walk } = await spoilt('replaced-walk')
    const pages = await walk('/item/database')
    const names = pages.flatMap((page) => page.results.map((item) => item.internalName))
    const counts = new Set(pages.map((page) => page.controller.count))
    expect(pages[0]?.controller.count).toBe(50)
    expect(counts.size > 1 || new Set(names).size < 50).toBe(true)
  })

  it('makes a field vanish, others appear, and texts unheard of', async () => {
    const truth = await given({ items: smallWorld(50) })
    const { body: items } = await truth.get<Record<string, unknown>[]>('/item/database?fullResult')
    const fieldsOf = (records: readonly object[]) => records.flatMap(Object.keys).length
    const fewer = await (await spoilt('vanishing')).get<Record<string, unknown>[]>('/item/database?fullResult')
    expect(fieldsOf(fewer.body)).toBeLessThan(fieldsOf(items))
    const more = await (await spoilt('unknown-fields')).get<Record<string, unknown>[]>('/item/database?fullResult')
    expect(more.body.every((item) => 'sandboxNovelty' in item)).toBe(true)
    const odd = await (await spoilt('unknown-members')).get<Record<string, unknown>[]>('/item/database?fullResult')
    expect(odd.body.some((item) => item.tier === 'sandbox_unheard_of')).toBe(true)
    const twins = await (await spoilt('twin-names')).get<Record<string, unknown>[]>('/item/database?fullResult')
    expect(new Set(twins.body.map((item) => item.displayName)).size).toBeLessThan(
      new Set(items.map((item) => item.displayName)).size,
    )
    expect(new Set(twins.body.map((item) => item.internalName)).size).toBe(50)
  })

  it('hides people, zeroes and doubles what is counted about them', async () => {
    type Profile = { restrictions: Record<string, boolean>; playtime?: number; online: boolean }
    const truth = await given({ game, items: smallWorld(5) })
    let path = ''
    let known: Profile | undefined
    for (const { player } of truth.sandbox.history().sessions) {
      path = `/player/${player}?fullResult`
      known = (await truth.get<Profile>(path)).body
      if (known.playtime) break
    }
    const { body: hidden } = await (await spoilt('private')).get<Profile>(path)
    expect(hidden.restrictions).toMatchObject({ mainAccess: true, onlineStatus: true, characterListAccess: true })
    expect(['globalData', 'characters', 'playtime'].filter((name) => name in hidden)).toEqual([])
    expect((await (await spoilt('zero-counters')).get<Profile>(path)).body.playtime).toBe(0)
    expect((await (await spoilt('double-counters')).get<Profile>(path)).body.playtime).toBe(2 * (known?.playtime ?? 0))
  })

  it('empties the online list, or its worlds', async () => {
    const { body: nobody } = await (await spoilt('nobody-online')).get<{ players: object }>('/player')
    expect(nobody.players).toEqual({})
    const { body } = await (await spoilt('null-worlds')).get<{ players: object; total: number }>('/player')
    expect(Object.values(body.players)).toContain(null)
  })

  it('refuses credentials, and nobody without one', async () => {
    const { ask } = await spoilt('revoked')
    expect((await ask('/item/sets')).status).toBe(200)
    const refused = await ask('/item/sets', { headers: { authorization: 'Bearer whoever' } })
    expect([refused.status, JSON.parse(refused.text).error]).toEqual([401, 'InvalidTokenError'])
  })

  it('has a name that says what it is, each of them', async () => {
    const { sandbox } = await given()
    const url = sandbox.url.replace('/v3', '/__sandbox/faults')
    const { known } = (await (await fetch(url)).json()) as { known: Record<string, string> }
    expect(Object.keys(known)).toEqual(faultNames)
    expect(Object.values(known).every((about) => about.length > 5)).toBe(true)
  })
})

describe('a plan of faults', () => {
  const statuses = async (seed: number, plan: string, paths: readonly string[]) => {
    const { sandbox } = await given({ seed, items: smallWorld(5), faults: plan, limits: { guest: 1000, token: 1000 } })
    const seen: Record<string, number[]> = {}
    for (const path of paths) {
      const { status } = await outcome(sandbox.url + path)
      seen[path] = [...(seen[path] ?? []), status]
    }
    return seen
  }
  const asked = Array.from({ length: 40 }, () => ['/item/sets', '/item/metadata']).flat()

  it('is the same run for the same seed, whatever the order of the paths', async () => {
    const one = await statuses(7, 'gateway:0.3', asked)
    expect(await statuses(7, 'gateway:0.3', [...asked].sort())).toEqual(one)
    expect(await statuses(8, 'gateway:0.3', asked)).not.toEqual(one)
    const spoiltOnes = (one['/item/sets'] ?? []).filter((status) => status !== 200).length
    expect(spoiltOnes).toBeGreaterThan(4)
    expect(spoiltOnes).toBeLessThan(22)
  })

  it('keeps to its time and its paths', async () => {
    const { sandbox, clock } = await given({ items: smallWorld(5), faults: 'empty-body:1@60-120/item/sets' })
    const texts = async () =>
      Promise.all(['/item/sets', '/item/metadata'].map(async (path) => (await outcome(sandbox.url + path)).text === ''))
    expect(await texts()).toEqual([false, false])
    await clock.advance(60_000)
    expect(await texts()).toEqual([true, false])
    await clock.advance(60_000)
    expect(await texts()).toEqual([false, false])
  })

  it('can be put, shown and deleted while the sandbox runs', async () => {
    const { sandbox, get } = await given({ items: smallWorld(5) })
    const url = sandbox.url.replace('/v3', '/__sandbox/faults')
    const send = async (method: string, body?: unknown, query = '') => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await fetch(url + query, { method, ...sent })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    const plan = { nothing: { share: 1, until: '2026-06-02T00:00:00Z', path: '/item' } }
    const put = await send('PUT', plan, '?seed=5')
    expect(put.body).toMatchObject({ seed: 5, rules: [{ fault: 'nothing', share: 1, path: '/item' }] })
    await get('/item/sets')
    expect((await send('GET')).body.done).toEqual({ total: 1, byFault: { nothing: { '/item/sets': 1 } } })
    expect((await send('PUT', 'sorm:0.5')).body.error).toContain('no fault is called sorm')
    expect((await send('PUT', { storm: 2 })).status).toBe(400)
    expect((await send('PUT', ['storm'])).status).toBe(400)
    expect((await send('GET')).body.rules).toHaveLength(1)
    expect((await send('PUT', 'all')).body.rules).toHaveLength(faultNames.length)
    expect((await send('DELETE')).body).toMatchObject({ rules: [], done: { total: 0 } })
  })
})
