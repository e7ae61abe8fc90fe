import { setTimeout } from 'node:timers/promises'
import autocannon from 'autocannon'
import { openServer } from '../../../src/db/server/server.ts'
import { startSandbox } from '../../../src/sandbox/index.ts'
import { ended, runNode, startNode } from '../child.ts'
import type { Bench, Part } from '../part.ts'
import type { Outcome } from '../target.ts'
import { fillYear } from './fill.ts'
import { wholeYear } from './year.ts'

/** Seconds between two polls of the sync that runs beside. */
const INTERVAL = 10
/** Seconds that it takes to load every resource the first time: after it, a sync beside is one of every day. */
const FIRST = 60
/** How often each page is made. */
const ROUNDS = 100

/** Pages of a made-up history under `serve`, with a `start` beside it: how long making one takes, and how many come from the cache. */
export const web: Part = async ({ program, createDatabase, extent, say }) => {
  const url = await createDatabase('web')
  await runNode([program, 'migrate'], { DATABASE_URL: url })
  const until = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000)
  const db = await openServer(url)
  try {
    await fillYear(db, { ...wholeYear, ...extent, until })
  } finally {
    await db.close()
  }
  const syncing = await syncBeside({ program, createDatabase })
  const server = startNode([program, 'serve', '--port', '0', '--rate-limit', '0', '--json'], { DATABASE_URL: url })
  server.stderr.resume()
  const finished = ended(server)
  try {
    const [line] = await server.stdout.setEncoding('utf8').take(1).toArray()
    const site: string = JSON.parse(String(line)).url
    const rows: Awaited<ReturnType<typeof make>>[] = []
    for (const kind of await kindsOf(site, until)) rows.push(await make(site, kind))
    say(`Pages of ${extent.days} days and ${extent.guilds} guilds, ms`, rows)
    const cached = await autocannon({ url: `${site}/map`, connections: 10, duration: 10, timeout: 60 })
    if (cached.non2xx + cached.errors > 0) throw new Error(`${cached.non2xx + cached.errors} requests of /map failed`)
    const late = await syncing.end()
    const name = (what: string) => `18 ${what} (${extent.days} days, ${extent.guilds} guilds)`
    return [
      outcome(name('slowest page, p95'), 'ms', Math.max(...rows.map(({ p95 }) => p95)), { atMost: 150 }),
      outcome(name('/map from the cache'), 'requests/s', cached.requests.average, { atLeast: 200 }),
      outcome('18 latest poll of the sync beside it', 's', late, { atMost: 2 }),
    ]
  } finally {
    server.kill('SIGTERM')
    await finished
    await syncing.end()
  }
}

function outcome(
  name: string,
  unit: string,
  measured: number,
  bound: { atMost: number } | { atLeast: number },
): Outcome {
  return { target: { name, unit, bound: { of: 'measured', ...bound } }, measured }
}

interface Kind {
  readonly kind: string
  readonly paths: readonly string[]
  /** Differs from request to request: a page is kept by its path and by the parameters that it reads. */
  readonly vary: (request: number) => string
}

