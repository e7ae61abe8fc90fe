import { visibleLine } from '../../../base/terminal-text.ts'
import type { DriftOverview } from '../../../sync/overview/drift-overview.ts'
import { foundText } from '../../../sync/verify/verification.ts'
import { bold, red, type Style } from '../../output/output.ts'
import { formatTable } from '../../output/table.ts'
import { bytesText, durationText, minuteText, shortened } from '../../output/units.ts'
import type { Overview } from './status-overview.ts'

/** Red what is late or failed, bold the titles. */
export const statusColors: Style = (text) =>
  text
    .replace(/^(?:resource .*|[A-Z][^:]*)$/gm, bold)
    .replace(/^([a-z-]+ +)(failed|rejected)\b/gm, (_, name, status) => name + red(status))
    .replace(/^(?!resource )(.*? )late(?= )/gm, (_, before) => before + red('late'))

/** The overview for a person. @param now ms since the epoch @param width of the terminal */
export function statusText(overview: Overview, now: number, width?: number): string {
  const { database, resources, size } = overview
  const neverSynced = resources.every((state) => state.status === null)
  const parts = [
    `database ${database}, ${bytesText(size.bytes)}\n${lakeLine(overview, now)}${verificationLine(overview, now)}`,
    resourceTable(resources, now, width),
    ...(neverSynced ? ['Nothing was synced yet. Start with: wynnsync sync items\n'] : []),
    ...resources.flatMap(({ resource, nameless }) =>
      nameless ? [`${resource}: ${nameless} online have no name yet; they are requested first\n`] : [],
    ),
    ...resources.flatMap(({ resource, error }) => (error ? [`${resource}: ${visibleLine(error)}\n`] : [])),
  ]
  for (const { title, columns, rows, more } of sections(overview, now))
    if (rows.length > 0) parts.push(`${title}\n${formatTable(columns, rows, { width })}${more ?? ''}`)
  return parts.join('\n')
}

function lakeLine({ lake }: Overview, now: number): string {
  if (lake === null) return ''
  const { place, at, rows, bytes } = lake
  return `lake ${visibleLine(place)}, ${bytesText(bytes)}, ${rows.toLocaleString('en-US')} rows, exported ${ago(at, now)}\n`
}

function verificationLine({ verification }: Overview, now: number): string {
  if (verification === null) return ''
  const { at, wrong } = verification
  return `verified ${ago(at, now)}: ${wrong === 0 ? 'nothing is wrong' : `${foundText(verification)}; see wynnsync verify`}\n`
}

/** Who may reserve requests of a bucket. */
const lanes = ['live', 'refresh', 'backfill'] as const

const resourceColumns = ['resource', 'last run', 'finished', 'observed', 'due every', 'late', 'last change'].concat([
  'records',
  'quarantined',
])

function resourceTable(resources: Overview['resources'], now: number, width?: number): string {
  const rows = resources.map((state) => ({
    ...state,
    'last run': state.status ?? 'never',
    finished: ago(state.finishedAt, now),
    observed: ago(state.lastObservedAt ?? state.observedAt, now),
    'due every': state.everySeconds ? durationText(state.everySeconds) : 'no schedule',
    late: state.isLate ? 'late' : 'no',
    'last change': ago(state.changedAt, now),
    records: state.living ?? state.keys?.observed ?? 0,
  }))
  return formatTable(resourceColumns, rows, { width })
}

/** A table that is left out while it has no rows. */
interface Section {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly object[]
  readonly more?: string
}

