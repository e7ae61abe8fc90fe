import { type Changed, patchText } from '../../drawing/patch/patch-changes.ts'
import { asSeen, clockTime, sometimeAfter } from '../../drawing/words.ts'
import type { Pending } from './due.ts'
import { numbersSql } from './numbers-sql.ts'
import { renamesSql } from './renames-sql.ts'
import { topQuery } from './tops.ts'
import type { WatchEvent } from './watch.ts'

export interface Occurrence extends Pending {
  readonly event: WatchEvent
  /** When it happened, or was first seen. */
  readonly at: Date
  /** A sentence. */
  readonly text: string
  /** Path of the page about it, or another site's address. */
  readonly path: string
  /** What else a chat shows of it. */
  readonly detail?: {
    /** The guild whose colour the message has. */
    readonly guildName?: unknown
    /** A sentence: how much each of the guilds has since. */
    readonly total?: string
    /** Path of the map as of then. */
    readonly map?: string
    /** What it is one of: those with the same are one message. */
    readonly heading?: string
  }
  readonly guild?: string | null
  readonly territory?: string
  readonly player?: string | null
  readonly item?: string
  readonly worldEvent?: string
}

type Given = 'guilds' | 'players' | 'kind' | 'counter' | 'above' | 'gains' | 'top' | 'each' | 'gap' | 'before'

export interface EventRow extends Pending {
  readonly at: Date
  readonly [column: string]: unknown
}

export interface EventQuery {
  /** Resources whose changes may bring it. */
  readonly sources: readonly string[]
  /** $1: numbers of changes. $2 and on: what it takes. Has `number`, `writtenAt`, `at`. */
  readonly sql: string
  /** What of a watch is a parameter; NULL where it does not say it. Guilds and players are uuids. */
  readonly takes?: readonly Given[]
  readonly occurrence: (row: EventRow) => Omit<Occurrence, 'number' | 'writtenAt' | 'at' | 'event'>
}

/** The changes, and `observed`, the instant that the response of each speaks for. */
const changed = `with changed as materialized (
  select number, at as "writtenAt", change, (change->>'observedAt')::timestamptz as observed,
         case change->>'event' when 'change' then change->>'resource' else change->>'event' end as resource,
         change->>'key' as key, outbox.xmin as transaction
    from sync.outbox where number = any($1))`

/** No one who was removed by a purge or by the policy `delete`, although the API goes on to show them. */
const isNotRemoved = (player: string) => `not exists (
   select from sync.privacy_action action
    where action.policy in ('purge', 'delete')
      and (action.player_uuid = ${player} or action.player_hash = sha256(${player}::text::bytea)))`

/** No one who hides what this rule is about, whichever response says so. Other rules hide other things. */
const shows = (rule: string, player: string) => `not exists (
   select from sync.privacy_restriction one where one.player_uuid = ${player} and one.field_group = '${rule}')
   and not exists (select from game.guild_member member where member.player_uuid = ${player}
                      and member.valid_until = 'infinity' and '${rule}' = any(member.restricted))
   and not exists (select from game.player profile where profile.player_uuid = ${player}
                      and profile.valid_until = 'infinity' and '${rule}' = any(profile.restricted))`

const { levels, counters, gaps } = numbersSql(changed, isNotRemoved)

const page = (kind: string, name: unknown) => `/${kind}/${encodeURIComponent(String(name))}`

/** How many territories a guild held as of a response. */
const held = (guild: string) => `(select count(*)::int from game.territory_hold hold where hold.guild_uuid = ${guild}
          and hold.valid_from <= changed.observed and hold.valid_until > changed.observed)`

/** Captures are looked up by their time, which an index has: a response shows them soon. */
const captures = `${changed}
select changed.number, changed."writtenAt", capture.captured_at as at, capture.territory, capture.is_recapture as again,
       capture.from_guild_uuid::text as "fromUuid", capture.from_guild_name as "from",
       capture.to_guild_uuid::text as "toUuid", capture.to_guild_name as "to",
       ${held('capture.from_guild_uuid')} as "fromHas", ${held('capture.to_guild_uuid')} as "toHas"
  from changed join analytics.territory_capture capture on capture.observed_at = changed.observed
   and capture.captured_at > changed.observed - interval '7 days'
 where changed.resource = 'territories'`

