import { html } from 'hono/html'
import type { Sql } from '../../db/database.ts'
import { differenceOf, numberDifference } from '../../drawing/difference.ts'
import type { Figure } from '../../drawing/figure.ts'
import type { Table } from '../../drawing/html-table.ts'
import { readablePath } from '../../drawing/patch/patch-changes.ts'
import { count, instant } from '../../drawing/words.ts'
import { grouped } from '../html/grouped.ts'
import { link, pathOf } from '../html/links.ts'

/** A version of an item. */
export interface Version {
  readonly since: Date
  /** Null for the one that is current. */
  readonly until: Date | null
  /** The item in the shape of the API. */
  readonly record: unknown
}

/** A value of an item, one for each identification whatever its range is. Null where it was not there. */
interface StatChange {
  readonly path: string
  readonly before: Stat | null
  readonly after: Stat | null
}

interface Stat {
  readonly value: unknown
  /** The number, or that before the roll. */
  readonly amount: number | null
}

/** What happened to an item at one instant. */
export interface Revision {
  readonly at: Date
  readonly patch: number | null
  /** What players called it. */
  readonly name: string
  readonly kind: 'appeared' | 'disappeared' | 'changed'
  readonly changes: readonly StatChange[]
  readonly isRevert: boolean
}

/** How many changed values of them are shown. */
const SHOWN_VALUES = 800

interface Found extends Version {
  readonly id: string
}

/** The instants at which something of an item changed, with the patch of each. */
interface Changed {
  readonly id: string
  readonly at: Date
  readonly patch: number
  readonly isRevert: boolean
  /** Whether the item itself came or went. */
  readonly isWhole: boolean
}

/** Which versions: those that began before an instant, without so many of the latest, so many of them. */
interface Part {
  readonly to: Date | null
  readonly offset: number
  readonly most: number
}

/** Versions of an item and what each changed, both the latest first. */
interface ItemHistory {
  readonly versions: readonly Version[]
  readonly revisions: readonly Revision[]
  /** Whether there are earlier ones. */
  readonly isCut: boolean
}

/** The versions of some items and what each changed. */
export async function readRevisions(
  sql: Sql,
  items: readonly string[],
  { to, offset, most }: Part,
): Promise<(id: string) => ItemHistory> {
  // One more on either side, so that it is known what the first and the last of them changed.
  const before = offset > 0 ? 1 : 0
  const [found, changed] = await Promise.all([
    sql.query<Found>(
      `select wanted.id, version.* from unnest($1::text[]) as wanted(id)
        cross join lateral (
          select valid_from as since, case when valid_until < 'infinity' then valid_until end as until, document as record
            from game.item where internal_name = wanted.id and ($2::timestamptz is null or valid_from < $2)
           order by valid_from desc limit ${before + most + 1} offset $3) version`,
      [items, to, offset - before],
    ),
    sql.query<Changed>(
      `select change.key as id, change.changed_at as at, instant.patch, bool_or(change.is_revert) as "isRevert", bool_or(change.path = '') as "isWhole"
         from game.field_change change
         join analytics.change_instant instant on instant.changed_at = change.changed_at
        where change.resource = 'items' and change.key = any ($1::text[]) group by 1, 2, 3`,
      [items],
    ),
  ])
  const versionsOf = grouped(found, ({ id }) => id)
  const changesOf = grouped(changed, ({ id }) => id)
  return (id) => {
    const all = versionsOf.get(id) ?? []
    return {
      versions: all.slice(before, before + most),
      revisions: revisionsOf(id, all, { changed: changesOf.get(id) ?? [], before, most, to }),
      isCut: all.length > before + most,
    }
  }
}

interface Around {
  readonly changed: readonly Changed[]
  /** How many versions come after those of the page. */
  readonly before: number
  readonly most: number
  /** What happened at this instant or later is left out. */
  readonly to: Date | null
}

function revisionsOf(id: string, versions: readonly Version[], { changed, before, most, to }: Around): Revision[] {
  const changes = new Map(changed.map((one) => [one.at.getTime(), one]))
  const revisions: Revision[] = []
  const add = (kind: Revision['kind'], at: Date, { record }: Version, values: readonly StatChange[] = []) => {
    const { patch = null, isRevert = false } = changes.get(at.getTime()) ?? {}
    revisions.push({ at, patch, name: nameOf(record) ?? id, kind, changes: values, isRevert })
  }
  versions.forEach((version, place) => {
    if (place < before || place >= before + most) return
    const earlier = versions[place + 1]
    const later = versions[place - 1]
    const isEnded = version.until && (to === null || version.until < to)
    if (version.until && isEnded && version.until.getTime() !== later?.since.getTime())
      add('disappeared', version.until, version)
    const follows = earlier?.until?.getTime() === version.since.getTime()
    if (earlier && follows) add('changed', version.since, version, differences(earlier.record, version.record))
    // The first response is where history begins: of it nothing came.
    else if (earlier || changes.get(version.since.getTime())?.isWhole) add('appeared', version.since, version)
  })
  return revisions
}

