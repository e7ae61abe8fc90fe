import { html, raw } from 'hono/html'
import { guildColour } from '../../drawing/colours.ts'
import { type Figure, listFigure, missing } from '../../drawing/figure.ts'
import type { Cell, Markup } from '../../drawing/html-table.ts'
import { observedOf, type Period } from '../../drawing/period.ts'
import { legendLine } from '../../drawing/swatch.ts'
import {
  apiWords,
  asSeen,
  clockTime,
  compact,
  count,
  day,
  dayOf,
  instant,
  length,
  moment,
  number,
  percent,
} from '../../drawing/words.ts'
import { resolveName } from '../../questions/asking/names.ts'
import { csvLink, guildLink, link } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { Problem } from '../http/problems.ts'

const DAY = 86_400_000

interface Spell {
  readonly since: Date
  readonly until: Date | null
  readonly username: string | null
  readonly guild: string | null
  readonly name: string | null
  readonly rank: string | null
  /** The last response that showed it. */
  readonly shown: Date
}

/** `/players/NAME`: names, guilds, sessions and playtime of one player. */
export async function playerPage(visit: Visit): Promise<Page> {
  const { sql, name, people, finders } = visit
  if (!people) throw new Problem('people-not-shown', { detail: 'Single players are not shown here.' })
  const { value: player } = await resolveName(sql, { name: 'player', type: 'uuid', value: name }, finders)
  const spells = await sql.query<Spell>(
    `select valid_from as since, valid_until as until, username, guild_uuid::text as guild, guild_name as name,
            guild_rank as rank, confirmed_until as shown from analytics.player_biography($1::text::uuid) order by valid_from desc limit 200`,
    [player],
  )
  const path = `/players/${encodeURIComponent(player)}`
  const [{ frame, control, kept }, sessions, boards, hidden] = await Promise.all([
    shownPeriod(visit, { path, of: ['online-players'] }),
    sessionsFigure(visit, player),
    readBoards(visit, player),
    readHidden(visit, player),
  ])
  const gains = kept(`/gained?kind=player&entity=${player}`)
  const [latest] = spells
  if (!latest && !sessions.table && boards.length === 0)
    throw new Problem('not-found', { detail: `player not found: ${name}` })
  const username = latest?.username ?? boards.find((board) => board.name)?.name ?? name
  const guild =
    latest?.guild && latest.until === null
      ? ` is ${latest.rank ?? 'a member'} of ${latest.name ?? 'a guild'}${asSeen(latest.shown, visit.now)}`
      : ' is in no known guild'
  return {
    path,
    control: html`${control}<p class="at"><a href="${gains}" rel="nofollow">All that this player gained, day by day</a></p>`,
    title: `${username}${guild}`,
    lead: hiddenText(hidden),
    chapters: [
      chapterOf('playtime', 'Playtime', await playtimeFigure(visit, player, { ...frame, hidden })),
      chapterOf('sessions', 'Sessions', sessions),
      chapterOf('counters', 'Counters', await countersFigure(visit, player, frame, gains)),
      chapterOf('biography', 'Names and guilds', biographyFigure(spells, player, { now: visit.now, hidden })),
      ...(boards.length > 0 ? [chapterOf('boards', 'Leaderboards', boardsFigure(boards))] : []),
    ],
  }
}

/** What the player hides, as far as it is known. */
async function readHidden({ sql }: Visit, player: string): Promise<string[]> {
  const rows = await sql.query<{ hidden: string }>(
    `select distinct hidden collate "C" as hidden from (
       select unnest(restricted) as hidden from analytics.guild_member where player_uuid = $1::text::uuid
        union all select unnest(restricted) from analytics.player where player_uuid = $1::text::uuid) known order by 1`,
    [player],
  )
  return rows.map(({ hidden }) => hidden)
}

/** What each rule of privacy hides; others are called as the API calls them. */
const hiddenWords: Readonly<Record<string, string>> = {
  mainAccess: 'counters and ranks',
  characterListAccess: 'the list of characters',
  characterDataAccess: 'what each character did',
  characterBuildAccess: 'how characters are built',
  onlineStatus: 'whether and where they are online',
  guildHistoryAccess: 'former guilds',
  guildHighRankedAccess: 'weekly aims in the guild',
}

