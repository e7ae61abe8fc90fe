import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliDecompressSync } from 'node:zlib'
import { Hono } from 'hono'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { entityOf, sendEntity } from '../../src/web/http/etag.ts'
import { serve, webWorld } from '../support/web-world.ts'

/** The database, whose transactions wait until they are let go. */
function held(db: Database) {
  let go: () => void = () => undefined
  let transactions = 0
  let open = Promise.resolve()
  const transaction: Database['transaction'] = async (...given) => {
    transactions++
    await open
    return await db.transaction(...given)
  }
  return {
    db: Object.assign(Object.create(db) as Database, { transaction }),
    transactions: () => transactions,
    hold() {
      transactions = 0
      open = new Promise((resolve) => {
        go = resolve
      })
    },
    release: () => go(),
  }
}

const brotliOrNot = (encoding: string, bytes: Buffer) => String(encoding === 'br' ? brotliDecompressSync(bytes) : bytes)

describe('many readers', () => {
  const web = webWorld('server')

  test.each([
    '/guilds/bbb',
    '/items?q=svg',
    '/feeds/guilds/bbb.atom',
    '/api/v1/territory',
    '/openapi.json',
    '/changes/sequence.json',
  ])('who ask for %s together share one answer, by whatever address they come', async (path) => {
    const base = held(web.world.db)
    const { ask } = await serve({ ...web.world, db: base.db })
    await ask('/api/v1/world')
    base.hold()
    const isApi = /^.(api|openapi)/.test(path)
    const asked = Array.from({ length: 300 }, (_, n) =>
      ask(isApi ? path : `${path}${path.includes('?') ? '&' : '?'}utm_source=${n}`, { Host: `localhost:${1000 + n}` }),
    )
    await sleep(1000)
    base.release()
    const answers = await Promise.all(asked)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(base.transactions()).toBeLessThan(20)
  })

  test.each(['identity', 'br'])('are sent the same bytes, of which none has a copy (%s)', async (encoding) => {
    const entity = entityOf('as many words as a page has '.repeat(10_000), 'text/html')
    const app = new Hono().get('/', (context) => sendEntity(context, entity))
    const ask = async () => await app.request('/', { headers: { 'Accept-Encoding': encoding } })
    const buffers = new Set<unknown>()
    for (const { body, headers } of [await ask(), await ask()]) {
      let bytes = 0
      for await (const piece of body ?? []) {
        buffers.add(piece.buffer)
        bytes += piece.length
      }
      expect(headers.get('content-length')).toBe(`${bytes}`)
    }
    expect(buffers.size).toBe(1)
    const text = brotliOrNot(encoding, Buffer.from(await (await ask()).arrayBuffer()))
    expect(text).toBe('as many words as a page has '.repeat(10_000))
  })

  test('more answers than are made at a time are refused with 503 and Retry-After', async () => {
    const base = held(web.world.db)
    const { ask } = await serve({ ...web.world, db: base.db })
    base.hold()
    let refused = 0
    const asked = Array.from({ length: 60 }, async (_, n) => {
      const answer = await ask(`/guilds?q=none-${n}`)
      if (answer.status === 503 && ++refused === 40) base.release()
      return answer
    })
    const answers = await Promise.all(asked)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
    expect(answers.find(({ status }) => status === 503)?.headers['retry-after']).toBe('5')
    expect((await ask('/guilds?q=none-59')).status).toBe(200)
  })

  test('clients that read nothing keep no other from being answered', async () => {
    const { ask, url } = await serve(web.world)
    const { hostname, port } = new URL(url)
    const sockets = Array.from({ length: 40 }, () => connect(Number(port), hostname))
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    for (const [n, socket] of sockets.entries()) {
      socket.pause()
      socket.write(
        `GET /guilds?q=slow-${n % 20} HTTP/1.1\r\nHost: localhost\r\n\r\nGET /api HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      )
    }
    await sleep(1000)
    expect((await ask('/guilds')).status).toBe(200)
  })
})
