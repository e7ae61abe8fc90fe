import * as Plot from '@observablehq/plot'
import { html } from 'hono/html'
import { draw } from '../../analytics/report/drawing/draw.ts'
import { type Figure, listFigure, missing } from '../../analytics/report/drawing/figure.ts'
import type { Frame } from '../../analytics/report/drawing/frame.ts'
import type { Markup } from '../../analytics/report/drawing/html-table.ts'
import { legendLine } from '../../analytics/report/drawing/swatch.ts'
import { guildHoursFigure } from '../../analytics/report/guild/guild-hours.ts'
import { movesFigure } from '../../analytics/report/guild/guild-moves.ts'
import { guildTerritoriesFigure } from '../../analytics/report/guild/guild-territories.ts'
import { warsFigure } from '../../analytics/report/guild/guild-wars.ts'
import { compact, count, moment, number, percent, wholeTick } from '../../analytics/report/words.ts'
import { type Banner, bannerMarkup } from '../html/banner.ts'
import { guildLink, link } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { type HeldPlace, placesMap, readPlaces } from '../html/places-map.ts'
import { type Column, sortedTable } from '../html/sorted-table.ts'
import { captureTable, latestCaptures } from './captures.ts'
import { guildNamed } from './guilds.ts'

const [LATEST, RIVALS] = [15, 25]

/** `/guilds/PREFIX`: one guild, by uuid, prefix or name: now, at war, its members, its hours, its history. */
export async function guildPage(visit: Visit): Promise<Page> {
  const { people, query, sql } = visit
  const { uuid, guild, holder, name } = await guildNamed(visit)
  const path = `/guilds/${encodeURIComponent(guild?.prefix ?? uuid)}`
  const shown = await shownPeriod(visit, { path, of: ['guilds', 'territories'], guild: uuid })
  const frame = { ...shown.frame, playerCell: (player: string, username: string) => link('players', player, username) }
  const places = await readPlaces(sql)
  const subject = { uuid, path, name: name ?? 'This guild', prefix: guild?.prefix ?? holder?.prefix ?? null }
  const held = places.filter((place) => place.uuid === uuid).length
  const rivals = await readRivals(visit, uuid, frame)
  const rival = query.get('rival')
  const parts = ['now', 'war', ...(people ? ['members'] : []), 'hours', 'history']
  return {
    path,
    control: html`${shown.control}<nav class="parts" aria-label="Parts">${parts.map((part) => html`<a href="#${part}">${part[0]?.toUpperCase()}${part.slice(1)}</a>`)}</nav>`,
    feed: `/feeds/guilds/${uuid}.atom`,
    title: guild
      ? `${labelOf(guild)}: ${number(guild.members)} members, ${count(held, 'territory', 'territories')}`
      : `${holder ? labelOf(holder) : 'This guild'} is not in the latest list of guilds`,
    lead: guild
      ? `Level ${number(guild.level)}, ${number(guild.online)} online, ${number(guild.wars)} wars; ? is unknown.`
      : 'What is known of a guild that is not listed, or not yet.',
    chapters: [
      chapterOf(
        'now',
        'Now',
        ...(guild ? [] : [await notListed(visit)]),
        await nowFigure(visit, subject, { guild, places, held }),
      ),
      chapterOf(
        'war',
        'War',
        warFigure(rivals, subject, frame),
        await hoursOfWar(visit, uuid, frame),
        await guildTerritoriesFigure(sql, { uuid, name }, frame),
        ...(people ? [await warsFigure(sql, uuid, frame)] : []),
        await lastCaptures(visit, uuid),
      ),
      ...(people ? [chapterOf('members', 'Members', await membersFigure(visit, subject, frame))] : []),
      chapterOf(
        'hours',
        'Hours',
        await guildHoursFigure(sql, uuid, frame),
        await rivalFigure(visit, { rival, rivals, path }, frame),
      ),
      chapterOf(
        'history',
        'History',
        ...(people ? [await movesFigure(sql, uuid, frame)] : []),
        await namesFigure(visit, uuid),
      ),
    ],
  }
}

interface Subject {
  readonly uuid: string
  readonly path: string
  readonly name: string
  readonly prefix: string | null
}

/** Why nothing is known of a guild now: it is not listed, or there is no list yet. */
async function notListed({ sql }: Visit): Promise<Figure> {
  const [listed] = await sql.query(`select from analytics.guild limit 1`)
  if (!listed) return missing('not-listed', 'No list of guilds was synced yet', 'wynnsync sync guild-list guilds')
  const lead = 'It was disbanded, or it is newer than that list. What is known of its time before follows.'
  return { id: 'not-listed', title: 'It is not in the latest list of guilds', lead }
}

