import * as Plot from '@observablehq/plot'
import type { Sql } from '../db/database.ts'
import { expectedEvery } from './frame.ts'
import { observedOf, type Period, stepsOf } from './period.ts'
import { readWatched, seriesStep, type Watched } from './time-axis.ts'

/** The instants of a series over a period: where each step begins, and the last moment. */
export interface Moments {
  /** Seconds. */
  readonly step: number
  readonly all: readonly Date[]
  /** When the resource was not observed. */
  readonly blind: readonly Period[]
  /** Whether an observation speaks for an instant. */
  readonly isKnown: (at: Date) => boolean
  /** How well each step was watched. */
  readonly watched: readonly Watched[]
}

/** The instants at which a resource is shown; null where it was never observed. */
export async function readMoments(sql: Sql, resource: string, frame: Period): Promise<Moments | null> {
  const seen = await observedOf(sql, resource)
  if (!seen) return null
  const step = seriesStep(frame, await expectedEvery(sql, resource))
  // What an observation still speaks for is no gap.
  const gaps = await sql.query<Period>(
    `select began_at + case when missed = 0 then interval '0' else (ended_at - began_at) / (missed + 1) end as "from",
            ended_at as "to"
       from analytics.unobserved($1, $2, $3)`,
    [resource, frame.from, frame.to],
  )
  const blind = [...gaps, { from: new Date(0), to: new Date(seen.first.getTime() - step * 1000) }]
  const last = new Date(frame.to.getTime() - 1)
  const begins = stepsOf(frame, step)
  return {
    step,
    all: last > (begins.at(-1) ?? frame.from) ? [...begins, last] : begins,
    blind,
    isKnown: (at) =>
      at.getTime() <= seen.last.getTime() + step * 1000 && !blind.some(({ from, to }) => from <= at && at < to),
    watched: await readWatched(sql, resource, frame, step),
  }
}

/** A value from one instant to the next; NULL where it is not known. */
export interface Span {
  readonly at: Date
  readonly until: Date
  readonly value: number | null
}

/** Spans as bars from zero; hatched where the value is not known. */
export function spanMarks(spans: readonly Span[], title: (span: Span) => string, fill = 'var(--g4)'): Plot.Markish[] {
  const across = { x1: 'at', x2: 'until', title }
  const [known, unknown] = [true, false].map((isKnown) => spans.filter(({ value }) => (value !== null) === isKnown))
  return [
    Plot.rect(unknown, { ...across, fill: 'url(#unknown)' }),
    Plot.rect(known, { ...across, y1: 0, y2: 'value', fill }),
    Plot.ruleY([0]),
  ]
}

/** What each instant shows, up to the next one; equal neighbours as one. */
export function spansOf(points: readonly { readonly at: Date; readonly value: number | null }[], end: Date): Span[] {
  const spans: Span[] = []
  for (const [place, { at, value }] of points.entries()) {
    const until = points[place + 1]?.at ?? end
    const before = spans.at(-1)
    if (before?.value === value) spans[spans.length - 1] = { ...before, until }
    else spans.push({ at, until, value })
  }
  return spans
}