/** What players call the item of a record. */
export function nameOf(record: unknown): string | undefined {
  const name = isRecord(record) ? record.displayName : undefined
  // Without the signs of the game's font, for which browsers have no picture.
  return typeof name === 'string' ? name.replace(/\p{Co}+/gu, '') : undefined
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The values that differ between two records, in the order of what they are called. */
export function differences(before: unknown, after: unknown): StatChange[] {
  const old = statsOf(before)
  const young = statsOf(after)
  const changes = [...new Set([...old.keys(), ...young.keys()])].flatMap((path) => {
    const was = old.get(path) ?? null
    const is = young.get(path) ?? null
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ path, before: was, after: is }]
  })
  return changes.sort((one, other) => (readablePath(one.path) < readablePath(other.path) ? -1 : 1))
}

/** What lies deeper is one value. */
const DEEPEST_LEVEL = 6

/** The values of a record by their paths; a range is one. */
function statsOf(record: unknown): Map<string, Stat> {
  const stats = new Map<string, Stat>()
  const add = (path: string, value: unknown, depth: number) => {
    const roll = rollOf(value)
    if (roll && typeof value !== 'number') stats.set(path, { value: rollText(roll), amount: roll.base })
    else if (depth < DEEPEST_LEVEL && isRecord(value))
      for (const [name, own] of Object.entries(value)) add(`${path}/${pointerPart(name)}`, own, depth + 1)
    else if (value !== null && value !== undefined)
      stats.set(path, { value, amount: typeof value === 'number' ? value : null })
  }
  add('', record, 0)
  return stats
}

/** RFC 6901. */
function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** A value before its roll, and between which ends it lies after it. */
interface Roll {
  readonly base: number | null
  readonly least: number
  readonly most: number
}

/** The range of a value as the API sends it; undefined for what has none. */
export function rollOf(value: unknown): Roll | undefined {
  if (typeof value === 'number') return { base: value, least: value, most: value }
  if (!isRecord(value)) return undefined
  const { min, max, raw } = value
  if (typeof min !== 'number' || typeof max !== 'number') return undefined
  // Of spell costs, `min` lies above `max`.
  return { base: typeof raw === 'number' ? raw : null, least: Math.min(min, max), most: Math.max(min, max) }
}

function rollText({ base, least, most }: Roll): string {
  const range = least === most ? '' : `${least} to ${most}`
  return base === null ? range || String(least) : `${base}${range === '' ? '' : ` (${range})`}`
}

/** Every revision with what was and what is; of very many values, the latest. */
export function revisionFigures(id: string, revisions: readonly Revision[]): Figure[] {
  let left = SHOWN_VALUES
  return revisions.map((revision) => {
    left -= revision.changes.length
    return revisionFigure(id, revision, left >= 0)
  })
}

function revisionFigure(id: string, { at, patch, kind, changes, isRevert }: Revision, isShown: boolean): Figure {
  const path = pathOf('items', id)
  const then =
    patch === null || kind === 'disappeared' ? '' : html`, <a href="${path}?patch=${patch}">the item then</a>`
  const since = kind === 'changed' ? html`, <a href="${compared(path, at, null)}">what is different now</a>` : ''
  return {
    id: `at-${at.getTime()}`,
    title: `${instant(at)}: ${kind === 'changed' ? `${count(changes.length, 'value')} changed${directionOf(changes)}` : kind}`,
    lead: html`${patch === null ? 'Without a patch' : link('patches', String(patch), `Patch ${patch}`)}${isRevert ? ', taken back in part or whole' : ''}<span class="then">${then}${since}</span>`,
    ...(isShown && changes.length > 0 && { table: changesTable(changes), isTableShown: true }),
  }
}

/** The address of a comparison. @param to null for now */
export function compared(path: string, from: Date, to: Date | null): string {
  return `${path}?${new URLSearchParams({ a: from.toISOString(), ...(to && { b: to.toISOString() }) })}#compare`
}

/** What was and what is, a row for each value. */
export function changesTable(changes: readonly StatChange[]): Table {
  return {
    columns: ['What', 'Before', 'After', 'Difference'],
    rows: changes.map(({ path, before, after }) => {
      const [old, young] = differenceOf(before?.value, after?.value)
      const by = numberDifference(before?.amount, after?.amount)
      return [
        readablePath(path),
        before === null ? '–' : html`<del>${old}</del>`,
        after === null ? '–' : html`<ins>${young}</ins>`,
        by === '0' ? '' : by,
      ]
    }),
  }
}

/** A revision in a line of text. */
export function revisionText({ kind, changes }: Pick<Revision, 'kind' | 'changes'>): string {
  if (kind !== 'changed') return `It ${kind}`
  return changes
    .map(({ path, before, after }) => {
      const [old, young] = differenceOf(before?.value, after?.value)
      return `${readablePath(path)}: ${before ? old : 'nothing'} → ${after ? young : 'nothing'}`
    })
    .join('; ')
}

/** `: 2 numbers up, 1 down`: whether that is good or bad depends on the number. */
function directionOf(changes: readonly StatChange[]): string {
  const moved = changes.flatMap(({ before, after }) =>
    typeof before?.amount === 'number' && typeof after?.amount === 'number' && before.amount !== after.amount
      ? [Math.sign(after.amount - before.amount)]
      : [],
  )
  const [up, down] = [1, -1].map((sign) => moved.filter((one) => one === sign).length)
  return moved.length === 0 ? '' : `: ${count(up ?? 0, 'number')} up, ${down} down`
}
