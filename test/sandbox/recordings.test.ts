import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { FatalError } from '../../src/base/errors.ts'
import { openRecordings, startSandbox } from '../../src/sandbox/index.ts'
import { given, type PageBody, producedAt } from './given.ts'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** Writes a folder of made-up recordings. */
function recorded(
  ...answers: readonly { at: string; path: string; query?: string; content: unknown; [key: string]: unknown }[]
) {
  const folder = mkdtempSync(join(tmpdir(), 'recordings-'))
  folders.push(folder)
  mkdirSync(join(folder, 'bodies'))
  const lines = answers.map(({ content, ...line }, index) => {
    const body = `bodies/${index}.json.gz`
    writeFileSync(join(folder, body), gzipSync(JSON.stringify(content)))
    return JSON.stringify({ method: 'GET', query: '', status: 200, ...line, body })
  })
  writeFileSync(join(folder, 'index.jsonl'), `${lines.join('\n')}\n`)
  return folder
}

const items = (...names: string[]) => names.map((name) => ({ internalName: name, displayName: name, type: 'weapon' }))

const threeStates = () =>
  recorded(
    {
      at: '2026-05-01T00:00:00Z',
      path: '/item/database',
      query: 'fullResult',
      content: items('Ash', 'Birch', 'Cedar'),
    },
    { at: '2026-05-02T00:00:00Z', path: '/item/database', query: 'fullResult', content: items('Ash', 'Birch') },
    { at: '2026-05-03T00:00:00Z', path: '/item/database', query: 'fullResult', content: {} },
  )

