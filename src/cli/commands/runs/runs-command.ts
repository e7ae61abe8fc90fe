import { UsageError } from '../../../base/errors.ts'
import { wholeNumber } from '../../../base/settings.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import type { Sql } from '../../../db/database.ts'
import { resourcesNamed } from '../../../resources/index.ts'
import { type LedgerRun, readRuns, readTraces, runsCalled } from '../../../sync/overview/ledger-runs.ts'
import { type Context, showResult, tableWidth, withDatabase } from '../../context.ts'
import { instantFlag } from '../../options.ts'
import { boldFirstLine, formatTable } from '../../output/table.ts'
import { durationText, shortened } from '../../output/units.ts'

interface RunsFlags {
  readonly failed?: boolean
  readonly since?: string
  readonly limit?: string
}

/** Runs that are listed without `--limit`. */
const usualLimit = 30

/** `runs list [resource...]`: rows of the ledger, the newest first. */
export async function runsList(context: Context, flags: RunsFlags, names: readonly string[]): Promise<void> {
  const limit = flags.limit === undefined ? usualLimit : wholeNumber('--limit', flags.limit)
  const wanted = {
    resources: names.length === 0 ? [] : resourcesNamed(names).map(({ name }) => name),
    failed: flags.failed === true,
    since: instantFlag('--since', flags.since, context.app),
    // One more than is shown: whether there are more.
    limit: limit > 0 ? limit + 1 : 0,
  }
  const found = await withDatabase(context, 'runs', (db) => readRuns(db, wanted), { isInterruptible: true })
  const runs = limit > 0 ? found.slice(0, limit) : found
  await showResult(context, { runs }, runsText(runs, tableWidth(context)), boldFirstLine)
  if (found.length > runs.length && !context.flags.quiet)
    context.err.write(`the latest ${limit} runs; --limit 0 for all\n`)
}

/** `runs show <id>`: everything that one run left. */
export async function runsShow(context: Context, _flags: object, id: string): Promise<void> {
  const work = async (db: Sql) => {
    const run = await runCalled(db, id)
    return { run, traces: await readTraces(db, run) }
  }
  const { run, traces } = await withDatabase(context, 'runs', work, { isInterruptible: true })
  await showResult(context, { run, ...traces }, runText(run, traces, tableWidth(context)))
}

async function runCalled(db: Sql, id: string): Promise<LedgerRun> {
  if (!/^[0-9a-f-]{4,36}$/i.test(id)) throw new UsageError(`a run has an id such as 3f2a91c0, got ${id}`)
  const [run, other] = await runsCalled(db, id)
  if (!run) throw new UsageError(`run not found: ${id}; wynnsync runs lists them`)
  if (other) throw new UsageError(`several runs have an id that begins with ${id}; write more of it`)
  return run
}

type Traces = Awaited<ReturnType<typeof readTraces>>

/** Rows of each part of a run that are shown; `--json` has all. */
const shownRows = 50

const listed = ['run', 'resource', 'began', 'outcome', 'records', 'new', 'changed', 'gone', 'quarantined', 'requests']

/** Runs as a table, the reason at the end. */
function runsText(runs: readonly LedgerRun[], width?: number): string {
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
function runText(run: LedgerRun, { requests, responses, guards, quarantine, drift }: Traces, width?: number): string {
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