interface Standing {
  readonly guild: Awaited<ReturnType<typeof guildNamed>>['guild']
  readonly places: readonly HeldPlace[]
  readonly held: number
}

/** The banner, the level, where it is on the map, and how to follow it. */
async function nowFigure(
  visit: Visit,
  { uuid, name, prefix }: Subject,
  { guild, places, held }: Standing,
): Promise<Figure> {
  const banner = await readBanner(visit, uuid)
  const xp = guild?.xp ?? null
  const level = guild
    ? html`<p><b>Level ${number(guild.level)}</b> <progress max="100" value="${xp ?? 0}" aria-label="Experience of this level"></progress> ${xp === null ? '?' : percent(xp / 100)}</p>`
    : ''
  const facts = guild
    ? html`<p>${count(guild.members ?? 0, 'member')}, ${number(guild.online)} online, ${number(guild.wars)} wars${guild.observed ? html`, as of <time datetime="${guild.observed.toISOString().slice(0, 16)}Z">${moment(guild.observed)}</time> UTC` : ''}.</p>`
    : ''
  const known = prefix !== null && /^\w+$/.test(prefix) ? prefix : uuid
  const own = places.filter((place) => place.uuid === uuid)
  const watch = `wynnsync watch add ${known.toLowerCase()} --event captured --event lost --guild ${known} --discord -`
  return {
    id: 'standing',
    title:
      held === 0
        ? 'It holds no territory'
        : `It holds ${count(held, 'territory', 'territories')} of ${number(places.length)}`,
    picture: html`<div class="standing">${banner ? bannerMarkup(banner, name) : ''}<div>${level}${facts}
<p>A message when it wins or loses a territory: <code>${watch}</code></p>
<p class="note"><a href="/feeds/guilds/${uuid}.atom">Feed of what happens to it</a></p></div>
${places.length > 0 ? placesMap(places, { id: 'guild-map', guild: uuid, label: 'The map, in colour where the guild holds it' }) : ''}</div>`,
    ...(own.length > 0 && {
      table: {
        columns: ['Territory', 'Since (UTC)'],
        rows: own.map(({ territory, since }) => [link('territories', territory), since]),
      },
    }),
  }
}

async function readBanner({ sql }: Visit, uuid: string): Promise<Banner | undefined> {
  const [row] = await sql.query<Banner & { readonly isDrawn: boolean }>(
    `select guild.banner_base as base,
            coalesce((select jsonb_agg(jsonb_build_object('colour', layer.colour, 'pattern', layer.pattern) order by layer.position)
                        from game.guild_banner_layer layer
                       where layer.guild_uuid = guild.guild_uuid and layer.valid_from = guild.valid_from), '[]') as layers
       from game.guild where guild_uuid = $1::text::uuid and banner_base is not null order by valid_from desc limit 1`,
    [uuid],
  )
  return row
}

interface Rival {
  readonly uuid: string | null
  readonly name: string | null
  readonly won: number
  readonly lost: number
}

/** Who lost territories to it, and took some from it. */
async function readRivals({ sql }: Visit, uuid: string, { from, to }: Frame): Promise<Rival[]> {
  return await sql.query<Rival>(
    `select other.uuid::text as uuid, max(other.name collate "C") as name,
            (count(*) filter (where is_won))::int as won, (count(*) filter (where not is_won))::int as lost
       from analytics.territory_capture capture
      cross join lateral (select capture.to_guild_uuid = $1::text::uuid as is_won) side
      cross join lateral (select case when is_won then capture.from_guild_uuid else capture.to_guild_uuid end as uuid,
                                 case when is_won then capture.from_guild_name else capture.to_guild_name end as name) other
      where capture.captured_at >= $2 and capture.captured_at < $3 and not capture.is_recapture
        and (capture.to_guild_uuid = $1::text::uuid or capture.from_guild_uuid = $1::text::uuid)
      group by other.uuid order by count(*) desc, 2 limit ${RIVALS}`,
    [uuid, from, to],
  )
}

function warFigure(rivals: readonly Rival[], { path }: Subject, { from, to }: Frame): Figure {
  const sum = (of: 'won' | 'lost') => rivals.reduce((total, one) => total + one[of], 0)
  const [won, lost] = [sum('won'), sum('lost')]
  const period = `${moment(from)} to ${moment(to)}`
  if (won + lost === 0) return { id: 'rivals', title: `No territory is known to be won or lost, ${period}` }
  return {
    ...listFigure('rivals', `${number(won)} won and ${number(lost)} lost, ${period}`, {
      columns: ['Against', 'Won from', 'Lost to', 'Balance', 'Hours'],
      rows: rivals.map((one) => [
        ...[guildLink(one.uuid, one.name), one.won, one.lost, one.won - one.lost],
        one.uuid === null ? '' : html`<a href="${path}?rival=${one.uuid}#hours" rel="nofollow">compare</a>`,
      ]),
    }),
    lead: 'Territories that changed hands in this period, as far as the map was watched.',
  }
}