describe('recorded answers', () => {
  it('are stepped through over HTTP, from the instant that its time is set to', async () => {
    const startAt = Date.parse('2026-05-01T00:00:00Z')
    const sandbox = await startSandbox({ clock: systemClock, recordings: threeStates(), startAt })
    const control = sandbox.url.replace(/v3$/, '__sandbox/clock')
    const step = async (path: string) => {
      const answer = await fetch(control, { method: 'PUT', body: JSON.stringify({ next: path }) })
      const { now } = (await answer.json()) as { now: string }
      return [answer.status, now.slice(0, 16)]
    }
    try {
      expect(sandbox.clock.now() - startAt).toBeLessThan(60_000)
      expect(await step('/item/sets')).toEqual([404, '2026-05-01T00:00'])
      expect(await step('/item/database')).toEqual([200, '2026-05-02T00:00'])
      const shown = (await (await fetch(`${sandbox.url}/item/database?fullResult`)).json()) as unknown[]
      expect(shown.length).toBe(2)
      expect(await step('/item/database')).toEqual([200, '2026-05-03T00:00'])
      expect(await step('/item/database')).toEqual([404, '2026-05-03T00:00'])
    } finally {
      await sandbox.close()
    }
  })

  it('are served step by step as the clock moves, each speaking for its own instant', async () => {
    const recordings = threeStates()
    const steps = openRecordings(recordings).instants('/item/database')
    expect(openRecordings(recordings).firstInstant('/item/database')).toBe(Date.parse('2026-05-01T00:00:00Z'))
    const { get, clock } = await given({ recordings, at: Date.parse('2026-04-30T23:00:00Z') })

    const early = await get('/item/database?fullResult')
    expect([early.status, early.body.detail]).toEqual([404, 'First recorded at 2026-05-01T00:00:00.000Z.'])
    const seen: unknown[] = []
    for (const step of steps) {
      await clock.advanceTo(step + 5000)
      const { body, headers } = await get('/item/database?fullResult=')
      seen.push([producedAt(headers), body])
    }
    expect(seen).toEqual([
      ['2026-05-01T00:00:00.000Z', items('Ash', 'Birch', 'Cedar')],
      ['2026-05-02T00:00:00.000Z', items('Ash', 'Birch')],
      ['2026-05-03T00:00:00.000Z', {}],
    ])
  })

  it('are cut into pages when pages are asked for, and always in the documented dialect', async () => {
    const recordings = threeStates()
    const at = Date.parse('2026-05-01T10:00:00Z')
    const live = await given({ recordings, at, pageSize: 2 })
    expect((await live.get<PageBody>('/item/database?page=2')).body).toEqual({
      controller: { count: 3, current_count: 1, pages: 2, prev: 1, current: 2, next: null },
      results: items('Cedar'),
    })
    const documented = await given({ recordings, at, pageSize: 2, dialect: 'documented' })
    const { body, headers } = await documented.get<PageBody>('/item/database?fullResult')
    expect([body.controller.current, body.results]).toEqual([0, items('Ash', 'Birch')])
    expect(producedAt(headers)).toBe('2026-05-01T00:00:00.000Z')
    expect((await documented.get('/item/database?page=2')).status).toBe(400)
  })

  it('keep the object form of older answers in pages too', async () => {
    const recordings = recorded({
      at: '2025-05-01T00:00:00Z',
      path: '/item/database',
      query: 'fullResult',
      content: { Ash: { type: 'weapon' }, Birch: { type: 'weapon' } },
    })
    const { get } = await given({ recordings, pageSize: 1 })
    expect((await get('/item/database')).body.results).toEqual({ Ash: { type: 'weapon' } })
  })

  it('bring their own headers, but not the budget of that day; one that has expired is sent when it was made', async () => {
    const recordings = recorded({
      at: '2024-01-30T12:16:38Z',
      path: '/guild/uuid/7e8c1a52-0000-4000-8000-000000000001',
      content: { name: 'Made Up' },
      headers: {
        'Cache-Control': 'max-age=60',
        Via: 'kong/3.2.2',
        'RateLimit-Reset': '23',
        Date: 'x',
        Version: 'v3.2',
      },
    })
    const { get } = await given({ recordings })
    const { headers } = await get('/guild/uuid/7e8c1a52-0000-4000-8000-000000000001')
    expect([headers.get('via'), headers.get('version'), headers.get('ratelimit-reset')]).toEqual([
      'kong/3.2.2',
      'v3.2',
      '40',
    ])
    expect([headers.get('expires'), headers.get('date')]).toEqual([
      'Tue, 30 Jan 2024 12:17:38 GMT',
      'Tue, 30 Jan 2024 12:16:38 GMT',
    ])
  })

  it('of a search are found by the filter that was sent', async () => {
    const recordings = recorded({
      at: '2026-05-01T00:00:00Z',
      path: '/item/search',
      method: 'POST',
      requestBody: { tier: ['mythic'] },
      content: { results: [] },
    })
    const { get } = await given({ recordings })
    const ask = (filter: unknown) => get('/item/search', { method: 'POST', body: JSON.stringify(filter) })
    expect((await ask({ tier: ['mythic'] })).body).toEqual({ results: [] })
    expect((await ask({ tier: ['rare'] })).status).toBe(404)
  })

  it('stop the start when there is no index, or a line of it cannot be read', () => {
    expect(() => openRecordings(join(tmpdir(), 'no-such-folder'))).toThrow(FatalError)
    const folder = recorded()
    writeFileSync(join(folder, 'index.jsonl'), '{"at":"yesterday"}\n')
    expect(() => openRecordings(folder)).toThrow(/line 1/)
  })
})

const real = resolve('../shared/data/recordings')
const absent = existsSync(real) ? '' : ' (skipped: recorded data absent)'

describe('the recorded answers of the real API', () => {
  it.skipIf(!existsSync(real))(`are served state by state in both dialects${absent}`, async () => {
    const steps = openRecordings(real).instants('/item/database')
    expect(steps).toHaveLength(5)
    const live = await given({ recordings: real, at: steps[0] ?? 0 })
    const documented = await given({ recordings: real, at: steps[0] ?? 0, dialect: 'documented' })
    const counts: unknown[] = []
    for (const step of steps) {
      await live.clock.advanceTo(step)
      await documented.clock.advanceTo(step)
      const all = await live.get<unknown[]>('/item/database?fullResult')
      const page = await documented.get<PageBody>('/item/database?page=330')
      expect(producedAt(all.headers)).toBe(producedAt(page.headers))
      counts.push([all.body.length, page.body.controller.count])
    }
    expect(counts).toEqual([6616, 6616, 6617, 6617, 6623].map((count) => [count, count]))
  })
})
