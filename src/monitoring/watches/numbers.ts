import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../db/database.ts'
import { publish } from '../../sync/outbox/outbox.ts'
import { filtersOf } from './occurrences.ts'
import type { Watch } from './watch.ts'

/** A response that is written later than one that came after it, ms. */
const OVERLAP = 60_000

interface Response {
  readonly resource: 'guilds' | 'players'
  readonly key: string
  readonly observedAt: Date
  readonly receivedAt: Date
}

/**
 * Makes what writes a change for every response about a guild or player whose numbers a watch is about: a response that shows
 * other numbers is no change of its own. Responses of before the process began were written by the ones before it.
 */
export function numbersNoter(db: Database, clock: Clock): (watches: readonly Watch[]) => Promise<void> {
  const began = clock.now()
  let lookedAt = began
  /** What was written, by when it came. */
  const noted = new Map<string, number>()

  return async (watches) => {
    const guilds = new Set<string>()
    const players = new Set<string>()
    for (const watch of watches) {
      const ofGuilds = watch.events.some((event) => ['level', 'rating gap'].includes(event)) || isOfGuild(watch)
      if (!ofGuilds && watch.counter?.kind !== 'player') continue
      const named = await filtersOf(db, watch)
      if (ofGuilds) for (const guild of named.guilds ?? []) guilds.add(guild)
      if (watch.counter?.kind === 'player') for (const player of named.players ?? []) players.add(player)
    }
    if (guilds.size + players.size === 0) return
    const now = new Date(clock.now())
    const since = Math.max(began, Math.min(lookedAt, now.getTime()) - OVERLAP)
    const responses = await db.query<Response>(
      `select one.resource, one.key, one.observed_at as "observedAt", one.received_at as "receivedAt"
         from sync.observation one
        where (one.resource = 'guilds' and one.key = any($1::text[]) or one.resource = 'players' and one.key = any($2::text[]))
          and one.received_at >= $3 and one.status in ('ok', 'unchanged', 'partial')
        order by one.received_at`,
      [[...guilds], [...players], new Date(since)],
    )
    lookedAt = now.getTime()
    const news = responses.filter((one) => !noted.has(keyOf(one)))
    for (const [key, at] of noted) if (at < since) noted.delete(key)
    if (news.length === 0) return
    const changes = news.map(({ resource, key, observedAt }) =>
      // Which player is watched is not in what /changes serves.
      JSON.stringify({ event: 'numbers', resource, ...(resource === 'guilds' ? { key } : {}), observedAt, at: now }),
    )
    await db.query(publish, [[], changes, now])
    for (const one of news) noted.set(keyOf(one), one.receivedAt.getTime())
  }
}

function keyOf({ resource, key, observedAt }: Response): string {
  return JSON.stringify([resource, key, observedAt])
}

function isOfGuild({ counter }: Watch): boolean {
  return counter !== undefined && counter.kind !== 'player'
}
