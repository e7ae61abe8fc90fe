import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { type Clock, within } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { type Http, openHttp } from '../../base/http.ts'
import type { ProxySettings } from '../../base/proxies.ts'
import type { Database, Lock } from '../../db/database.ts'
import { publishChanges } from '../../sync/outbox/outbox.ts'
import { readFreshness } from '../../sync/overview/overview.ts'
import {
  type DeliveryState,
  matchDeliveries,
  mostChanges,
  readDeliveries,
  readNews,
  writeDelivery,
} from './delivery-state.ts'
import { dueOf } from './due.ts'
import { filtersOf, readOccurrences, sourcesOf, upcomingNoter } from './occurrences.ts'
import { sendMessage } from './send.ts'
import { topNoter } from './tops.ts'
import type { Watch, WatchFile } from './watch.ts'
import { readWatches, takeOverWatches } from './watch-store.ts'

interface WatchingOptions extends Pick<Delivering, 'db' | 'clock' | 'warn'> {
  /** Where earlier versions kept watches. */
  readonly file: string
  readonly proxy?: ProxySettings | undefined
}

export type Watching = ReturnType<typeof openWatching>

/** How often a running process looks for changes where there are watches, ms. */
const LOOK_EVERY_MS = 1000
/** How often it looks whether there are watches by now, ms. */
const IDLE_LOOK_EVERY_MS = 30_000
/** How often it looks for resources that are late, ms. */
const FRESHNESS_EVERY_MS = 60_000
/** How often it looks for what is no change: numbers and world events, ms. */
const NOTED_EVERY_MS = 15_000

/** Held by the process that delivers. */
const lockName = 'watches'

/** Delivers what watches have to send. Nothing here throws; one process delivers at a time. */
export function openWatching({ db, file, clock, proxy, warn }: WatchingOptions) {
  const ending = new AbortController()
  setMaxListeners(0, ending.signal)
  const http = openHttp({ proxy })
  const looks = createLooks({ db, clock, http, signal: ending.signal, pauses: new Map(), warn })
  let lock: Lock | null = null
  let known = ''
  let looking: Promise<void> | undefined
  let problem = ''

  const warned = new Set<string>()
  const warnOnce = (message: string) => {
    if (!warned.has(message)) warn(message)
    warned.add(message)
  }

  /** The watches; undefined: there are none and were none, or another process delivers. */
  async function current(): Promise<WatchFile | undefined> {
    const taken = await takeOverWatches(db, file)
    if (taken !== undefined) warnOnce(taken)
    const content = await readWatches(db)
    for (const { name, problem } of content.unreadable)
      warnOnce(`watch ${name} sends nothing, because this version cannot read it: ${problem}`)
    if (content.names.length === 0 && known === '') return undefined
    lock ??= await db.tryLock(lockName)
    if (!lock) return undefined
    const text = JSON.stringify(content)
    if (text === known) return content
    await matchDeliveries(db)
    looks.forget()
    known = text
    return content
  }

  async function guarded(work: () => Promise<unknown>): Promise<void> {
    const said = await work().then(
      () => '',
      // The database may be away for a while, or the file of an earlier version wrong.
      (error: unknown) => `watches: ${messageOf(error)}`,
    )
    if (said !== '' && said !== problem) warn(said)
    problem = said
  }

  /** Sends what is due, each message once. @param isLast whether nothing is waited for to be grouped */
  async function look(isLast = false): Promise<void> {
    looking = guarded(async () => {
      const content = await current()
      if (content) await looks.look(content, isLast)
    })
    await looking
  }

  return {
    /** Lets new watches begin with what comes next. */
    begin: () => guarded(current),
    look,
    /** Looks again and again, until the signal. */
    run: async (stopping: AbortSignal): Promise<void> => {
      while (!stopping.aborted) {
        await look()
        await clock.sleep(known === '' ? IDLE_LOOK_EVERY_MS : LOOK_EVERY_MS, stopping).catch(() => undefined)
      }
    },
    /** Ends attempts that are under way after `ms`, and lets another process deliver. */
    close: async (ms: number): Promise<void> => {
      await within(clock, ms, Promise.resolve(looking))
      ending.abort()
      await looking
      await http.close()
      await lock?.release().catch(() => undefined)
      lock = null
    },
  }
}