interface WarHour {
  readonly hour: number
  readonly won: number
  readonly lost: number
}

/** When territories are won and lost, by hour of the day. */
async function hoursOfWar({ sql }: Visit, uuid: string, { from, to }: Frame): Promise<Figure> {
  const found = await sql.query<WarHour>(
    `select extract(hour from captured_at at time zone 'UTC')::int as hour,
            (count(*) filter (where to_guild_uuid = $1::text::uuid))::int as won,
            (count(*) filter (where to_guild_uuid is distinct from $1::text::uuid))::int as lost
       from analytics.territory_capture
      where captured_at >= $2 and captured_at < $3 and not is_recapture
        and (to_guild_uuid = $1::text::uuid or from_guild_uuid = $1::text::uuid) group by 1 order by 1`,
    [uuid, from, to],
  )
  if (found.length === 0) return { id: 'war-hours', title: 'No hour of war is known in this period' }
  const hours = Array.from(
    { length: 24 },
    (_, hour) => found.find((one) => one.hour === hour) ?? { hour, won: 0, lost: 0 },
  )
  const worst = hours.reduce((a, b) => (b.lost > a.lost ? b : a))
  const two = (hour: number) => String(hour).padStart(2, '0')
  const title = ({ hour, won, lost }: WarHour) => `${two(hour)}:00: ${won} won, ${lost} lost`
  return {
    id: 'war-hours',
    title:
      worst.lost > 0
        ? `Most are lost between ${two(worst.hour)}:00 and ${two((worst.hour + 1) % 24)}:00 UTC`
        : 'None was lost',
    lead: 'By hour of the day, in UTC: won above the line, lost below. Only hours that were watched can have any.',
    legend: legendLine([
      { fill: 'var(--g2)', label: 'won' },
      { fill: 'var(--g5)', label: 'lost' },
    ]),
    picture: draw('Territories won and lost by hour of the day.', ({ isNarrow }) => ({
      ...{ height: 150, marginLeft: 40, marginRight: 4, marginTop: 6, marginBottom: 22 },
      x: {
        domain: hours.map(({ hour }) => hour),
        label: null,
        tickSize: 0,
        tickFormat: (hour: number) => (hour % (isNarrow ? 6 : 3) === 0 ? `${two(hour)}:00` : ''),
      },
      y: { label: null, ticks: 4, grid: true, tickFormat: (value: number) => wholeTick(Math.abs(value)) },
      marks: [
        Plot.barY(hours, { x: 'hour', y: 'won', fill: 'var(--g2)', title }),
        Plot.barY(hours, { x: 'hour', y: ({ lost }: WarHour) => -lost, fill: 'var(--g5)', title }),
        Plot.ruleY([0]),
      ],
    })),
    table: {
      columns: ['Hour (UTC)', 'Won', 'Lost'],
      rows: hours.map(({ hour, won, lost }) => [`${two(hour)}:00`, won, lost]),
    },
  }
}

async function lastCaptures({ sql }: Visit, guild: string): Promise<Figure> {
  const captures = await latestCaptures(sql, { guild }, LATEST)
  return {
    id: 'guild-captures',
    title: captures.length === 0 ? 'No capture is known' : `The latest ${captures.length} captures`,
    ...(captures.length > 0 && { table: captureTable(captures), isTableShown: true }),
  }
}

interface Member {
  readonly player: string
  readonly username: string | null
  readonly rank: string
  readonly joined: Date | null
  readonly seen: Date | null
  readonly days: number | null
  readonly status: string
  readonly reason: string | null
  readonly contributed: number | null
  readonly wars: number | null
  readonly raids: number | null
}

