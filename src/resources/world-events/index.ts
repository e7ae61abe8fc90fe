import { recordsOf } from '../../api/schemas/form/bodies.ts'
import { isInstant } from '../../api/schemas/form/limits.ts'
import { parseWorldEvent, worldEventSchema } from '../../api/schemas/places.ts'
import type { Sql, SqlValue } from '../../db/database.ts'
import { type Answered, defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { requirementRows } from '../map-content.ts'
import { hasFields, joinLists, knownBy, oneRequest, textField } from '../record.ts'
import { worldEventHistory, worldEventOccurrence } from './tables.ts'

/** World events and when they happen: `GET /map/world-events` (API reference 8). */
export const worldEvents = defineResource({
  name: 'world-events',
  schedule: '*/5 * * * *',
  cacheSeconds: 120,
  route: '/map/world-events',
  file: {
    isRecord: (record) =>
      hasFields(record, 'internalName') &&
      (hasFields(record, 'schedule') || hasFields(record, 'rewardPerLevel')) &&
      !hasFields(record, 'rewards'),
    records: 70,
    join: joinLists('name', 'internalName'),
  },
  rawDays: 3,
  rawCost: '15 kB a response: 4 MB a day',
  history: worldEventHistory,
  extract: oneRequest({ ask: (api, call) => api.map.worldEvents(call), records: (body) => recordsOf(body, 'name') }),
  keyOf: (record) => textField(record, 'internalName'),
  normalize: normalizeWorldEvent,
  ...knownBy(worldEventSchema),
  derive: deriveOccurrences,
  derived: [worldEventOccurrence],
})

/** One event; its schedule is a fact of the response. */
function normalizeWorldEvent(record: unknown): Normalized<typeof worldEventHistory> {
  const { schedule, ...parsed } = parseWorldEvent(record)
  const { internalName, name, lore, difficulty, level, length, location, requirements } = parsed
  return {
    key: internalName,
    document: parsed as Json,
    root: { internalName, name, lore, difficulty, level, length },
    parts: {
      locations: (location ?? []).map(({ event, spawn, radius, spawnRadius }, position) => ({
        position,
        x: event?.x,
        y: event?.y,
        z: event?.z,
        radius,
        spawnX: spawn?.x,
        spawnY: spawn?.y,
        spawnZ: spawn?.z,
        spawnRadius,
      })),
      requirements: requirementRows(requirements),
    },
    // Of an event without the field nothing is known; what no calendar has would fail the statement that all others are in.
    ...(schedule === null ? { facts: notScheduled } : isInstant(schedule) ? { facts: schedule as string } : {}),
  }
}

/** The fact of an event that is said to have no next start. */
const notScheduled = 'none'

/** A start of an event. */
interface Start {
  /** Of the event and its start, as claims name it. */
  readonly key: string
  readonly name: string
  readonly start: string
}

/** SQL: the `key` of a `Start`. */
const keyOfStart = (row: string) => `${row}.internal_name || '/' || extract(epoch from ${row}.starts_at)`

/** Events come round within hours or days, so a date of another year is not their next start. */
const isNear = `starts_at between $3::timestamptz - interval '31 days' and $3::timestamptz + interval '366 days'`

/**
 * Writes down which events a response announced, and for when, and takes back what did not come about. Returns how many
 * occurrences are new.
 */
async function deriveOccurrences(sql: Sql, answered: Answered): Promise<number> {
  const { at, recordFacts, corroborate } = answered
  const shown = [...recordFacts].filter(([, schedule]) => typeof schedule === 'string')
  const params = [
    shown.map(([name]) => name),
    shown.map(([, schedule]) => (schedule === notScheduled ? null : schedule)),
    at,
  ]
  // Starts are by the clock of the API: while that of this machine is behind, one that has begun is still to come by the latter.
  const toCome = [...params.slice(0, 2), answered.latestAt]
  const added = await sql.query<Start>(
    `insert into game.world_event_occurrence (internal_name, starts_at, announced_at)
     select internal_name, starts_at, $3 from unnest($1::text[], $2::timestamptz[]) as sent(internal_name, starts_at)
      where ${isNear}
     on conflict (internal_name, starts_at) do nothing
     returning internal_name as name, starts_at::text as start, ${keyOfStart('world_event_occurrence')} as key`,
    params,
  )
  const moved = await movedStarts(sql, answered, added, toCome)
  // The API sends the next start of an event, or none: another one that was still to come was moved or never right.
  const skipped = await sql.query<Start>(
    `select ${keyOfStart('known')} as key, name, known.starts_at::text as start
       from unnest($1::text[], $2::timestamptz[]) as sent(name, starts_at)
       join game.world_event_occurrence known
         on known.internal_name = name and known.starts_at <> coalesce(sent.starts_at, '-infinity')
        -- About to begin, it may be announced no more.
        and known.starts_at > $3::timestamptz + case when sent.starts_at is null then interval '10 minutes' else '0' end
      where sent.starts_at is null or sent.${isNear}`,
    toCome,
  )
  const confirmed = await corroborate(
    'skipped',
    skipped.map((one) => one.key),
  )
  const gone = new Set(confirmed.map(({ subject }) => subject))
  const over = [...skipped.filter(({ key }) => gone.has(key)).map(({ key }) => key), ...moved]
  if (over.length > 0)
    await sql.query(`delete from game.world_event_occurrence known where ${keyOfStart('known')} = any($1::text[])`, [
      over,
    ])
  // An event that is gone starts no more.
  await sql.query(
    `delete from game.world_event_occurrence known
      where known.starts_at > $1 and not exists (select from game.world_event event
             where event.internal_name = known.internal_name and event.valid_until = 'infinity')`,
    [answered.latestAt],
  )
  return added.length
}

/**
 * Starts that one response alone announced while another one of the event was still to come: those that this response does not repeat are
 * taken back, and the other one stays.
 */
async function movedStarts(
  sql: Sql,
  { pendingClaims, corroborate }: Answered,
  added: readonly Start[],
  sent: readonly SqlValue[],
): Promise<readonly string[]> {
  const pending = (await pendingClaims('moved')).map(({ subject }) => subject)
  if (pending.length === 0 && added.length === 0) return []
  const announced = await sql.query<{ key: string; isMoved: boolean }>(
    `select ${keyOfStart('known')} as key, exists (
              select from game.world_event_occurrence other
               where other.internal_name = known.internal_name and other.starts_at <> known.starts_at and other.starts_at > $3) as "isMoved"
       from unnest($1::text[], $2::timestamptz[]) as sent(internal_name, starts_at)
       join game.world_event_occurrence known using (internal_name, starts_at)`,
    sent,
  )
  const fresh = new Set(added.map(({ key }) => key))
  const before = new Set(pending)
  const claims = announced.filter(({ key, isMoved }) => before.has(key) || (isMoved && fresh.has(key)))
  const keys = claims.map(({ key }) => key)
  await corroborate('moved', keys)
  return pending.filter((key) => !keys.includes(key))
}