function createLooks(context: Delivering) {
  const { db, clock } = context
  /** By watch, the last number that was looked at, when that was, and when to look again without another. */
  const seen = new Map<string, { readonly last: number; readonly lookedAt: number; readonly at: number }>()
  const noteFreshness = freshnessNoter(db, clock)
  const noteUpcoming = upcomingNoter(db, clock)
  const noteNumbers = numbersNoter(db, clock)
  const noteTops = topNoter(db, clock)
  let freshnessAt = 0
  let notedAt = 0

  async function look({ site, watches }: WatchFile, isLast: boolean): Promise<void> {
    // Either way: by a clock that was set back, it would not be time for as long.
    const isTime = (since: number, every: number) => Math.abs(clock.now() - since) >= every
    if (isTime(freshnessAt, FRESHNESS_EVERY_MS) && watches.some(({ events }) => events.includes('freshness late'))) {
      freshnessAt = clock.now()
      await noteFreshness(isLast)
    }
    if (isLast || isTime(notedAt, NOTED_EVERY_MS)) {
      notedAt = clock.now()
      await noteUpcoming(watches)
      await noteNumbers(watches)
      await noteTops(watches)
    }
    const [head] = await db.query<{ last: number }>('select coalesce(max(last), 0) as last from sync.outbox_head')
    const last = head?.last ?? 0
    const lookedAt = clock.now()
    const due = watches.filter(({ name }) => {
      const before = seen.get(name)
      return isLast || !before || before.last !== last || before.at <= lookedAt || before.lookedAt > lookedAt
    })
    if (due.length === 0) return
    const states = new Map((await readDeliveries(db)).map((state) => [state.watch, state]))
    const one = async (watch: Watch) => {
      const state = states.get(watch.name)
      if (!state) return
      const at = await deliver({ ...context, site }, isLast ? { ...watch, groupSeconds: 0 } : watch, state, last)
      seen.set(watch.name, { last, lookedAt, at: at ?? Number.POSITIVE_INFINITY })
    }
    // All of them end, so that none goes on after the database is closed.
    const done = await Promise.allSettled(due.map(one))
    for (const result of done) if (result.status === 'rejected') throw result.reason
  }

  return { look, forget: () => seen.clear() }
}

/**
 * Makes what writes a change for every resource that became late, or is no longer, since it was last called. After a pause of the
 * program, or on an empty database, every one is late: until one of its intervals has passed since the process began, it is waited for.
 * The argument says whether this process ends: then there is no later look, and no grace.
 */
function freshnessNoter(db: Database, clock: Clock): (isLast: boolean) => Promise<void> {
  let began = clock.now()
  /** What was noted last: the outbox keeps it for a day. */
  const noted = new Map<string, boolean>()

  return async (isLast) => {
    const now = new Date(clock.now())
    // A clock that was ahead says nothing of what is waited for.
    began = Math.min(began, now.getTime())
    for (const { resource, isLate } of await readNoted(db)) noted.set(resource, isLate)
    const changed = [...(await readFreshness(db))].filter(([resource, { isLate, everySeconds }]) => {
      const isGraceOver = isLast || now.getTime() >= began + graceOf(everySeconds ?? 0)
      return isLate !== (noted.get(resource) ?? false) && (isGraceOver || !isLate)
    })
    if (changed.length === 0) return
    const changes = changed.map(([resource, { isLate }]) =>
      JSON.stringify({ event: 'freshness', resource, at: now.toISOString(), isLate }),
    )
    await publishChanges(db, changes, now)
    for (const [resource, { isLate }] of changed) noted.set(resource, isLate)
  }
}

/** An interval, and a while for the response to come. ms */
function graceOf(everySeconds: number): number {
  return 1000 * (everySeconds + Math.min(everySeconds / 2, 60))
}

async function readNoted(db: Database) {
  return await db.query<{ resource: string; isLate: boolean }>(
    `select distinct on (change->>'resource') change->>'resource' as resource, (change->>'isLate')::boolean as "isLate"
       from sync.outbox where change->>'event' = 'freshness' order by change->>'resource', number desc`,
  )
}

interface Numbers {
  readonly resource: 'guilds' | 'players'
  readonly key: string
  /** The instant of the response up to which their numbers are written, to the microsecond. */
  readonly until: string
}

