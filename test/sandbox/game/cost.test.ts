import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { seededRandom } from '../../../src/base/clock.ts'
import { gzipParts, joinParts, partOf } from '../../../src/sandbox/game/parts.ts'
import { createQueue } from '../../../src/sandbox/game/queue.ts'
import { buildProgram, startCommand } from '../../support/cli.ts'
import { givenGame, hour, start } from './given-game.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Three days of polls in a process that does nothing else: its processor time, s, and that of compressing anew. */
const THREE_DAYS = `
import { gzipSync } from 'node:zlib'
import { createGame } from './dist/sandbox/game/game.js'
import { gameSource } from './dist/sandbox/game/routes.js'

const startedAt = ${start}
const source = gameSource(createGame({ seed: 1, startedAt }), 'live', 600)
const request = { method: 'GET', path: '/guild/list/territory', query: new URLSearchParams() }
const seconds = () => Object.values(process.cpuUsage()).reduce((one, other) => one + other) / 1e6
let [bodies, anew] = [0, 0]
for (let at = startedAt; at < startedAt + ${72 * hour}; at += 10_000) {
  const { gzip, plain } = source.answer(request, at)
  gzip()
  if (bodies++ % 64 > 0) continue
  const before = seconds()
  gzipSync(plain(), { level: 1 })
  anew += 64 * (seconds() - before)
}
console.log(JSON.stringify({ bodies, anew, spent: seconds() - anew / 64 }))
`

describe('three days of polling the map every ten seconds', () => {
  // Not so and so many seconds: one and the same machine is twice as fast at one hour as at another.
  it('cost the sandbox, the game and all, less than half of compressing each body anew', {
    timeout: 180_000,
  }, async () => {
    await buildProgram()
    const { out, err } = await startCommand(process.execPath, ['--input-type=module', '--eval', THREE_DAYS], {}, root)
      .finished
    expect(err).toBe('')
    const { bodies, anew, spent } = z
      .object({ bodies: z.int(), anew: z.number(), spent: z.number() })
      .parse(JSON.parse(out))
    expect(bodies).toBe(25_920)
    expect(spent / anew).toBeLessThan(0.5)
  })

  it('give compressed copies that are exactly the plain ones', () => {
    const { copy } = givenGame({ players: 300, guilds: 60 })
    for (let at = start; at < start + hour; at += 97_000) {
      const { gzip, plain } = copy('/guild/list/territory', at)
      expect(gunzipSync(gzip()).equals(plain())).toBe(true)
    }
  })
})

describe('parts of a body', () => {
  it('make one gzip stream, empty parts and letters of several bytes included', () => {
    const parts = ['{"a":"’', '', 'ü"}'].map(partOf)
    const plain = joinParts(parts)
    expect(gunzipSync(gzipParts(parts, plain)).toString()).toBe('{"a":"’ü"}')
  })
})

describe('the queue of events', () => {
  it('plays by instant, then in the order of planning, and never what is still to come', () => {
    const queue = createQueue(0)
    const random = seededRandom(1)
    const planned = Array.from({ length: 500 }, (_, nth) => ({ at: Math.floor(random() * 50), nth }))
    const played: { at: number; nth: number }[] = []
    for (const one of planned) queue.plan(one.at, (at) => played.push({ at, nth: one.nth }))
    queue.playUntil(30)
    queue.plan(10, (at) => played.push({ at, nth: -1 }))
    const sorted = planned.filter(({ at }) => at <= 30).sort((one, other) => one.at - other.at || one.nth - other.nth)
    expect(played).toEqual(sorted)
    queue.playUntil(30)
    // What was planned for the past happens now.
    expect(played.at(-1)).toEqual({ at: 30, nth: -1 })
  })

  it('plays what its happenings plan', () => {
    const queue = createQueue(0)
    const seen: number[] = []
    const again = (at: number) => {
      seen.push(at)
      queue.plan(at + 10, again)
    }
    queue.plan(5, again)
    queue.playUntil(36)
    expect(seen).toEqual([5, 15, 25, 35])
  })
})
