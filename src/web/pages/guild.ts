import * as Plot from '@observablehq/plot'
import { html } from 'hono/html'
import { territoryVocabulary } from '../../api/schemas/territories.ts'
import { guildColour } from '../../drawing/colours.ts'
import { draw } from '../../drawing/draw.ts'
import { type Figure, listFigure, missing } from '../../drawing/figure.ts'
import type { Frame } from '../../drawing/frame.ts'
import { guildHoursFigure, hoursOfWeek } from '../../drawing/guild/guild-hours.ts'
import { movesFigure } from '../../drawing/guild/guild-moves.ts'
import { memberGains } from '../../drawing/guild/guild-wars.ts'
import type { Cell, Markup } from '../../drawing/html-table.ts'
import { legendLine } from '../../drawing/swatch.ts'
import { compact, count, levelText, moment, number, percent, wholeTick } from '../../drawing/words.ts'
import { bannerMarkup } from '../html/banner.ts'
import { csvLink, hiddenFields, link } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { areHoldersSent, type HeldPlace, latestResources, placesMap, readPlaces, seenText } from '../html/places-map.ts'
import { type Column, sortedTable } from '../html/sorted-table.ts'
import { retentionFigure } from './guild-retention.ts'
import { type Rival, readWar, warFigures } from './guild-war.ts'
import { guildNamed } from './guilds.ts'

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
  /** The counters of which only so much is certain. */
  readonly bounds: readonly string[]
}

/** The counters of which the table of members has gains. */
const memberCounters = ['wars', 'guildRaids.total', 'contributed']

/** Every member in one table: when last seen, what was gained in the period, and what cannot be known why. */
async function membersFigure(
  { sql, query, now }: Visit,
  { uuid, path }: { readonly uuid: string; readonly path: string },
  gains: Awaited<ReturnType<typeof memberGains>>,
  frame: Frame,
): Promise<Figure> {
  const known = await sql.query<Omit<Member, 'wars' | 'raids' | 'contributed' | 'bounds'>>(
    `select member.player_uuid::text as player, member.username, member.rank, joined.joined_at as joined, member.last_seen as seen,
            member.days_inactive::double precision as days, member.status, member.reason
       from analytics.member_activity($1, (select least($2::timestamptz, last_at, now()) from analytics.observed())) member
       left join (select player_uuid, joined_at from analytics.guild_member where guild_uuid = $1) joined using (player_uuid)`,
    [uuid, frame.to],
  )
  const [warsOf, raidsOf, contributedOf] = memberCounters.map(
    (counter) => new Map(gains(counter).map((gain) => [gain.player, gain])),
  )
  const members: readonly Member[] = known.map((member) => ({
    ...member,
    wars: warsOf?.get(member.player)?.gained ?? null,
    raids: raidsOf?.get(member.player)?.gained ?? null,
    contributed: contributedOf?.get(member.player)?.gained ?? null,
    bounds: memberCounters.filter(
      (_, nth) => [warsOf, raidsOf, contributedOf][nth]?.get(member.player)?.quality === 'at_least',
    ),
  }))
  if (members.length === 0)
    return missing('members-list', 'Its members are not known', `wynnsync sync guilds --guild ${uuid}`)
  const of = (wanted: string) => members.filter(({ status }) => status === wanted).length
  return {
    picture: html`<dl class="facts"><dt>On within a day</dt>${namesOf(members, 'on-lately', (days) => days < 1)}<dt>Silent for two weeks</dt>${namesOf(
      members.filter(({ status }) => status === 'inactive'),
      'silent',
      (days) => days >= 14,
    )}</dl>`,
    ...listFigure(
      'members-list',
      `${number(of('active'))} of ${count(members.length, 'member')} active, ${number(of('inactive'))} inactive, ${number(of('unknown'))} cannot be known`,
      sortedTable(members, memberColumns, { path, query, usual: 'days', anchor: 'members' }),
    ),
    lead: html`At the end of the period; gains are of the period, ≥ where responses do not show all of it. A heading sorts, a second time the other way. Who hides when they are online does not count as inactive.
${csvLink('member_activity', { guild: uuid, at: frame.to < now ? frame.to : now }, 'CSV of activity')}, ${csvLink('member_contribution', { guild: uuid, from_time: frame.from, to_time: frame.to }, 'of contributions')}`,
  }
}

