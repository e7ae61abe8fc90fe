import { html, raw } from 'hono/html'
import { type Figure, missing } from '../../drawing/figure.ts'
import type { Frame } from '../../drawing/frame.ts'
import { type Fresh, isLate, readFreshness } from '../../drawing/freshness.ts'
import type { Markup } from '../../drawing/html-table.ts'
import { legendLine } from '../../drawing/swatch.ts'
import { count, every, instant, length, moment, percent } from '../../drawing/words.ts'
import { link } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { reasonText } from './runs.ts'

/** Days that a row shows by default. */
const SHOWN_DAYS = 90

/** How many bars a row has: as many as there is room for. */
const amounts = [90, 45, 30, 15] as const

/** Bytes that all bars, and all reasons of failures, may have, so that the page has less than 40 kB whatever happened. */
const room = { bars: 5_000, reasons: 3_500 }

/** `/status`: how fresh and complete each resource is, the worst first. */
export async function statusPage(visit: Visit): Promise<Page> {
  const { sql, now } = visit
  const { frame, control } = await shownPeriod(visit, { path: '/status', days: SHOWN_DAYS })
  const rows = await readFreshness(sql)
  const late = rows.filter((row) => isLate(row, now)).length
  const title =
    rows.length === 0
      ? 'Nothing was synced yet'
      : rows.every((row) => row.every === null)
        ? 'No schedule is known, so nothing counts as late'
        : late === 0
          ? `Nothing is late: ${count(rows.length, 'resource')}`
          : `${late} of ${count(rows.length, 'resource')} ${late === 1 ? 'is' : 'are'} late`
  return {
    path: '/status',
    title,
    lead: `How fresh and complete the history is, as of ${instant(now)} UTC.`,
    control,
    chapters: [chapterOf('completeness', 'Resources, the worst first', await resourcesFigure(visit, rows, frame))],
  }
}

interface Watch {
  readonly resource: string
  /** Share of each bar that was watched; NULL without a schedule. */
  readonly bars: readonly (number | null)[]
}

interface Failure {
  readonly resource: string
  readonly run: string
  readonly status: string
  readonly at: Date
  readonly reason: string | null
}

type Row = Fresh & {
  readonly isLate: boolean
  readonly bars: Watch['bars']
  readonly watched: number | null
  readonly failure: Failure | undefined
}

async function resourcesFigure({ sql, now }: Visit, fresh: readonly Fresh[], frame: Frame): Promise<Figure> {
  if (fresh.length === 0) return missing('resources', 'No resource was synced', 'wynnsync sync')
  const names = fresh.map(({ resource }) => resource)
  const [{ watches, amount }, failures] = await Promise.all([
    watchesFitting(sql, names, frame),
    readFailures(sql, names),
  ])
  const reasonRoom = room.reasons / Math.max(1, failures.length)
  const rows = fresh.map((one): Row => {
    const bars = watches.find(({ resource }) => resource === one.resource)?.bars ?? []
    const known = bars.flatMap((share) => share ?? [])
    const watched = known.length === 0 ? null : known.reduce((sum, share) => sum + share, 0) / known.length
    const failure = failures.find(({ resource }) => resource === one.resource)
    return { ...one, isLate: isLate(one, now), bars, watched, failure }
  })
  const runs = html`<a href="/runs">All runs</a>, <a href="/runs?failed=yes">those that failed</a>.`
  return {
    id: 'resources',
    title: `Watched from ${moment(frame.from, frame.writtenAt)} to ${moment(frame.to, frame.writtenAt)}`,
    lead: html`One bar per ${every((frame.to.getTime() - frame.from.getTime()) / 1000 / amount)}. Time without an observation is unknown, not zero. ${runs}`,
    legend: legendLine([
      { fill: 'var(--cover)', label: 'watched as often as expected' },
      { fill: 'var(--cover)', opacity: 0.45, label: 'partly' },
      { fill: 'url(#unknown)', label: 'not observed, or no schedule known' },
    ]),
    picture: html`<ul class="resources">${rows.sort((one, other) => badness(other, now) - badness(one, now)).map((row) => rowMarkup(row, now, reasonRoom))}</ul>`,
  }
}

/** Late ones by how much, then those whose last run failed, then those that were watched least. */
function badness({ isLate, observed, every, status, watched }: Row, now: Date): number {
  const age = observed === null ? Infinity : (now.getTime() - observed.getTime()) / 1000
  const lateness = isLate ? 10 + Math.min(1e6, age / (every ?? 1)) : 0
  const failed = status === 'failed' || status === 'rejected' ? 5 : status === 'partial' ? 2 : 0
  return lateness + failed + (watched === null ? 0 : 1 - watched)
}