function sections(overview: Overview, now: number): readonly Section[] {
  const { budgets, gaps, clocks, failures, restrictions, size, tiers, locks, watches } = overview
  return [
    {
      title: 'Requests the API allows',
      columns: ['account', 'bucket', 'limit', 'left', ...lanes.map((lane) => `reserved ${lane}`), 'window ends in'],
      rows: budgets.map((budget) => ({
        ...budget,
        account: budget.who,
        limit: budget.limit ?? 'unknown',
        left: budget.remaining ?? 'unknown',
        ...Object.fromEntries(lanes.map((lane) => [`reserved ${lane}`, budget[lane]])),
        'window ends in': durationText(Math.max(0, ((budget.endsAt?.getTime() ?? now) - now) / 1000)),
      })),
    },
    {
      title: 'Not observed, in the last day',
      columns: ['resource', 'from', 'to', 'missed', 'why'],
      rows: gaps.map((gap) => ({ ...gap, from: gap.beganAt, to: gap.endedAt, why: shortened(gap.reason, 90) })),
    },
    {
      title: 'Clocks and headers that disagree, in the last day',
      columns: ['resource', 'last', 'what was seen and done'],
      rows: clocks.map((remark) => ({
        resource: remark.resource,
        last: ago(remark.at, now),
        'what was seen and done': shortened(remark.reason, 120),
      })),
    },
    unsentSection(overview, now),
    pendingSection(overview, now),
    {
      title: 'Hidden, and pending until another response confirms it',
      columns: ['rule', 'pending', 'held', 'need a token', 'since'],
      rows: restrictions.map((one) => ({
        ...one,
        rule: one.group,
        'need a token': one.needsToken,
        since: ago(one.since, now),
      })),
    },
    {
      title: 'Failures of the last day',
      columns: ['resource', 'last', 'times', 'error'],
      rows: failures.map((failure) => ({
        ...failure,
        last: ago(failure.at, now),
        error: shortened(failure.error, 90),
      })),
    },
    {
      title: 'Watches whose messages do not arrive',
      columns: ['watch', 'since', 'last delivered', 'error'],
      rows: watches
        .filter(({ failingSince }) => failingSince !== null)
        .map(({ watch, failingSince, deliveredAt, error }) => ({
          ...{ watch, error },
          since: ago(failingSince, now),
          'last delivered': ago(deliveredAt, now),
        })),
    },
    {
      title: 'Largest tables',
      columns: ['table', 'size', 'rows'],
      rows: size.tables.map(({ table, bytes, rows }) => ({
        table,
        size: bytesText(bytes),
        rows: rows || 'not estimated yet',
      })),
    },
    {
      title: 'Older than its retention',
      columns: ['table', 'whole since', 'coarser since'],
      rows: tiers.map((tier) => ({
        ...tier,
        'whole since': tier.fineSince ?? 'the beginning',
        'coarser since': tier.coarseSince ?? 'the beginning',
      })),
    },
    {
      title: 'Locks held now',
      columns: ['lock', 'process', 'host', 'application', 'since'],
      rows: locks.map((lock) => ({ ...lock, lock: lock.name, process: lock.pid, since: ago(lock.since, now) })),
    },
  ]
}

function unsentSection({ unsent }: Overview, now: number): Section {
  return {
    title: 'Fields that are not sent, or were not in the last day: what they say is unknown for that time',
    columns: ['resource', 'field', 'last sent', 'until'],
    rows: unsent.map(({ resource, field, lastSentAt, untilAt }) => ({
      resource,
      field,
      'last sent': ago(lastSentAt, now),
      until: untilAt ? ago(untilAt, now) : 'now',
    })),
  }
}

/** Redactions and tombstones that wait for a second response. */
function pendingSection({ resources }: Overview, now: number): Section {
  const rows = resources.flatMap(({ resource, pending }) =>
    (pending?.oldest ?? []).map((key) => ({ ...key, resource, since: ago(key.since, now) })),
  )
  const all = resources.reduce((sum, { pending }) => sum + (pending ? pending.redactions + pending.tombstones : 0), 0)
  return {
    title: 'Refused, and pending until a second response confirms it',
    columns: ['resource', 'key', 'pending', 'since'],
    rows,
    more: all > rows.length ? `and ${all - rows.length} more\n` : '',
  }
}

/** How long ago an instant was; a future one as it is, and none as `never`. */
function ago(instant: Date | null | undefined, now: number): string {
  if (!instant) return 'never'
  const seconds = Math.round((now - instant.getTime()) / 1000)
  return seconds < 0 ? minuteText(instant) : `${durationText(seconds)} ago`
}

/** Drift for a person: each thing once, with where and when. */
export function driftText(things: readonly DriftOverview[], width?: number): string {
  if (things.length === 0) return 'No drift: the API sends nothing unknown.\n'
  return formatTable(
    ['resource', 'where', 'what', 'first in', 'example'],
    things.map(({ resource, path, member, seen, example }) => ({
      resource,
      where: path || '(the whole)',
      what:
        (member === null ? '' : `${JSON.stringify(member)} `) +
        seen.map(({ what, at }) => `${what} ${minuteText(at)}`).join(', '),
      'first in': seen[0]?.key ?? '',
      example: example === null || member !== null ? '' : shortened(JSON.stringify(example), 40),
    })),
    { width },
  )
}
