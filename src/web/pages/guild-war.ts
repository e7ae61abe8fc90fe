import * as Plot from '@observablehq/plot'
import { html } from 'hono/html'
import { draw } from '../../drawing/draw.ts'
import { type Figure, listFigure } from '../../drawing/figure.ts'
import type { Frame } from '../../drawing/frame.ts'
import { guildTerritoriesFigure } from '../../drawing/guild/guild-territories.ts'
import { type MemberGain, warsFigure } from '../../drawing/guild/guild-wars.ts'
import { legendLine } from '../../drawing/swatch.ts'
import { count, moment, number, wholeTick } from '../../drawing/words.ts'
import { csvLink, guildLink, link } from '../html/links.ts'
import type { Visit } from '../html/page.ts'
import { captureTable, latestCaptures } from './captures.ts'

const LISTED_CAPTURES = 15
const LISTED_RIVALS = 25

/** So many lost territories are listed. */
const LISTED_LOSSES = 40

/** A territory cannot be attacked for so long after a capture, in minutes. */
const COOLDOWN_MINUTES = 10

/** What a guild lost and won, against whom and when. */
export async function warFigures(
  visit: Visit,
  subject: {
    readonly uuid: string
    /** Where the hours of a rival are. */
    readonly rivalPath: (rival: string) => string
    readonly name: string | undefined
    readonly rivals: readonly Rival[]
    readonly hours: readonly WarHour[]
    /** Left out: single players are not shown. */
    readonly wars?: readonly MemberGain[] | undefined
  },
  frame: Frame,
): Promise<Figure[]> {
  const { sql } = visit
  const { uuid, rivalPath, name, rivals, hours, wars } = subject
  const war = warFigure(rivals, rivalPath, frame)
  return [
    // Without anything won or lost, the one says all of the three.
    ...(rivals.length === 0 ? [war] : [await lostFigure(visit, uuid, frame), war, hoursOfWar(hours)]),
    await guildTerritoriesFigure(sql, { uuid, name }, frame),
    ...(wars ? [warsFigure(wars, uuid, frame)] : []),
    await lastCaptures(visit, uuid, frame),
  ]
}

interface Lost {
  readonly territory: string
  readonly at: Date
  readonly taker: string
  readonly takerName: string | null
  readonly holder: string
  readonly holderName: string | null
  readonly since: Date
}

/** What was taken from it and not won back: by whom, who captured it last in the period, and from when it can be attacked. */
async function lostFigure({ sql }: Visit, uuid: string, { from, to }: Frame): Promise<Figure> {
  const lost = await sql.query<Lost>(
    `with lost as materialized (
       select distinct on (territory) territory, captured_at, to_guild_uuid, to_guild_name from analytics.territory_capture
        where captured_at >= $2 and captured_at < $3 and from_guild_uuid = $1::text::uuid and not is_recapture
        order by territory, captured_at desc)
     select lost.territory, lost.captured_at as at, lost.to_guild_uuid::text as taker, lost.to_guild_name as "takerName",
            latest.to_guild_uuid::text as holder, latest.to_guild_name as "holderName", latest.captured_at as since
       from lost
      cross join lateral (select capture.to_guild_uuid, capture.to_guild_name, capture.captured_at from analytics.territory_capture capture
                           where capture.territory = lost.territory and capture.captured_at >= lost.captured_at and capture.captured_at < $3
                           order by capture.captured_at desc limit 1) latest
      order by latest.captured_at desc, lost.territory collate "C"`,
    [uuid, from, to],
  )
  const id = 'lost'
  if (lost.length === 0) return { id, title: 'No territory is known to be lost' }
  const open = lost.filter(({ holder }) => holder !== uuid)
  const all = count(lost.length, 'lost territory', 'lost territories')
  if (open.length === 0) return { id, title: `All of ${all} ${lost.length === 1 ? 'is' : 'are'} won back` }
  return {
    ...listFigure(id, `${number(open.length)} of ${all} ${open.length === 1 ? 'is' : 'are'} not won back`, {
      columns: ['Territory', 'Lost (UTC)', 'To', 'Last captured by', 'Open since (UTC)'],
      rows: open
        .slice(0, LISTED_LOSSES)
        .map(({ territory, at, taker, takerName, holder, holderName, since }) => [
          link('territories', territory),
          at,
          guildLink(taker, takerName),
          guildLink(holder, holderName),
          new Date(since.getTime() + COOLDOWN_MINUTES * 60_000),
        ]),
      note:
        open.length > LISTED_LOSSES
          ? html`The ${number(LISTED_LOSSES)} that were captured last; ${csvLink(
              'territory_capture',
              { from_guild_uuid: uuid, is_recapture: 'is.false', captured_at: [from, to] },
              'CSV of all that was lost in this period',
            )}.`
          : undefined,
    }),
    lead: `In this period, as far as the map was watched. A territory is open to attack ${COOLDOWN_MINUTES} minutes after a capture.`,
  }
}

