import * as Plot from '@observablehq/plot'
import { html, raw } from 'hono/html'
import type { Sql } from '../db/database.ts'
import { documentText, policyOf } from '../drawing/document.ts'
import { draw, type Picture } from '../drawing/draw.ts'
import { type Chapter, chapterMarkup, type Figure, missing } from '../drawing/figure.ts'
import { type Frame, playerCell } from '../drawing/frame.ts'
import { freshnessFigure } from '../drawing/freshness.ts'
import { guildHoursFigure } from '../drawing/guild/guild-hours.ts'
import { movesFigure } from '../drawing/guild/guild-moves.ts'
import { memberGains, warsFigure } from '../drawing/guild/guild-wars.ts'
import { memberBars, qualityLegend, qualityNote } from '../drawing/guild/member-bars.ts'
import type { Markup } from '../drawing/html-table.ts'
import { captureMatrixFigure } from '../drawing/map/capture-matrix.ts'
import { capturesFigure } from '../drawing/map/captures.ts'
import { empiresFigure } from '../drawing/map/empires.ts'
import { mapFigure } from '../drawing/map/map.ts'
import { mapFrameOf } from '../drawing/map/map-frame.ts'
import { changesOf, lastPatch, patchText, readablePath } from '../drawing/patch/patch-changes.ts'
import { shiftsPicture } from '../drawing/patch/patch-shifts.ts'
import { type Period, periodOf } from '../drawing/period.ts'
import { legendLine } from '../drawing/swatch.ts'
import { count, instant, moment, number, percent, shortened, wholeTick } from '../drawing/words.ts'
import { onlineTotalFigure, worldsFigure } from '../drawing/worlds/worlds-chapter.ts'
import { balanceFigure } from './balance.ts'
import { gapsFigure } from './gaps.ts'
import { poolsFigure } from './pools.ts'

/** The guild with the most members among those that were synced; null when none was. */
async function biggestGuild(sql: Sql): Promise<string | null> {
  const [row] = await sql.query<{ guild: string }>(
    `select guild_uuid::text as guild from analytics.guild where members is not null order by members desc, guild_uuid limit 1`,
  )
  return row?.guild ?? null
}

/** d. The page of one guild. */
async function guildChapter(sql: Sql, frame: Frame): Promise<Chapter> {
  const { guild } = frame
  const id = 'guild'
  if (guild === null) return { id, heading: 'A guild', figures: [neverSynced] }
  const [row] = await sql.query<{ name: string; prefix: string }>(
    `select name, prefix from analytics.guild where guild_uuid = $1`,
    [guild],
  )
  // One is drawn while the database works for the next.
  const figures = await Promise.all([
    membersFigure(sql, guild, frame),
    contributionFigure(sql, guild, frame),
    memberGains(sql, guild, frame, 'wars').then((of) => warsFigure(of('wars'), guild, frame)),
    movesFigure(sql, guild, frame),
    guildHoursFigure(sql, guild, frame),
  ])
  if (row) return { id, heading: `${row.name} [${row.prefix}]`, figures }
  // What is not known of it cannot be requested any more.
  const known = figures.filter(({ table }) => table !== undefined)
  return { id, heading: 'The guild', figures: [await notListed(sql), ...known] }
}

const neverSynced = missing('members', 'No guild was synced yet', 'wynnsync sync guild-list guilds')

/** Why nothing is known of a guild now: it is not listed, or there is no list yet. */
async function notListed(sql: Sql): Promise<Figure> {
  const [listed] = await sql.query(`select from analytics.guild limit 1`)
  if (!listed) return missing('not-listed', 'No list of guilds was synced yet', 'wynnsync sync guild-list guilds')
  return {
    id: 'not-listed',
    title: 'It is not in the latest list of guilds',
    lead: 'It was disbanded, or it is newer than that list. What is known of its time before follows.',
  }
}

interface Contribution {
  readonly player: string
  readonly username: string
  readonly rank: string
  readonly contributed: number | null
  readonly share: number | null
  readonly position: number
  readonly quality: string
}

/** d. Who contributed how much in the period, and how sure that is. */
async function contributionFigure(sql: Sql, guild: string, frame: Frame): Promise<Figure> {
  const rows = await sql.query<Contribution>(
    `select player_uuid::text as player, username, rank, contributed, share, position, quality
       from analytics.member_contribution($1, $2, $3)`,
    [guild, frame.from, frame.to],
  )
  const id = 'contribution'
  const known = rows.filter(({ contributed }) => contributed !== null)
  if (known.length === 0) {
    return missing(
      id,
      'What its members contributed in this period is not known',
      `wynnsync sync guilds --guild ${guild}`,
    )
  }
  const given = known.flatMap(({ username, contributed, quality }) =>
    contributed === null || contributed <= 0 ? [] : [{ username, amount: contributed, quality }],
  )
  const [first] = given
  const share = known.find(({ contributed }) => (contributed ?? 0) > 0)?.share
  return {
    id,
    title: first
      ? `${first.username} contributed most: ${first.quality === 'at_least' ? 'at least ' : ''}${experience(first.amount)} experience${share == null ? '' : `, ${percent(share)} of the guild's`}`
      : 'No contribution was observed in this period',
    lead: `Experience contributed in the period; ${given.length} of ${known.length} members gave something.`,
    legend: qualityLegend,
    ...(first && { picture: memberBars('Experience contributed by the most active members.', given, experience) }),
    table: {
      columns: ['Member', 'Rank', 'Contributed', 'Share', 'Place', 'Quality'],
      rows: rows.map((one) => [
        playerCell(frame, one.player, one.username),
        one.rank,
        one.contributed,
        percent(one.share),
        one.position,
        one.quality,
      ]),
      note: qualityNote,
    },
  }
}