function hiddenText(hidden: readonly string[]): string {
  if (hidden.length === 0) return 'As far as the public API shows it; ? is unknown.'
  return `Hides ${hidden.map((rule) => hiddenWords[rule] ?? apiWords(rule)).join(', ')}: what is hidden is unknown, not zero.`
}

/** A period of one who hides something. */
type Hiding = Period & { readonly hidden: readonly string[] }

async function playtimeFigure(visit: Visit, player: string, { hidden, ...period }: Hiding): Promise<Figure> {
  const { sql, now } = visit
  // Whole days, as far as they are over.
  const from = new Date(Math.floor(period.from.getTime() / DAY) * DAY)
  const to = new Date(Math.min(now.getTime(), Math.ceil(period.to.getTime() / DAY) * DAY))
  const days = await sql.query<{
    day: string | Date
    least: number | null
    most: number | null
    coverage: number | null
  }>(
    `select day::text as day, seconds_min as least, seconds_max as most, coverage
       from analytics.player_playtime($1::text::uuid, $2, $3) order by day desc`,
    [player, from, to],
  )
  const known = days.filter(({ least }) => least !== null)
  if (known.length === 0) return missing('days', 'Playtime is not known', 'wynnsync sync online-players')
  const sum = (of: 'least' | 'most') => number(known.reduce((total, one) => total + (one[of] ?? 0), 0) / 3600, 1)
  const least = sum('least')
  const most = sum('most')
  const hours = (seconds: number | null) => (seconds === null ? null : Math.round(seconds / 360) / 10)
  return {
    id: 'days',
    title: `${least === most ? least : `Between ${least} and ${most}`} hours on the ${count(known.length, 'watched day')}, of ${days.length} in this period`,
    lead: 'At least what responses show, at most what the bounds of the sessions allow. Coverage: the share of the day that was watched.',
    legend: legendLine([
      { fill: 'var(--g4)', label: 'listed online' },
      { fill: 'var(--g4)', opacity: 0.4, label: 'perhaps online' },
      { fill: 'url(#unknown)', label: 'not watched, or hidden' },
    ]),
    picture: await stripOf(visit, player, { from, to, hidden }),
    table: {
      columns: ['Day (UTC)', 'Hours, at least', 'Hours, at most', 'Coverage'],
      rows: days.map((one) => [String(one.day), hours(one.least), hours(one.most), percent(one.coverage)]),
      note: csvLink('player_playtime', { player, from_time: from, to_time: to }),
    },
    isTableShown: true,
  }
}

/** So many days are drawn. */
const DRAWN_DAYS = 42

interface Stretch {
  readonly since: Date
  readonly until: Date
}

