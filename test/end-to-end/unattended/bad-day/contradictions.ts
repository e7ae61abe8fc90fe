import type { Database } from '../../../../src/db/database.ts'
import type { GameHistory } from '../../../../src/sandbox/index.ts'

/** No clock of the API was further off than this; ms. */
const skew = 10 * 60_000

/** Captures, losses, joins and leaves in the tables that did not happen in the game. */
export async function inventedEvents(db: Database, history: GameHistory): Promise<unknown[]> {
  const held = new Set(history.holds.map(({ territory, guild, from }) => `${territory} ${guild} ${Date.parse(from)}`))
  const holds = await db.query<{ territory: string; guild: string | null; from: Date; acquired: Date | null }>(
    'select territory, guild_uuid::text as guild, valid_from as from, acquired from game.territory_hold',
  )
  const isHeldAbout = (name: string, guild: string | null, at: number) =>
    history.holds.some(
      ({ territory, guild: holder, from, until }) =>
        territory === name &&
        (guild === null || holder === guild) &&
        Date.parse(from) < at + (guild === null ? -skew : skew) &&
        (until === null || Date.parse(until) > at + (guild === null ? skew : -skew)),
    )
  const wrongHolds = holds.filter(({ territory, guild, from, acquired }) => {
    if (guild === null) return isHeldAbout(territory, null, from.getTime())
    if (acquired?.getTime() === from.getTime()) return !held.has(`${territory} ${guild} ${from.getTime()}`)
    return !isHeldAbout(territory, guild, from.getTime())
  })
  const memberships = new Set<string>()
  for (const { guild, player, at, event, otherGuild } of history.memberships) {
    if (event !== 'left') memberships.add(`joined ${guild} ${player} ${Date.parse(at)}`)
    if (event === 'left') memberships.add(`left ${guild} ${player}`)
    if (event === 'transferred') memberships.add(`left ${otherGuild} ${player}`)
  }
  const events = await db.query<{ event: string; guild: string; player: string; at: Date }>(
    `select event, guild_uuid::text as guild, player_uuid::text as player, at
       from analytics.membership_event where event in ('joined', 'left')`,
  )
  const wrongEvents = events.filter(({ event, guild, player, at }) => {
    const suffix = event === 'joined' ? ` ${at.getTime()}` : ''
    return !memberships.has(`${event} ${guild} ${player}${suffix}`)
  })
  return [...wrongHolds, ...wrongEvents]
}

/** Territories whose holder differs between table and game, at the instant of the latest accepted response. */
export async function wrongMap(db: Database, history: GameHistory): Promise<unknown[]> {
  const [latest] = await db.query<{ at: Date }>(
    `select max(observed_at) as at from sync.run where resource = 'territories' and status in ('ok', 'unchanged', 'partial')`,
  )
  const at = latest?.at.getTime() ?? 0
  const actual = new Map(
    history.holds
      .filter(({ from, until }) => Date.parse(from) <= at && (until === null || Date.parse(until) > at))
      .map(({ territory, guild }) => [territory, guild]),
  )
  const current = await db.query<{ territory: string; guild: string }>(
    `select territory, guild_uuid::text as guild from game.territory_hold
      where valid_until = 'infinity' and guild_uuid is not null`,
  )
  const stored = new Map(current.map(({ territory, guild }) => [territory, guild]))
  return [...new Set([...actual.keys(), ...stored.keys()])].flatMap((territory) =>
    actual.get(territory) === stored.get(territory) ? [] : [[territory, actual.get(territory), stored.get(territory)]],
  )
}

/** Keys with a tombstone that the API still serves: one wrong response must not end anything. */
export async function wrongTombstones(db: Database, apiUrl: string): Promise<unknown[]> {
  const ended = await db.query<{ resource: string; key: string }>(
    'select resource, key from sync.work_item where gone_at is not null order by 1, 2',
  )
  const wrong: unknown[] = []
  for (const { resource, key } of ended) {
    const { status } = await fetch(`${apiUrl}${resource === 'guilds' ? '/guild/uuid/' : '/player/'}${key}`)
    if (status !== 404) wrong.push([resource, key, status])
  }
  return wrong
}
