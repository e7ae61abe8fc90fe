import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { resources } from '../../src/resources/index.ts'
import { buildProgram, type Running, runProgram, startProgram } from '../support/cli.ts'
import { request } from '../support/http-request.ts'
import { bothKinds, testDatabaseUrl, testDataDir } from '../support/postgres.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { item } from '../support/world.ts'

beforeAll(buildProgram)

/** The first URL that a process writes. */
async function urlOf({ child, finished }: Running, stream: 'stdout' | 'stderr'): Promise<string> {
  let text = ''
  for (;;) {
    const [piece] = await Promise.race([once(child[stream] ?? child, 'data'), finished.then((end) => [end])])
    if (typeof piece !== 'string') throw new Error(`the process ended: ${JSON.stringify(piece)}`)
    text += piece
    const [found] = /http:\/\/127\.0\.0\.1:\d+(?=[\s"/,}]*.*\n)/.exec(text.replace(/^.*"the API.*$/gm, '')) ?? []
    if (found) return found
  }
}

describe.each(bothKinds)('wynnsync serve and start --web-port on the %s database', (kind) => {
  const environment = async () =>
    kind === 'server' ? { DATABASE_URL: await testDatabaseUrl() } : { WYNNSYNC_DATA_DIR: await testDataDir() }

  test('answer questions until they are ended', async () => {
    const place = await environment()
    const serving = startProgram(['serve', '--port', '0', '--rate-limit', '1', '--json'], place)
    const url = await urlOf(serving, 'stdout')
    const { status, text } = await request(url, '/api/v1/freshness')
    expect([status, JSON.parse(text).question]).toEqual([200, 'freshness'])
    // A minute may end meanwhile.
    const more = [await request(url, '/api/v1/freshness'), await request(url, '/api/v1/freshness')]
    expect(more.map(({ status }) => status)).toContain(429)
    serving.child.kill('SIGTERM')
    expect(await serving.finished).toMatchObject({ code: 0, err: '' })
    const api = await servedApi()
    serveItems(api, [item('bow')])
    const schedule = resources.map(({ name }) => `${name}=${name === 'items' ? '* * * * *' : 'off'}`).join('; ')
    const started = startProgram(['start', '--web-port', '0', '--no-people', '--base-url', api.url], {
      ...place,
      WYNNSYNC_SCHEDULE: schedule,
    })
    const web = await urlOf(started, 'stderr')
    expect((await request(web, '/api/v1/freshness')).status).toBe(200)
    expect((await request(web, '/api/v1/player')).status).toBe(403)
    const picture = await request(web, '/og/status.png')
    expect([picture.status, picture.headers['content-type']]).toEqual([200, 'image/png'])
    started.child.kill('SIGTERM')
    expect((await started.finished).code).toBe(0)
  })
})

test('serve streams changes of the embedded database for longer than a question may take', {
  timeout: 60_000,
}, async () => {
  const serving = startProgram(['serve', '--port', '0', '--json'], { WYNNSYNC_DATA_DIR: await testDataDir() })
  const response = await fetch(`${await urlOf(serving, 'stdout')}/changes/stream`)
  const ended = response.text().then(
    () => 'ended',
    () => 'cut',
  )
  expect(await Promise.race([ended, delay(7000, 'open')])).toBe('open')
  serving.child.kill('SIGTERM')
  expect((await serving.finished).code).toBe(0)
})

test.each([
  [['serve', '--host', '0.0.0.0'], 'add --public'],
  [['serve', '--port', 'many'], '--port must be a whole number'],
  [['serve', '--rate-limit', '-1'], '--rate-limit must be a whole number'],
  [['start', '--web-port', '0', '--web-host', '::'], '--web-host :: lets other machines connect: add --public'],
])('%j ends with 2 and says why', async (args, said) => {
  const { code, out, err } = await runProgram(args)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(said)
})
