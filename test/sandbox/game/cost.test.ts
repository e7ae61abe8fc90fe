import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/clock.ts'
import { gzipParts, joinParts, partOf } from '../../../src/sandbox/game/parts.ts'
import { createQueue } from '../../../src/sandbox/game/queue.ts'
import { givenGame, hour, start } from './given-game.ts'

describe('three days of polling the map every ten seconds', () => {
  it('cost the sandbox less than 25 seconds of one core, compression included', () => {
    const { copy } = givenGame()
    const before = process.cpuUsage()
    let bodies = 0
    for (let at = start; at < start + 72 * hour; at += 10_000) {
      copy('/guild/list/territory', at).gzip()
      bodies++
    }
    const { user, system } = process.cpuUsage(before)
    expect(bodies).toBe(25_920)
    expect((user + system) / 1e6).toBeLessThan(25)
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
