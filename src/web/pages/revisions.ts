import { html } from 'hono/html'
import { numberDifference } from '../../analytics/report/content/difference.ts'
import type { Figure } from '../../analytics/report/drawing/figure.ts'
import type { ValueChange } from '../../analytics/report/patch/direction.ts'
import { readablePath } from '../../analytics/report/patch/patch-changes.ts'
import { count, instant, shortened } from '../../analytics/report/words.ts'
import type { Sql } from '../../db/database.ts'
import { link } from '../html/links.ts'

interface Change extends ValueChange {
  readonly isRevert: boolean
}

/** What changed in an item at one instant. */
export interface Revision {
  readonly at: Date
  readonly patch: number
  /** What players called it. */
  readonly name: string
  readonly changes: readonly Change[]
}

/** How many changed values of an item are shown. */
const most = 2000

/** Every revision of some items, the latest first. */
export async function readRevisions(sql: Sql, items: readonly string[]): Promise<ReadonlyMap<string, Revision[]>> {
  const rows = await sql.query<Change & { id: string; at: Date; patch: number; name: string }>(
    `select wanted.id, change.* from unnest($1::text[]) as wanted(id)
      cross join lateral (
        select changed_at as at, patch, coalesce(display_name, internal_name) as name, path, old_value as before,
               new_value as after, is_revert as "isRevert"
          from analytics.item_change where internal_name = wanted.id order by changed_at desc, path collate "C" limit ${most}) change`,
    [items],
  )
  const revisionsOf = (changes: readonly (typeof rows)[number][]) =>
    [...grouped(changes, ({ at }) => at.getTime()).values()].flatMap((some) => {
      const [first] = some
      return first ? [{ at: first.at, patch: first.patch, name: first.name, changes: some }] : []
    })
  return new Map([...grouped(rows, ({ id }) => id)].map(([id, changes]) => [id, revisionsOf(changes)]))
}

/** Rows by what they have in common, in their order. */
export function grouped<Row, Key>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, Row[]> {
  const groups = new Map<Key, Row[]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group) group.push(row)
    else groups.set(keyOf(row), [row])
  }
  return groups
}

/** A revision with what was and what is. */
export function revisionFigure({ at, patch, changes }: Revision): Figure {
  const [first] = changes
  const whole =
    changes.length === 1 && first?.path === '' ? (first.before === null ? 'appeared' : 'disappeared') : undefined
  return {
    id: `at-${at.getTime()}`,
    title: `${instant(at)}: ${whole ?? `${count(changes.length, 'value')} changed${directionOf(changes)}`}`,
    lead: html`${link('patches', String(patch), `Patch ${patch}`)}${changes.some(({ isRevert }) => isRevert) ? ', taken back in part or whole' : ''}`,
    ...(whole === undefined && {
      table: {
        columns: ['What', 'Before', 'After', 'Difference'],
        rows: changes.map(({ path, before, after }) => [
          readablePath(path),
          before === null ? '–' : html`<del>${shown(before)}</del>`,
          after === null ? '–' : html`<ins>${shown(after)}</ins>`,
          numberDifference(before, after),
        ]),
      },
      isTableShown: true,
    }),
  }
}

/** `, 2 numbers up, 1 down`: whether that is good or bad depends on the number. */
function directionOf(changes: readonly Change[]): string {
  const moved = changes.flatMap(({ before, after }) =>
    typeof before === 'number' && typeof after === 'number' ? [Math.sign(after - before)] : [],
  )
  const [up, down] = [1, -1].map((sign) => moved.filter((one) => one === sign).length)
  return moved.length === 0 ? '' : `: ${count(up ?? 0, 'number')} up, ${down} down`
}

function shown(value: unknown): string {
  return shortened(typeof value === 'string' ? value : JSON.stringify(value), 300)
}