/** Of a capture: how much both guilds hold since, and the map of then. */
function afterCapture({ at, from, fromUuid, fromHas, to, toUuid, toHas }: EventRow) {
  const loser = fromUuid === null || fromUuid === toUuid ? '' : `, ${from ?? fromUuid} ${fromHas}`
  // The first full minute that has it.
  const then = new Date(Math.ceil(at.getTime() / 60_000) * 60_000).toISOString().slice(0, 16)
  return { total: `${to ?? toUuid} holds ${toHas} now${loser}`, map: `/map#t=${then}Z` }
}

function capturedOf(row: EventRow) {
  const { territory, again, from, fromUuid, to, toUuid } = row
  const by = to ?? toUuid
  return {
    detail: { guildName: to, ...afterCapture(row) },
    text: again ? `${by} took ${territory} again` : `${by} took ${territory} from ${from ?? fromUuid ?? 'no owner'}`,
    path: page('territories', territory),
    territory: String(territory),
    guild: String(toUuid),
  }
}

function lostOf(row: EventRow) {
  const { territory, from, to, fromUuid, toUuid } = row
  return {
    detail: { guildName: from, ...afterCapture(row) },
    text: `${from ?? fromUuid} lost ${territory} to ${to ?? toUuid}`,
    path: page('territories', territory),
    territory: String(territory),
    guild: String(fromUuid),
  }
}

/**
 * Moves of members: who is in a guild is public, and former guilds are unless the player hides them. A leave is concluded after
 * it was first observed: those of a change are the ones whose version ended in the same transaction.
 */
const moves = (events: readonly string[]) => `${changed}
select changed.number, changed."writtenAt", event.at, event.not_before as "notBefore", event.event, event.guild_uuid::text as guild,
       event.guild_name as name, event.player_uuid::text as player, event.username, event.from_rank as "from",
       event.to_rank as "to"
  from changed join analytics.membership_event event on event.guild_uuid = changed.key::uuid
   and event.event in (${events.map((event) => `'${event}'`).join(', ')})
   and case when event.event <> 'left' then event.observed_at = changed.observed
            else exists (select from game.guild_member member where member.guild_uuid = event.guild_uuid
                            and member.player_uuid = event.player_uuid and member.valid_until = event.observed_at
                            and member.xmin = changed.transaction) end
   and ${isNotRemoved('event.player_uuid')}
   and (event.event <> 'left' or ${shows('guildHistoryAccess', 'event.player_uuid')})
 where changed.resource = 'guilds' and ($2::text[] is null or changed.key = any($2))`

function moveOf({ at, notBefore, event, guild, name, player, username, from, to }: EventRow) {
  const what =
    event === 'joined' || event === 'left'
      ? event
      : `${event} from ${from ?? 'an unknown rank'} to ${to ?? 'an unknown rank'} in`
  return {
    // Joining has the API's own time.
    text: `${username ?? player} ${what} ${name ?? 'the guild'}${event === 'joined' ? '' : sometimeAfter(notBefore as Date | null, at)}`,
    path: page('guilds', guild),
    detail: { guildName: name },
    guild: String(guild),
    player: String(player),
  }
}

const movesOf = (...events: string[]): EventQuery => ({
  sources: ['guilds'],
  sql: moves(events),
  takes: ['guilds'],
  occurrence: moveOf,
})

/** What was published after the first response. */
const published = (table: string, key: string, link: string, title: string) => `
select changed.number, changed."writtenAt", one.valid_from as at, ${title} as title, ${link} as link
  from changed join game.${table} one on one.valid_from = changed.observed
 where changed.resource = '${{ article: 'articles', news: 'latest-news', video: 'videos' }[table]}'
   and one.valid_from > (select min(valid_from) from game.${table})
   and not exists (select from game.${table} earlier where earlier.${key} = one.${key} and earlier.valid_from < one.valid_from)`