/** So many are named. */
const NAMED_MEMBERS = 40

/** Members by the days since they were last seen, those who were seen latest first; who hides it is not among them. */
function namesOf(members: readonly Member[], id: string, isMeant: (days: number) => boolean): Markup {
  const meant = members
    .filter(({ days }) => days !== null && isMeant(days))
    .sort((one, other) => Number(one.days) - Number(other.days))
  const name = ({ player, username, days }: Member) =>
    html` ${link('players', player, username ?? player)}${Number(days) < 1 ? '' : html` <span class="soft">${number(Math.floor(Number(days)))} d</span>`}`
  return html`<dd id="${id}"><b>${number(meant.length)}</b>${meant.slice(0, NAMED_MEMBERS).map(name)}${meant.length > NAMED_MEMBERS ? ` and ${number(meant.length - NAMED_MEMBERS)} more` : ''}</dd>`
}

const ranks = ['owner', 'chief', 'strategist', 'captain', 'recruiter', 'recruit']
const placeOf = (rank: string) => (ranks.includes(rank) ? ranks.indexOf(rank) : ranks.length)

/** A gain as it is, or as the least that it can be. */
function certain(shown: Cell, gained: number | null, isBound: boolean): Cell {
  return isBound && gained !== null ? `≥ ${typeof shown === 'number' ? number(shown) : shown}` : shown
}

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
    cell: ({ contributed, bounds }) => certain(compact(contributed), contributed, bounds.includes('contributed')),
    isFalling: true,
  },
  {
    key: 'wars',
    heading: 'Wars',
    value: ({ wars }) => wars,
    cell: ({ wars, bounds }) => certain(wars, wars, bounds.includes('wars')),
    isFalling: true,
  },
  {
    key: 'raids',
    heading: 'Guild raids',
    value: ({ raids }) => raids,
    cell: ({ raids, bounds }) => certain(raids, raids, bounds.includes('guildRaids.total')),
    isFalling: true,
  },
  { key: 'joined', heading: 'Joined (UTC)', value: ({ joined }) => joined },
  { key: 'hidden', heading: 'Hidden', value: ({ reason }) => reason ?? '' },
]

