import { html } from 'hono/html'
import { type Chapter, type Figure, listFigure, missing } from '../../drawing/figure.ts'
import type { Cell } from '../../drawing/html-table.ts'
import { observedOf } from '../../drawing/period.ts'
import { apiWords, count, levelText, moment, number } from '../../drawing/words.ts'
import { guildLink, link, pathOf, searchForm } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { Problem } from '../http/problems.ts'
import { itemsCalled } from './items.ts'

interface Reward {
  readonly pool: string
  readonly kind: string
  readonly type: string | null
  readonly reward: string | null
  readonly tier: string | null
  readonly amount: number | string | null
  /** Null where it is not known what the pool has. */
  readonly since: Date | null
  readonly reason: string | null
}

/** SQL: whether a text, `$4`, is in the name of a reward or of its pool. */
const isMeant = `strpos(lower(concat(reward, E'\\n', pool) collate "C"), lower($4 collate "C")) > 0`

/** Rewards that left the pools that the page lists. */
const LISTED_LEFT = 200

/** `/pools?q=`: what was in the loot pools of camps and raids at the end of a period, since when, and what left them in it; of all, or of what is called so. */
export async function poolsPage(visit: Visit): Promise<Page> {
  const { sql, now, query } = visit
  const text = query.get('q') ?? ''
  const { frame, control, seen } = await shownPeriod(visit, { path: '/pools', of: ['loot-pools'] })
  const found = await sql.query<Reward & { readonly ended: Date | null; readonly total: number }>(
    // While the API does not send them, it is unknown whether they are there.
    `with known as materialized (
       select pool.*, row_number() over () as nth
         from analytics.loot_pool_at((select least($3::timestamptz, last_at, now()) from analytics.watch('loot-pools'))) pool
        where ${isMeant})
     select pool, kind, reward_type as type, reward, tier, amount, since, reason, null::timestamptz as ended, 0 as total, nth from known
      union all
     select * from (
       select pool, kind, reward_type, reward, tier, null::bigint, since, null, until, count(*) over ()::int,
              row_number() over (order by until desc, kind collate "C", pool collate "C", reward collate "C", tier collate "C") as nth
         from analytics.reward_span cross join (select analytics.times_not_sent('loot_pool_reward') as during) lacking
        where level = 0 and until >= $1 and until < $2 and not coalesce(lacking.during @> until, false) and ${isMeant}) span
      where nth <= ${LISTED_LEFT}
      order by ended nulls first, nth`,
    [frame.from, frame.to, new Date(frame.to.getTime() - 1), text],
  )
  const rewards = found.filter(({ ended }) => ended === null)
  const left = found
    .filter((one): one is typeof one & { ended: Date } => one.ended !== null)
    .sort((one, other) => +other.ended - +one.ended)
  const items = await itemsCalled(
    sql,
    [...rewards, ...left].flatMap(({ reward }) => reward ?? []),
  )
  const pools = [...new Set(rewards.map(nameOf))].map((name) => rewards.filter((reward) => nameOf(reward) === name))
  const latest = rewards.reduce((last, { since }) => Math.max(last, since?.getTime() ?? 0), 0)
  const none =
    seen && rewards.length === 0
      ? {
          id: 'none',
          title: `No ${text === '' ? 'loot pool' : `reward like ${text}`} is known at the end of this period`,
        }
      : missing('none', 'No loot pool was seen yet', 'wynnsync sync loot-pools')
  const shown = seen && seen.last < frame.to ? seen.last : frame.to
  // What the first response had did not come with it.
  const isNew = ({ since }: Reward) => since !== null && seen !== null && since > seen.first && since >= frame.from
  return {
    path: '/pools',
    title:
      pools.length > 0
        ? `${count(pools.length, 'loot pool')}${text === '' ? '' : ` with rewards like ${text}`}${latest > 0 ? `, the last change seen ${moment(new Date(latest), now)}` : ''}`
        : none.title,
    lead: `What the loot pools of camps and raids held at the last response${seen ? `, ${moment(shown, now)}` : ''}, at the own level of each, and since when. New, and left: since ${moment(frame.from, now)}.`,
    control: html`${control}${searchForm('/pools', [['q', 'Reward or pool']], query)}`,
    chapters:
      pools.length > 0
        ? [...pools.map((pool, index) => poolChapter(pool, index, { items, isNew })), leftChapter(left, items)]
        : [chapterOf('pools', 'Pools', none), ...(left.length > 0 ? [leftChapter(left, items)] : [])],
  }
}