/** What readers open, as the lists link it: of one thing as many different ones as the list has. */
async function kindsOf(site: string, until: Date): Promise<Kind[]> {
  const ending = (request: number) => `to=${new Date(until.getTime() - request * 60_000).toISOString()}`
  const paged = (request: number) => `page=${request + 1}`
  const linked = async (list: string, folder: string) => {
    const text = await (await fetch(`${site}${list}`)).text()
    const found = [...text.matchAll(new RegExp(`href="(/${folder}/[^"?#]+)`, 'g'))].map(([, path]) => path ?? '')
    if (found.length === 0) throw new Error(`${list} links no page of /${folder}`)
    return [...new Set(found)]
  }
  const guilds = await linked('/guilds', 'guilds')
  const [members, territories, items, patches] = await Promise.all([
    linked(guilds[0] ?? '', 'players'),
    linked('/territories', 'territories'),
    linked('/items', 'items'),
    linked('/patches', 'patches'),
  ])
  const lists = [
    '/',
    '/map',
    '/captures',
    '/records',
    '/territories',
    '/guilds',
    '/gained',
    '/patches',
    '/worlds',
    '/status',
    '/runs',
  ]
  return [
    ...lists.map((path) => ({ kind: path, paths: [path], vary: ending })),
    { kind: '/items', paths: ['/items'], vary: paged },
    { kind: '/search', paths: ['/search'], vary: (request) => `q=${request.toString(36)}` },
    { kind: '/guilds/X', paths: guilds, vary: ending },
    { kind: '/players/X', paths: members, vary: ending },
    { kind: '/territories/X', paths: territories, vary: ending },
    { kind: '/items/X', paths: items, vary: () => '' },
    { kind: '/patches/X', paths: patches, vary: () => '' },
  ]
}

/** Makes pages of a kind so often, none of them from the cache; where there are few of the kind, each once. */
async function make(site: string, { kind, paths, vary }: Kind) {
  let number = 0
  const times: number[] = []
  let bytes = 0
  const next = () => {
    const request = number++
    return `${paths[request % paths.length]}?${vary(request)}`
  }
  const requests = [{ setupRequest: (request: autocannon.Request) => ({ ...request, path: next() }) }]
  const amount = vary(0) === vary(1) ? Math.min(ROUNDS, paths.length) : ROUNDS
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const options = { url: site, connections: 1, timeout: 60, amount, requests }
    const making = autocannon(options, (error, made) => (error ? reject(error) : resolve(made)))
    making.on('response', (_client, _status, length, ms) => {
      times.push(ms)
      bytes = Math.max(bytes, length)
    })
  })
  if (result.non2xx + result.errors > 0) throw new Error(`${kind} failed`)
  times.sort((a, b) => a - b)
  const at = (share: number) => Math.round(times[Math.ceil(share * times.length) - 1] ?? Number.NaN)
  return { page: kind, made: times.length, p50: at(0.5), p95: at(0.95), most: at(1), kB: Math.ceil(bytes / 1000) }
}

/**
 * A `start` with all its resources in a database of its own on the same server, with a token and as many requests as the API allows.
 * `end` gives the longest wait for a poll of the map beyond the interval, s.
 */
async function syncBeside({ program, createDatabase }: Pick<Bench, 'program' | 'createDatabase'>) {
  const token = 'bench'
  const sandbox = await startSandbox({ seed: 1, tokens: [token] })
  const url = await createDatabase('web_sync')
  const child = startNode([program, 'start', '--log-level', 'error'], {
    DATABASE_URL: url,
    WYNNSYNC_BASE_URL: sandbox.url,
    WYNNSYNC_TOKEN: token,
    WYNNSYNC_SCHEDULE: `territories=*/${INTERVAL} * * * * *`,
  })
  child.stdout.resume()
  child.stderr.resume()
  const finished = ended(child)
  await setTimeout(FIRST * 1000)
  const end = async () => {
    const endedAt = Date.now()
    if (child.exitCode === null) child.kill('SIGTERM')
    await finished
    await sandbox.close()
    const db = await openServer(url)
    const runs = await db
      .query<{ at: Date }>(
        `select started_at as at from sync.run where resource = 'territories' and started_at <= $1 order by 1`,
        [new Date(endedAt)],
      )
      .finally(() => db.close())
    if (runs.length === 0) return Number.NaN
    const instants = [...runs.map(({ at }) => at.getTime()), endedAt]
    const waits = instants.slice(1).map((at, index) => at - (instants[index] ?? at))
    return Math.max(0, ...waits) / 1000 - INTERVAL
  }
  let ending: Promise<number> | undefined
  return {
    end: () => {
      ending ??= end()
      return ending
    },
  }
}