/** `/guilds/PREFIX`: one guild, by uuid, prefix or name: now, at war, its members, its hours, its history. */
export async function guildPage(visit: Visit): Promise<Page> {
  const { people, query, sql } = visit
  const { uuid, guild, holder, name } = await guildNamed(visit)
  // Others may have its prefix: that leads here for sure only where it has led here.
  const path = `/guilds/${encodeURIComponent(visit.name === guild?.prefix ? visit.name : uuid)}`
  const shown = await shownPeriod(visit, { path, of: ['guilds', 'territories'], guild: uuid })
  const frame = { ...shown.frame, playerCell: (player: string, username: string) => link('players', player, username) }
  // One is drawn while the database works for the next: what members gained takes longest, and is waited for where it is drawn.
  const gaining = people ? memberGains(sql, uuid, frame, ...memberCounters) : Promise.resolve(undefined)
  gaining.catch(() => undefined)
  const [places, areSent, { rivals, hours: warHours }] = await Promise.all([
    readPlaces(sql),
    areHoldersSent(sql),
    readWar(visit, uuid, frame),
  ])
  const subject = { uuid, path, name: name ?? 'This guild', prefix: guild?.prefix ?? holder?.prefix ?? null }
  const held = areSent && places.length > 0 ? places.filter((place) => place.uuid === uuid).length : null
  const seen = seenText(places, visit.now)
  const holds = held === null ? '? territories' : `${count(held, 'territory', 'territories')}${seen}`
  const rival = query.get('rival')
  const kept = [...query].filter(([name]) => name !== 'rival')
  const rivalPath = (other: string) => `${path}?${new URLSearchParams([...kept, ['rival', other]])}#hours`
  const [unlisted, standing, production, hours, overlay, war, members, moves, stayed, names] = await Promise.all([
    guild ? undefined : notListed(visit),
    nowFigure(visit, subject, { guild, places, held, kept: shown.kept }),
    held !== null && held > 0 ? productionFigure(visit, uuid, seen) : undefined,
    guildHoursFigure(sql, uuid, frame),
    rivalFigures(visit, { ...subject, rival, rivals, rivalPath }, frame),
    gaining.then((gains) =>
      warFigures(visit, { uuid, rivalPath, name, rivals, hours: warHours, wars: gains?.('wars') }, frame),
    ),
    gaining.then((gains) => gains && membersFigure(visit, subject, gains, frame)),
    people ? movesFigure(sql, uuid, frame) : undefined,
    retentionFigure(sql, uuid, frame.to),
    namesFigure(visit, uuid),
  ])
  const chapter = (id: string, ...figures: readonly (Figure | undefined)[]) =>
    chapterOf(id, headingOf(id), ...figures.filter((figure) => figure !== undefined))
  return {
    path,
    control: html`${shown.control}<nav class="parts" aria-label="Parts">${['now', 'war', ...(people ? ['members'] : []), 'hours', 'history'].map((part) => html`<a href="#${part}">${headingOf(part)}</a>`)}</nav>`,
    feed: `/feeds/guilds/${uuid}.atom`,
    title: guild
      ? `${labelOf(guild)}: ${number(guild.members)} ${guild.members === 1 ? 'member' : 'members'}, ${holds}`
      : `${holder ? labelOf(holder) : 'This guild'}${unlisted?.command ? `: ${holds}` : ' is not in the latest list of guilds'}`,
    lead: guild
      ? `Level ${number(guild.level)}, ${number(guild.online)} online, ${number(guild.wars)} wars; ? is unknown.`
      : unlisted?.command
        ? 'What the map shows of it.'
        : 'What is known of a guild that is not listed, or not yet.',
    chapters: [
      chapter('now', unlisted, standing, production),
      chapter('war', ...war),
      ...(members ? [chapter('members', members)] : []),
      chapter('hours', hours, ...overlay),
      chapter('history', moves && latestMoves(moves, uuid, frame), stayed, names),
    ],
  }
}

const headingOf = (part: string) => `${part[0]?.toUpperCase()}${part.slice(1)}`

/** So many moves are listed. */
const LISTED_MOVES = 40

/** Of moves of years the last ones: a page is read on a phone, too. */
function latestMoves({ table, ...figure }: Figure, uuid: string, { from, to }: Frame): Figure {
  if (!table || table.rows.length <= LISTED_MOVES) return { ...figure, ...(table && { table }) }
  const all = csvLink('membership_event', { guild_uuid: uuid, at: [from, to] }, 'CSV of all')
  const note = html`The last ${number(LISTED_MOVES)} of ${number(table.rows.length)}; ${all}.`
  return { ...figure, table: { ...table, rows: table.rows.slice(-LISTED_MOVES), note } }
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
  /** Null where that is not known. */
  readonly held: number | null
  /** A path with the period of the page. */
  readonly kept: (path: string) => string
}

/** The banner, the level, where it is on the map, and how to follow it. */
async function nowFigure(
  visit: Visit,
  { uuid, name, prefix }: Subject,
  { guild, places, held, kept }: Standing,
): Promise<Figure> {
  const banner = await readBanner(visit, uuid)
  const xp = guild?.xp ?? null
  const level = guild
    ? html`<p><b>Level ${number(guild.level)}</b> <progress max="100" value="${xp ?? 0}" aria-label="Experience of this level"></progress> ${xp === null ? '?' : percent(xp / 100)}</p>`
    : ''
  // Its numbers are above.
  const facts = guild?.observed
    ? html`<p>Last seen <time datetime="${guild.observed.toISOString().slice(0, 16)}Z">${moment(guild.observed, visit.now)}</time> UTC.</p>`
    : ''
  const known = prefix !== null && /^\w+$/.test(prefix) ? prefix : uuid
  const own = places.filter((place) => place.uuid === uuid)
  const watch = `wynnsync watch add ${known.toLowerCase()} --event captured --event lost --guild ${known} --discord -`
  return {
    id: 'standing',
    title:
      held === null
        ? 'What it holds is not known'
        : held === 0
          ? 'It holds no territory'
          : `It holds ${count(held, 'territory', 'territories')} of ${number(places.length)}${seenText(places, visit.now)}`,
    picture: html`<div class="standing">${banner ? bannerMarkup(banner, name) : ''}<div>${level}${facts}
<p>A message when it wins or loses a territory: <code>${watch.split(' ').map((word) => html`<span>${word}</span> `)}</code></p>
<p class="note"><a href="/feeds/guilds/${uuid}.atom">Feed of what happens to it</a>; <a href="${kept(`/gained?kind=guild&entity=${uuid}`)}" rel="nofollow">what it gained, day by day</a></p></div>
${placesMap(places, { id: 'guild-map', guild: uuid, label: 'The map, in colour where the guild holds it' })}</div>`,
    ...(own.length > 0 && {
      table: {
        columns: ['Territory', 'Since (UTC)', 'Treasury', 'Defences', ''],
        rows: own.map(({ territory, since, treasury, defences, hq }) => [
          link('territories', territory),
          since,
          levelText(treasury),
          levelText(defences),
          hq ? 'headquarters' : '',
        ]),
      },
    }),
  }
}

