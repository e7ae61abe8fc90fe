import { html } from 'hono/html'
import { type Figure, listFigure, missing } from '../../drawing/figure.ts'
import type { Frame } from '../../drawing/frame.ts'
import type { memberGains } from '../../drawing/guild/guild-wars.ts'
import type { Cell, Markup } from '../../drawing/html-table.ts'
import { compact, count, number } from '../../drawing/words.ts'
import { link } from '../html/links.ts'
import type { Visit } from '../html/page.ts'
import { type Column, sortedTable } from '../html/sorted-table.ts'

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
export const memberCounters = ['wars', 'guildRaids.total', 'contributed']

/** Every member in one table: when last seen, what was gained in the period, and what cannot be known why. */
export async function membersFigure(
  { sql, query }: Visit,
  { uuid, path }: { readonly uuid: string; readonly path: string },
  gains: Awaited<ReturnType<typeof memberGains>>,
  frame: Frame,
): Promise<Figure> {
  const known = await sql.query<Omit<Member, 'wars' | 'raids' | 'contributed' | 'bounds'>>(
    `select member.player_uuid::text as player, member.username, member.rank, joined.joined_at as joined, member.last_seen as seen,
            member.days_inactive::double precision as days, member.status, member.reason
       from analytics.member_activity($1, (select least($2::timestamptz, last_at) from analytics.observed())) member
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
<a href="/api/v1/member_activity?guild=${uuid}&amp;format=csv" rel="nofollow">CSV of activity</a>, <a href="/api/v1/member_contribution?guild=${uuid}&amp;from_time=${frame.from.toISOString()}&amp;to_time=${frame.to.toISOString()}&amp;format=csv" rel="nofollow">of contributions</a>`,
  }
}

/** So many are named. */
const NAMED = 40

/** Members by the days since they were last seen, those who were seen latest first; who hides it is not among them. */
function namesOf(members: readonly Member[], id: string, isMeant: (days: number) => boolean): Markup {
  const meant = members
    .filter(({ days }) => days !== null && isMeant(days))
    .sort((one, other) => Number(one.days) - Number(other.days))
  const name = ({ player, username, days }: Member) =>
    html` ${link('players', player, username ?? player)}${Number(days) < 1 ? '' : html` <span class="soft">${number(Math.floor(Number(days)))} d</span>`}`
  return html`<dd id="${id}"><b>${number(meant.length)}</b>${meant.slice(0, NAMED).map(name)}${meant.length > NAMED ? ` and ${number(meant.length - NAMED)} more` : ''}</dd>`
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