interface LeftReward extends Reward {
  readonly ended: Date
  readonly total: number
}

function leftChapter(left: readonly LeftReward[], items: ReadonlyMap<string, string>): Chapter {
  const total = left[0]?.total ?? 0
  const columns = ['Until (UTC)', 'Pool', 'Reward', 'Type', 'Tier', 'Since (UTC)']
  const rows = left.map((one): Cell[] => [
    one.ended,
    nameOf(one),
    rewardCell(one.reward, items),
    ...[one.type, one.tier].map((level) => (level === null ? '' : levelText(level))),
    one.since,
  ])
  const note = total > LISTED_LEFT && `The latest ${LISTED_LEFT} of ${number(total)}.`
  return chapterOf(
    'left',
    'No longer there',
    total === 0
      ? { id: 'rewards-left', title: 'No reward was seen to leave a pool in this period' }
      : listFigure('rewards-left', `${count(total, 'reward')} left`, { columns, rows, note: note || undefined }),
  )
}

function nameOf({ kind, pool }: Pick<Reward, 'kind' | 'pool'>): string {
  return pool.toLowerCase().includes(kind.toLowerCase()) ? pool : `${pool} (${kind.toLowerCase()})`
}

interface OfPool {
  readonly items: ReadonlyMap<string, string>
  /** Whether a reward came in the period. */
  readonly isNew: (reward: Reward) => boolean
}

function poolChapter(rewards: readonly Reward[], index: number, { items, isNew }: OfPool): Chapter {
  const [first] = rewards
  const known = rewards.filter(({ reward, reason }) => reward !== null || reason === null).length
  const fresh = rewards.filter(isNew).length
  const title =
    known > 0 ? `${count(known, 'reward')}${fresh > 0 ? `, ${fresh} of them new` : ''}` : 'What it has is not known'
  return chapterOf(
    `pool-${index + 1}`,
    first ? nameOf(first) : '',
    listFigure(`rewards-${index + 1}`, title, {
      columns: ['Reward', 'Type', 'Tier', 'Amount', 'Since (UTC)', ...(fresh > 0 ? ['New'] : [])],
      rows: rewards.map((one): Cell[] => {
        const { reward, type, tier, amount, since, reason } = one
        return [
          reward === null && reason ? `(${reason})` : rewardCell(reward, items),
          ...[type, tier].map((level) => (level === null ? '' : levelText(level))),
          amount ?? '',
          since,
          ...(fresh > 0 ? [isNew(one) ? 'yes' : ''] : []),
        ]
      }),
    }),
  )
}

function rewardCell(reward: string | null, items: ReadonlyMap<string, string>): Cell {
  const item = reward === null ? undefined : items.get(reward)
  return reward === null ? '' : item === undefined ? reward : link('items', item, reward)
}

interface Board {
  readonly type: string
  readonly kind: string | null
}

/** Only boards of guilds where single players are left out. */
async function readBoards({ sql, people }: Visit): Promise<Board[]> {
  const boards = await sql.query<Board>(
    `select type, kind from game.leaderboard where valid_until = 'infinity' order by type collate "C"`,
  )
  return boards.filter(({ kind }) => people || kind === 'guild')
}

/** What has a leaderboard's period: its last observation ends it. */
const boardResources = ['leaderboards']

