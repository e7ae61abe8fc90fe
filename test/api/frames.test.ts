import diagnostics from 'node:diagnostics_channel'
import { afterEach, expect, test } from 'vitest'
import { type Api, createClient } from '../../src/api/client.ts'
import { virtualClock } from '../../src/base/clock.ts'
import { startServer } from './server.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** The frames of the client, functions that were awaited among them, when undici takes over the last request. */
async function framesOf(call: (api: Api) => Promise<unknown>): Promise<string[]> {
  const server = await startServer(() => ({ body: {} }))
  const api = createClient({ baseUrl: server.url, clock: virtualClock(Date.parse('2026-05-30T12:00:05Z')) })
  const { stackTraceLimit } = Error
  let stack = ''
  const note = () => {
    stack = new Error('here').stack ?? ''
  }
  Error.stackTraceLimit = Infinity
  diagnostics.subscribe('undici:request:create', note)
  closers.push(server.close, api.close, () => {
    diagnostics.unsubscribe('undici:request:create', note)
    Error.stackTraceLimit = stackTraceLimit
  })
  // The second one finds the bucket known.
  await call(api)
  await call(api.withRecorder(() => {}))
  const frames = stack.split('\n').filter((line) => line.includes('/src/api/'))
  return frames.map((line) => line.replace(/^\s*at (async )?/, '').replace(/ \(.*$/, ''))
}

test('four frames lie between an operation and the socket, with or without a recorder', async () => {
  expect(await framesOf((api) => api.guilds.byUuid('d8a0a2bd-1b3c-4b4e-9a7e-7a5b8e0a2f11'))).toEqual([
    'Object.exchange [as send]',
    'sendOnce',
    'send',
    'readObject',
  ])
})