/** `7.1 bn`: experience comes in billions. */
function experience(value: number): string {
  if (value >= 1e9) return `${(value / 1e9).toFixed(1)} bn`
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} m`
  return value.toLocaleString('en-US')
}

interface Member {
  readonly player: string
  readonly username: string
  readonly rank: string
  readonly seen: Date | null
  readonly days: number | null
  readonly status: string
  readonly reason: string
}

const statuses = [
  { status: 'active', fill: 'var(--g2)', label: 'active: seen in the last seven days' },
  { status: 'inactive', fill: 'url(#g5-lines)', label: 'inactive' },
  { status: 'unknown', fill: 'url(#unknown)', label: 'cannot be known' },
]
const ranks = ['owner', 'chief', 'strategist', 'captain', 'recruiter', 'recruit']

/** d. Which members are active, at the end of the period. */
async function membersFigure(sql: Sql, guild: string, frame: Frame): Promise<Figure> {
  const members = await sql.query<Member>(
    `select player_uuid::text as player, username, rank, last_seen as seen, days_inactive as days, status, coalesce(reason, '') as reason from analytics.member_activity($1, (select least($2::timestamptz, last_at, now()) from analytics.observed()))`,
    [guild, frame.to],
  )
  const id = 'members'
  if (members.length === 0) return missing(id, 'Its members are not known', `wynnsync sync guilds --guild ${guild}`)
  const of = (wanted: string) => members.filter(({ status }) => status === wanted).length
  return {
    id,
    title: `${number(of('active'))} of ${count(members.length, 'member')} active, ${number(of('inactive'))} inactive, ${number(of('unknown'))} cannot be known`,
    lead: 'Members by rank at the end of the period. Members with a restriction do not count as inactive; the table gives the reason for each unknown.',
    legend: legendLine(statuses),
    picture: picture(members),
    table: {
      columns: ['Member', 'Rank', 'Status', 'Last seen (UTC)', 'Days ago', 'Why it cannot be known'],
      rows: members.map(({ player, username, rank, status, seen, days, reason }) => [
        playerCell(frame, player, username),
        rank,
        status,
        seen,
        days,
        reason,
      ]),
    },
  }
}

/** How many members of a rank have a status, and how many of that rank have one that is drawn before it. */
interface Bar {
  readonly rank: string
  readonly status: string
  readonly fill: string
  readonly start: number
  readonly end: number
}

function picture(members: readonly Member[]): Picture {
  const place = (rank: string) => (ranks.includes(rank) ? ranks.indexOf(rank) : ranks.length)
  const domain = [...new Set(members.map(({ rank }) => rank))].sort(
    (a, b) => place(a) - place(b) || a.localeCompare(b, 'en'),
  )
  const bars = domain.flatMap((rank) => barsOf(rank, members))
  const amount = ({ start, end }: Bar) => end - start
  return draw('Members by rank: active, inactive, unknown.', ({ isNarrow }) => ({
    height: domain.length * 28 + 24,
    marginLeft: isNarrow ? 72 : 90,
    marginRight: 20,
    marginTop: 2,
    marginBottom: 20,
    x: { label: null, ticks: 5, tickFormat: wholeTick, grid: true },
    y: { domain, label: null, tickSize: 0 },
    color: { type: 'identity' },
    marks: [
      Plot.barX(bars, {
        x1: 'start',
        x2: 'end',
        y: 'rank',
        fill: 'fill',
        stroke: 'var(--paper)',
        inset: 0.5,
        title: (bar) => `${bar.rank}: ${amount(bar)} ${bar.status}`,
      }),
      Plot.text(
        bars.filter((bar) => amount(bar) * (isNarrow ? 2.4 : 8) > members.length * 0.09),
        {
          x: (bar) => (bar.start + bar.end) / 2,
          y: 'rank',
          text: (bar) => String(amount(bar)),
          fill: 'var(--ink)',
          stroke: 'var(--paper)',
          strokeWidth: 4,
          fontWeight: 700,
        },
      ),
    ],
  }))
}

function barsOf(rank: string, members: readonly Member[]): Bar[] {
  let end = 0
  const bars = statuses.map(({ status, fill }) => {
    const start = end
    end += members.filter((member) => member.rank === rank && member.status === status).length
    return { rank, status, fill, start, end }
  })
  return bars.filter((bar) => bar.end > bar.start)
}

const most = 500

/** e. What the last patch changed in items and recipes, with before and after. */
async function patchFigure(sql: Sql, { from, to }: Period): Promise<Figure> {
  const patch = await lastPatch(sql, to)
  if (!patch) return missing('patch', 'No patch was seen yet', 'wynnsync sync items recipes')
  const found = await changesOf(sql, patch, ['items', 'recipes'], most + 1)
  const changes = found.slice(0, most)
  const drawn = shiftsPicture(changes)
  return {
    id: 'patch',
    title: patchText(patch),
    lead: `Patch ${patch.patch}, first seen ${moment(patch.startedAt)} UTC${patch.startedAt < from ? ', before this period' : ''}.${drawn.picture ? ' The picture has the numbers that changed most against what they were.' : ''}`,
    ...drawn,
    table: {
      columns: ['Item or recipe', 'What', 'Before', 'After', 'Taken back'],
      rows: changes.map(({ name, path, before, after, isRevert }) =>
        path === ''
          ? [name, before === null ? 'appeared' : 'disappeared', '', '', isRevert ? 'yes' : '']
          : [name, readablePath(path), shown(before), shown(after), isRevert ? 'yes' : ''],
      ),
      note:
        found.length > most
          ? `The first ${most} changes; all of them: wynnsync query item_change patch=${patch.patch}`
          : undefined,
    },
    isTableShown: changes.length <= 30,
  }
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '–'
  return shortened(typeof value === 'string' ? value : JSON.stringify(value), 120)
}

/** What a report is wanted about. */
export interface Wanted extends Partial<Period> {
  /** Uuid of the guild that gets a page; the biggest one when left out. */
  readonly guild?: string | undefined
  readonly writtenAt: Date
  /** Print every row of the tables, not only the first ones. */
  readonly tables?: boolean
  readonly version: string
}

/** A report: one HTML file that needs no other. */
interface Report extends Period {
  readonly guild: string | null
  readonly html: string
}

/** Queries schema `analytics` and writes the results as a page with pictures. */
export async function composeReport(
  sql: Sql,
  { version, tables = false, writtenAt, ...wanted }: Wanted,
): Promise<Report> {
  const period = await periodOf(sql, wanted, writtenAt)
  const guild = wanted.guild ?? (await biggestGuild(sql))
  const frame = await mapFrameOf(sql, { ...period, guild, writtenAt })
  const territories = [mapFigure, empiresFigure, capturesFigure, captureMatrixFigure]
  const chapters: Chapter[] = [
    { id: 'territories', heading: 'Territories', figures: await each(territories, (draw) => draw(sql, frame)) },
    await guildChapter(sql, frame),
    {
      id: 'players',
      heading: 'Players online',
      figures: await each([onlineTotalFigure, worldsFigure], (draw) => draw(sql, frame)),
    },
    { id: 'game', heading: 'The last patch', figures: [await patchFigure(sql, frame)] },
    {
      id: 'content',
      heading: 'Pools and balance',
      figures: await each([poolsFigure, balanceFigure], (draw) => draw(sql, frame)),
    },
    {
      id: 'completeness',
      heading: 'How complete this is',
      figures: [await freshnessFigure(sql, writtenAt), await gapsFigure(sql, frame)],
    },
  ]
  return { ...period, guild, html: await pageOf(chapters, frame, { version, tables }) }
}

/** One after the other: an embedded database runs one query at a time. */
async function each<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = []
  for (const item of items) results.push(await work(item))
  return results
}

const policy = [...policyOf(), `form-action 'none'`].join('; ')

/** The whole page, of one file that needs no other. */
async function pageOf(
  chapters: readonly Chapter[],
  { from, to, writtenAt }: Frame,
  { version, tables }: { readonly version: string; readonly tables: boolean },
): Promise<string> {
  const period = `${moment(from, writtenAt)} to ${moment(to, writtenAt)}`
  return await documentText({
    title: `wynnsync: ${period}`,
    version,
    head: html`<meta http-equiv="Content-Security-Policy" content="${raw(policy)}">`,
    body: html`<header><h1>What happened, ${period}</h1>
<p class="soft">Written ${instant(writtenAt)}. All times are UTC. Hatched (on paper, dashed) is unknown, not zero.</p>
<nav aria-label="Findings"><dl>${chapters.map(contents)}</dl></nav></header>
<main class="${tables ? '' : 'brief'}">${chapters.map(chapterMarkup)}</main>
<footer>wynnsync ${version}, from the schema <code>analytics</code>; <code>wynnsync query --list</code> shows what else can be
asked. Not affiliated with the makers of the game or of its API.</footer>`,
  })
}

function contents({ id, heading, figures }: Chapter): Markup {
  const findings = figures.map((one) => html`<a href="#${one.id}">${one.title}</a>`)
  return html`<div><dt><a href="#${id}">${heading}</a></dt><dd>${findings}</dd></div>`
}