/** The hours of each day, the latest first: when the player was listed, paler where that is possible; hatched where nothing is known. */
async function stripOf({ sql }: Visit, player: string, { from, to, hidden }: Hiding): Promise<Markup> {
  const seen = await observedOf(sql, 'online-players')
  const begin = new Date(Math.max(from.getTime(), Math.ceil(to.getTime() / DAY) * DAY - DRAWN_DAYS * DAY))
  const [sessions, blind] = await Promise.all([
    sql.query<Stretch & { readonly earliest: Date | null; readonly latest: Date | null }>(
      `select login_estimate as since, coalesce(logout_estimate, listed_until) as until, login_earliest as earliest, logout_latest as latest
         from analytics.player_session where player_uuid = $1::text::uuid and listed_from < $3 and coalesce(logout_latest, listed_until) >= $2
        order by listed_from limit 2000`,
      [player, begin, to],
    ),
    sql.query<Stretch>(
      `select case when missed = 0 then began_at else began_at + (ended_at - began_at) / (missed + 1) end as since, ended_at as until
         from analytics.unobserved('online-players', $1, $2)`,
      [begin, to],
    ),
  ])
  const end = Math.min(to.getTime(), seen?.last.getTime() ?? 0)
  const unknown = [
    ...(hidden.includes('onlineStatus') ? [{ since: begin, until: to }] : blind),
    ...(seen ? [{ since: begin, until: seen.first }] : []),
    { since: new Date(end), until: to },
  ]
  const days: Date[] = []
  for (let at = Math.floor((to.getTime() - 1) / DAY) * DAY; at >= begin.getTime(); at -= DAY) days.push(new Date(at))
  const row = (at: Date) => {
    const shown = within(sessions, at)
    const maybe = within(
      sessions.map(({ since, until, earliest, latest }) => ({ since: earliest ?? since, until: latest ?? until })),
      at,
    )
    const times = shown.map(({ since, until }) => `${clockTime(since)} to ${clockTime(until)}`)
    const listed = shown.reduce((sum, { since, until }) => sum + until.getTime() - since.getTime(), 0) / 1000
    const said = shown.length === 0 ? 'not listed' : `listed ${times.slice(0, 12).join(', ')}`
    return html`<li><span>${day(at)}</span><svg viewBox="0 0 1440 16" preserveAspectRatio="none" role="img" aria-label="${day(at)}: ${said}">${raw(
      `${rects(within(unknown, at), at, 'fill="url(#unknown)"')}${rects(maybe, at, 'class="maybe" fill="var(--g4)"')}${rects(shown, at, 'fill="var(--g4)"', 5)}`,
    )}</svg><span class="n">${listed === 0 ? '' : `${number(listed / 3600, 1)} h`}</span></li>`
  }
  const hours = [0, 6, 12, 18, 24].map((hour) => html`<span>${hour}</span>`)
  return html`<ol class="days">${days.map(row)}<li class="axis" aria-hidden="true"><span></span><span>${hours}</span><span></span></li></ol>`
}

/** The parts of spells that lie within the day that begins at `at`. */
function within(spells: readonly Stretch[], at: Date): Stretch[] {
  const begin = at.getTime()
  const end = at.getTime() + DAY
  return spells.flatMap(({ since, until }) => {
    const from = Math.max(begin, since.getTime())
    const to = Math.min(end, until.getTime())
    return since.getTime() < end && until.getTime() >= begin && from <= to
      ? [{ since: new Date(from), until: new Date(to) }]
      : []
  })
}

/** In minutes of the day. @param least what is shorter is drawn so wide */
function rects(spells: readonly Stretch[], at: Date, attributes: string, least = 0): string {
  return spells
    .map(({ since, until }) => {
      const x = (since.getTime() - at.getTime()) / 60_000
      const width = Math.max(least, (until.getTime() - since.getTime()) / 60_000)
      return width > 0 ? `<rect x="${x.toFixed(1)}" width="${width.toFixed(1)}" height="16" ${attributes}/>` : ''
    })
    .join('')
}

/** So many sessions are listed. */
const LISTED_SESSIONS = 50

async function sessionsFigure({ sql }: Visit, player: string): Promise<Figure> {
  const sessions = await sql.query<{ world: string; from: Date; until: Date; isOpen: boolean | null; seconds: number }>(
    `select world, listed_from as "from", listed_until as until, is_open as "isOpen", seconds_estimate as seconds from analytics.player_session
      where player_uuid = $1::text::uuid order by listed_from desc limit ${LISTED_SESSIONS + 1}`,
    [player],
  )
  const [last] = sessions
  const amount =
    sessions.length > LISTED_SESSIONS
      ? `More than ${count(LISTED_SESSIONS, 'session')}`
      : count(sessions.length, 'session')
  if (!last)
    return missing(
      'session-list',
      'No session was seen; a player who hides is not listed',
      'wynnsync sync online-players',
    )
  return {
    id: 'session-list',
    title: last.isOpen
      ? `Online on ${last.world}, as of the latest response`
      : `${amount}, the latest on ${last.world}`,
    lead: 'Listed from the first to the last response. About how long, as far as responses tell: one that a single response lists was shorter than the time between two.',
    table: {
      columns: ['World', 'Listed from (UTC)', 'Until (UTC)', 'About'],
      rows: sessions
        .slice(0, LISTED_SESSIONS)
        .map(({ world, from, until, seconds }) => [
          world,
          from,
          until,
          { value: seconds, shown: seconds < 1 ? 'listed once' : length(seconds) },
        ]),
      note: html`${sessions.length > LISTED_SESSIONS ? `The latest ${LISTED_SESSIONS}; ` : ''}${csvLink('player_session', { player_uuid: player })}`,
    },
    isTableShown: true,
  }
}