type Banner = Parameters<typeof bannerMarkup>[0]

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

interface Produced {
  readonly resource: string
  readonly produced: number | null
  readonly stored: number | null
  readonly room: number | null
  readonly places: number
}

/** What its territories produce and store of each resource, as last seen. */
async function productionFigure({ sql }: Visit, uuid: string, seen: string): Promise<Figure> {
  const rows = await sql.query<Produced>(
    `select lower(kind.resource) as resource, sum(latest.generation)::float8 as produced, sum(latest.stored)::float8 as stored,
            sum(latest.storage_limit)::float8 as room, (count(*) filter (where latest.generation > 0))::int as places
       from analytics.territory place ${latestResources('$2')}
      where place.guild_uuid = $1::text::uuid group by 1 order by 2 desc nulls last, 1`,
    [uuid, territoryVocabulary.resourceType],
  )
  const id = 'production'
  const made = rows.filter(({ produced }) => (produced ?? 0) > 0)
  if (made.length === 0) return { id, title: 'What its territories produce is not known' }
  const name = (resource: string) => (resource === 'emerald' ? 'emeralds' : resource)
  const words = made.map(({ resource, produced }) => `${number(produced)} ${name(resource)}`)
  return listFigure(id, `It produces ${new Intl.ListFormat('en-GB').format(words)} an hour${seen}`, {
    columns: ['Resource', 'An hour', 'Stored', 'Room for', 'Made in territories'],
    rows: rows.map(({ resource, produced, stored, room, places }) => [name(resource), produced, stored, room, places]),
  })
}

interface Rivalry extends Subject {
  /** As the address names it. */
  readonly rival: string | null
  readonly rivals: readonly Rival[]
  readonly rivalPath: (rival: string) => string
}

/** The hours of a rival, on those of the guild: of the one that is named, else of the first. */
async function rivalFigures(
  visit: Visit,
  { rival, rivals, rivalPath, path, ...own }: Rivalry,
  frame: Frame,
): Promise<readonly Figure[]> {
  const others = rivals.flatMap(({ uuid, name }) => (uuid === null ? [] : [{ uuid, name }])).slice(0, 5)
  const kept = [...visit.query].filter(([name]) => name !== 'rival')
  const form: Markup = html`<form action="${path}#hours">${hiddenFields(kept)}<label>Rival <input name="rival" size="14" value="${rival ?? ''}"></label><button>Compare</button></form>`
  const links = others.map(({ uuid, name }) => html`<a href="${rivalPath(uuid)}" rel="nofollow">${name ?? uuid}</a> `)
  const choice = html`${others.length > 0 ? html`Rivals of this period: ${links}` : ''}${form}`
  const chosen = rival ?? others[0]?.uuid
  if (!chosen) return [{ id: 'rival-hours', title: 'When a rival sleeps', lead: choice }]
  const other = await guildNamed({ ...visit, name: chosen })
  const name = other.name ?? chosen
  const hours = await hoursOf(visit, own.uuid, other.uuid, frame)
  const overlay = { id: 'rival-hours', lead: choice, ...overlayOf(hours, own.name, name) }
  if (rival === null) return [overlay]
  const week = await guildHoursFigure(visit.sql, other.uuid, frame)
  return [overlay, { ...week, id: 'rival-week', title: `${name}: ${week.title}` }]
}