/** `/leaderboards`: which there are, and on which most changed in a period. */
export async function leaderboardsPage(visit: Visit): Promise<Page> {
  const { frame, control, kept } = await shownPeriod(visit, { path: '/leaderboards', of: boardResources })
  const boards = await readBoards(visit)
  // The first response about a place shows no change.
  const changed = await visit.sql.query<{ type: string; changes: number; last: Date }>(
    `select place.type, count(*)::int as changes, max(place.observed_at) as last from game.leaderboard_place place
      where place.observed_at >= $1 and place.observed_at < $2
        and exists (select from game.leaderboard_place before
                     where before.type = place.type and before.place = place.place and before.observed_at < place.observed_at)
      group by place.type`,
    [frame.from, frame.to],
  )
  const changesOf = new Map(changed.map((one) => [one.type, one]))
  const [watched] = await visit.sql.query<{ share: number | null }>(
    `select analytics.watched_share('leaderboards', $1, $2) as share`,
    [frame.from, frame.to],
  )
  const seen = await observedOf(visit.sql, 'leaderboards')
  const isWatched = seen !== null && seen.first < frame.to && seen.last >= frame.from && watched?.share !== 0
  const figure: Figure =
    boards.length === 0
      ? missing('list', 'No leaderboard was seen yet', 'wynnsync sync leaderboards')
      : listFigure('list', count(boards.length, 'leaderboard'), {
          columns: ['Leaderboard', 'Ranks', 'Changes in the period', 'The last (UTC)'],
          rows: boards.map(({ type, kind }) => [
            html`<a href="${kept(pathOf('leaderboards', type))}">${apiWords(type)}</a>`,
            kind === null ? '' : `${kind}s`,
            changesOf.get(type)?.changes ?? (isWatched ? 0 : null),
            changesOf.get(type)?.last ?? '',
          ]),
        })
  return {
    path: '/leaderboards',
    title: figure.title,
    lead: `Who is on which place, as the API ranks guilds and players. Changes: other names or scores on a place, ${moment(frame.from, frame.writtenAt)} to ${moment(frame.to, frame.writtenAt)}.`,
    control,
    chapters: [chapterOf('leaderboards', 'Leaderboards', figure)],
  }
}

interface Place {
  readonly place: number
  readonly entity: string | null
  readonly name: string | null
  readonly score: number | null
  readonly observed: Date
  readonly reason: string | null
  /** Where the same one stood when the period began; null: not on the board, or unknown. */
  readonly before: number | null
}

/** `/leaderboards/TYPE`: who is on which place at the end of a period, and was when it began. */
export async function leaderboardPage(visit: Visit): Promise<Page> {
  const { sql, name } = visit
  const board = (await readBoards(visit)).find(({ type }) => type === name)
  if (!board) throw new Problem('not-found', { detail: `leaderboard not found: ${name}` })
  const path = `/leaderboards/${encodeURIComponent(name)}`
  const { frame, control } = await shownPeriod(visit, { path, of: boardResources })
  const places = await sql.query<Place>(
    `with before as materialized (select place, entity, character_uuid from analytics.leaderboard_at($1, $3) where entity is not null)
     select board.place, board.entity::text, board.name, board.score, board.observed_at as observed, board.reason,
            (select min(before.place) from before where before.entity = board.entity
                and before.character_uuid is not distinct from board.character_uuid) as before
       from analytics.leaderboard_at($1, (select least($2::timestamptz, last_at, now()) from analytics.observed())) board order by board.place`,
    [name, new Date(frame.to.getTime() - 1), frame.from],
  )
  const [first] = places
  return {
    path,
    control,
    title: first?.name
      ? `${first.name} leads ${apiWords(name)}`
      : `${apiWords(name)}: ${count(places.length, 'place')}`,
    lead: `${count(places.length, 'place')} of ${board.kind ?? 'unknown'} leaderboard ${apiWords(name)}, as seen up to ${moment(frame.to, frame.writtenAt)}. Before: ${moment(frame.from, frame.writtenAt)}.`,
    chapters: [
      chapterOf(
        'places',
        'Places',
        listFigure('places-now', count(places.length, 'place'), {
          columns: ['Place', 'Before', 'Name', 'Score', 'Since (UTC)'],
          rows: places.map(({ place, before, entity, name: shown, score, observed, reason }) => [
            place,
            before,
            // A player who hides has no name, and no link that would name one.
            entity === null
              ? `(${reason ?? 'unknown'})`
              : board.kind === 'guild'
                ? guildLink(entity, shown)
                : link('players', entity, shown ?? entity),
            score ?? '?',
            observed,
          ]),
        }),
      ),
    ],
  }
}
