import { html } from 'hono/html'
import { INSTANT, instantOf } from '../../base/text/instants.ts'
import type { Frame } from '../../drawing/frame.ts'
import type { Markup } from '../../drawing/html-table.ts'
import { beginOf, endAfter, type Period, periodOf, type Seen } from '../../drawing/period.ts'
import { bounds } from '../../questions/asking/bounds.ts'
import { Problem } from '../http/problems.ts'
import { hiddenFields } from './links.ts'
import type { Visit } from './page.ts'

/** What a page about a period reads of its address. */
export const periodParameters = ['from', 'to'] as const

/** What a page about a period is about. */
interface Subject {
  readonly path: string
  /** The resources that it shows: the period ends with the last observation of one of them. Left out: all. */
  readonly of?: readonly string[]
  /** The end of the period, where the address names none. */
  readonly to?: Date
  readonly guild?: string
  /** How long it is by default, in days; Infinity: all that was observed. */
  readonly days?: number
}

interface ShownPeriod {
  readonly frame: Frame
  readonly control: Markup
  /** Whether it has all that was ever observed. */
  readonly isWhole: boolean
  /** A path with the period of the address, where that names one: for links to pages about the same time. */
  readonly kept: (path: string) => string
  /** From when to when what it shows was observed; null where nothing was. */
  readonly seen: Seen | null
}

/** From when to when something was observed, and the season in which that ended. */
interface Watched extends Seen {
  readonly season: number | null
  readonly started: Date | null
}

const HOUR = 3_600_000
const DAY = 86_400_000
const DAYS_OF_WEEK = 7

function daysBefore(to: Date, days: number, { first }: Seen): Date {
  // Nothing was observed before `to`: it is a page about a day that is not known.
  const earliest = days < Infinity ? to.getTime() - days * DAY : first < to ? 0 : to.getTime() - DAY
  return beginOf(earliest, to, first)
}

/**
 * The period that the address names, and links to others. By default the seven days up to the last observation of what the page shows.
 * @throws Problem when the address names none that can have been observed
 */
export async function shownPeriod(
  { sql, now, query }: Visit,
  { path, of, to, guild, days = DAYS_OF_WEEK }: Subject,
): Promise<ShownPeriod> {
  const own = of ? await watchedOf(sql, of) : null
  const seen = own ?? (await watchedOf(sql, null))
  const wanted = wantedPeriod(query, now)
  const until = wanted.to ?? to
  const from =
    wanted.from ?? (days === DAYS_OF_WEEK || !seen ? undefined : daysBefore(until ?? endAfter(seen.last), days, seen))
  // A list of all that happened has no steps whose number is bound.
  const period =
    days === Infinity && from
      ? { from, to: until ?? endAfter(seen?.last ?? now) }
      : await periodOf(sql, { ...(from && { from }), ...(until && { to: until }) }, now, seen)
  if (period.from >= period.to) throw wrong('from', 'from must be before to')
  const frame: Frame = { ...period, guild: guild ?? null, writtenAt: now }
  const isWhole =
    !seen || (period.from <= beginOf(0, period.to, seen.first) && period.to.getTime() >= endAfter(seen.last).getTime())
  const named = [...query].filter(([name]) => isOfPeriod(name))
  const kept = (to: string) =>
    named.length === 0 ? to : `${to}${to.includes('?') ? '&' : '?'}${new URLSearchParams(named)}`
  return {
    frame,
    control: seen ? switchOf({ path, query, seen, period, days }) : html``,
    isWhole,
    kept,
    seen: of ? own : seen,
  }
}

const isOfPeriod = (name: string) => periodParameters.some((one) => one === name)