function rowMarkup(
  { resource, observed, every: seconds, isLate, bars, watched, failure, status }: Row,
  now: Date,
  reasonRoom: number,
): Markup {
  const state = observed === null ? 'silent' : isLate ? 'late' : seconds === null ? 'unscheduled' : 'fresh'
  const words = { silent: 'never seen', late: 'late', unscheduled: 'no schedule', fresh: 'up to date' }[state]
  const age = observed && Math.max(0, (now.getTime() - observed.getTime()) / 1000)
  const known = watched === null ? 'not known how well it was watched' : `${percent(watched)} watched`
  const isSaid = status === null || status === failure?.status
  return html`<li class="${state}"><b>${link('runs', resource, resource, '?resource=')}</b>
<span>${state === 'fresh' ? '' : `${words}${observed === null ? '' : ': '}`}${observed === null ? '' : `seen ${length(age ?? 0)} ago`}${seconds === null ? '' : `, expected every ${every(seconds)}`}${isSaid ? '' : `; last run ${status}`}</span>
${barsMarkup(bars, `${resource}: ${known}`)}<span class="n">${watched === null ? '?' : percent(watched)}</span>
${failure ? html`<p>${failure.status} on <a href="/runs/${failure.run.slice(0, 13)}">${moment(failure.at, now)}</a>: ${shortenedTo(reasonText(failure), reasonRoom)}</p>` : ''}</li>
`
}

/** Levels of a bar: from which share on, and how strong it is. */
const levels = [
  [0.995, 1],
  [0.5, 0.75],
  [0.0001, 0.45],
] as const

/** How many bytes a letter has in HTML that are more than those of the letter. */
const escapes: Readonly<Record<string, number>> = { '&': 5, '<': 4, '>': 4, '"': 6, "'": 5 }

/** A text that has at most so many bytes in HTML. */
function shortenedTo(text: string, bytes: number): string {
  const letters = [...text]
  let left = bytes - Buffer.byteLength('…')
  const end = letters.findIndex((letter) => {
    left -= escapes[letter] ?? Buffer.byteLength(letter)
    return left < 0
  })
  return end < 0 ? text : `${letters.slice(0, end).join('')}…`
}

/** Bars over a hatched ground. */
function barsMarkup(bars: readonly (number | null)[], label: string): Markup {
  return html`<svg class="bars" viewBox="0 0 ${Math.max(1, bars.length)} 10" preserveAspectRatio="none" role="img" aria-label="${label}"><rect/>${raw(barPaths(bars))}</svg>`
}

/** Equal neighbours are one stroke. */
function barPaths(bars: readonly (number | null)[]): string {
  const levelOf = (share: number | null) => levels.findIndex(([least]) => share !== null && share >= least)
  const strokes = levels.map(() => ({ d: '', end: 0 }))
  for (let from = 0; from < bars.length; ) {
    const level = levelOf(bars[from] ?? null)
    let to = from + 1
    while (to < bars.length && levelOf(bars[to] ?? null) === level) to++
    const stroke = strokes[level]
    if (stroke) {
      stroke.d += `${stroke.d === '' ? `M${from} 5` : `m${from - stroke.end} 0`}h${to - from}`
      stroke.end = to
    }
    from = to
  }
  return strokes
    .map(({ d }, level) => (d === '' ? '' : `<path d="${d}" stroke-opacity="${levels[level]?.[1] ?? 1}"/>`))
    .join('')
}

/** How well each resource was watched, in as many bars as there is room for. */
async function watchesFitting(sql: Visit['sql'], resources: readonly string[], frame: Frame) {
  for (const amount of amounts) {
    const watches = await readWatches(sql, resources, frame, amount)
    const size = watches.reduce((sum, { bars }) => sum + barPaths(bars).length, 0)
    if (size <= room.bars || amount === amounts.at(-1)) return { watches, amount }
  }
  throw new Error('there is no amount of bars')
}

async function readWatches(
  sql: Visit['sql'],
  resources: readonly string[],
  { from, to }: Frame,
  amount: number,
): Promise<Watch[]> {
  const step = Math.max(60, (to.getTime() - from.getTime()) / 1000 / amount)
  return await sql.query<Watch>(
    `select every.name as resource, array_agg(cell.coverage order by cell.at) as bars
       from unnest($4::text[]) every(name)
      cross join lateral analytics.watched(every.name, $1, $2, make_interval(secs => $3), $1) cell group by 1`,
    [from, to, step, resources],
  )
}

/** The last run of each that did not load everything. */
async function readFailures(sql: Visit['sql'], resources: readonly string[]): Promise<Failure[]> {
  return await sql.query<Failure>(
    `select every.name as resource, last.run_id::text as run, last.status, last.finished_at as at, coalesce(last.error, last.reason) as reason
       from unnest($1::text[]) every(name)
      cross join lateral (
        select run.* from unnest('{failed,rejected,partial}'::text[]) as wanted(status)
         cross join lateral (select * from sync.run where run.resource = every.name and run.status = wanted.status
                              order by run.started_at desc nulls last limit 1) run
         order by run.started_at desc nulls last limit 1) last`,
    [resources],
  )
}
