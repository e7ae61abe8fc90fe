import { html } from 'hono/html'
import type { Sql } from '../../db/database.ts'
import { isLate, readFreshness } from '../../drawing/freshness.ts'
import type { Markup } from '../../drawing/html-table.ts'
import { dayOf } from '../../drawing/words.ts'

/** How fresh all of the database is, for the header of every page. */
export interface Health {
  readonly level: 'fresh' | 'late' | 'silent'
  /** `map 12 min old`; the age has an element of its own, which counts on. */
  readonly text: Markup | string
  /** What a reader must know before anything else. */
  readonly banner?: Markup | string
}

/** Nothing for so long is an outage, not a late poll; seconds. */
const OUTAGE_SECONDS = 86_400

/** What people call a resource. */
const words: Readonly<Record<string, string>> = { territories: 'map', 'online-players': 'players online' }

export async function readHealth(sql: Sql, now: Date): Promise<Health> {
  const rows = await readFreshness(sql)
  const age = (at: Date) => Math.max(0, (now.getTime() - at.getTime()) / 1000)
  const seen = rows.flatMap(({ observed }) => observed ?? [])
  const last = seen.sort((one, other) => other.getTime() - one.getTime())[0]
  if (!last)
    return {
      level: 'silent',
      text: 'nothing yet',
      banner: html`Nothing was synced yet. The first responses come with <code>wynnsync sync</code>.`,
    }
  if (age(last) > OUTAGE_SECONDS) {
    const text = `nothing since ${dayOf(last, now)}`
    return {
      level: 'silent',
      text,
      banner: `Nothing was received since ${dayOf(last, now)}: the pages show what was known then.`,
    }
  }
  const late = rows
    .filter((row) => isLate(row, now))
    .map(({ resource, observed, every }) => ({
      resource,
      observed,
      times: observed ? age(observed) / (every ?? 1) : 0,
    }))
    .sort((one, other) => compare(rankOf(one.resource), rankOf(other.resource)) || compare(other.times, one.times))
  const [worst, ...others] = late
  if (!worst) return { level: 'fresh', text: 'up to date' }
  const more = others.length > 0 ? ` and ${others.length} more` : ''
  const name = words[worst.resource] ?? worst.resource.replaceAll('-', ' ')
  if (worst.observed === null) return { level: 'late', text: `no ${name} yet${more}` }
  const seconds = Math.round(age(worst.observed))
  return { level: 'late', text: html`${name} <span data-age="${seconds}">${ageText(seconds)}</span> old${more}` }
}

const compare = (one: number, other: number) => (one === other ? 0 : one < other ? -1 : 1)

/** What most readers look at comes first. */
function rankOf(resource: string): number {
  const place = Object.keys(words).indexOf(resource)
  return place < 0 ? Infinity : place
}

function ageText(seconds: number): string {
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`
}