/** What people ask for most, in this order; the page of gains has all. */
const shownCounters = [
  'playtime',
  'totalLevel',
  'wars',
  'guildRaids.total',
  'raids.total',
  'dungeons.total',
  'completedQuests',
  'contentCompletion',
  'lootruns',
  'worldEvents',
  'mobsKilled',
  'chestsFound',
]

/** So many instants of a period are drawn. */
const DRAWN_POINTS = 60

interface Counted {
  readonly counter: string
  readonly gained: number | null
  readonly quality: string
  /** The last number of each part of the period that has one, and when it was observed, ms; null: none has. */
  readonly values: readonly number[] | null
  readonly times: readonly number[] | null
}

/** What each counter was when it was observed, and how much it rose. */
async function countersFigure(
  { sql, now }: Visit,
  player: string,
  { from, to }: Period,
  gains: string,
): Promise<Figure> {
  const rows = await sql.query<Counted>(
    `select asked.counter, risen.gained, risen.quality, series.* from unnest($2::text[]) with ordinality as asked(counter, place)
      cross join lateral analytics.counter_risen('player', $1::text::uuid, null, asked.counter, array[$3::timestamptz], array[$4::timestamptz]) risen
      cross join lateral (
        select array_agg(point.value order by point.at) as values, array_agg(point.at order by point.at) as times
          from (select distinct on (part) one.value, extract(epoch from one.observed_at)::float8 * 1000 as at, floor(extract(epoch from one.observed_at - $3) / $5) as part
                  from analytics.counter_series('player', $1::text::uuid, null, asked.counter, $3, $4) one
                 where one.value is not null and one.observed_at >= $3 order by part, one.observed_at desc) point) series
      where risen.gained is not null or series.values is not null
      order by asked.place`,
    [player, shownCounters, from, to, (to.getTime() - from.getTime()) / 1000 / DRAWN_POINTS],
  )
  if (rows.length === 0)
    return missing('counted', 'No counter is known in this period', `wynnsync sync players --player ${player}`)
  const rose = rows.filter(({ gained }) => (gained ?? 0) > 0)
  const last = rows.reduce((latest, { times }) => Math.max(latest, times?.at(-1) ?? 0), 0)
  const amount = (value: number | null | undefined, sign = ''): Cell =>
    value == null ? null : { value, shown: `${sign}${compact(value)}` }
  return {
    id: 'counted',
    title: `${number(rose.length)} of ${count(rows.length, 'counter')} rose in this period`,
    lead: `Each dot is a new number${last > 0 ? `, the latest of ${moment(new Date(last), now)} UTC` : ''}. With ≥, responses do not show all of the period.`,
    table: {
      columns: ['Counter', 'Last shown', 'Gained', 'How sure', 'Over time'],
      rows: rows.map(({ counter, gained, quality, values, times }) => [
        html`<a href="${gains}&counter=${encodeURIComponent(counter)}" rel="nofollow">${apiWords(counter)}</a>`,
        amount(values?.at(-1)),
        amount(gained, quality === 'exact' ? '' : '≥ '),
        quality.replace('_', ' '),
        dotsOf(
          values ?? [],
          (times ?? []).map((at) => (at - from.getTime()) / (to.getTime() - from.getTime())),
        ),
      ]),
    },
    isTableShown: true,
  }
}

/** Numbers as dots, the least at the bottom. @param places from 0 to 1, of each */
function dotsOf(values: readonly number[], places: readonly number[]): Markup {
  const least = Math.min(...values)
  const most = Math.max(...values)
  const dots = values.map(
    (value, nth) =>
      `M${((places[nth] ?? 0) * 174 + 3).toFixed(1)} ${most > least ? (17 - (14 * (value - least)) / (most - least)).toFixed(1) : 10}h0`,
  )
  return html`<svg class="spark" viewBox="0 0 180 20" preserveAspectRatio="none" role="img" aria-label="${count(values.length, 'number')} over time"><path d="${dots.join('')}" stroke="var(--cover)" stroke-width="5" stroke-linecap="round"/></svg>`
}

