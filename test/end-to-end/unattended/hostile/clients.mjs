// Clients that send hostile and ordinary requests to a server until its input closes. Prints a line of JSON each minute and
// at the end: {status: {code: count}, slowestMs, slow: [url, ms], faults: {message: count}}.
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../../../../dist/base/clock.js'

const { BASE, CLIENTS, SEED, NAMES } = process.env
const random = seededRandom(Number(SEED))
const among = (list) => list[Math.floor(random() * list.length)]
const ending = new AbortController()
process.stdin.resume().on('end', () => ending.abort())

const { paths } = await (await fetch(`${BASE}/openapi.json`)).json()
const questions = Object.entries(paths).map(([path, { get }]) => ({ path, parameters: get?.parameters ?? [] }))
const names = JSON.parse(NAMES)
const ago = (ms) => new Date(Date.now() - ms).toISOString()

const hostile = [
  '',
  ' ',
  '0',
  '-1',
  '1e400',
  'NaN',
  '9223372036854775808',
  'infinity',
  '-infinity',
  'null',
  '{}',
  '[]',
  '%00',
  '\u0000',
  "' or 1=1 --",
  '";drop table game.run;--',
  '$1',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  '\u202e',
  '💥'.repeat(400),
  '0001-01-01',
  '1000-01-01T00:00:00Z',
  '9999-12-31',
  '294276-12-31',
  '-4713-01-01',
  'now',
  '+2y',
  '-100000d',
  '1 microsecond',
  '-1 day',
  '0',
  '1 century',
  '1 month',
  '100 years',
  'P1D',
  'x'.repeat(8000),
  '{a,b,{c}}',
]
const ordinary = [
  '1',
  '10',
  '100',
  '1000',
  'true',
  'false',
  'asc',
  'desc',
  '1 minute',
  '1 hour',
  '1 day',
  '-1d',
  '-1h',
  '-3d',
  ago(3_600_000),
  ago(86_400_000),
  ago(3 * 86_400_000),
  ago(0),
  'items',
  'territories',
  'contributed',
  'guildLevel',
]
const pages = [
  '/',
  '/map',
  '/guilds',
  '/items',
  '/worlds',
  '/patches',
  '/status',
  '/feeds',
  '/nothing',
  '/api',
  '/changes',
]

function query(parameters) {
  const given = new URLSearchParams()
  for (const { name, required, in: place } of parameters) {
    if (place !== 'query' || (!required && random() < 0.5)) continue
    for (let nth = random() < 0.05 ? 3 : 1; nth > 0; nth--) given.append(name, value())
  }
  if (random() < 0.1) given.append(among(['limit', 'step', 'from', 'to', 'order', 'x']), value())
  return given.size > 0 ? `?${given}` : ''
}

const value = () => among(among([hostile, ordinary, ordinary, names, names]))

function target() {
  const chance = random()
  if (chance < 0.8) {
    const { path, parameters } = among(questions)
    return path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(value())) + query(parameters)
  }
  const path =
    chance < 0.9
      ? among(pages)
      : `/${among(['guilds', 'players', 'items', 'patches', 'cards'])}/${encodeURIComponent(value())}`
  return random() < 0.3
    ? `${path}?${new URLSearchParams([[among(['q', 'from', 'to', 'at', 'page', 'sort']), value()]])}`
    : path
}

let counted = { status: {}, slowestMs: 0, slow: [], faults: {} }
const count = (of, key) => {
  of[key] = (of[key] ?? 0) + 1
}
async function askOne() {
  const path = target()
  let [isBusy, ms] = [false, 0]
  const began = performance.now()
  const headers = { Accept: among(['text/html', 'application/json', 'text/csv', '*/*']) }
  try {
    // A stream never ends: it is left after a second.
    const isStream = path.startsWith('/changes/stream')
    const answer = await fetch(BASE + path, { headers, signal: AbortSignal.timeout(60_000), redirect: 'manual' })
    if (!isStream) await answer.arrayBuffer()
    ms = performance.now() - began
    if (isStream) await sleep(1000).then(() => answer.body?.cancel())
    count(counted.status, answer.status)
    isBusy = answer.status === 503
    if (answer.status >= 500 && answer.status !== 503) count(counted.faults, `${answer.status} ${path.slice(0, 300)}`)
  } catch (error) {
    ms = performance.now() - began
    count(counted.faults, `${error.cause?.code ?? error.message} ${path.slice(0, 200)}`)
  }
  counted.slowestMs = Math.max(counted.slowestMs, ms)
  // `Retry-After` says five seconds; these clients wait for a fiftieth of it.
  if (isBusy) await sleep(100)
  if (ms > 5500) counted.slow.push([path.slice(0, 300), Math.round(ms)])
}
const client = async () => {
  while (!ending.signal.aborted) await askOne()
}
const tell = () => {
  process.stdout.write(`${JSON.stringify(counted)}\n`)
  counted = { status: {}, slowestMs: 0, slow: [], faults: {} }
}
const timer = setInterval(tell, 60_000)
await Promise.all(Array.from({ length: Number(CLIENTS) }, client))
clearInterval(timer)
tell()
