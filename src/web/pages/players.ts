import { html, raw } from 'hono/html'
import { type Figure, listFigure, missing } from '../../drawing/figure.ts'
import type { Frame } from '../../drawing/frame.ts'
import type { Markup } from '../../drawing/html-table.ts'
import { observedOf, type Period } from '../../drawing/period.ts'
import { legendLine } from '../../drawing/swatch.ts'
import { apiWords, asSeen, clockTime, count, day, length, number, percent } from '../../drawing/words.ts'
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
  const [{ frame, control, kept }, sessions, boards] = await Promise.all([
    shownPeriod(visit, { path, of: ['online-players'] }),
    sessionsFigure(visit, player),
    readBoards(visit, player),
  ])
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
    control: html`${control}<p class="at"><a href="${kept(`/gained?kind=player&entity=${player}`)}" rel="nofollow">What this player gained, day by day</a></p>`,
    title: `${username}${guild}`,
    lead: await hiddenText(visit, player),
    chapters: [
      chapterOf('playtime', 'Playtime', await playtimeFigure(visit, player, frame)),
      chapterOf('sessions', 'Sessions', sessions),
      chapterOf('biography', 'Names and guilds', biographyFigure(spells, player)),
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

async function hiddenText(visit: Visit, player: string): Promise<string> {
  const hidden = await readHidden(visit, player)
  if (hidden.length === 0) return 'As far as the public API shows it; ? is unknown.'
  return `Hides ${hidden.map(apiWords).join(', ')}: what is hidden is unknown, not zero.`
}

async function playtimeFigure(visit: Visit, player: string, period: Frame): Promise<Figure> {
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
  const sum = (of: 'least' | 'most') => known.reduce((total, one) => total + (one[of] ?? 0), 0)
  const hours = (seconds: number | null) => (seconds === null ? null : Math.round(seconds / 360) / 10)
  return {
    id: 'days',
    title: `Between ${number(sum('least') / 3600, 1)} and ${number(sum('most') / 3600, 1)} hours on the ${count(known.length, 'watched day')}, of ${days.length} in this period`,
    lead: 'At least what responses show, at most what the bounds of the sessions allow. Coverage: the share of the day that was watched.',
    legend: legendLine([
      { fill: 'var(--g4)', label: 'listed online' },
      { fill: 'var(--g4)', opacity: 0.4, label: 'perhaps online' },
      { fill: 'url(#unknown)', label: 'not watched, or hidden' },
    ]),
    picture: await stripOf(visit, player, { from, to }),
    table: {
      columns: ['Day (UTC)', 'Hours, at least', 'Hours, at most', 'Coverage'],
      rows: days.map((one) => [String(one.day), hours(one.least), hours(one.most), percent(one.coverage)]),
      note: csvLink('player_playtime', { player, from_time: from, to_time: to }),
    },
    isTableShown: true,
  }
}

/** So many days are drawn. */
const DAYS = 42

interface Stretch {
  readonly since: Date
  readonly until: Date
}

/** The hours of each day, the latest first: when the player was listed, paler where that is possible; hatched where nothing is known. */
async function stripOf(visit: Visit, player: string, { from, to }: Period): Promise<Markup> {
  const { sql } = visit
  const seen = await observedOf(sql, 'online-players')
  const begin = new Date(Math.max(from.getTime(), Math.ceil(to.getTime() / DAY) * DAY - DAYS * DAY))
  const [sessions, blind, hidden] = await Promise.all([
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
    readHidden(visit, player),
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
  const [begin, end] = [at.getTime(), at.getTime() + DAY]
  return spells.flatMap(({ since, until }) => {
    const [from, to] = [Math.max(begin, since.getTime()), Math.min(end, until.getTime())]
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
const SESSIONS = 50

async function sessionsFigure({ sql }: Visit, player: string): Promise<Figure> {
  const sessions = await sql.query<{ world: string; from: Date; until: Date; isOpen: boolean | null; seconds: number }>(
    `select world, listed_from as "from", listed_until as until, is_open as "isOpen", seconds_estimate as seconds from analytics.player_session
      where player_uuid = $1::text::uuid order by listed_from desc limit ${SESSIONS + 1}`,
    [player],
  )
  const [last] = sessions
  const amount =
    sessions.length > SESSIONS ? `More than ${count(SESSIONS, 'session')}` : count(sessions.length, 'session')
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
        .slice(0, SESSIONS)
        .map(({ world, from, until, seconds }) => [
          ...[world, from, until, { value: seconds, shown: seconds < 1 ? 'listed once' : length(seconds) }],
        ]),
      note: html`${sessions.length > SESSIONS ? `The latest ${SESSIONS}; ` : ''}${csvLink('player_session', { player_uuid: player, limit: 10_000 })}`,
    },
    isTableShown: true,
  }
}

interface BoardPlace {
  readonly type: string
  readonly place: number
  readonly score: number | null
  readonly name: string | null
  readonly since: Date
}

/** The last places that a player had on a board are looked up: as many as a player may have characters on one. */
const CHARACTERS = 20

/** The places of leaderboards that the player has now; none of one who hides. */
async function readBoards({ sql }: Visit, player: string): Promise<BoardPlace[]> {
  return await sql.query<BoardPlace>(
    `select latest.type, latest.place, latest.score, latest.name, latest.observed_at as since
       from (select type, place
               from (select type, place, row_number() over (partition by type order by max(observed_at) desc) as nth
                       from game.leaderboard_place where player_uuid = $1::text::uuid group by type, place) each
              where nth <= ${CHARACTERS}) had
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

function biographyFigure(spells: readonly Spell[], player: string): Figure {
  if (spells.length === 0) return missing('spells', 'No name or guild is known', 'wynnsync sync players guilds')
  const names = new Set(spells.flatMap(({ username }) => username ?? []))
  return listFigure(
    'spells',
    `${count(names.size, 'name')}, ${count(new Set(spells.flatMap(({ guild }) => guild ?? [])).size, 'guild')}`,
    {
      columns: ['Name', 'Guild', 'Rank', 'From (UTC)', 'Last shown (UTC)', 'Until (UTC)'],
      rows: spells.map(({ username, guild, name, rank, since, shown, until }) => [
        ...[username, guild === null ? '' : guildLink(guild, name), rank ?? '', since, shown, until ?? ''],
      ]),
      note: csvLink('player_biography', { player }),
    },
  )
}