export interface Rival {
  readonly uuid: string | null
  readonly name: string | null
  readonly won: number
  readonly lost: number
}

/** What was won from a guild or lost to it in an hour of the day. */
interface Fought {
  readonly uuid: string | null
  readonly name: string | null
  readonly hour: number
  readonly won: number
  readonly lost: number
}

/** Who lost territories to it, and took some from it, and when: each of its captures is read once. */
export async function readWar(
  { sql }: Visit,
  uuid: string,
  { from, to }: Frame,
): Promise<{ readonly rivals: readonly Rival[]; readonly hours: readonly WarHour[] }> {
  const fought = await sql.query<Fought>(
    `select other.uuid::text as uuid, max(other.name collate "C") as name, extract(hour from capture.captured_at at time zone 'UTC')::int as hour,
            (count(*) filter (where is_won))::int as won, (count(*) filter (where not is_won))::int as lost
       from analytics.territory_capture capture
      cross join lateral (select capture.to_guild_uuid = $1::text::uuid as is_won) side
      cross join lateral (select case when is_won then capture.from_guild_uuid else capture.to_guild_uuid end as uuid,
                                 case when is_won then capture.from_guild_name else capture.to_guild_name end as name) other
      where capture.captured_at >= $2 and capture.captured_at < $3 and not capture.is_recapture
        and (capture.to_guild_uuid = $1::text::uuid or capture.from_guild_uuid = $1::text::uuid)
      group by other.uuid, 3`,
    [uuid, from, to],
  )
  const sum = (of: readonly Fought[], side: 'won' | 'lost') => of.reduce((total, one) => total + one[side], 0)
  const rivals = [...new Set(fought.map((one) => one.uuid))].map((other): Rival => {
    const of = fought.filter((one) => one.uuid === other)
    const names = of.flatMap(({ name }) => name ?? []).sort()
    return { uuid: other, name: names.at(-1) ?? null, won: sum(of, 'won'), lost: sum(of, 'lost') }
  })
  const before = (a: Rival, b: Rival) => b.won + b.lost - (a.won + a.lost) || ((a.name ?? '') < (b.name ?? '') ? -1 : 1)
  const hours = Array.from({ length: 24 }, (_, hour): WarHour => {
    const of = fought.filter((one) => one.hour === hour)
    return { hour, won: sum(of, 'won'), lost: sum(of, 'lost') }
  })
  return { rivals: rivals.sort(before), hours }
}

function warFigure(
  rivals: readonly Rival[],
  rivalPath: (rival: string) => string,
  { from, to, writtenAt }: Frame,
): Figure {
  const sum = (of: 'won' | 'lost') => rivals.reduce((total, one) => total + one[of], 0)
  const won = sum('won')
  const lost = sum('lost')
  const period = `${moment(from, writtenAt)} to ${moment(to, writtenAt)}`
  if (won + lost === 0) return { id: 'rivals', title: `No territory is known to be won or lost, ${period}` }
  return {
    ...listFigure('rivals', `${number(won)} won and ${number(lost)} lost, ${period}`, {
      columns: ['Against', 'Won from', 'Lost to', 'Balance', 'Hours'],
      rows: rivals
        .slice(0, LISTED_RIVALS)
        .map((one) => [
          guildLink(one.uuid, one.name),
          one.won,
          one.lost,
          one.won - one.lost,
          one.uuid === null ? '' : html`<a href="${rivalPath(one.uuid)}" rel="nofollow">compare</a>`,
        ]),
      note:
        rivals.length > LISTED_RIVALS
          ? html`The first ${LISTED_RIVALS} of ${number(rivals.length)}; ${csvLink('capture_matrix', { from_time: from, to_time: to }, 'CSV of who took how many from whom')}.`
          : undefined,
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
function hoursOfWar(hours: readonly WarHour[]): Figure {
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
      height: 150,
      marginLeft: 40,
      marginRight: 4,
      marginTop: 6,
      marginBottom: 22,
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

/** The latest of the period and before it. */
async function lastCaptures({ sql }: Visit, guild: string, { from, to }: Frame): Promise<Figure> {
  const captures = await latestCaptures(sql, { guild, before: to }, LISTED_CAPTURES)
  const id = 'guild-captures'
  if (captures.length === 0) return { id, title: 'No capture is known' }
  const query = new URLSearchParams({ guild, from: from.toISOString(), to: to.toISOString() })
  const note = html`<a href="/captures?${query}" rel="nofollow">All of this period</a>`
  const title = captures.length === 1 ? 'The latest capture' : `The latest ${captures.length} captures`
  return listFigure(id, title, { ...captureTable(captures), note })
}
