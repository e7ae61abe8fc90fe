import { visibleLine } from '../../base/terminal-text.ts'
import type { RunResult } from '../../sync/run/run-result.ts'
import { formatTable } from './table.ts'

/** The fields of a result that are part of the public JSON, whose statuses are fixed: what a signal ended has not done its work. */
export function publicResult({ temporary: _t, renewAt: _r, guarded: _g, runId: _i, ...run }: RunResult) {
  return { ...run, status: run.status === 'interrupted' ? ('failed' as const) : run.status }
}

const columns = ['resource', 'status', 'records', 'new', 'changed', 'gone', 'requests', 'seconds'] as const

/** Runs as a table, then why responses were not accepted, and guard actions. Why a run failed is in the log, on stderr. */
export function runSummary(runs: readonly RunResult[]): string {
  const rows = runs.map((run) => ({
    ...run,
    new: run.inserted,
    gone: run.closed,
    seconds: Number((run.durationMs / 1000).toFixed(1)),
  }))
  return formatTable(columns, rows) + runs.flatMap(remarksOn).join('')
}

const shownActions = 5

/** The reason of a run, then what its guards did beyond that. */
function remarksOn({ resource, status, error, guarded = [] }: RunResult): string[] {
  const others = guarded.filter(({ reason }) => !error?.includes(reason))
  const remarks = others
    .slice(0, shownActions)
    .map(({ guard, action, key, reason }) => `${key ? `${key}: ` : ''}${reason} (${guard}: ${action})`)
  const isLogged = status === 'failed' || status === 'interrupted'
  const lines = [...(error && !isLogged ? [error] : []), ...remarks].map(
    (line) => `${resource}: ${visibleLine(line)}\n`,
  )
  const more = others.length - remarks.length
  return more > 0 ? [...lines, `${resource}: and ${more} more of the kind; see sync.guard_action\n`] : lines
}
