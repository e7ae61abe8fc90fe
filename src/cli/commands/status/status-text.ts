import { visibleLine } from '../../../app/terminal-text.ts'
import { formatTable } from '../../output/table.ts'
import type { Overview } from './status-overview.ts'

/** The overview for a person. @param now ms since the epoch */
export function statusText(overview: Overview, now: number): string {
  const { database, resources, budgets, gaps, failures, size, tiers, locks } = overview
  const parts = [`database ${database}, ${sizeOf(size.bytes)}\n`, resourceTable(resources, now)]
  if (resources.every((state) => state.status === null))
    parts.push('Nothing was synced yet. Start with: wynnsync sync items\n')
  for (const { resource, error } of resources) if (error) parts.push(`${resource}: ${visibleLine(error)}\n`)
  if (budgets.length > 0) parts.push(`Requests the API allows\n${budgetTable(budgets, now)}`)
  if (gaps.length > 0) parts.push(`Not observed, in the last day\n${gapTable(gaps)}`)
  const pending = pendingTable(resources, now)
  if (pending !== '') parts.push(`Refused, and pending until a second answer says the same\n${pending}`)
  if (failures.length > 0) parts.push(`Failures of the last day\n${failureTable(failures, now)}`)
  if (size.tables.length > 0) parts.push(`Largest tables\n${sizeTable(size.tables)}`)
  if (tiers.length > 0) parts.push(`Older than its retention\n${tierTable(tiers)}`)
  if (locks.length > 0) parts.push(`Locks held now\n${lockTable(locks, now)}`)
  return parts.join('\n')
}

function resourceTable(resources: Overview['resources'], now: number): string {
  const columns = [
    'resource',
    'last run',
    'finished',
    'observed',
    'due every',
    'late',
    'last change',
    'records',
    'quarantined',
  ]
  return formatTable(
    columns,
    resources.map((state) => ({
      ...state,
      'last run': state.status ?? 'never',
      finished: ago(state.finishedAt, now),
      observed: ago(state.lastObservedAt ?? state.observedAt, now),
      'due every': state.everySeconds ? duration(state.everySeconds) : '',
      late: state.isLate ? 'late' : '',
      'last change': ago(state.changedAt, now),
      records: state.living,
    })),
  )
}

function budgetTable(budgets: Overview['budgets'], now: number): string {
  return formatTable(
    ['account', 'bucket', 'limit', 'left', 'live', 'refresh', 'backfill', 'ends in'],
    budgets.map((budget) => ({
      ...budget,
      left: budget.remaining,
      'ends in': budget.endsAt ? duration(Math.max(0, (budget.endsAt.getTime() - now) / 1000)) : '',
    })),
  )
}

function gapTable(gaps: Overview['gaps']): string {
  return formatTable(
    ['resource', 'from', 'to', 'missed', 'why'],
    gaps.map((gap) => ({ ...gap, from: gap.beganAt, to: gap.endedAt, why: shortened(gap.reason) })),
  )
}

/** What is to be redacted or ended when it is confirmed; empty when nothing is. */
function pendingTable(resources: Overview['resources'], now: number): string {
  const all = resources.flatMap(({ resource, pending }) =>
    (pending?.oldest ?? []).map((one) => ({ ...one, resource, since: ago(one.since, now) })),
  )
  const left = resources.reduce((sum, { pending }) => sum + (pending ? pending.redactions + pending.tombstones : 0), 0)
  if (all.length === 0) return ''
  const more = left > all.length ? `and ${left - all.length} more\n` : ''
  return formatTable(['resource', 'key', 'pending', 'since'], all) + more
}

function failureTable(failures: Overview['failures'], now: number): string {
  return formatTable(
    ['resource', 'last', 'times', 'error'],
    failures.map((one) => ({ ...one, last: ago(one.at, now), error: shortened(one.error) })),
  )
}

function sizeTable(tables: Overview['size']['tables']): string {
  return formatTable(
    ['table', 'size', 'rows'],
    tables.map((one) => ({ ...one, size: sizeOf(one.bytes) })),
  )
}

function tierTable(tiers: Overview['tiers']): string {
  return formatTable(
    ['table', 'whole since', 'coarser since'],
    tiers.map((one) => ({ ...one, 'whole since': one.fineSince, 'coarser since': one.coarseSince })),
  )
}

function lockTable(locks: Overview['locks'], now: number): string {
  return formatTable(
    ['lock', 'process', 'host', 'application', 'since'],
    locks.map((one) => ({ ...one, lock: one.name, process: one.pid, since: ago(one.since, now) })),
  )
}

/** How long ago an instant was, in the largest unit that says something. */
export function ago(instant: Date | null | undefined, now: number): string {
  if (!instant) return ''
  const seconds = Math.round((now - instant.getTime()) / 1000)
  if (seconds < 0) return instant.toISOString().slice(0, 16).replace('T', ' ')
  return `${duration(seconds)} ago`
}

function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}

/** Bytes for a person, in powers of 1000. */
export function sizeOf(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return `${(bytes / 1000 ** step).toFixed(step === 0 || bytes / 1000 ** step >= 100 ? 0 : 1)} ${units[step]}`
}

function shortened(text: string): string {
  return text.length > 90 ? `${text.slice(0, 89)}…` : text
}