/** Every member in one table: when last seen, what was gained in the period, and what cannot be known why. */
async function membersFigure({ sql, query }: Visit, { uuid, path }: Subject, frame: Frame): Promise<Figure> {
  const members = await sql.query<Member>(
    `select member.player_uuid::text as player, member.username, member.rank, joined.joined_at as joined, member.last_seen as seen,
            member.days_inactive::double precision as days, member.status, member.reason, gained.contributed, wars.delta as wars, raids.delta as raids
       from analytics.member_activity($1, (select least($3::timestamptz, last_at) from analytics.observed())) member
       left join (select player_uuid, joined_at from analytics.guild_member where guild_uuid = $1) joined using (player_uuid)
       left join (select player_uuid, contributed from analytics.member_contribution($1, $2, $3)) gained using (player_uuid)
       left join (select player_uuid, delta from analytics.member_counter($1, 'wars', $2, $3)) wars using (player_uuid)
       left join (select player_uuid, delta from analytics.member_counter($1, 'guildRaids.total', $2, $3)) raids using (player_uuid)`,
    [uuid, frame.from, frame.to],
  )
  if (members.length === 0)
    return missing('members-list', 'Its members are not known', `wynnsync sync guilds --guild ${uuid}`)
  const of = (wanted: string) => members.filter(({ status }) => status === wanted).length
  return {
    ...listFigure(
      'members-list',
      `${number(of('active'))} of ${count(members.length, 'member')} active, ${number(of('inactive'))} inactive, ${number(of('unknown'))} cannot be known`,
      sortedTable(members, memberColumns, { path, query, usual: 'days', anchor: 'members' }),
    ),
    lead: html`At the end of the period; gains are of the period. A heading sorts, a second time the other way. Who hides when they are online does not count as inactive.
<a href="/api/v1/member_activity?guild=${uuid}&amp;format=csv" rel="nofollow">CSV of activity</a>, <a href="/api/v1/member_contribution?guild=${uuid}&amp;from_time=${frame.from.toISOString()}&amp;to_time=${frame.to.toISOString()}&amp;format=csv" rel="nofollow">of contributions</a>`,
  }
}

const ranks = ['owner', 'chief', 'strategist', 'captain', 'recruiter', 'recruit']
const placeOf = (rank: string) => (ranks.includes(rank) ? ranks.indexOf(rank) : ranks.length)

const memberColumns: readonly Column<Member>[] = [
  {
    key: 'name',
    heading: 'Member',
    value: ({ username, player }) => username ?? player,
    cell: ({ username, player }) => link('players', player, username ?? player),
  },
  { key: 'rank', heading: 'Rank', value: ({ rank }) => placeOf(rank), cell: ({ rank }) => rank },
  { key: 'status', heading: 'Status', value: ({ status }) => status },
  { key: 'seen', heading: 'Last seen (UTC)', value: ({ seen }) => seen, isFalling: true },
  {
    key: 'days',
    heading: 'Days inactive',
    value: ({ days }) => days,
    cell: ({ days }) => (days === null ? null : Math.floor(days)),
    isFalling: true,
  },
  {
    key: 'contributed',
    heading: 'Contributed',
    value: ({ contributed }) => contributed,
    cell: ({ contributed }) => compact(contributed),
    isFalling: true,
  },
  { key: 'wars', heading: 'Wars', value: ({ wars }) => wars, isFalling: true },
  { key: 'raids', heading: 'Guild raids', value: ({ raids }) => raids, isFalling: true },
  { key: 'joined', heading: 'Joined (UTC)', value: ({ joined }) => joined },
  { key: 'hidden', heading: 'Hidden', value: ({ reason }) => reason ?? '' },
]

/** The same hours of a rival, below those of the guild. */
async function rivalFigure(
  visit: Visit,
  { rival, rivals, path }: { readonly rival: string | null; readonly rivals: readonly Rival[]; readonly path: string },
  frame: Frame,
): Promise<Figure> {
  const others = rivals.filter(({ uuid }) => uuid !== null).slice(0, 5)
  const form: Markup = html`<form action="${path}#hours"><label>Rival <input name="rival" size="14" value="${rival ?? ''}"></label><button>Compare</button></form>`
  const links = others.map(
    ({ uuid, name }) => html`<a href="${path}?rival=${uuid ?? ''}#hours" rel="nofollow">${name ?? uuid}</a> `,
  )
  const choice = html`${others.length > 0 ? html`Rivals of this period: ${links}` : ''}${form}`
  if (rival === null) return { id: 'rival-hours', title: 'When a rival sleeps', lead: choice }
  const other = await guildNamed({ ...visit, name: rival })
  const figure = await guildHoursFigure(visit.sql, other.uuid, frame)
  return { ...figure, id: 'rival-hours', title: `${other.name ?? rival}: ${figure.title}`, lead: choice }
}

async function namesFigure({ sql, finders }: Visit, uuid: string): Promise<Figure> {
  const names = (await finders.keys.guild?.holders(sql, uuid)) ?? []
  const [latest] = names
  if (!latest) return missing('names-list', 'No name is known', 'wynnsync sync guild-list')
  return listFigure('names-list', `Known as ${labelOf(latest)}`, {
    columns: ['Name', 'Prefix', 'From (UTC)', 'Until (UTC)'],
    rows: names.map(({ name, prefix, since, until }) => [name, prefix, since, until ?? 'now']),
  })
}

/** `Name [prefix]`, of which either may be unknown. */
function labelOf({ name, prefix }: { readonly name: unknown; readonly prefix: unknown }): string {
  return [name, prefix && `[${prefix}]`].filter(Boolean).join(' ')
}
