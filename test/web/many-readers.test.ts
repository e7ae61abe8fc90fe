import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
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
