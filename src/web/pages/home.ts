import { html } from 'hono/html'
import type { Sql, SqlValue } from '../../db/database.ts'
import { type Figure, missing } from '../../drawing/figure.ts'
import type { Markup } from '../../drawing/html-table.ts'
import { changesOf, type Kind, type Patch, patchText } from '../../drawing/patch/patch-changes.ts'
import { shiftsOf } from '../../drawing/patch/patch-shifts.ts'
import { observedOf, type Period, stepOf } from '../../drawing/period.ts'
import { readWatched } from '../../drawing/time-axis.ts'
import { count, every, instant, length, moment, number, RECENT_MS } from '../../drawing/words.ts'
import { guildChip, guildLink, link } from '../html/links.ts'
import type { Page, Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { type HeldPlace, placesMap, placesTitle, readPlaces } from '../html/places-map.ts'
import { type Tile, tilesMarkup } from '../html/tiles.ts'
import { latestCaptures } from './captures.ts'
import { itemsCalled } from './items.ts'

const HOUR = 3_600_000
const WEEK = 7 * 86_400_000

const unseen = 'The map was not seen yet'

/** How much of each the page shows. */
const shown = { captures: 14, moves: 7, patches: 14, shifts: 3, pools: 6 }

/** `/`: who holds what, what happened lately, and what is new; or the same at the end of a period. */
export async function homePage(visit: Visit): Promise<Page> {
  const { people, kept } = visit
  // Whatever a player hides is gone at once; all else is the same for all.
  const make = () => partsOf(visit)
  const parts = await (kept ? kept(make) : make())
  const cards = [...(people ? [await movesCard(visit, parts.during)] : []), ...parts.cards]
  return {
    path: '/',
    feed: '/feeds/captures.atom',
    title: parts.title,
    lead: parts.lead,
    control: parts.control,
    layout: 'home',
    chapters: [
      { id: 'now', heading: 'Now', figures: [parts.map] },
      { id: 'numbers', heading: 'In numbers', figures: [{ id: 'four', title: 'Numbers', picture: parts.numbers }] },
      {
        id: 'news',
        heading: 'News',
        figures: [{ id: 'cards', title: 'What is new', picture: html`<div class="cards">${cards}</div>` }],
      },
    ],
  }
}

/** What the page is about. */
interface During extends Period {
  readonly now: Date
  /** Whether it goes on: what is last known is true now. */
  readonly isLive: boolean
  /** A path with the period of the address. */
  readonly kept: (path: string) => string
}

/** All of the page but what names players. */
async function partsOf(visit: Visit) {
  const { sql, now, query } = visit
  const { frame, control, kept } = await shownPeriod(visit, {
    path: '/',
    of: ['territories', 'online-players'],
    days: 1,
  })
  const during = { from: frame.from, to: frame.to, now, isLive: !query.has('to'), kept }
  // One is drawn while the database works for the next.
  const placesRead = readPlaces(sql, during.isLive ? undefined : new Date(frame.to.getTime() - 1))
  const [places, map, captured, [players, worlds], patch, loot] = await Promise.all([
    placesRead,
    placesRead.then((known) => mapFigure(sql, known, during)),
    capturesNumber(sql, during),
    onlineNumbers(sql, during),
    patchParts(visit, during),
    lootCard(sql, during),
  ])
  return {
    during,
    control,
    map,
    title: places.length > 0 ? placesTitle(places) : unseen,
    lead: `${during.isLive ? '' : `As of ${moment(frame.to, frame.writtenAt)} UTC: `}${captured.said}, ${players.said}${worlds.said}.`,
    numbers: tilesMarkup([captured, players, worlds, patch.number]),
    cards: [patch.card, loot],
  }
}

async function mapFigure(sql: Sql, places: readonly HeldPlace[], { to, now, isLive, kept }: During): Promise<Figure> {
  if (places.length === 0) return missing('map', unseen, 'wynnsync sync territories')
  const captures = await latestCaptures(sql, { before: isLive ? null : to }, shown.captures)
  const prefixes = new Map(places.map(({ uuid, prefix }) => [uuid, prefix]))
  const chip = (uuid: string | null, name: string | null) => guildChip(uuid, name, prefixes.get(uuid) ?? null)
  const line = ({ at, territory, to, toUuid, from, fromUuid, again }: (typeof captures)[number]) =>
    html`<li><time datetime="${at.toISOString().slice(0, 16)}Z">${moment(at, now)}</time> ${chip(toUuid, to)} took ${link('territories', territory)}${again ? ' again' : from === null ? '' : html` from ${chip(fromUuid, from)}`}</li>`
  return {
    id: 'map',
    title: 'The map',
    picture: html`<div class="front"><div>${placesMap(places, { id: 'home-map', label: 'Map of the territories in the colours of those who hold them' })}
<p class="note">Hatched: no holder known. <a href="${kept('/map')}">The whole map</a> through time, with routes, treasury and defences. ${isLive ? html`<span id="home-live" role="status"></span>` : ''}</p></div>
<div><h3>Captures</h3>${captures.length === 0 ? html`<p class="soft">None was seen yet.</p>` : html`<ol id="ticker">${captures.map(line)}</ol><p class="note"><a href="${kept('/captures')}">All captures</a></p>`}</div></div>`,
  }
}

/** A number of the page, and how the lead of the page says it. */
interface Shown extends Tile {
  readonly said: string
}

/** So many bars at most, none shorter than an hour. */
const MOST_BARS = 30

/** In words, how long until the last observation; captures and players may have been watched at other times. */
function spanText(from: Date, to: Date, now: Date, isNow: boolean): string {
  const span = to.getTime() - from.getTime()
  const time = span >= 23 * HOUR && span < 25 * HOUR ? 'day' : length(span / 1000)
  return isNow ? `in the last ${time}` : `in the ${time} before ${moment(to, now)}`
}

/** Captures of the period, up to the last time that the map was seen: of what was not watched nothing is counted as zero. */
async function capturesNumber(sql: Sql, { from, to, now, isLive, kept }: During): Promise<Shown> {
  const nothing = { href: kept('/captures'), bars: [], barsLabel: 'Nothing is known' }
  const seen = await observedOf(sql, 'territories')
  if (!seen || seen.first >= to || seen.last < from)
    return { ...nothing, value: '?', label: 'captures', said: 'No capture is known' }
  const step = stepOf({ from, to }, MOST_BARS, HOUR / 1000)
  const captures = await sql.query<{ place: number; captures: number }>(
    `select floor(extract(epoch from captured_at - $1) / $3)::int as place, count(*)::int as captures
       from analytics.territory_capture where captured_at >= $1 and captured_at < $2 group by 1`,
    [from, to, step],
  )
  const watched = await readWatched(sql, 'territories', { from, to }, step)
  const all = captures.reduce((sum, one) => sum + one.captures, 0)
  // In a gap none is known; some that fell into it may be known from after it.
  if (all === 0 && watched.every(({ coverage }) => coverage === 0))
    return { ...nothing, value: '?', label: 'captures', said: 'No capture is known' }
  const isNow = isLive && now.getTime() - seen.last.getTime() < RECENT_MS
  const first = seen.first > from ? seen.first : from
  const last = isNow || seen.last > to ? to : seen.last
  const when = spanText(first, last, now, isNow)
  return {
    ...nothing,
    value: number(all),
    label: `${all === 1 ? 'capture' : 'captures'} ${when}`,
    said: `${count(all, 'capture')} ${when}`,
    bars: watched.map(
      ({ coverage }, nth) => captures.find(({ place }) => place === nth)?.captures ?? (coverage === 0 ? null : 0),
    ),
    barsLabel: step === HOUR / 1000 ? 'Captures of each hour' : `Captures per ${every(step)}`,
  }
}

/** Players online, listed and hidden, and worlds that are up, when the period ends; and before. */
async function onlineNumbers(sql: Sql, { from, to, now, isLive, kept }: During): Promise<[Shown, Shown]> {
  const unknown = { value: '?', href: kept('/worlds'), bars: [], barsLabel: 'Nothing is known' }
  const nothing: [Shown, Shown] = [
    { ...unknown, label: 'players online', said: 'players online unknown' },
    { ...unknown, label: 'worlds', said: '' },
  ]
  const seen = await observedOf(sql, 'online-players')
  if (!seen || seen.first >= to) return nothing
  const last = seen.last < to ? seen.last : new Date(to.getTime() - 1)
  const step = stepOf({ from, to }, MOST_BARS, HOUR / 1000)
  // Worlds are counted in the middle of each step, and when the last one ends.
  const steps = await sql.query<{ total: number | null; hidden: number | null; up: number | null }>(
    `select online.total, online.hidden,
            case when online.total is not null then (select count(*)::int from game.world up
              where up.valid_from <= online.middle and up.valid_until > online.middle) end as up
       from (select at, total_avg as total, null::int as hidden, at + make_interval(secs => $3 / 2) as middle
               from analytics.online_total($1, $2, make_interval(secs => $3))
              union all
             (select 'infinity', known.total, known.hidden, $4 from analytics.online_known($4, $4::timestamptz + interval '1 millisecond') known
               order by known.begins desc limit 1)) online order by online.at`,
    [from, to, step, last],
  )
  const end = steps.pop()
  const { total, hidden, up } = end ?? { total: null, hidden: null, up: null }
  if (total === null) return nothing
  const listed = total - (hidden ?? 0)
  const when = isLive && now.getTime() - last.getTime() < RECENT_MS ? '' : ` on ${moment(last, now)}`
  const hiding = hidden === null ? '' : `, ${number(hidden)} hidden`
  const bars = { href: kept('/worlds'), barsLabel: `Averages of each ${every(step)} before` }
  return [
    {
      ...bars,
      value: number(listed),
      label: `${listed === 1 ? 'player' : 'players'} listed online${hiding}${when}`,
      said: `${count(listed, 'player')} listed online`,
      bars: steps.map((one) => one.total),
    },
    {
      ...bars,
      value: number(up ?? 0),
      label: `${up === 1 ? 'world' : 'worlds'} up${when}`,
      said: ` on ${count(up ?? 0, 'world')}${when}`,
      bars: steps.map((one) => one.up),
    },
  ]
}

const kinds: readonly Kind[] = ['items', 'recipes', 'abilities', 'aspects', 'quests']

/** Changed values that are searched for the biggest. */
const SEARCHED_VALUES = 3000

/** The last patch in numbers, and its biggest changes. */
async function patchParts(
  { sql, patchesOf }: Pick<Visit, 'sql' | 'patchesOf'>,
  { to, now, isLive }: During,
): Promise<{ readonly number: Shown; readonly card: Markup }> {
  const known = await patchesOf(sql)
  const patches = known.filter(({ startedAt }) => startedAt < (isLive ? now : to)).slice(0, shown.patches)
  const [last] = patches
  const size = ({ added, changed, removed, recipes, abilities, aspects, quests }: Patch) =>
    added + changed + removed + recipes + abilities + aspects + quests
  if (!last)
    return {
      number: {
        value: '?',
        label: 'no patch was seen yet',
        said: '',
        href: '/patches',
        bars: [],
        barsLabel: 'Nothing is known',
      },
      card: cardOf(
        'patch',
        'No patch was seen yet',
        html`<p class="note">To have it from now on: <code>wynnsync sync items recipes</code></p>`,
      ),
    }
  const path = `/patches/${last.patch}`
  const biggest = shiftsOf(await changesOf(sql, last, kinds, SEARCHED_VALUES)).slice(0, shown.shifts)
  const shift = ({ label, before, after, relative }: (typeof biggest)[number]) =>
    html`<li><span>${label}</span> <b>${number(before, 2)} → ${number(after, 2)}</b> <span class="soft">${relative > 0 ? '+' : ''}${number(100 * relative)} %</span></li>`
  return {
    number: {
      value: number(size(last)),
      href: path,
      said: '',
      label: `${size(last) === 1 ? 'change' : 'changes'} of the last patch, ${moment(last.startedAt, now)}`,
      // One says nothing beside its number.
      bars: patches.length > 1 ? patches.map(size).reverse() : [],
      barsLabel: 'Changes of each of the last patches',
    },
    card: cardOf(
      'patch',
      html`<a href="${path}">Patch ${last.patch}</a>, ${moment(last.startedAt, now)}`,
      html`<p>${patchText(last)}</p><ul>${biggest.map(shift)}</ul>`,
    ),
  }
}

function cardOf(id: string, title: Markup | string, body: Markup): Markup {
  return html`<section class="card" id="${id}"><h3>${title}</h3>${body}</section>`
}

interface Move {
  readonly at: Date
  readonly event: string
  readonly username: string | null
  readonly player: string
  readonly guild: string
  readonly name: string | null
  readonly rank: string | null
  /** The guild that a joiner came from, or a leaver went to, and its name. */
  readonly other: string | null
  readonly otherName: string | null
}

/** In how many changes of members the latest moves are searched before all are: all of years take long. */
const searched = [100, 1000]

/** The latest moves that happened before `to`, and were seen at `from` or later. */
async function movesOf(sql: Sql, from: Date | '-infinity', to: Date | 'infinity'): Promise<Move[]> {
  for (const changes of searched) {
    const [since] = await sql.query<{ at: Date }>(
      `select changed.at
         from ((select valid_from as at from game.guild_member where valid_from >= $1 and valid_from < $2 order by 1 desc limit $3)
               union all
               (select valid_until from game.guild_member where valid_until >= $1 and valid_until < $2 and valid_until < 'infinity' order by 1 desc limit $3)) changed
        order by changed.at desc offset $3 - 1 limit 1`,
      [from, to, changes],
    )
    if (!since) break
    const latest = await readMoves(sql, eventsBetween, [since.at, to])
    if (latest.length === shown.moves * ROWS_OF_MOVE) return withTransfersOnce(latest)
  }
  return withTransfersOnce(
    await readMoves(sql, 'analytics.membership_event_since($1) event where event.at < $2', [from, to]),
  )
}

/** What members did from $1 on and before $2; who joined may have been seen later. */
const eventsBetween = `(
  select guild_uuid, player_uuid from game.guild_member where valid_from >= $1 and valid_from < $2
   union
  select guild_uuid, player_uuid from game.guild_member where valid_until >= $1 and valid_until < $2 and valid_until < 'infinity'
   union
  select guild_uuid, player_uuid from game.guild_member where valid_from >= $2 and joined >= $1 and joined < $2) changed
 cross join lateral (select * from analytics.membership_event one
                      where one.guild_uuid = changed.guild_uuid and one.player_uuid = changed.player_uuid offset 0) event
 where event.at >= $1 and event.at < $2`

/** A change of sides has three rows. */
const ROWS_OF_MOVE = 3

async function readMoves(sql: Sql, source: string, values: readonly SqlValue[]): Promise<Move[]> {
  return await sql.query<Move>(
    `with latest as (select event.* from ${source} order by at desc, observed_at desc, player_uuid limit ${shown.moves * ROWS_OF_MOVE})
     select at, event, username, player_uuid::text as player, latest.guild_uuid::text as guild, guild_name as name,
            coalesce(to_rank, from_rank) as rank, other_guild_uuid::text as other,
            case when event = 'transferred' then analytics.counted_name('guild', other_guild_uuid, null) end as "otherName"
       from latest
      order by at desc, event collate "C" desc, player_uuid`,
    values,
  )
}

/** The latest moves, without the join of each transfer and without the leave that is nearest in time. */
function withTransfersOnce(moves: readonly Move[]): Move[] {
  const parts = new Set<Move>()
  for (const transfer of moves.filter(({ event }) => event === 'transferred')) {
    const distance = ({ at }: Move) => Math.abs(at.getTime() - transfer.at.getTime())
    const own = moves.filter((one) => one.player === transfer.player && !parts.has(one))
    const joined = own.find((one) => one.event === 'joined' && one.guild === transfer.guild && distance(one) === 0)
    const [left] = own
      .filter((one) => one.event === 'left' && one.guild === transfer.other && one.other === transfer.guild)
      .sort((one, another) => distance(one) - distance(another))
    for (const part of [joined, left]) if (part) parts.add(part)
  }
  return moves.filter((one) => !parts.has(one)).slice(0, shown.moves)
}

/** Who joined, left or rose lately. */
async function movesCard({ sql, now }: Visit, during: During): Promise<Markup> {
  const moves = await (during.isLive ? movesOf(sql, '-infinity', 'infinity') : movesOf(sql, during.from, during.to))
  if (moves.length === 0 && !during.isLive)
    return cardOf('moves', 'No join, leave or change of rank is known in this period', html``)
  if (moves.length === 0)
    return cardOf(
      'moves',
      'No join, leave or change of rank was observed',
      html`<p class="note">To have it from now on: <code>wynnsync sync guilds</code></p>`,
    )
  const what = ({ event, rank, other, otherName }: Move) =>
    event === 'transferred' && other !== null
      ? html`from ${guildLink(other, otherName)} to`
      : `${event.replaceAll('_', ' ')}${rank === null || event === 'left' ? '' : ` ${event === 'joined' ? 'as' : 'to'} ${rank}`},`
  const row = (move: Move) =>
    html`<li><time datetime="${move.at.toISOString().slice(0, 16)}Z">${moment(move.at, now)}</time> ${link('players', move.player, move.username ?? move.player)} ${what(move)} ${guildLink(move.guild, move.name)}</li>`
  return cardOf('moves', during.isLive ? 'Moved lately' : 'Moved in this period', html`<ul>${moves.map(row)}</ul>`)
}

interface Loot {
  readonly pool: string
  readonly kind: string
  readonly reward: string
  readonly since: Date
}

/** The rarest rewards of the pools, and when the next ones are due: they change every week. */
async function lootCard(sql: Sql, { to, now, isLive }: During): Promise<Markup> {
  const seen = await observedOf(sql, 'loot-pools')
  const rewards = await sql.query<Loot>(
    `with pool as materialized (select * from analytics.loot_pool_at((select least($1::timestamptz, last_at, now()) from analytics.watch('loot-pools')))), rare as (
       select pool.pool, pool.kind, pool.reward, pool.since,
              row_number() over (partition by pool.kind, pool.pool order by array_position('{MYTHIC,FABLED,LEGENDARY}', upper(pool.tier collate "C")),
                                 pool.since desc, pool.reward collate "C") as place
         from pool where pool.reward is not null)
     select rare.pool, rare.kind, rare.reward, rare.since from rare where rare.place = 1 order by rare.since desc, rare.kind collate "C" desc, rare.pool collate "C" limit $2`,
    [isLive ? now : new Date(to.getTime() - 1), shown.pools],
  )
  const [first] = rewards
  if (!first)
    return cardOf(
      'loot',
      seen ? 'What the loot pools had is not known' : 'No loot pool was seen yet',
      html`<p class="note">To have it from now on: <code>wynnsync sync loot-pools</code></p>`,
    )
  const items = await itemsCalled(
    sql,
    rewards.map(({ reward }) => reward),
  )
  const next = first.since.getTime() + WEEK
  const left = (next - (isLive ? now : to).getTime()) / 1000
  const isOld = isLive && seen !== null && now.getTime() - seen.last.getTime() >= RECENT_MS
  const row = ({ pool, kind, reward }: Loot) =>
    html`<li><span class="soft">${pool.toLowerCase().includes(kind.toLowerCase()) ? pool : `${pool} (${kind.toLowerCase()})`}</span> ${items.has(reward) ? link('items', items.get(reward) ?? reward, reward) : reward}</li>`
  return cardOf(
    'loot',
    html`<a href="/pools">${isOld && seen ? `Loot as seen on ${moment(seen.last, now)}` : `Loot of ${isLive ? 'this' : 'that'} week`}</a>`,
    html`<p>${left > 0 ? html`The next is due in about ${length(left)}` : 'The next was due'}, a week after the last change, <time datetime="${new Date(next).toISOString().slice(0, 16)}Z">${instant(new Date(next))}</time> UTC.</p><ul>${rewards.map(row)}</ul>`,
  )
}