/**
 * Makes what writes a change for every response about a guild or player whose numbers a watch is about: a response that shows
 * other numbers is no change of its own. Responses of before the process began were written by the ones before it.
 */
function numbersNoter(db: Database, clock: Clock): (watches: readonly Watch[]) => Promise<void> {
  let lookedAt = new Date(clock.now())
  /** By the instants that responses speak for, which rise whatever this machine's clock does. */
  const noted = new Map<string, Numbers>()

  return async (watches) => {
    const watched = await watchedNumbers(db, watches)
    const now = new Date(clock.now())
    const added = watched.filter((one) => !noted.has(keyOf(one)))
    for (const one of added.length > 0 ? await readLatest(db, added, lookedAt) : []) noted.set(keyOf(one), one)
    lookedAt = now
    const news =
      watched.length > 0
        ? await readNumbers(
            db,
            watched.flatMap((one) => noted.get(keyOf(one)) ?? []),
          )
        : []
    if (news.length === 0) return
    const changes = news.map(({ resource, key, observedAt }) =>
      // Which player is watched is not in what /changes serves.
      JSON.stringify({ event: 'numbers', resource, ...(resource === 'guilds' ? { key } : {}), observedAt, at: now }),
    )
    await publishChanges(db, changes, now)
    for (const one of news) noted.set(keyOf(one), one)
  }
}

/** The guilds and players whose numbers watches are about, each once. */
async function watchedNumbers(db: Database, watches: readonly Watch[]) {
  const found = new Map<string, Pick<Numbers, 'resource' | 'key'>>()
  for (const watch of watches) {
    const ofGuilds = watch.events.some((event) => ['level', 'rating gap'].includes(event)) || isOfGuild(watch)
    const ofPlayers = watch.counter?.kind === 'player' && watch.counter.top === undefined
    if (!ofGuilds && !ofPlayers) continue
    const named = await filtersOf(db, watch)
    const add = (resource: Numbers['resource'], keys: readonly string[] = []) => {
      for (const key of keys) found.set(keyOf({ resource, key }), { resource, key })
    }
    if (ofGuilds) add('guilds', named.guilds)
    if (ofPlayers) add('players', named.players)
  }
  return [...found.values()]
}

/** The latest response about each that came before an instant; of what had none, the beginning. */
async function readLatest(db: Database, of: readonly Pick<Numbers, 'resource' | 'key'>[], before: Date) {
  return await db.query<Numbers>(
    `select wanted.resource, wanted.key, coalesce(latest.observed_at, 'epoch')::text as until
       from unnest($1::text[], $2::text[]) as wanted(resource, key)
       left join lateral (select one.observed_at from sync.observation one
                           where one.resource = wanted.resource and one.key = wanted.key and one.received_at < $3
                             and one.status in ('ok', 'unchanged', 'partial')
                           order by one.observed_at desc limit 1) latest on true`,
    [of.map(({ resource }) => resource), of.map(({ key }) => key), before],
  )
}

/** The responses since then, in their order. */
async function readNumbers(db: Database, since: readonly Numbers[]) {
  return await db.query<Numbers & { readonly observedAt: Date }>(
    `select one.resource, one.key, one.observed_at as "observedAt", one.observed_at::text as until
       from unnest($1::text[], $2::text[], $3::timestamptz[]) as noted(resource, key, until)
       join sync.observation one on one.resource = noted.resource and one.key = noted.key and one.observed_at > noted.until
        and one.status in ('ok', 'unchanged', 'partial')
      order by one.observed_at`,
    [since.map(({ resource }) => resource), since.map(({ key }) => key), since.map(({ until }) => until)],
  )
}

function keyOf({ resource, key }: Pick<Numbers, 'resource' | 'key'>): string {
  return JSON.stringify([resource, key])
}

function isOfGuild({ counter }: Watch): boolean {
  return counter !== undefined && counter.top === undefined && counter.kind !== 'player'
}

interface Delivering {
  readonly db: Database
  readonly clock: Clock
  readonly site?: string | undefined
  readonly http: Http
  /** Ends attempts. */
  readonly signal: AbortSignal
  /** Until when receivers asked for nothing, by URL; ms since the epoch. */
  readonly pauses: Map<string, number>
  readonly warn: (message: string) => void
}

