import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { openStore } from '../../src/lake/store.ts'
import { temporaryFolder } from '../support/postgres.ts'

interface Asked {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}
type Answer = readonly [status: number, body?: string, headers?: Readonly<Record<string, string>>]

const SECRET = 'not-for-anybody-else'

/** A bucket whose service answers what it is given, in turn; the last answer stays. */
async function bucketThat(...answers: Answer[]) {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, url, headers } = request
    asked.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
    const [status, body = '', more] = answers[Math.min(asked.length, answers.length) - 1] ?? [500]
    if (status === 0) request.socket.destroy()
    else response.writeHead(status, more).end(body)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => void server.close())
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const s3 = { keyId: 'key', secret: SECRET, sessionToken: undefined, region: 'eu-west-3', endpoint }
  const waits: number[] = []
  const clock = { ...systemClock, sleep: async (ms: number) => void waits.push(ms) }
  const dataDir = await temporaryFolder()
  return { asked, waits, dataDir, store: await openStore('s3://bucket/a/b', { s3, clock, dataDir }) }
}

test('a file is sent again, whole, where the service was away, cut the connection or was busy', async () => {
  const { asked, dataDir, store } = await bucketThat([503], [0], [429], [200])
  const file = join(dataDir, 'file')
  await writeFile(file, 'x'.repeat(300_000))
  await store.put(file, 'game.item/month=2026-05/00ff.parquet')
  expect(asked).toHaveLength(4)
  for (const { method, url, headers, body } of asked) {
    expect([method, url]).toEqual(['PUT', '/bucket/a/b/game.item/month%3D2026-05/00ff.parquet'])
    expect([body.length, headers['content-length']]).toEqual([300_000, '300000'])
    expect(headers['x-amz-content-sha256']).toBe(createHash('sha256').update(body).digest('hex'))
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=key\/\d{8}\/eu-west-3\/s3\/aws4_request, Signed/,
    )
    expect(JSON.stringify(headers)).not.toContain(SECRET)
  }
})

test('what the service refuses is said at once, and what stays away is temporary', async () => {
  const refused = await bucketThat([403, '<Error><Code>AccessDenied</Code></Error>'])
  await expect(refused.store.readText('index.json')).rejects.toThrow(
    /^127\.0\.0\.1:\d+, bucket bucket: status 403 AccessDenied$/,
  )
  expect(refused.asked).toHaveLength(1)
  const away = await bucketThat([500])
  await expect(away.store.readText('index.json')).rejects.toMatchObject({ name: 'RetryableError' })
  expect(away.asked).toHaveLength(5)
  const nothing = await bucketThat([404, '<Error><Code>NoSuchKey</Code></Error>'])
  expect(await nothing.store.readText('index.json')).toBe(undefined)
})

test('a service that is busy is asked again when it says, and left alone where that is long', async () => {
  const busy = (after: string, more: object = {}): Answer => [503, '', { 'retry-after': after, ...more }]
  const date = 'Mon, 01 Jun 2026 12:00:00 GMT'
  const { waits, store } = await bucketThat(
    busy('7'),
    [429, '', { 'retry-after': '0' }],
    busy('Mon, 01 Jun 2026 12:00:30 GMT', { date }),
    busy('soon'),
    [200, 'text'],
  )
  expect([await store.readText('index.json'), waits]).toEqual(['text', [7000, 1000, 30_000, 4000]])

  const long = await bucketThat(busy('3600'))
  const text = (seconds: number) =>
    new RegExp(`status 503, and that it is busy for ${seconds} s more: call again after`)
  await expect(long.store.readText('index.json')).rejects.toMatchObject({
    name: 'RetryableError',
    message: expect.stringMatching(text(3600)),
  })
  expect([long.asked.length, long.waits]).toEqual([1, []])

  const always = await bucketThat(busy('100'))
  await expect(always.store.readText('index.json')).rejects.toThrow(text(100))
  expect([always.asked.length, always.waits]).toEqual([5, [100_000, 100_000, 100_000, 100_000]])
})