interface HourOfTwo {
  readonly hour: number
  /** Members online on average; null: not known. */
  readonly own: number | null
  readonly other: number | null
}

async function hoursOf({ sql }: Visit, own: string, other: string, frame: Frame): Promise<HourOfTwo[]> {
  const [ofOwn, ofOther] = await Promise.all([own, other].map((guild) => hoursOfWeek(sql, guild, frame)))
  const averageOf = (week: typeof ofOwn, hour: number) => {
    const known = (week ?? []).flatMap((one) => (one.hour === hour && one.average !== null ? [one.average] : []))
    return known.length === 0 ? null : known.reduce((sum, average) => sum + average, 0) / known.length
  }
  const hours = [...new Set([...(ofOwn ?? []), ...(ofOther ?? [])].map(({ hour }) => hour))].sort((a, b) => a - b)
  return hours.map((hour) => ({ hour, own: averageOf(ofOwn, hour), other: averageOf(ofOther, hour) }))
}

/** Two guilds over the hours of a day, and when the other one has fewest online. */
function overlayOf(hours: readonly HourOfTwo[], own: string, name: string): Omit<Figure, 'id'> {
  const known = hours.flatMap(({ hour, other }) => (other === null ? [] : [{ hour, other }]))
  const [first, ...rest] = known
  if (!first) return { title: `${name}: when it is online is not known` }
  const least = rest.reduce((a, b) => (b.other < a.other ? b : a), first)
  const two = (hour: number) => `${String(hour).padStart(2, '0')}:00`
  const sides = [
    { fill: guildColour(own), label: own, of: ({ own: online }: HourOfTwo) => online },
    { fill: guildColour(name), label: name, of: ({ other }: HourOfTwo) => other },
  ]
  return {
    title: `${name}: fewest online at ${two(least.hour)} UTC, ${number(least.other, 1)} on average`,
    legend: legendLine(sides),
    picture: draw(`Members online by hour of the day, of ${own} and of ${name}.`, ({ isNarrow }) => ({
      height: 180,
      marginLeft: 40,
      marginRight: 8,
      marginTop: 8,
      marginBottom: 22,
      x: {
        domain: [0, 23],
        label: null,
        tickSize: 0,
        ticks: isNarrow ? 4 : 8,
        tickFormat: (hour: number) => (Number.isInteger(hour) ? two(hour) : ''),
      },
      y: { label: null, ticks: 4, grid: true, zero: true, tickFormat: wholeTick },
      marks: sides.flatMap(({ fill, of, label }) => [
        Plot.lineY(hours, { x: 'hour', y: of, stroke: fill, strokeWidth: 2.5 }),
        Plot.dot(
          hours.filter((one) => of(one) !== null),
          {
            x: 'hour',
            y: of,
            fill,
            r: 3,
            title: (one: HourOfTwo) => `${two(one.hour)}: ${number(of(one), 1)} of ${label}`,
          },
        ),
      ]),
    })),
    table: {
      columns: ['Hour (UTC)', own, name],
      rows: hours.map((one) => [two(one.hour), one.own, one.other]),
    },
  }
}

async function namesFigure({ sql, finders }: Visit, uuid: string): Promise<Figure> {
  const names = (await finders.keys.guild?.holders(sql, uuid)) ?? []
  const [latest] = names
  if (!latest) return missing('names-list', 'No name is known', 'wynnsync sync guild-list')
  return listFigure('names-list', `Known as ${labelOf(latest)}`, {
    columns: ['Name', 'Prefix', 'From (UTC)', 'Until (UTC)'],
    rows: names.map(({ name, prefix, since, until }) => [name, prefix, since, until ?? 'now']),
    note: csvLink('guild_history', { guild_uuid: uuid }),
  })
}

/** `Name [prefix]`, of which either may be unknown. */
function labelOf({ name, prefix }: { readonly name: unknown; readonly prefix: unknown }): string {
  return [name, prefix && `[${prefix}]`].filter(Boolean).join(' ')
}