/** The first wait after a failure, ms. A message is repeated for as long as what it is about is news. */
const FIRST_WAIT_MS = 5000
const LONGEST_WAIT_MS = 1_800_000
/** The longest pause that a receiver may ask for, ms. What would last longer began before the clock was set back. */
const LONGEST_PAUSE_MS = 3_600_000

/**
 * Sends what a watch has to send: at most one message. Which changes it has is written before the first attempt, so that every
 * attempt, also of a later process, has the same key.
 * @param last the last number of the outbox
 * @returns when to look again though no number came, ms since the epoch; undefined: then only
 */
async function deliver(
  context: Delivering,
  watch: Watch,
  state: DeliveryState,
  last: number,
): Promise<number | undefined> {
  const { db, clock } = context
  const pauses = [state.retryAt?.getTime() ?? 0, context.pauses.get(addressOf(watch)) ?? 0]
  const pausedUntil = Math.max(...pauses.filter((until) => until <= clock.now() + LONGEST_PAUSE_MS))
  if (pausedUntil > clock.now()) return pausedUntil
  if (state.sending !== null) return await attempt(context, watch, { ...state, sending: state.sending })
  if (last <= state.number) return undefined
  const sources = sourcesOf(watch.events)
  const changes = await readNews(db, sources, { after: state.number, upto: null, now: clock.now() })
  const isFull = changes.length === mostChanges
  const upto = isFull ? (changes.at(-1)?.number ?? last) : last
  const occurrences = await readOccurrences(
    db,
    watch,
    changes.map(({ number }) => number),
  )
  // What does not fit into one read is not waited for.
  const { skip, send, at } = dueOf(watch, occurrences, upto, clock.now(), isFull)
  if (send === undefined) {
    if (skip > state.number) await writeDelivery(db, { ...state, number: skip })
    return at
  }
  const sending = { ...state, number: skip, sending: send }
  await writeDelivery(db, sending)
  return await attempt(context, watch, sending)
}

async function attempt(
  { db, clock, http, site, signal, pauses, warn }: Delivering,
  watch: Watch,
  state: DeliveryState & { readonly sending: number },
): Promise<number> {
  const range = { after: state.number, upto: state.sending, now: clock.now() }
  const changes = await readNews(db, sourcesOf(watch.events), range)
  const numbers = changes.map(({ number }) => number)
  const occurrences = await readOccurrences(db, watch, numbers)
  const rest = { watch: state.watch, number: state.sending, sending: null, attempts: 0, retryAt: null }
  if (occurrences.length === 0) {
    // It is no news any more, its people have restricted themselves, or a filter has changed.
    if (changes.length === 0 && state.attempts > 0) warn(`watch ${watch.name}: ${state.error}; the message is given up`)
    await writeDelivery(db, { ...state, ...rest })
    return clock.now()
  }
  const id = idOf(watch, state, changes.at(-1)?.writtenAt)
  const { failure, isLasting, ...asked } = await sendMessage(
    watch.target,
    { id, watch: watch.name, occurrences, site },
    { clock, signal, http },
  )
  const pause = Math.min(asked.pause, LONGEST_PAUSE_MS)
  const now = clock.now()
  if (pause > 0) pauses.set(addressOf(watch), now + pause)
  const pausedUntil = pause > 0 ? new Date(now + pause) : null
  if (failure === null) {
    const delivered = { ...rest, retryAt: pausedUntil, failingSince: null, error: null, deliveredAt: new Date(now) }
    await writeDelivery(db, delivered)
    return now + pause
  }
  // The process ends: that says nothing about the receiver.
  if (signal.aborted) return now
  const failingSince = state.failingSince ?? new Date(now)
  const wait = isLasting
    ? LONGEST_WAIT_MS
    : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(state.attempts, 20))
  const retryAt = new Date(now + Math.max(pause, wait))
  if (state.attempts === 0) warn(`watch ${watch.name}: ${failure}`)
  await writeDelivery(db, { ...state, attempts: state.attempts + 1, retryAt, failingSince, error: failure })
  return retryAt.getTime()
}

/** What messages to the same receiver share. */
function addressOf({ target }: Watch): string {
  return target.type === 'command' ? target.command : target.url
}

/** The instant tells databases apart, whose numbers are the same. */
function idOf({ name }: Watch, { number, sending }: DeliveryState, at: Date | undefined): string {
  const key = JSON.stringify([name, number, sending, at?.toISOString()])
  return `msg_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`
}
