import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { interruption } from '../../src/cli/context.ts'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { publicResult } from '../../src/cli/output/run-summary.ts'
import { openWebhook } from '../../src/monitoring/webhook.ts'
import { failedResult } from '../../src/sync/run/run-result.ts'
import { buildProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { openReceiver } from '../support/receiver.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { instantOf, item } from '../support/world.ts'

const minute = 60_000

async function opened(answer?: (nth: number) => number | null) {
  const receiver = await openReceiver(answer)
  const clock = virtualClock(instantOf('10:00'))
  const warnings: string[] = []
  const memory = join(await temporaryFolder(), 'webhook.json')
  const open = () => openWebhook({ url: receiver.url, clock, memory, warn: (message) => void warnings.push(message) })
  return { receiver, clock, warnings, memory, open, webhook: open() }
}

const failed = { resource: 'items', status: 'failed', error: 'the service is away', runId: 'a-run' }
const fine = { resource: 'items', status: 'ok' }

describe('the webhook', () => {
  test('tells the first failure of a series and the success after it, as JSON that chats can show too', async () => {
    const { receiver, webhook } = await opened()
    for (const run of [fine, failed, failed, failed, fine, fine]) webhook.ran(run)
    await receiver.until(2)
    const told = receiver.got.toSorted((a, b) => String(a.event).localeCompare(String(b.event)))
    expect(told.map(({ event, resource, at }) => [event, resource, at])).toEqual([
      ['failure', 'items', '2026-06-01T10:00:00.000Z'],
      ['recovery', 'items', '2026-06-01T10:00:00.000Z'],
    ])
    expect(receiver.headers[0]?.['user-agent']).toMatch(/^wynnsync\/\d/)
    for (const one of told) expect(jsonSchemas.webhook.safeParse(one).error).toBeUndefined()
    expect(told[0]).toMatchObject({
      message: 'the service is away',
      run: 'a-run',
      content: 'wynnsync: items: failure: the service is away',
    })
  })

  test('tells nothing of a run that a signal ended', async () => {
    const { receiver, webhook } = await opened()
    const stopped = failedResult('items', interruption('SIGTERM'))
    expect(stopped).toMatchObject({ status: 'interrupted', temporary: true })
    expect(publicResult(stopped)).toMatchObject({ status: 'failed', error: 'interrupted by SIGTERM' })
    webhook.ran(stopped)
    webhook.ran(fine)
    webhook.ran({ ...failed, resource: 'recipes' })
    await receiver.until(1)
    expect(receiver.got.map(({ resource }) => resource)).toEqual(['recipes'])
  })

  test('lets no text of the API notify a channel or a person, or turn the line around', async () => {
    const { receiver, webhook } = await opened()
    webhook.ran({ ...failed, error: '<!channel> & <@U024BE7LH> <https://x.example|click> \u202egnp.exe' })
    await receiver.until(1)
    expect(receiver.got[0]).toMatchObject({
      text: 'wynnsync: items: failure: &lt;!channel&gt; &amp; &lt;@U024BE7LH&gt; &lt;https://x.example|click&gt; \\u202egnp.exe',
      content: 'wynnsync: items: failure: <!channel> & <@U024BE7LH> <https://x.example|click> \\u202egnp.exe',
      allowed_mentions: { parse: [] },
    })
  })

  test('tells an event of a resource once in ten minutes, and then what still holds', async () => {
    const { receiver, webhook, clock } = await opened()
    const guarded = [{ guard: 'plausibility', action: 'rejected', reason: 'too small' }]
    webhook.ran({ resource: 'items', status: 'rejected', guarded })
    webhook.ran({ resource: 'items', status: 'rejected', guarded })
    webhook.ran({ resource: 'recipes', status: 'rejected', guarded })
    await receiver.until(2)
    for (const run of [failed, fine, failed]) webhook.ran(run)
    await receiver.until(4)
    // The answers are on their way back, which takes no time of this clock.
    await new Promise((resolve) => setTimeout(resolve, 30))
    await clock.advance(11 * minute)
    webhook.ran(failed)
    await receiver.until(5)
    expect(receiver.got.map(({ event, resource }) => `${event} ${resource}`).sort()).toEqual(
      ['failure items', 'failure items', 'guard items', 'guard recipes', 'recovery items'].sort(),
    )
  })

  test('remembers for the next process of a crontab what it told', async () => {
    const { receiver, webhook, open } = await opened()
    webhook.ran(failed)
    open().ran(failed)
    open().ran(fine)
    await receiver.until(2)
    expect(receiver.got.map(({ event }) => event).sort()).toEqual(['failure', 'recovery'])
  })

  test('tries once more, and gives up without a word of its URL', async () => {
    const { receiver, webhook, clock, warnings } = await opened(() => 500)
    webhook.notify({ event: 'start', resource: null, message: 'started' })
    await receiver.until(1)
    const again = receiver.until(2)
    while (receiver.got.length < 2) {
      await clock.advance(100)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await again
    const closing = webhook.close(1000)
    await closing.then(
      () => undefined,
      () => undefined,
    )
    expect(warnings).toEqual(['the webhook could not be notified of start: status 500'])
    expect(receiver.got).toHaveLength(2)
  })

  test('does not wait for a receiver that does not respond', async () => {
    const { receiver, webhook, clock, warnings } = await opened(() => null)
    webhook.ran(failed)
    await receiver.until(1)
    const closing = webhook.close(2000)
    await clock.advance(2000)
    await closing
    await new Promise((resolve) => setImmediate(resolve))
    expect(receiver.got).toHaveLength(1)
    expect(warnings.join()).not.toContain(receiver.url)
  })
})

describe('wynnsync sync with a webhook', () => {
  beforeAll(buildProgram)

  test('tells the failure, the guard and the recovery, is not harmed by a dead receiver, and never shows the URL', async () => {
    const receiver = await openReceiver()
    const environment = {
      DATABASE_URL: await testDatabaseUrl(),
      WYNNSYNC_DATA_DIR: await temporaryFolder(),
      WYNNSYNC_LOG_LEVEL: 'trace',
    }
    const api = await servedApi()
    const trees = ['Ash', 'Elm', 'Oak', 'Yew'].map((name) => item(name))
    const said: string[] = []
    const sync = async (answer: object[] | { status: number; body: object }, url = receiver.url) => {
      if (Array.isArray(answer)) serveItems(api, answer)
      else api.setAnswer('/item/database', () => answer)
      const more = { WYNNSYNC_BASE_URL: api.url, WYNNSYNC_WEBHOOK_URL: url }
      const { code, out, err } = await runInside(['sync', 'items'], { ...environment, ...more })
      said.push(out, err)
      return code
    }
    expect(await sync(trees)).toBe(0)
    const gone = { status: 404, body: { error: 'NotFound', detail: 'no such route', code: 404 } }
    expect(await sync(gone)).toBe(1)
    expect(await sync(gone)).toBe(1)
    expect(await sync(trees)).toBe(0)
    expect(await sync(trees, 'http://127.0.0.1:1/hook/of-a-secret-name')).toBe(0)
    expect(receiver.got.map(({ event, resource }) => [event, resource])).toEqual([
      ['failure', 'items'],
      ['recovery', 'items'],
    ])
    expect(said.join('')).not.toContain('of-a-secret-name')
  })
})