/** How a bucket is reached that responds like this, and a clock that is so many times as fast. */
async function slowService(fast: number, respond: RequestListener) {
  const slow = createServer(respond).listen(0, '127.0.0.1')
  await new Promise((resolve) => slow.once('listening', resolve))
  onTestFinished(() => void slow.close())
  const endpoint = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`
  const s3 = { keyId: 'key', secret: SECRET, sessionToken: undefined, region: 'us-east-1', endpoint }
  const began = systemClock.now()
  const now = () => began + fast * (systemClock.now() - began)
  return { s3, clock: { now, sleep: () => Promise.resolve() } }
}

test('a service that sends byte by byte is waited for no longer than a minute each time', async () => {
  // A minute of this clock is 0.3 s.
  const { s3, clock } = await slowService(200, (_request, response) => {
    response.writeHead(200, { 'content-length': 1_000_000 })
    const sending = setInterval(() => response.write('x'), 5)
    response.on('close', () => clearInterval(sending))
  })
  const settings = { s3, clock, dataDir: '/tmp' }
  const said = /only \d+ bytes came in \d+ s: see what slows down the service/
  const store = await openStore('s3://bucket', settings)
  await expect(store.readText('index.json')).rejects.toMatchObject({
    name: 'RetryableError',
    message: expect.stringMatching(said),
  })
  for (const place of ['s3://bucket', s3.endpoint])
    await expect(openPlace(place, settings).text('index.json')).rejects.toMatchObject({
      name: 'RetryableError',
      message: expect.stringMatching(said),
    })
})

test('a service that takes byte by byte is sent to for no longer than a minute each time', async () => {
  const { s3, clock } = await slowService(3000, (request, response) => {
    // 64 kB in 0.1 s, which are minutes of this clock.
    const taking = setInterval(() => request.read(65_536), 100)
    request.on('end', () => response.end())
    response.on('close', () => clearInterval(taking))
  })
  const dataDir = await temporaryFolder()
  const store = await openStore('s3://bucket', { s3, clock, dataDir })
  const file = join(dataDir, 'file')
  await writeFile(file, Buffer.alloc(20_000_000))
  await expect(store.put(file, 'file.parquet')).rejects.toMatchObject({
    name: 'RetryableError',
    message: expect.stringMatching(/only \d+ bytes were taken in \d+ s: see what slows down the service/),
  })
})

test('a service that is silent is waited for no longer than wanted', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await new Promise((resolve) => silent.once('listening', resolve))
  onTestFinished(() => void silent.closeAllConnections())
  const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const s3 = { keyId: 'key', secret: SECRET, sessionToken: undefined, region: 'us-east-1', endpoint }
  const store = await openStore('s3://bucket', { s3, clock: systemClock, dataDir: '/tmp' })
  const began = systemClock.now()
  await expect(store.readText('index.json', AbortSignal.timeout(300))).rejects.toMatchObject({ name: 'TimeoutError' })
  expect(systemClock.now() - began).toBeLessThan(5000)
})

test('all pages of a list are read, and only Parquet files of the lake are files of it', async () => {
  const page = (keys: string[], next?: string) =>
    [
      '<ListBucketResult>',
      ...keys.map((key) => `<Contents><Key>${key}</Key><Size>7</Size></Contents>`),
      next
        ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>`
        : '<IsTruncated>false</IsTruncated>',
      '</ListBucketResult>',
    ].join('')
  const { asked, store } = await bucketThat(
    [200, page(['a/b/game.item/1.parquet', 'a/b/index.json'], 'to+ken/2')],
    [200, page(['a/b/game.item/2.parquet'])],
  )
  expect([...(await store.list('.parquet'))]).toEqual([
    ['game.item/1.parquet', 7],
    ['game.item/2.parquet', 7],
  ])
  expect(asked.map(({ url }) => new URL(`http://x${url}`).searchParams.get('continuation-token'))).toEqual([
    null,
    'to+ken/2',
  ])
})

test.each(['s3://bucket/../x', 's3://bucket/a/./b', 's3://bucket/x y', 's3://B', 'gs://bucket', 's3://bucket/é'])(
  '%s is no place for a lake',
  async (place) => {
    const s3 = { keyId: 'key', secret: SECRET, sessionToken: undefined, region: 'us-east-1', endpoint: undefined }
    const open = openStore(place, { s3, clock: systemClock, dataDir: '/tmp' })
    await expect(open).rejects.toMatchObject({ name: 'UsageError' })
  },
)

test('a bucket needs a key and its secret', async () => {
  const s3 = { keyId: 'key', secret: undefined, sessionToken: undefined, region: 'us-east-1', endpoint: undefined }
  await expect(openStore('s3://bucket', { s3, clock: systemClock, dataDir: '/tmp' })).rejects.toThrow(
    /AWS_SECRET_ACCESS_KEY/,
  )
})