interface BoardPlace {
  readonly type: string
  readonly place: number
  readonly score: number | null
  readonly name: string | null
  readonly since: Date
}

/** The last places that a player had on a board are looked up: as many as a player may have characters on one. */
const MOST_CHARACTERS = 20

/** The places of leaderboards that the player has now; none of one who hides. */
async function readBoards({ sql }: Visit, player: string): Promise<BoardPlace[]> {
  return await sql.query<BoardPlace>(
    `select latest.type, latest.place, latest.score, latest.name, latest.observed_at as since
       from (select type, place
               from (select type, place, row_number() over (partition by type order by max(observed_at) desc) as nth
                       from game.leaderboard_place where player_uuid = $1::text::uuid group by type, place) each
              where nth <= ${MOST_CHARACTERS}) had
      cross join lateral (select * from game.leaderboard_place sample where sample.type = had.type and sample.place = had.place
                           order by sample.observed_at desc limit 1) latest
      where latest.player_uuid = $1::text::uuid
        and not exists (select from sync.privacy_restriction rule
                         where rule.player_uuid = $1::text::uuid and rule.field_group = 'mainAccess')
      order by latest.place, latest.type collate "C" limit 100`,
    [player],
  )
}

function boardsFigure(boards: readonly BoardPlace[]): Figure {
  return listFigure('board-list', `${count(boards.length, 'place')} on leaderboards, as last seen`, {
    columns: ['Leaderboard', 'Place', 'Score', 'Since (UTC)'],
    rows: boards.map(({ type, place, score, since }) => [
      link('leaderboards', type, apiWords(type)),
      place,
      score,
      since,
    ]),
  })
}

function biographyFigure(spells: readonly Spell[], player: string, known: Knowing): Figure {
  if (spells.length === 0) return missing('spells', 'No name or guild is known', 'wynnsync sync players guilds')
  const names = new Set(spells.flatMap(({ username }) => username ?? []))
  return {
    ...listFigure(
      'spells',
      `${count(names.size, 'name')}, ${count(new Set(spells.flatMap(({ guild }) => guild ?? [])).size, 'guild')}`,
      {
        columns: ['Name', 'Guild', 'Rank', 'From (UTC)', 'Last shown (UTC)', 'Until (UTC)'],
        rows: spells.map(({ username, guild, name, rank, since, shown, until }) => [
          username,
          guild === null ? '' : guildLink(guild, name),
          rank ?? '',
          since,
          shown,
          until ?? '',
        ]),
        note: csvLink('player_biography', { player }),
      },
    ),
    picture: guildLine(spells, known),
  }
}

interface Knowing {
  readonly now: Date
  readonly hidden: readonly string[]
}

/** The guilds of a life in their colours, from the first response until now: hatched after the last response that shows each, empty without a guild. */
function guildLine(spells: readonly Spell[], { now, hidden }: Knowing): Markup {
  const begin = Math.min(...spells.map(({ since }) => since.getTime()))
  const scale = 1440 / Math.max(1, now.getTime() - begin)
  const part = (from: Date, to: Date, fill: string, said: string) =>
    html`<rect x="${((from.getTime() - begin) * scale).toFixed(1)}" width="${Math.max(0, (to.getTime() - from.getTime()) * scale).toFixed(1)}" height="16" fill="${fill}"><title>${said}</title></rect>`
  const parts = spells.map(({ since, shown, until, guild, name }) => {
    // Which guilds were left is hidden, not that there were none.
    const isUnknown = guild === null && until !== null && hidden.includes('guildHistoryAccess')
    const fill = isUnknown ? 'url(#unknown)' : guild === null ? 'none' : guildColour(name ?? guild)
    const said = `${isUnknown ? 'unknown' : guild === null ? 'no guild' : (name ?? guild)}: ${instant(since)} to ${instant(shown)}`
    return html`${part(since, shown, fill, said)}${part(shown, until ?? now, 'url(#unknown)', 'not observed')}`
  })
  return html`<ol class="days"><li><span>${dayOf(new Date(begin), now)}</span><svg viewBox="0 0 1440 16" preserveAspectRatio="none" role="img" aria-label="Guilds over time; the table below has the same">${parts}</svg><span class="n">now</span></li></ol>`
}
