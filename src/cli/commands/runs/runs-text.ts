import { visibleLine } from '../../../base/terminal-text.ts'
import type { LedgerRun, readTraces } from '../../../sync/overview/ledger-runs.ts'
import { formatTable } from '../../output/table.ts'
import { durationText, shortened } from '../../output/units.ts'

type Traces = Awaited<ReturnType<typeof readTraces>>

/** Rows of each part of a run that are shown; `--json` has all. */
const shownRows = 50

const listed = ['run', 'resource', 'began', 'outcome', 'records', 'new', 'changed', 'gone', 'quarantined', 'requests']

/** Runs as a table, the reason at the end. */
export function runsText(runs: readonly LedgerRun[], width?: number): string {
  const rows = runs.map((run) => ({
    ...run,
    run: run.runId.slice(0, 8),
    began: run.startedAt.toISOString().replace(/\.\d+/, ''),
    outcome: run.status,
    new: run.inserted,
    gone: run.closed,
    reason: shortened(visibleLine(run.error ?? run.reason ?? ''), 80),
  }))
  return formatTable([...listed, 'reason'], rows, { width })
}

/** One run with everything that it left. */
export function runText(
  run: LedgerRun,
  { requests, responses, guards, quarantine, drift }: Traces,
  width?: number,
): string {
  const partOf = partWithin(width)
  const seconds = (run.finishedAt.getTime() - run.startedAt.getTime()) / 1000
  const facts = [
    ['run', run.runId],
    ['resource', run.resource],
    ['outcome', run.status],
    ['reason', run.error ?? run.reason],
    ['began', run.startedAt.toISOString()],
    ['took', durationText(seconds)],
    ['observed at', run.observedAt?.toISOString()],
    ['complete', run.complete === null ? undefined : run.complete ? 'yes' : 'no'],
    ['requests', `${run.requests} (pages: ${run.pages})`],
    ['records', `${run.records}, ${run.quarantined} of them quarantined`],
    ['written', `${run.inserted} new, ${run.changed} changed, ${run.closed} gone, ${run.events} events`],
    ['unchanged', String(run.unchanged)],
    ['program', run.program],
  ] as const
  const heading = facts.flatMap(([name, value]) => (value ? [`${name.padEnd(12)}${visibleLine(value)}\n`] : []))
  const parts = [
    partOf('Requests (as far as they are archived)', ['receivedAt', 'httpStatus', 'request', 'status'], requests),
    partOf('Responses by key', ['key', 'status', 'observedAt', 'reason'], responses),
    partOf('Guards', ['at', 'key', 'guard', 'action', 'reason'], guards),
    partOf('Quarantine (wynnsync quarantine show ID)', ['id', 'key', 'path', 'reason'], quarantine),
    partOf('Drift', ['kind', 'path', 'member', 'key'], drift),
  ]
  return heading.join('') + parts.join('')
}

function partWithin(width: number | undefined) {
  return (title: string, columns: readonly string[], rows: readonly object[]): string => {
    if (rows.length === 0) return ''
    const more = rows.length > shownRows ? `and ${rows.length - shownRows} more; --json has all\n` : ''
    return `\n${title}\n${formatTable(columns, rows.slice(0, shownRows), { width })}${more}`
  }
}
