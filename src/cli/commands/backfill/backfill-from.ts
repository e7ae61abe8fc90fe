import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { repositoryUrl } from '../../../api/recordings/git-clone.ts'
import { openRecordedResponses } from '../../../api/recordings/recorded.ts'
import type { Recorded } from '../../../api/schemas/recordings/recording-index.ts'
import { admissionOf, engineOf } from '../../../app/app-api.ts'
import { UsageError } from '../../../base/errors.ts'
import type { Database } from '../../../db/database.ts'
import { resourcesNamed } from '../../../resources/index.ts'
import { type LoadedFolder, loadRecorded } from '../../../sync/backfill/backfill-recorded.ts'
import type { Resource, Worklist } from '../../../sync/declare/resource.ts'
import { type Source as ImportSource, saveSource, sourceOf } from '../../../sync/retract/sources.ts'
import { type Context, withDatabase, writeSummary } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { formatTable } from '../../output/table.ts'
import { durationText } from '../../output/units.ts'
import {
  type BackfillFromFlags,
  type GitArchive,
  linesText,
  openArchive,
  openResponses,
  type Source,
  showGitPrice,
} from './backfill-git.ts'

/** `backfill [resource] --from FOLDER` and `backfill --from-git REPOSITORY`: loads recorded responses. Returns the exit code. */
export async function backfillFromCommand(
  context: Context,
  flags: BackfillFromFlags,
  name: string | undefined,
): Promise<number> {
  const { from, fromGit } = flags
  refuseOthers(flags)
  const archive = fromGit === undefined ? undefined : await openArchive(context, flags, name)
  if (fromGit !== undefined && !archive) return exitCode.done
  if (archive && flags.dryRun) return await showGitPrice(context, archive)
  const resources = archive
    ? [...new Set(archive.mappings.map((mapping) => mapping.resource))]
    : resourcesNamed(name === undefined ? [] : [name])
  const work = async (db: Database) => {
    const source = archive ? await openResponses(context, db, archive) : openFolder(from ?? '')
    context.progress.begin('recordings')
    try {
      const origin = archive ? archiveSource(archive) : sourceOf('recordings', resolve(from ?? ''))
      const loaded = await load(context, db, { source, from: origin }, resources)
      const broken = [...source.broken, ...loaded.broken]
      return { ...loaded, broken, skipped: source.skipped, known: source.known }
    } finally {
      source.close()
    }
  }
  const loaded = await withDatabase(context, 'backfill from recordings', work, {
    access: 'create',
    stays: true,
  }).finally(() => context.progress.end())
  // With a resource named, the other recordings are none of its business.
  const unknown = name === undefined ? [...loaded.unknown].map(([request, answers]) => ({ request, answers })) : []
  const { resources: counts, broken, skipped, known } = loaded
  const ofGit = archive ? { skipped, known, ...(archive.detected ?? {}) } : {}
  writeSummary(
    context,
    { from: archive?.name ?? from, resources: counts, broken, unknown, ...ofGit },
    textOf(loaded),
    failuresOf(loaded, unknown),
  )
  const isDoubtful = broken.length > 0 || counts.some((row) => row.rejected + row.quarantined > 0)
  return isDoubtful ? exitCode.rejected : exitCode.done
}

/** @throws UsageError for flags of another kind of backfill */
function refuseOthers(flags: BackfillFromFlags): void {
  const isGit = flags.fromGit !== undefined
  const ofOther = isGit ? ['from'] : ['map', 'detect', 'dates', 'dryRun', 'yes']
  const never = ['limit', 'only', 'since', 'fetchedBefore', 'restart', 'maxBytes', 'acceptBaseUrl']
  const [flag, takes] = isGit
    ? ['--from-git', '--map, --detect, --yes, --dates and --dry-run']
    : ['--from', 'a resource']
  if ([...never, ...ofOther].some((other) => flags[other] !== undefined))
    throw new UsageError(`${flag} loads all that was recorded; it takes ${takes} only`)
}

/** Where it was fetched to says nothing of where it came from. */
function archiveSource({ name, folder }: GitArchive): ImportSource {
  return sourceOf('git', repositoryUrl(name) === undefined ? resolve(folder) : name)
}

/** So many responses say how long the others take. */
const PACE_OF = 20

/** How long all take at the pace of the first. */
function paceText(ms: number, share: number): string {
  return `at the pace of the first ${PACE_OF} responses: about ${durationText((ms / share) * 1e-3)} in all\n`
}

/**
 * How much of the work is done, of 1, once all responses until an instant are loaded: the early ones of a history are often shorter than
 * the later ones, and take less. To be called with instants that do not fall.
 */
export function shareUntil(
  lines: readonly Recorded[],
  secondsOf: (line: Recorded) => number = () => 1,
): (at: number) => number {
  const seconds = lines.map(secondsOf)
  const whole = seconds.reduce((total, one) => total + one, 0)
  let [next, done] = [0, 0]
  return (at) => {
    for (let line = lines[next]; line && line.at <= at; line = lines[++next]) done += seconds[next] ?? 0
    return whole > 0 ? done / whole : 1
  }
}

async function load(
  { app, signal, progress, flags, out }: Context,
  db: Database,
  { source: { recorded, secondsOf }, from }: { readonly source: Source; readonly from: ImportSource },
  resources: readonly (Resource | Worklist)[],
): Promise<LoadedFolder> {
  const admission = await admissionOf(app, db, { from: 'recordings' })
  const engine = engineOf(app, db, recorded.apiAsOf(app.clock.now()), { admission })
  // The ledger has what guards did with each of thousands of responses; the log need not.
  const { log } = app
  const quieter = {
    debug: log.debug.bind(log),
    info: log.debug.bind(log),
    warn: log.warn.bind(log),
    error: log.error.bind(log),
  }
  const loading = { ...engine, sourceId: from.sourceId, log: quieter }
  await saveSource(db, from, engine)
  const began = app.clock.now()
  const isSaid = !flags.json && !flags.quiet
  const shareOf = shareUntil(recorded.lines, secondsOf)
  return await loadRecorded(recorded, loading, {
    resources,
    signal,
    onProgress: (records, count, at) => {
      const share = shareOf(at)
      progress.seen('recordings', { records, count, share }, 'responses')
      if (isSaid && records === PACE_OF && count > 2 * PACE_OF) out.write(paceText(app.clock.now() - began, share))
    },
  })
}

function openFolder(folder: string): Source {
  if (existsSync(join(folder, 'index.jsonl')))
    return { recorded: openRecordedResponses(folder), skipped: [], broken: [], known: 0, close: () => undefined }
  throw new UsageError(`--from must be a folder with an index.jsonl of recorded responses; there is none in ${folder}`)
}

const columns = ['resource', 'responses', 'new', 'changed', 'gone', 'events', 'unchanged', 'stale', 'rejected'] as const

type Loaded = LoadedFolder & Pick<Source, 'skipped' | 'known'>

function textOf({ resources, known }: Loaded): string {
  const rows = resources.map((row) => ({ ...row, responses: row.answers, new: row.inserted, gone: row.closed }))
  const before = known > 0 ? `${known} responses are not after what is known, and were left alone\n` : ''
  return formatTable(columns, rows) + before
}

/** What was not loaded; what could not be read is in the log. */
function failuresOf({ skipped }: Loaded, unknown: readonly { request: string; answers: number }[]): string {
  const requests = unknown.map(({ request, answers }) => `${request}: no resource; ${answers} responses skipped`)
  return linesText([...requests, ...skipped])
}
