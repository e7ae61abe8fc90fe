import { setMaxListeners } from 'node:events'
import { within } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { openHttp } from '../../base/http.ts'
import type { ProxySettings } from '../../base/proxies.ts'
import type { Lock } from '../../db/database.ts'
import { type Delivering, deliver } from './deliver.ts'
import { matchDeliveries, readDeliveries } from './delivery-state.ts'
import { freshnessNoter } from './freshness.ts'
import { numbersNoter } from './numbers.ts'
import { upcomingNoter } from './upcoming.ts'
import type { Watch, WatchFile } from './watch.ts'
import { readWatches, takeOverWatches } from './watch-store.ts'

export interface WatchingOptions extends Pick<Delivering, 'db' | 'clock' | 'warn'> {
  /** Where earlier versions kept watches. */
  readonly file: string
  readonly proxy?: ProxySettings | undefined
}

export type Watching = ReturnType<typeof openWatching>

/** How often a running process looks: when there are watches, when there are none, for resources that are late, and for what is no
 * change: numbers and world events, ms. */
const [EVERY, IDLE_EVERY, FRESHNESS_EVERY, NOTED_EVERY] = [1000, 30_000, 60_000, 15_000]

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
        await clock.sleep(known === '' ? IDLE_EVERY : EVERY, stopping).catch(() => undefined)
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
  /** By watch, the last number that was looked at, and when to look again without another. */
  const seen = new Map<string, { readonly last: number; readonly at: number }>()
  const noteFreshness = freshnessNoter(db, clock)
  const noteUpcoming = upcomingNoter(db, clock)
  const noteNumbers = numbersNoter(db, clock)
  let freshnessAt = 0
  let notedAt = 0

  async function look({ site, watches }: WatchFile, isLast: boolean): Promise<void> {
    if (clock.now() >= freshnessAt && watches.some(({ events }) => events.includes('freshness late'))) {
      freshnessAt = clock.now() + FRESHNESS_EVERY
      await noteFreshness(isLast)
    }
    if (isLast || clock.now() >= notedAt + NOTED_EVERY) {
      notedAt = clock.now()
      await noteUpcoming(watches)
      await noteNumbers(watches)
    }
    const [head] = await db.query<{ last: number }>('select coalesce(max(last), 0) as last from sync.outbox_head')
    const last = head?.last ?? 0
    const due = watches.filter(({ name }) => {
      const before = seen.get(name)
      return isLast || !before || before.last !== last || before.at <= clock.now()
    })
    if (due.length === 0) return
    const states = new Map((await readDeliveries(db)).map((state) => [state.watch, state]))
    const one = async (watch: Watch) => {
      const state = states.get(watch.name)
      if (!state) return
      const at = await deliver({ ...context, site }, isLast ? { ...watch, groupSeconds: 0 } : watch, state, last)
      seen.set(watch.name, { last, at: at ?? Number.POSITIVE_INFINITY })
    }
    // All of them end, so that none goes on after the database is closed.
    const done = await Promise.allSettled(due.map(one))
    for (const result of done) if (result.status === 'rejected') throw result.reason
  }

  return { look, forget: () => seen.clear() }
}
