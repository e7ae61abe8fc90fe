// The sandbox of a simulated month, in a thread of its own: its game remembers all that happened, and that must not count
// as memory of the program that is measured.
import { parentPort, workerData } from 'node:worker_threads'
import { createItemWorld, startSandbox } from '../../../../dist/sandbox/index.js'

const { time, seed, game, limit } = workerData
const now = new Float64Array(time)
const asleep = new Map()
let sleeps = 0

/** Its time is that of the other thread. */
const clock = {
  now: () => now[0],
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const id = ++sleeps
      const abort = () => {
        asleep.delete(id)
        parentPort.postMessage({ awake: id })
        reject(signal.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
      asleep.set(id, () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      })
      parentPort.postMessage({ sleep: id, ms })
    }),
}

const whole = createItemWorld(seed)
const sandbox = await startSandbox({
  clock,
  seed,
  game,
  limits: { guest: limit, token: limit },
  items: {
    items: whole.items.slice(0, 50),
    recipes: whole.recipes.slice(0, 25),
    sets: Object.fromEntries(Object.entries(whole.sets).slice(0, 6)),
  },
})
parentPort.on('message', ({ wake, faults, close }) => {
  if (wake !== undefined) {
    asleep.get(wake)?.()
    asleep.delete(wake)
  }
  if (faults !== undefined) sandbox.setFaults(faults, seed)
  if (close) void sandbox.close().then(() => parentPort.close())
})
parentPort.postMessage({ url: sandbox.url })
