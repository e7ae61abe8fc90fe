import type { Sql } from '../../db/database.ts'
import type { Answered } from '../../sync/declare/resource.ts'
import type { OnlineFacts } from './normalize.ts'

/*
 * What follows from the online list, and what does not.
 *
 * A listed player is online at that instant. An unlisted one is offline only when no player is hidden then, which is
 * when the service counts exactly those that it lists; otherwise they may be online and hiding. So a listing (a time
 * during which every response had the player) bounds a session:
 * - the login is not after its first response, and after the response before it if no player was hidden in that one;
 * - the logout is not before its last response, and not after the response after it if no player is hidden in that one.
 * Unknown bounds stay NULL. A failed, rejected or stale response counts as none: those on either side of it are further
 * apart and the bounds wider, but it logs no player in or out. The same goes for the time that the program did not run.
 * A player whose world is not named is between two, or where they were: only the next name shows whether they moved.
 * What profiles and guilds add (`lastJoin`, `online`) makes the bounds tighter in the view `analytics.player_session`.
 *
 * Every statement takes the list as a whole. Rows of players who stay where they are, are not touched.
 */

/** Lists further apart than this, ms, may have few players in common: most stay from one minute to the next, not for hours. */
const NEAR_LISTS_MS = 15 * 60_000
/** Of lists no further apart than this, ms, nearly all players stay. */
const NEXT_LISTS_MS = 3 * 60_000

/** Writes down who came, went and moved, and how many were online; returns how many players did something. */
export async function deriveListings(sql: Sql, answered: Answered): Promise<number> {
  const { at, previousAt: latestAt } = answered
  const { total, players, worlds, unnamed = [], unread = 0, misplaced = 0 } = answered.facts as OnlineFacts
  await forgetWorlds(sql, answered.withdrawn)
  const previousAt = await listedAt(sql, latestAt)
  const isNear = previousAt !== null && at.getTime() - previousAt.getTime() <= NEAR_LISTS_MS
  const { named, strange } = await believedWorlds(answered)
  // Hours later players are elsewhere: none is still where that list had them.
  const astray = isNear ? strange : 0
  const [before] = await sql.query<{ hidden: number | null }>(
    'select hidden from game.online_sample where observed_at <= coalesce($1::timestamptz, $2::timestamptz) order by observed_at desc limit 1',
    [previousAt, at],
  )
  const listed = players.length + unnamed.length
  // Fewer than it lists is a contradiction, and what cannot be read may be no player: neither says anything of the hidden.
  const hidden = total === null || total < listed || unread > 0 ? null : total - listed
  const gone = await closeUnlisted(sql, {
    ...answered,
    previousAt,
    isNear,
    facts: answered.facts as OnlineFacts,
    hidden,
    hiddenBefore: before?.hidden ?? null,
  })
  const moved = await sql.query(
    `with moved as (
       update game.player_listing listing
          set world = coalesce(before.world, incoming.world),
              last_world = coalesce(incoming.world, before.last_world),
              world_named_at = case when incoming.world is null then $4::timestamptz end
         from unnest($1::uuid[], $2::text[]) as incoming(player_uuid, world)
         join game.player_listing before
           on before.player_uuid = incoming.player_uuid and before.last_listed_at is null
        where listing.player_uuid = before.player_uuid and listing.first_listed_at = before.first_listed_at
          and case when incoming.world is null then before.last_world is not null and before.world_named_at is null
                   else before.last_world is distinct from incoming.world or before.world_named_at is not null end
        returning listing.player_uuid, before.last_world as from_world, incoming.world as to_world,
                  coalesce(before.world_named_at, $4) as named_at
     )
     insert into game.player_hop (player_uuid, from_world, to_world, earliest, latest)
     select player_uuid, from_world, to_world, named_at, $3 from moved where from_world <> to_world
     returning 1`,
    [players, named, at, previousAt],
  )
  const come = await sql.query(
    `insert into game.player_listing
       (player_uuid, first_listed_at, last_unlisted_at, login_earliest, world, last_world)
     select incoming.player_uuid, $3, $4::timestamptz, case when $5::int = 0 then $4::timestamptz end, incoming.world, incoming.world
       from unnest($1::uuid[], $2::text[]) as incoming(player_uuid, world)
      where not exists (select from game.player_listing open
                         where open.player_uuid = incoming.player_uuid and open.last_listed_at is null)
     returning 1`,
    [players, named, at, previousAt, before?.hidden ?? null],
  )
  await appendTotals(sql, at, { total, listed, hidden })
  const on = [...worlds, ...unnamed]
  if (astray === 0) await appendEmptyWorlds(sql, at, on)
  const nowhere = on.filter((world) => world === null).length
  // A few are between two worlds; many, or one with what is no name of a world, may be where they were.
  const placeless = misplaced > 0 || nowhere > Math.max(3, 0.1 * listed) ? nowhere : 0
  await takeBackFalls(sql, at, placeless + astray)
  return gone + moved.length + come.length
}

