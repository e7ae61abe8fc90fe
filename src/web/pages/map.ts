import { html } from 'hono/html'
import { mapFigure } from '../../analytics/report/map/map.ts'
import { mapFrameOf } from '../../analytics/report/map/map-frame.ts'
import { instant } from '../../analytics/report/words.ts'
import { INSTANT, instantOf } from '../../base/text/instants.ts'
import { pathOf } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { Problem } from '../http/problems.ts'

/** `/map?at=`: who holds what at an instant, and in the seven days before it. */
export async function mapPage(visit: Visit): Promise<Page> {
  const { sql, now, query } = visit
  const text = query.get('at') ?? ''
  const at = text === '' ? undefined : shownInstant(text, now)
  // The period ends before its end.
  const { frame: period, control } = await shownPeriod(visit, {
    ...{ path: '/map', of: ['territories'] },
    ...(at && { to: new Date(at.getTime() + 1) }),
  })
  const frame = {
    ...(await mapFrameOf(sql, period)),
    pageOf: (name: string) => pathOf('territories', name),
    ...(at ? {} : { aside: liveCaptures }),
  }
  const map = await mapFigure(sql, frame)
  return {
    path: at ? `/map?at=${encodeURIComponent(at.toISOString())}` : '/map',
    title: map.title,
    lead: `The map ${at ? `at ${instant(at)} UTC` : 'as last seen'}, and the days before.`,
    control: html`<form action="/map"><label>At <input name="at" size="32" value="${text}" placeholder="2026-05-01T20:00Z, -12h, yesterday">
</label><button>Show</button></form>${control}`,
    chapters: [chapterOf('territories', 'Territories', { ...map, title: 'The map through these days' })],
  }
}

/** Filled by the script of the page. */
const liveCaptures = html`<section id="map-live" hidden><p role="status"></p><ol role="log" tabindex="0" aria-label="Captures since the page was opened"></ol></section>`

function shownInstant(text: string, now: Date): Date {
  const at = instantOf(text, now.getTime())
  // Of years that can have been observed.
  if (at === undefined || at.getUTCFullYear() < 2000 || at.getUTCFullYear() > 9000)
    throw new Problem('bad-argument', { detail: `at must be ${INSTANT}`, argument: 'at' })
  return at
}
