import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../db/database.ts'
import { publishChanges } from '../../sync/outbox/outbox.ts'
import type { Watch } from './watch.ts'

interface Upcoming {
  readonly key: string
  readonly name: string
  readonly startsAt: Date
  readonly minutes: number
}

/** How long before a world event a watch sends. */
export function minutesBefore({ before = 10 }: Pick<Watch, 'before'>): number {
  return before
}

/** Makes what writes a change for every world event that begins within the minutes of a watch, once for each number of minutes. */
export function upcomingNoter(db: Database, clock: Clock): (watches: readonly Watch[]) => Promise<void> {
  /** What was written before, by this process and by earlier ones: the outbox keeps a day. */
  let noted: Set<string> | undefined
  const keyOf = ({ key, startsAt, minutes }: Upcoming) => JSON.stringify([key, startsAt, minutes])

  return async (watches) => {
    const minutes = [...new Set(watches.filter(({ events }) => events.includes('event soon')).map(minutesBefore))]
    if (minutes.length === 0) return
    const now = new Date(clock.now())
    noted ??= new Set((await readNoted(db)).map(keyOf))
    const soon = (await readUpcoming(db, now, minutes)).filter((one) => noted?.has(keyOf(one)) === false)
    if (soon.length === 0) return
    const changes = soon.map(({ key, name, startsAt, minutes: lead }) =>
      JSON.stringify({
        ...{ event: 'event soon', resource: 'world-events', key, name, startsAt: startsAt.toISOString() },
        ...{ minutes: lead, at: now.toISOString() },
      }),
    )
    await publishChanges(db, changes, now)
    for (const one of soon) noted.add(keyOf(one))
  }
}

/** An event that began is no news. */
async function readUpcoming(db: Database, now: Date, minutes: readonly number[]): Promise<Upcoming[]> {
  return await db.query<Upcoming>(
    `select occurrence.internal_name as key, coalesce(version.name, occurrence.internal_name) as name,
            occurrence.starts_at as "startsAt", lead.minutes
       from unnest($2::int[]) as lead(minutes)
       join game.world_event_occurrence occurrence
         on occurrence.starts_at > $1::timestamptz and occurrence.starts_at <= $1::timestamptz + make_interval(mins => lead.minutes)
       left join lateral (select event.name from game.world_event event where event.internal_name = occurrence.internal_name
                           order by event.valid_from desc limit 1) version on true
      order by occurrence.starts_at, name collate "C", lead.minutes`,
    [now, minutes],
  )
}

async function readNoted(db: Database): Promise<Upcoming[]> {
  return await db.query<Upcoming>(
    `select change->>'key' as key, change->>'name' as name, (change->>'startsAt')::timestamptz as "startsAt",
            (change->>'minutes')::int as minutes
       from sync.outbox where change->>'event' = 'event soon'`,
  )
}