/**
 * Where the players are. Where this response alone shows many worlds, or most players on new ones, no hop leads there, and no player
 * has left another one for it: the next response says where they are. `strange`: how many these players are.
 */
async function believedWorlds({ facts, pendingClaims, isBurst }: Answered) {
  const { players, worlds } = facts as OnlineFacts
  const appeared = new Set((await pendingClaims('appeared')).map(({ subject }) => subject))
  const known = new Set(worlds.filter((world) => world !== null))
  const arrived = worlds.filter((world) => appeared.has(world ?? '')).length
  const isInvented =
    isBurst([...known].filter((world) => appeared.has(world)).length, known.size) ||
    isBurst(arrived, players.length, 'unlisted')
  if (!isInvented) return { named: worlds, strange: 0 }
  return { named: worlds.map((world) => (appeared.has(world ?? '') ? null : world)), strange: arrived }
}

/** Forgets how many players were on worlds that one response alone showed. */
async function forgetWorlds(sql: Sql, withdrawn: Answered['withdrawn']): Promise<void> {
  if (withdrawn.length === 0) return
  await sql.query(
    `delete from game.world_sample sample using unnest($1::text[], $2::timestamptz[]) as never(world, shown_at)
      where sample.world = never.world and sample.observed_at >= never.shown_at`,
    [withdrawn.map(({ key }) => key), withdrawn.map(({ validFrom }) => validFrom)],
  )
}

/** The latest response of which it is known whom it listed: not one of another database whose sessions were not imported. */
async function listedAt(sql: Sql, latestAt: Date | null): Promise<Date | null> {
  const ofOthers = `select from sync.source_span span where span.resource = 'online-players' and not span.has_sessions`
  const [known] = await sql.query<{ at: Date | null }>(
    `select case when not exists (${ofOthers}) then $1::timestamptz
            else (select run.observed_at from sync.run
                   where run.resource = 'online-players' and run.status in ('ok', 'unchanged', 'partial') and run.observed_at <= $1
                     and not exists (${ofOthers} and run.source_id = span.source_id and run.observed_at between span.began_at and span.ended_at)
                   order by run.observed_at desc nulls last limit 1) end as at`,
    [latestAt],
  )
  return known?.at ?? null
}

async function appendTotals(
  sql: Sql,
  at: Date,
  { total, listed, hidden }: Record<'total' | 'hidden', number | null> & { listed: number },
) {
  await sql.query(
    `insert into game.online_sample (observed_at, total, listed, hidden)
     select $1::timestamptz, $2::int, $3::int, $4::int
      where ($2::int, $3::int, $4::int) is distinct from
            (select (total, listed, hidden) from game.online_sample where observed_at <= $1::timestamptz
              order by observed_at desc limit 1)`,
    [at, total, listed, hidden],
  )
}

/**
 * A world that is up and in no line has no listed player; whether it is down, only the next response shows. A player
 * without a world may be on it.
 */
