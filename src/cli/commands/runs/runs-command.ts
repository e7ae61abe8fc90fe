import { wholeNumber } from '../../../base/config-values.ts'
import { UsageError } from '../../../base/errors.ts'
import type { Sql } from '../../../db/database.ts'
import { resourcesNamed } from '../../../resources/index.ts'
import { type LedgerRun, readRuns, readTraces, runsCalled } from '../../../sync/overview/ledger-runs.ts'
import { type Context, showResult, tableWidth, withDatabase } from '../../context.ts'
import { instantFlag } from '../../options.ts'
import { boldFirstLine } from '../../output/table.ts'
import { runsText, runText } from './runs-text.ts'

export interface RunsFlags {
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