/** Items that changed in what is of the game: what is technical, and another form of the responses, is left out as in analytics.patch. */
const itemChanges = `${changed}, format as materialized (
  select changed.observed, one.path, one.form
    from (select distinct observed from changed where resource = 'items') changed
   -- Kept from being pulled up, so that the changes of one instant are read.
   cross join lateral (select each.path, each.form from analytics.format_change each
                        where each.resource = 'items' and each.changed_at = changed.observed offset 0) one
)
select changed.number, changed."writtenAt", change.changed_at as at, change.internal_name as item,
       max(change.display_name) as name, count(*)::int as paths,
       bool_or(change.path = '' and change.old_value is null) as appeared,
       bool_or(change.path = '' and change.new_value is null) as disappeared
  from changed join analytics.item_change change on change.changed_at = changed.observed
 where changed.resource = 'items'
   and (change.path = ''
        or not analytics.is_technical(change.path, change.old_value, change.new_value)
           and not exists (select from format where format.observed = change.changed_at and format.path = change.path
                              and format.form = analytics.form_of(change.old_value, change.new_value)))
 group by 1, 2, 3, 4`

export const eventQueries: Readonly<Record<WatchEvent, EventQuery>> = {
  captured: {
    sources: ['territories'],
    sql: captures,
    occurrence: capturedOf,
  },
  lost: {
    sources: ['territories'],
    sql: `${captures} and capture.from_guild_uuid is not null and not capture.is_recapture`,
    occurrence: lostOf,
  },
  joined: movesOf('joined'),
  left: movesOf('left'),
  rank: movesOf('promoted', 'demoted'),
  renamed: {
    sources: ['guild-list', 'guilds', 'players'],
    sql: renamesSql(changed, isNotRemoved),
    takes: ['guilds', 'players'],
    occurrence: ({ at, notBefore, uuid, guild, name, was, prefix, wasPrefix }) => {
      const isGuild = uuid === guild
      const called = (one: unknown, short: unknown) => `${one}${isGuild ? ` [${short ?? '?'}]` : ''}`
      return {
        text: `${called(was, wasPrefix)} is now ${called(name, prefix)}${sometimeAfter(notBefore as Date | null, at)}`,
        path: page(isGuild ? 'guilds' : 'players', uuid),
        ...(guild === null ? {} : { guild: String(guild) }),
        ...(isGuild ? { detail: { guildName: name } } : { player: String(uuid) }),
      }
    },
  },
  'item changed': {
    sources: ['items'],
    sql: itemChanges,
    occurrence: ({ item, name, paths, appeared, disappeared }) => ({
      text: `${name ?? item}: ${appeared ? 'appeared' : disappeared ? 'disappeared' : `${paths} changed`}`,
      path: page('items', item),
      item: String(item),
    }),
  },
  patch: {
    sources: ['items', 'recipes', 'ability-trees', 'aspects', 'quests'],
    sql: `${changed}
select changed.number, changed."writtenAt", patch.started_at as at, patch.patch, patch.items_changed as changed,
       patch.items_added as added, patch.items_removed as removed, patch.recipes_changed as recipes,
       patch.abilities_changed as abilities, patch.aspects_changed as aspects, patch.quests_changed as quests,
       patch.technical_changes as technical
  from changed join analytics.patch patch on patch.started_at = changed.observed
 where changed.resource in ('items', 'recipes', 'ability-trees', 'aspects', 'quests')`,
    occurrence: ({ patch, ...changed }) => ({
      text: `Patch ${patch}: so far ${patchText(changed as EventRow & Changed)}`,
      path: page('patches', patch),
    }),
  },
  'world down': {
    sources: ['online-players'],
    // Concluded later, as leaves are.
    sql: `${changed}
select changed.number, changed."writtenAt", version.valid_until as at, version.world,
       analytics.online_answer_before(version.valid_until) as "notBefore"
  from changed join game.world version on version.valid_until <= changed.observed and version.xmin = changed.transaction
   and version.valid_until > changed.observed - interval '1 day'
 where changed.resource = 'online-players'`,
    occurrence: ({ at, notBefore, world }) => ({
      text: `${world} is down${sometimeAfter(notBefore as Date | null, at)}`,
      path: '/worlds',
    }),
  },
  online: {
    sources: ['online-players'],
    sql: `${changed}
select changed.number, changed."writtenAt", session.listed_from as at, session.player_uuid::text as player, session.username,
       session.world
  from changed join analytics.player_session session on session.listed_from = changed.observed
   and session.player_uuid::text = any($2)
   and ${isNotRemoved('session.player_uuid')} and ${shows('onlineStatus', 'session.player_uuid')}
 where changed.resource = 'online-players'`,
    takes: ['players'],
    occurrence: ({ player, username, world }) => ({
      text: `${username ?? player} is online${world === null ? '' : ` on ${world}`}`,
      path: page('players', player),
      player: String(player),
    }),
  },
  news: {
    sources: ['articles', 'latest-news', 'videos'],
    sql: `${changed}${[
      published('article', 'pk', 'null::text', 'one.title'),
      published('news', 'forum_thread', 'one.forum_thread', 'one.title'),
      published('video', 'address', 'one.address', `'A new video'`),
    ].join(' union all ')}`,
    occurrence: ({ title, link }) => ({ text: String(title ?? 'News'), path: link === null ? '/' : String(link) }),
  },
  'freshness late': {
    sources: ['freshness'],
    sql: `${changed}
select number, "writtenAt", "writtenAt" as at, change->>'resource' as resource from changed
 where resource = 'freshness' and (change->>'isLate')::boolean`,
    occurrence: ({ resource }) => ({ text: `${resource} is late`, path: '/status' }),
  },
  level: {
    sources: ['numbers'],
    sql: levels,
    takes: ['guilds'],
    occurrence: ({ guild, name, level }) => ({
      text: `${name ?? guild} reached level ${level}`,
      path: page('guilds', guild),
      guild: String(guild),
    }),
  },
  counter: {
    sources: ['numbers'],
    sql: counters,
    takes: ['guilds', 'players', 'kind', 'counter', 'above', 'gains'],
    occurrence: ({ name, owner, part, value, gained, kind, counter, gains }) => {
      const [guild, player] = kind === 'player' ? [undefined, String(owner)] : [String(owner), part]
      const rise = gains === null ? `has ${value}` : `gained at least ${gained} in 24 hours, and has ${value}`
      return {
        text: `${name} ${rise} (${counter})`,
        path: guild ? page('guilds', guild) : page('players', player),
        ...(guild ? { guild } : {}),
        ...(player ? { player: String(player) } : {}),
      }
    },
  },
  top: topQuery(changed, isNotRemoved),
  'rating gap': {
    sources: ['numbers'],
    sql: gaps,
    takes: ['guilds', 'gap'],
    occurrence: ({ at, guild, ofName, name, ahead, seen }) => {
      const isAhead = Number(ahead) >= 0
      return {
        text: `${name} is ${Math.abs(Number(ahead))} rating ${isAhead ? 'ahead of' : 'behind'} ${ofName ?? guild}${asSeen(seen as Date | null, at)}`,
        path: page('guilds', guild),
        guild: String(guild),
      }
    },
  },
  'in pool': {
    sources: ['loot-pools'],
    // The first response shows what was there before.
    sql: `${changed}
select changed.number, changed."writtenAt", span.since as at, span.pool, span.reward
  from changed join analytics.reward_span span on span.since = changed.observed and span.level = 0
 where changed.resource = 'loot-pools' and span.since > (select min(pool.valid_from) from game.loot_pool pool)`,
    occurrence: ({ pool, reward }) => ({
      text: `${reward} is in the pool of ${pool}`,
      path: '/pools',
      item: String(reward),
    }),
  },
  'event soon': {
    sources: ['event soon'],
    sql: `${changed}
select number, "writtenAt", (change->>'startsAt')::timestamptz as at, change->>'name' as name, (change->>'minutes')::int as minutes
  from changed where resource = 'event soon' and (change->>'minutes')::int = $2`,
    takes: ['before'],
    occurrence: ({ at, name, minutes }) => ({
      text: `${name} begins in ${minutes} minutes, at ${clockTime(at)} UTC`,
      path: '/events',
      worldEvent: String(name),
    }),
  },
}