function wantedPeriod(query: URLSearchParams, now: Date): Partial<Period> {
  const at = (name: 'from' | 'to') => {
    const text = query.get(name) ?? ''
    if (text === '') return {}
    const instant = instantOf(text, now.getTime())
    if (!instant || instant.getUTCFullYear() < 2000) throw wrong(name, `${name} must be ${INSTANT}`)
    // A minute more: the end of a period is the end of a minute.
    if (instant.getTime() > now.getTime() + 60_000) throw wrong(name, `${name} must not be after now`)
    return { [name]: instant }
  }
  return { ...at('from'), ...at('to') }
}

function wrong(argument: string, detail: string): Problem {
  return new Problem('bad-argument', { detail, argument })
}

interface Switching {
  readonly path: string
  readonly query: URLSearchParams
  readonly seen: Watched
  readonly period: Period
  readonly days: number
}

/** Links to the usual periods, each with its instants in the address, so that it shows the same later; and a form for others. */
function switchOf({ path, query, seen, period, days }: Switching): Markup {
  // Another period has other pages.
  const others = [...query].filter(([name]) => !isOfPeriod(name) && name !== 'at' && name !== 'page')
  const choices = usualPeriods(seen, days)
  const isSame = ([, { from, to }]: readonly [string, Period]) =>
    from.getTime() === period.from.getTime() && to.getTime() === period.to.getTime()
  // Of a short history several are the same: the one that is usual here.
  const usual = days === Infinity ? 'all' : `${days} d`
  const shown = [...choices.filter(([name]) => name === usual), ...choices].find(isSame)
  const item = (choice: readonly [string, Period]) => {
    const [name, { from, to }] = choice
    const address = new URLSearchParams([...others, ['from', shortInstant(from)], ['to', shortInstant(to)]])
    return html`<a href="${path}?${address}" rel="nofollow"${choice === shown ? html` aria-current="true"` : ''}>${name}</a>`
  }
  return html`<nav class="period" aria-label="Period">${choices.map(item)}
<details><summary>custom</summary><form action="${path}">${hiddenFields(others)}
<label>From <input name="from" size="18" value="${shortInstant(period.from)}"></label>
<label>To <input name="to" size="18" value="${shortInstant(period.to)}"></label><button>Show</button></form></details></nav>`
}

function usualPeriods(seen: Watched, usual: number): (readonly [string, Period])[] {
  const { first, last, season, started } = seen
  const to = endAfter(last)
  const days = (count: number) => ({ from: daysBefore(to, count, seen), to })
  return [
    ['24 h', days(1)],
    ['7 d', days(7)],
    ['30 d', days(30)],
    ...(usual > 30 && usual < Infinity ? [[`${usual} d`, days(usual)] as const] : []),
    ...(started ? [[`season ${season}`, { from: beginOf(started.getTime(), to, first), to }] as const] : []),
    ...(usual === Infinity || to.getTime() - first.getTime() < bounds.cells * HOUR
      ? [['all', { from: beginOf(0, to, first), to }] as const]
      : []),
  ]
}

/** Of some resources, or of all; null where none of them was observed. In one statement, which each page makes. */
async function watchedOf(sql: Visit['sql'], resources: readonly string[] | null): Promise<Watched | null> {
  const [watched] = await sql.query<{ [Name in keyof Watched]: Watched[Name] | null }>(
    `with seen as materialized (
       select min(watch.first_at) as first, max(watch.last_at) as last
         from ${resources ? 'unnest($1::text[]) as known(resource)' : 'analytics.freshness known'} cross join lateral analytics.watch(known.resource) watch)
     select seen.*, season.season, season.started from seen
       left join lateral (select season, started_at as started from analytics.season where started_at <= seen.last
                           order by started_at desc limit 1) season on true`,
    resources ? [resources] : [],
  )
  return watched?.first && watched.last ? ({ ...watched, first: watched.first, last: watched.last } as Watched) : null
}

/** `2026-05-03T22:00Z`: an instant to the minute, as addresses have it. */
function shortInstant(at: Date): string {
  return at.toISOString().replace(/:00\.000Z$/, 'Z')
}
