import type { Clock } from '../../base/clock.ts'
import type { Database, Sql } from '../../db/database.ts'
import { publishChanges } from '../../sync/outbox/outbox.ts'
import { type EventQuery, type EventRow, eventQueries, type Occurrence } from './event-queries.ts'
import type { Watch, WatchEvent } from './watch.ts'

interface Upcoming {
  readonly key: string
  readonly name: string
  readonly startsAt: Date
  readonly minutes: number
}

/** How long before a world event a watch sends. */
function minutesBefore({ before = 10 }: Pick<Watch, 'before'>): number {
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
        event: 'event soon',
        resource: 'world-events',
        key,
        name,
        startsAt: startsAt.toISOString(),
        minutes: lead,
        at: now.toISOString(),
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

/** Resolves the names in the filters of a watch, to uuids where names can change; undefined: there is none. A name that is not known yet matches nothing. */
export async function filtersOf(sql: Sql, { guild: guilds, player: players }: Pick<Watch, 'guild' | 'player'>) {
  const uuidsOf = async (table: string, names: readonly string[]) => {
    const rows = await sql.query<{ uuid: string }>(
      `select distinct uuid::text from (${table}) known where name = any($1)`,
      [names],
    )
    return [...rows.map(({ uuid }) => uuid), ...names.map((name) => name.toLowerCase())]
  }
  return {
    guilds: guilds && (await uuidsOf(guildNames, guilds)),
    players: players && (await uuidsOf(playerNames, players)),
  }
}

const guildNames = [
  ...['game.guild_listing', 'game.guild'].flatMap((table) => [`${table} name`, `${table} prefix`]),
  'game.territory_hold guild_name',
  'game.territory_hold guild_prefix',
]
  .map((source) => source.split(' '))
  .map(([table, name]) => `select guild_uuid as uuid, ${name} as name from ${table} where valid_until = 'infinity'`)
  .join(' union all ')

const playerNames = ['game.player', 'game.guild_member']
  .map((table) => `select player_uuid as uuid, username as name from ${table} where valid_until = 'infinity'`)
  .join(' union all ')

/** Resources whose changes can have an event; `event` of the outbox where it is no change. */
export function sourcesOf(events: readonly WatchEvent[]): string[] {
  return [...new Set(events.flatMap((event) => eventQueries[event].sources))]
}

/**
 * Everything that a watch sends of some changes, in order, without what its players hide and without players who were removed.
 * @param numbers of changes in sync.outbox
 */
export async function readOccurrences(sql: Sql, watch: Watch, numbers: readonly number[]): Promise<Occurrence[]> {
  if (numbers.length === 0) return []
  const filters = await filtersOf(sql, watch)
  const { counter } = watch
  const given = {
    ...filters,
    kind: counter?.kind,
    counter: counter?.name,
    above: counter?.above,
    gains: counter?.gains,
    top: counter?.top,
    each: counter?.each,
    gap: watch.gap,
    before: minutesBefore(watch),
  }
  const found: Occurrence[] = []
  for (const event of watch.events) {
    const query: EventQuery = eventQueries[event]
    const parameters = [numbers, ...(query.takes ?? []).map((name) => given[name] ?? null)]
    const rows = await sql.query<EventRow>(query.sql, parameters)
    for (const row of rows) {
      const { number, writtenAt, at } = row
      const occurrence = { number, writtenAt, at, event, ...query.occurrence(row) }
      if (isWanted(occurrence, watch, filters)) found.push(occurrence)
    }
  }
  return withoutMirrors(found).sort((one, other) => one.number - other.number || one.at.getTime() - other.at.getTime())
}

/** A loss whose capture is sent too says nothing more. */
function withoutMirrors(found: readonly Occurrence[]): Occurrence[] {
  const keyOf = ({ number, territory, at }: Occurrence) => JSON.stringify([number, territory, at])
  const captured = new Set(found.filter(({ event }) => event === 'captured').map(keyOf))
  return found.filter((one) => one.event !== 'lost' || !captured.has(keyOf(one)))
}

/** A filter holds for the events that have what it names. */
function isWanted(
  occurrence: Occurrence,
  { territory: territories, item: items, worldEvent: worldEvents }: Watch,
  { guilds, players }: Awaited<ReturnType<typeof filtersOf>>,
): boolean {
  const { guild, player, territory, item, worldEvent, text } = occurrence
  if (worldEvents && worldEvent !== undefined && !worldEvents.includes(worldEvent)) return false
  if (guilds && guild !== undefined && !guilds.includes(String(guild))) return false
  if (players && player !== undefined && !players.includes(String(player))) return false
  if (territories && territory !== undefined && !territories.includes(territory)) return false
  return !items || item === undefined || items.includes(item) || items.some((name) => text.startsWith(`${name}: `))
}
