import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../db/database.ts'
import { publishChanges } from '../../sync/outbox/outbox.ts'
import type { Watch } from './watch.ts'

type Each = NonNullable<NonNullable<Watch['counter']>['each']>

const HOUR = 3_600_000
const DAY = 86_400_000

/** Responses about the last minutes of a period come after it, ms. */
const READY_AFTER = HOUR

/** What is known of what was noted: the outbox keeps it for a day. An end that is longer ago is no news. ms */
const NEWS_FOR = DAY

/** The day (UTC), the week that begins on a Monday, or the month that ended last. @param now ms since the epoch */
function periodBefore(each: Each, now: number): { readonly from: Date; readonly to: Date } {
  const today = Math.floor(now / DAY) * DAY
  if (each === 'day') return { from: new Date(today - DAY), to: new Date(today) }
  const date = new Date(today)
  if (each === 'month') {
    const monthsBack = (months: number) => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 1))
    return { from: monthsBack(1), to: monthsBack(0) }
  }
  const monday = today - ((date.getUTCDay() + 6) % 7) * DAY
  return { from: new Date(monday - 7 * DAY), to: new Date(monday) }
}

interface Ended {
  readonly resource: string
  readonly each: string
  readonly to: Date
}

/** Makes what writes a change for every day, week and month that ended, where a watch sends who gained most in it; once. */
export function topNoter(db: Database, clock: Clock): (watches: readonly Watch[]) => Promise<void> {
  /** What was written before, by this process and by earlier ones. */
  let noted: Set<string> | undefined
  const keyOf = ({ resource, each, to }: Ended) => JSON.stringify([resource, each, to])

  return async (watches) => {
    const now = clock.now()
    const ended = watches.flatMap(({ counter }) =>
      counter?.each === undefined
        ? []
        : [
            {
              resource: counter.kind === 'player' ? 'players' : 'guilds',
              each: counter.each,
              ...periodBefore(counter.each, now),
            },
          ],
    )
    const recent = ended.filter(({ to }) => now - to.getTime() >= READY_AFTER && now - to.getTime() <= NEWS_FOR)
    if (recent.length === 0) return
    noted ??= new Set((await readNoted(db)).map(keyOf))
    for (const one of recent) {
      if (noted.has(keyOf(one))) continue
      const at = new Date(now)
      await publishChanges(db, [JSON.stringify({ event: 'top', ...one, at })], at)
      noted.add(keyOf(one))
    }
  }
}

async function readNoted(db: Database) {
  return await db.query<Ended>(
    `select change->>'resource' as resource, change->>'each' as each, (change->>'to')::timestamptz as "to"
       from sync.outbox where change->>'event' = 'top'`,
  )
}

/** The query of `top`. @param changed the changes, as SQL that others follow */
export function topQuery(changed: string, isNotRemoved: (player: string) => string) {
  return {
    sources: ['top'],
    sql: topSql(changed, isNotRemoved),
    takes: ['guilds', 'players', 'kind', 'counter', 'top', 'each'],
    occurrence: topOf,
  } as const
}

/**
 * Who gained most in a period, of everybody or of the guilds and players that are named. $2: guilds, $3: players, $4: kind, $5:
 * counter, $6: how many, $7: which periods.
 * @param changed the changes, as SQL that others follow
 */
function topSql(changed: string, isNotRemoved: (player: string) => string): string {
  return `${changed}, ended as (
  select changed.*, (change->>'from')::timestamptz as begins, (change->>'to')::timestamptz as ends
    from changed where changed.resource = 'top' and change->>'each' = $7
     and change->>'resource' = case $4 when 'player' then 'players' else 'guilds' end
     -- One that no response has yet is no error.
     and exists (select from analytics.counter one where one.kind = $4 and one.counter = $5)
)
select ended.number, ended."writtenAt", ended.ends as at, ended.begins, $7 as each, $4 as kind, $5 as counter,
       row_number() over (partition by ended.number order by best.gained desc, best.entity)::int as place,
       best.entity, coalesce(best.name, best.entity) as name, best.gained, best.quality
  from ended
 cross join lateral (
   select one.entity, one.name, one.gained, one.quality
     from analytics.top_gained($4, $5, ended.begins, ended.ends, $6::int) one
    where $2::text[] is null and $3::text[] is null
    union all
   select risen.entity, risen.name, risen.gained, risen.quality
     from (select distinct guild.guild_uuid::text as entity from game.guild where $4 = 'guild' and guild.guild_uuid::text = any($2)
           union all
           select distinct player.player_uuid::text from game.player where $4 = 'player' and player.player_uuid::text = any($3)
           union all
           select distinct member.guild_uuid || '/' || member.player_uuid from game.guild_member member
            where $4 = 'member' and member.valid_from < ended.ends and member.valid_until > ended.begins
              and ($2::text[] is null or member.guild_uuid::text = any($2))
              and ($3::text[] is null or member.player_uuid::text = any($3))
              and ($2::text[] is not null or $3::text[] is not null)) named
    cross join lateral analytics.gained($4, $5, named.entity, ended.begins, ended.ends) risen
    where risen.gained > 0
    order by gained desc, entity limit $6::int
 ) best
 where $4 = 'guild' or ${isNotRemoved(`split_part(best.entity, '/', case $4 when 'member' then 2 else 1 end)::uuid`)}
 order by ended.number, best.gained desc, best.entity`
}

interface TopRow {
  readonly at: Date
  readonly [column: string]: unknown
}

/** One of those who gained most; all of a period have the same heading. */
function topOf({ at, begins, each, kind, counter, entity, name, gained, quality, place }: TopRow) {
  const [owner = '', part] = String(entity).split('/')
  const player = kind === 'player' ? owner : part
  const about = kind === 'player' ? {} : { guild: owner }
  return {
    text: `${place}. ${name} gained ${quality === 'at_least' ? 'at least ' : ''}${gained} (${counter})`,
    path: player === undefined ? `/guilds/${owner}` : `/players/${player}`,
    detail: { heading: `most ${counter} of the ${each} ${periodText(begins as Date, at)}` },
    ...about,
    ...(player === undefined ? {} : { player }),
  }
}

/** `2026-06-01`, or `2026-06-01 to 2026-06-07`, both in it. */
function periodText(begins: Date, ends: Date): string {
  const [first, last] = [begins, new Date(ends.getTime() - DAY)].map((date) => date.toISOString().slice(0, 10))
  return first === last ? `${first}` : `${first} to ${last}`
}
