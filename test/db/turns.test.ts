import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Turn, takeTurns } from '../../src/db/embedded/turns.ts'

const inSeconds = (seconds: number) => performance.now() + seconds * 1000

/** Has the session for a while, or until it is stopped. */
async function hold(turn: Turn, ms: number): Promise<void> {
  const until = performance.now() + ms
  while (performance.now() < until && turn.stopped() === undefined) await sleep(5)
  turn.end()
}

test('no question begins between two pieces of one work, whatever waits and for how long', async () => {
  const turns = takeTurns(() => {})
  const first = await turns.begin()
  const order: string[] = []
  const asked = turns.begin({ endsAt: inSeconds(10) }).then((turn) => {
    order.push('question')
    turn.end()
  })
  await sleep(1200)
  // As a poll does, whose statements follow each other.
  const poll = async (turn: Turn) => {
    turn.end()
    for (const name of ['second', 'third']) {
      const next = await turns.begin()
      order.push(name)
      next.end()
    }
  }
  await Promise.all([poll(first), asked])
  expect(order).toEqual(['second', 'third', 'question'])
})

test('a question that has run for long ends as soon as work comes, and work waits for no second one', async () => {
  const turns = takeTurns(() => {})
  let isOver = false
  const ask = async () => {
    const turn = await turns.begin({ endsAt: inSeconds(20) })
    while (!isOver && turn.stopped() === undefined) await sleep(5)
    turn.end()
  }
  const asked = [ask(), ask(), ask()]
  await sleep(1500)
  const began = performance.now()
  for (let piece = 0; piece < 5; piece++) (await turns.begin()).end()
  expect(performance.now() - began).toBeLessThan(300)
  isOver = true
  await Promise.all(asked)
})

/** Asks for a while beside work that never pauses. Returns how many questions were answered and how many pieces done. */
async function besideWork(questionMs: number, asking: number): Promise<{ answered: number; worked: number }> {
  const turns = takeTurns(() => {})
  let [answered, worked] = [0, 0]
  const ending = new AbortController()
  const { signal } = ending
  setMaxListeners(0, signal)
  const work = async () => {
    while (!signal.aborted) {
      await hold(await turns.begin(), 20)
      worked++
    }
  }
  const ask = async () => {
    while (!signal.aborted) {
      const turn = await turns.begin({ endsAt: inSeconds(60), signal })
      answered++
      await hold(turn, questionMs)
    }
  }
  const all = [work(), work(), ...Array.from({ length: asking }, ask)]
  const ended = Promise.allSettled(all)
  await sleep(4500)
  const done = { answered, worked }
  ending.abort()
  await ended
  return done
}

test('work that never pauses lets in one long question a second, and no more', async () => {
  const { answered, worked } = await besideWork(500, 20)
  expect(answered).toBeGreaterThanOrEqual(2)
  expect(answered).toBeLessThanOrEqual(6)
  expect(worked).toBeGreaterThan(50)
})

test('work that never pauses lets in the brief questions of a command, one after the other, for a fifth of the time', async () => {
  const one = await besideWork(5, 1)
  expect(one.answered).toBeGreaterThan(20)
  const many = await besideWork(5, 20)
  expect(many.answered).toBeLessThan(0.35 * (4500 / 5))
  expect(many.worked).toBeGreaterThan(80)
})

test('a question that was let in between is stopped, too, when it takes long', async () => {
  const turns = takeTurns(() => {})
  const first = await turns.begin()
  const waiting = turns.begin()
  const asked = turns.begin({ endsAt: inSeconds(60) }).then((turn) => hold(turn, 60_000))
  await sleep(1200)
  first.end()
  const began = performance.now()
  ;(await waiting).end()
  expect(performance.now() - began).toBeLessThan(1500)
  await asked
}, 10_000)

test('a turn that has ended is not stopped later, whatever still waits since then', async () => {
  const turns = takeTurns(() => {})
  const ended = await turns.begin({ endsAt: inSeconds(60) })
  const [first, second] = [turns.begin(), turns.begin()]
  const asked = turns.begin({ endsAt: inSeconds(60) }).then((turn) => hold(turn, 60_000))
  await sleep(100)
  ended.end()
  await hold(await first, 1300)
  ;(await second).end()
  await asked
  expect(ended.stopped()).toBeUndefined()
})

test('what is urgent comes before other work that waits longer, with all its pieces', async () => {
  const turns = takeTurns(() => {})
  const first = await turns.begin()
  const order: string[] = []
  const work = async (name: string, pieces: number, isUrgent: boolean) => {
    for (let piece = 1; piece <= pieces; piece++) {
      const turn = await turns.begin({ isUrgent })
      order.push(`${name} ${piece}`)
      await hold(turn, 10)
    }
  }
  const all = [work('keys', 2, false), work('other keys', 1, false), work('poll', 3, true)]
  first.end()
  await Promise.all(all)
  expect(order).toEqual(['poll 1', 'poll 2', 'poll 3', 'keys 1', 'other keys 1', 'keys 2'])
})

test('an idle question begins after a second in which the session was free, ends for every other, and begins anew', async () => {
  const turns = takeTurns(() => {})
  const began = performance.now()
  const ending = new AbortController()
  const idle = { endsAt: Number.POSITIVE_INFINITY, isIdle: true, signal: ending.signal }
  const times: number[] = []
  const doing = (async () => {
    for (;;) {
      const turn = await turns.begin(idle)
      times.push(performance.now() - began)
      while (turn.stopped() === undefined) await sleep(5)
      turn.end()
    }
  })()
  doing.catch(() => undefined)
  // Each comes before the second is over.
  for (let nth = 0; nth < 4; nth++) {
    await sleep(400)
    await hold(await turns.begin(nth % 2 === 0 ? {} : { endsAt: inSeconds(10) }), 5)
  }
  expect(times).toEqual([])
  await sleep(1500)
  expect(times).toHaveLength(1)
  for (const options of [{}, { endsAt: inSeconds(10) }, { isUrgent: true }]) {
    const asked = performance.now()
    const turn = await turns.begin(options)
    expect(performance.now() - asked).toBeLessThan(200)
    turn.end()
    await sleep(1500)
  }
  expect(times).toHaveLength(4)
  ending.abort(new Error('the end'))
  await expect(doing).rejects.toThrow('the end')
})
