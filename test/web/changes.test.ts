import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createLog } from '../../src/base/log.ts'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { nameFinders } from '../../src/resources/key-names.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { serveWeb } from '../../src/web/web-server.ts'
import { guildId, place } from '../support/guild-answers.ts'
import { request } from '../support/http-request.ts'
import { notify } from '../support/notify.ts'
import { bothKinds } from '../support/postgres.ts'
import { instantOf, worldOf } from '../support/world.ts'

const at = new Date(instantOf('12:00'))

describe.each(bothKinds)('changes on the %s database', (kind) => {
  const world = worldOf(kind)

  async function served(): Promise<string> {
    const { db } = world
    const log = createLog('error', systemClock)
    const options = { host: '127.0.0.1', port: 0, flag: '--port', requestsPerMinute: 0, people: true, timeoutMs: 5000 }
    const context = { db, finders: nameFinders, clock: systemClock, log }
    const server = await serveWeb(context, { ...options, version: 'test' })
    onTestFinished(() => server.close())
    return server.url
  }

  /** Oak goes from guild a to guild b. */
  async function capture(): Promise<void> {
    const elm = place('b', '09:00')
    await world.sync(territories, { Oak: place('a', '09:00'), Elm: elm }, '10:00', { notifies: true })
    await world.sync(territories, { Oak: place('b', '10:30'), Elm: elm }, '11:00', { notifies: true })
  }

  const publish = (resource: string, given: object = {}) =>
    world.db.transaction((sql) =>
      notify(sql, {
        resource,
        runId: '1',
        status: 'ok',
        at,
        observedAt: at,
        changed: 1,
        people: 'none',
        ...given,
      }),
    )

  test('are files that never change, with the number of the last one', async () => {
    const url = await served()
    const ask = async (path: string, headers?: Record<string, string>) => await request(url, path, headers)
    expect(JSON.parse((await ask('/changes/sequence.json')).text)).toEqual({ first: 1, last: 0 })
    await capture()
    const sequence = await ask('/changes/sequence.json')
    expect(JSON.parse(sequence.text)).toEqual({ first: 1, last: 2 })
    expect(sequence.headers['cache-control']).toBe('no-cache')
    const { status, headers, text } = await ask('/changes/2.json')
    expect([status, headers['content-type']]).toEqual([200, 'application/json'])
    expect(headers['cache-control']).toBe('public, max-age=86400, immutable')
    expect(jsonSchemas.change.safeParse(JSON.parse(text)).error).toBeUndefined()
    expect(JSON.parse(text)).toMatchObject({ number: 2, event: 'change', resource: 'territories', keys: ['Oak'] })
    await publish('items')
    expect((await ask('/changes/2.json')).text).toBe(text)
    expect((await ask('/changes/2.json', { 'if-none-match': String(headers.etag) })).status).toBe(304)
    for (const path of ['0.json', '4.json', '02.json', '9999999999999999999.json', 'x.json', '2.json/']) {
      const missing = await ask(`/changes/${path}`)
      expect([path, missing.status, missing.headers['content-type']]).toEqual([path, 404, 'application/problem+json'])
      expect(missing.headers['cache-control']).toBe('no-store')
    }
  })

  test('are streamed from where a client left off, filtered, without what is late', async () => {
    const url = await served()
    await capture()
    await publish('items', { isLate: true })
    await publish('items')
    const all = await openStream(`${url}/changes/stream`, '0')
    expect(await all.ids(3)).toEqual(['1', '2', '4'])
    const ofGuild = await openStream(`${url}/changes/stream?guild=${guildId('a')}`, '0')
    expect(await ofGuild.ids(1)).toEqual(['2'])
    const ofItems = await openStream(`${url}/changes/stream?resource=items`)
    await publish('territories', { touched: { keys: new Set(['Elm']), concerns: new Set([guildId('a')]) } })
    await publish('items')
    // One without a number begins now; what was not wanted counts as read.
    expect(await ofItems.ids(1)).toEqual(['6'])
    expect(await ofGuild.ids(2)).toEqual(['2', '5'])
    expect(await ofGuild.read(/\nid: 6\n\n/)).not.toMatch(/id: 6\ndata|items/)
    expect(await all.ids(5)).toEqual(['1', '2', '4', '5', '6'])
    const resumed = await openStream(`${url}/changes/stream`, '5')
    expect(await resumed.ids(1)).toEqual(['6'])
    const [event] = (await resumed.read(/id: 6\n\n/)).match(/event: change\ndata: .*/) ?? []
    expect(JSON.parse(String(event?.split('data: ')[1]))).toMatchObject({ number: 6, resource: 'items' })
  })

  test('tell a client what is not kept any more', async () => {
    const url = await served()
    await capture()
    await publish('items')
    await world.db.query('delete from sync.outbox where number < 3')
    const { read, ids } = await openStream(`${url}/changes/stream`, '1')
    expect(await ids(1)).toEqual(['3'])
    expect(await read(/gap/)).toMatch(/^event: gap\ndata: \{"after":1,"first":3,"last":3\}/)
    for (const [query, status] of [
      ['guild=nobody', 404],
      ['world=1', 400],
    ])
      expect((await request(url, `/changes/stream?${query}`)).status).toBe(status)
    expect((await request(url, '/changes/stream', { 'last-event-id': 'x' })).status).toBe(400)
    expect((await request(url, '/changes/stream', {}, 'HEAD')).status).toBe(200)
  })
})

/** Reads a stream of server-sent events until the test ends. */
async function openStream(url: string, lastId?: string) {
  const gone = new AbortController()
  onTestFinished(() => gone.abort())
  const headers = lastId === undefined ? {} : { 'last-event-id': lastId }
  const response = await fetch(url, { headers, signal: gone.signal })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const readUntil = async (isDone: () => boolean) => {
    while (!isDone()) text += (await reader?.read())?.value ?? ''
  }
  const idsNow = () => [...text.matchAll(/^data: .*\nid: (\d+)$/gm)].map(([, id]) => id)
  await readUntil(() => text.includes('\n\n'))
  return {
    /** The ids of the events, once there are so many. */
    ids: async (count: number) => {
      await readUntil(() => idsNow().length >= count)
      return idsNow()
    },
    /** Everything that came, once it matches. */
    read: async (pattern: RegExp) => {
      await readUntil(() => pattern.test(text))
      return text
    },
  }
}