async function appendEmptyWorlds(sql: Sql, at: Date, worlds: readonly (string | null)[]) {
  if (worlds.includes(null)) return
  const named = [...new Set(worlds)]
  await sql.query(
    `insert into game.world_sample (world, observed_at, online)
     select world.world, $2::timestamptz, 0
       from game.world
      cross join lateral (select online from game.world_sample sample where sample.world = world.world
                             and sample.observed_at <= $2::timestamptz order by observed_at desc limit 1) latest
      where world.valid_until = 'infinity' and world.world <> all($1::text[]) and latest.online > 0`,
    [named, at],
  )
}

/**
 * Players without a world may be where they were: the number on a world that fell by no more than there are of them stays as
 * the response before had it.
 */
async function takeBackFalls(sql: Sql, at: Date, placeless: number) {
  if (placeless === 0) return
  await sql.query(
    `delete from game.world_sample fallen
      where fallen.observed_at = $1::timestamptz
        and (select before.online from game.world_sample before
              where before.world = fallen.world and before.observed_at < $1::timestamptz
              order by before.observed_at desc limit 1) - fallen.online between 1 and $2::int`,
    [at, placeless],
  )
}

/** The response that a listing ends with, and what it knows. */
interface Unlisting extends Pick<Answered, 'at' | 'pendingClaims' | 'corroborate' | 'isBurst'> {
  readonly previousAt: Date | null
  readonly isNear: boolean
  readonly facts: OnlineFacts
  /** How many are hidden in the response; null: unknown. */
  readonly hidden: number | null
  /** The same of the response before. */
  readonly hiddenBefore: number | null
}

/**
 * Ends the listings of players whom the response lacks; returns how many ended. Only those whom several responses in a row lack, where one
 * response is not enough: it lists players under keys that cannot be read, its count is hard to believe, it lacks most of the players of
 * a list shortly before, or it counts the many whom it lacks.
 */
async function closeUnlisted(sql: Sql, response: Unlisting): Promise<number> {
  const { at, previousAt, isNear, facts, hidden, hiddenBefore, pendingClaims, corroborate, isBurst } = response
  const { players, unread = 0, isDoubted = false } = facts
  const missing = await sql.query<{ player: string }>(
    `select player_uuid::text as player from game.player_listing open
      where last_listed_at is null
        and not exists (select from unnest($1::uuid[]) as listed(player_uuid) where listed.player_uuid = open.player_uuid)`,
    [players],
  )
  const waiting = new Map((await pendingClaims('unlisted')).map(({ subject, firstAt }) => [subject, firstAt]))
  const keys = missing.map(({ player }) => player)
  const stillCounted = hidden === null || hiddenBefore === null ? 0 : hidden - hiddenBefore
  const [open] = await sql.query<{ count: number }>(
    'select count(*)::int as count from game.player_listing where last_listed_at is null',
  )
  const of = open?.count ?? 0
  const isNext = previousAt !== null && at.getTime() - previousAt.getTime() <= NEXT_LISTS_MS
  const isUnsure =
    unread > 0 ||
    isDoubted ||
    (isNear && isBurst(keys.length, of, 'unlisted')) ||
    (isNext && isBurst(keys.length, of, 'unlisted in minutes')) ||
    (isBurst(keys.length, of) && stillCounted > keys.length / 2)
  const gone = isUnsure ? (await corroborate('unlisted', keys)).map(({ subject }) => subject) : keys
  if (!isUnsure && waiting.size > 0) await corroborate('unlisted', [])
  if (gone.length === 0) return 0
  const ended = await sql.query(
    `update game.player_listing listing
        set last_listed_at = greatest(first_listed_at, case when gone.missed_at is null then $4::timestamptz else
              (select max(run.observed_at) from sync.run
                where run.resource = 'online-players' and run.status in ('ok', 'unchanged', 'partial') and run.observed_at < gone.missed_at) end),
            first_unlisted_at = $3, logout_latest = case when $5::int = 0 then $3::timestamptz end
       from unnest($1::uuid[], $2::timestamptz[]) as gone(player_uuid, missed_at)
      where listing.player_uuid = gone.player_uuid and last_listed_at is null
      returning 1`,
    [gone, gone.map((key) => waiting.get(key) ?? null), at, previousAt, hidden],
  )
  return ended.length
}
