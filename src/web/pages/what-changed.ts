import type { SqlValue } from '../../db/database.ts'
import { type Figure, listFigure, missing } from '../../drawing/figure.ts'
import type { Frame } from '../../drawing/frame.ts'
import type { Cell, Markup } from '../../drawing/html-table.ts'
import { observedOf } from '../../drawing/period.ts'
import { count, moment, shortened } from '../../drawing/words.ts'
import type { Visit } from '../html/page.ts'
import { pageOf, sortLink } from '../html/sorted-table.ts'
import { differences, revisionText } from './revisions.ts'

/** Things whose versions are recorded: rows of `analytics.VIEW_history`, `kept` in the SQL here. */
interface Versioned {
  readonly path: string
  readonly one: string
  readonly many: string
  readonly resource: string
  readonly view: string
  /** Columns of the view, without the instant of a version. */
  readonly key: readonly string[]
  /** SQL: what is shown of a version, each with a name. */
  readonly shown: string
  /** SQL: all of a version that can change, as JSON. */
  readonly record: string
  /** SQL: which versions. */
  readonly where: string
  /** SQL: which rows, `listed`, of those that are shown; `$5` is the first of the values. */
  readonly narrowed: string
  readonly values: readonly SqlValue[]
  /** The columns that are shown, by the names of `shown`. The first one is a name. */
  readonly columns: readonly Shown[]
}

interface Shown {
  readonly name: string
  readonly heading: string
  /** How its value is shown, where not as it is. */
  readonly cell?: ((value: Cell, row: Readonly<Record<string, Cell>>) => Cell) | undefined
}

interface ChangeRow {
  readonly at: Date
  readonly what: 'appeared' | 'changed' | 'disappeared'
  readonly before: unknown
  readonly after: unknown
  readonly total: number
}

/** When something changed, and what. */
const whatColumns: readonly Shown[] = [
  { name: 'at', heading: 'At (UTC)' },
  { name: 'what', heading: 'What' },
]

/** Characters of what a change says. */
const SHOWN_CHARACTERS = 300

/**
 * What appeared, changed and disappeared in a period, the latest first, or as a heading sorts it. What the first response had did not appear:
 * history begins there.
 * @returns the figure with its title, what the lead says, and links to the pages before and after the one that the address names
 */
export async function changesFigure(
  { sql, query }: Visit,
  { path, one, many, resource, view, key, shown, record, where, narrowed, values, columns }: Versioned,
  { from, to, writtenAt }: Frame,
): Promise<{ readonly title: string; readonly lead: string; readonly figure: Figure; readonly links: Markup }> {
  const seen = await observedOf(sql, resource)
  // In a small window the first cell of a row is its heading.
  const [named, ...others] = columns
  const all = [...(named ? [named] : []), ...whatColumns, ...others]
  const sort = query.get('sort') ?? 'at'
  const isOther = sort.startsWith('-')
  const by = all.find(({ name }) => name === sort.replace(/^-/, ''))?.name ?? 'at'
  const isFalling = (by === 'at') !== isOther
  const page = pageOf(path, query)
  const versions = `analytics.${view}_history`
  const same = (one: string, other: string, otherKey = (name: string) => name) =>
    key.map((name) => `${one}.${name} = ${other}.${otherKey(name)}`).join(' and ')
  const keyed = (name: string) => `key_${key.indexOf(name)}`
  const order = `order by listed."${by}" ${isFalling ? 'desc' : 'asc'} nulls last, listed.at desc, ${key.map((name) => `listed.${keyed(name)}`).join(', ')}`
  const version = (end: 'valid_from' | 'valid_until') =>
    `(select ${record} from ${versions} kept where ${same('kept', 'listed', keyed)} and kept.${end} = listed.version)`
  const rows = await sql.query<ChangeRow & Record<string, Cell>>(
    `select listed.*, case when what = 'changed' then ${version('valid_from')} end as after, case when what = 'changed' then ${version('valid_until')} end as before
       from (select listed.*, count(*) over ()::int as total
               from (select ${key.map((name) => `kept.${name} as ${keyed(name)}`).join(', ')}, kept.valid_from as version, span.at, span.what, ${shown}
                       from ${versions} kept
                      cross join lateral (
                        select kept.valid_from as at, case when kept.previous_until = kept.valid_from then 'changed' else 'appeared' end as what
                         where kept.valid_from >= $1 and kept.valid_from < $2 and kept.valid_from > $3
                         union all
                        select kept.valid_until, 'disappeared'
                         where kept.valid_until >= $1 and kept.valid_until < $2
                           and not exists (select from ${versions} next where ${same('next', 'kept')} and next.valid_from = kept.valid_until)) span
                      where ${where}) listed
              where ${narrowed}
              ${order} limit ${page.size} offset $4) listed
      ${order}`,
    [from, to, seen?.first ?? from, page.offset, ...values],
  )
  const total = rows[0]?.total ?? 0
  const amount = `${count(total, 'change')} of ${many}`
  const isSeen = seen !== null && seen.first < to && seen.last >= from
  const none = seen ? undefined : missing('list', `No ${one} was seen yet`, `wynnsync sync ${resource}`)
  const past = page.past(rows.length)
  const title =
    past ?? (total > 0 ? amount : (none?.title ?? `No ${isSeen ? `change of ${many}` : one} was seen in this period`))
  const heading = ({ name, heading: said }: Shown) =>
    sortLink({ key: name, heading: said }, { by, isOther, isFalling }, { path, query, anchor: 'list' })
  const cellsOf = (row: ChangeRow & Record<string, Cell>) =>
    all.map(({ name, cell }) =>
      name === 'what' ? whatText(row) : cell ? cell(row[name] ?? null, row) : (row[name] ?? null),
    )
  return {
    title,
    lead: `What was seen to appear, change or disappear, ${moment(from, writtenAt)} to ${moment(to, writtenAt)}.`,
    figure:
      total === 0 && !past
        ? (none ?? { id: 'list', title })
        : listFigure('list', page.range(rows.length, total) ?? amount, {
            columns: all.map(heading),
            rows: rows.map(cellsOf),
          }),
    links: page.links(total),
  }
}

function whatText({ what, before, after }: ChangeRow): string {
  const changes = what === 'changed' ? differences(before, after) : []
  return changes.length === 0 ? what : shortened(revisionText({ kind: 'changed', changes }), SHOWN_CHARACTERS)
}
