import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { GitDates } from '../../../api/recordings/git-history.ts'
import { openRecordedResponses, type RecordedResponses, recordedResponses } from '../../../api/recordings/recorded.ts'
import { admissionOf, engineOf } from '../../../app/app-api.ts'
import { UsageError } from '../../../base/errors.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import type { Database } from '../../../db/database.ts'
import { resources, resourcesNamed } from '../../../resources/index.ts'
import { type LoadedFolder, loadRecorded } from '../../../sync/backfill/backfill-recorded.ts'
import {
  type Detected,
  type DetectedFiles,
  type DetectProgress,
  detectResponses,
} from '../../../sync/backfill/git-detect.ts'
import { type GitMapping, openGitSource } from '../../../sync/backfill/git-source.ts'
import type { Resource, Worklist } from '../../../sync/declare/resource.ts'
import { type Source as ImportSource, saveSource, sourceOf } from '../../../sync/retract/sources.ts'
import { type Context, withDatabase, writeSummary } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { formatTable } from '../../output/table.ts'

export interface BackfillFromFlags {
  readonly from?: string
  readonly fromGit?: string
  readonly map?: readonly string[]
  readonly detect?: boolean
  readonly dates?: string
  readonly [flag: string]: unknown
}

/** What is loaded, and what of it is not. */
interface Source {
  readonly recorded: RecordedResponses
  readonly skipped: readonly string[]
  readonly broken: readonly string[]
  /** Responses that are not after what the database knows, and were not read. */
  readonly known: number
  close(): void
}

/** `backfill [resource] --from FOLDER` and `backfill --from-git REPOSITORY`: loads recorded responses. Returns the exit code. */
export async function backfillFromCommand(
  context: Context,
  flags: BackfillFromFlags,
  name: string | undefined,
): Promise<number> {
  const { from, fromGit } = flags
  const place = fromGit ?? from ?? ''
  const flag = fromGit === undefined ? '--from' : '--from-git'
  const ofOther = fromGit === undefined ? ['map', 'detect', 'dates'] : ['from']
  for (const other of [
    'dryRun',
    'limit',
    'only',
    'since',
    'fetchedBefore',
    'restart',
    'maxBytes',
    'acceptBaseUrl',
    ...ofOther,
  ]) {
    if (flags[other] === undefined) continue
    const takes = fromGit === undefined ? 'a resource' : '--map'
    throw new UsageError(`${flag} loads all that was recorded; it takes ${takes} only`)
  }
  if (flags.detect && fromGit !== undefined) {
    if (flags.map !== undefined || name !== undefined) throw new UsageError('--detect loads nothing: it takes no --map')
    return await detectCommand(context, fromGit)
  }
  const dates = datesOf(flags.dates)
  const mappings = fromGit === undefined ? [] : mappingsOf(flags.map, name)
  const resources =
    fromGit === undefined
      ? resourcesNamed(name === undefined ? [] : [name])
      : [...new Set(mappings.map((mapping) => mapping.resource))]
  const work = async (db: Database) => {
    context.progress.begin('recordings')
    const source =
      fromGit === undefined ? openFolder(from ?? '') : await openRepository(context, db, fromGit, { mappings, dates })
    try {
      const from = sourceOf(fromGit === undefined ? 'recordings' : 'git', resolve(place))
      const loaded = await load(context, db, { recorded: source.recorded, from }, resources)
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
  const ofGit = fromGit === undefined ? {} : { skipped, known }
  writeSummary(
    context,
    { from: from ?? fromGit, resources: counts, broken, unknown, ...ofGit },
    textOf(loaded),
    failuresOf(loaded, unknown),
  )
  const isDoubtful = broken.length > 0 || counts.some((row) => row.rejected + row.quarantined > 0)
  return isDoubtful ? exitCode.rejected : exitCode.done
}

async function load(
  { app, signal, progress }: Context,
  db: Database,
  { recorded, from }: { readonly recorded: RecordedResponses; readonly from: ImportSource },
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
  return await loadRecorded(recorded, loading, {
    resources,
    signal,
    onProgress: (records, count) => progress.seen('recordings', { records, count }, 'responses'),
  })
}

/** @throws UsageError for another word */
function datesOf(dates: string | undefined): GitDates {
  if (dates === undefined || dates === 'author' || dates === 'committer') return dates ?? 'rising'
  throw new UsageError(`--dates must be author or committer, got ${dates}`)
}

/** @throws UsageError for what is not `glob=resource` */
function mappingsOf(maps: readonly string[] | undefined, name: string | undefined): GitMapping[] {
  const form = "--map 'glob=resource'"
  if (name !== undefined) throw new UsageError(`--from-git names its resources by ${form}`)
  if (maps === undefined) throw new UsageError(`--from-git needs ${form}; --detect suggests some`)
  return maps.map((map) => {
    const [, glob = '', resource = ''] = /^(.+)=([^=]+)$/.exec(map) ?? []
    if (glob === '') throw new UsageError(`--map must look like ${form}, got ${map}`)
    return { glob, resource: resourcesNamed([resource])[0] as GitMapping['resource'] }
  })
}

async function openRepository(
  { app, progress }: Context,
  db: Database,
  repository: string,
  { mappings, dates }: { readonly mappings: readonly GitMapping[]; readonly dates: GitDates },
): Promise<Source> {
  const onProgress = (records: number, count: number) => progress.seen('versions', { records, count }, 'files')
  const source = await openGitSource(db, repository, mappings, app.clock.now(), { dates, onProgress })
  return { ...source, recorded: recordedResponses(source) }
}

function openFolder(folder: string): Source {
  if (existsSync(join(folder, 'index.jsonl')))
    return { recorded: openRecordedResponses(folder), skipped: [], broken: [], known: 0, close: () => undefined }
  throw new UsageError(`--from must be a folder with an index.jsonl of recorded responses; there is none in ${folder}`)
}

const columns = ['resource', 'responses', 'new', 'changed', 'gone', 'events', 'unchanged', 'stale', 'rejected'] as const

/** How many lines about single responses are printed; the JSON has all. */
const MOST_LINES = 20

type Loaded = LoadedFolder & Pick<Source, 'skipped' | 'known'>

function textOf({ resources, known }: Loaded): string {
  const rows = resources.map((row) => ({ ...row, responses: row.answers, new: row.inserted, gone: row.closed }))
  const before = known > 0 ? `${known} responses are not after what is known, and were left alone\n` : ''
  return formatTable(columns, rows) + before
}

/** What was not loaded; what could not be read is in the log. */
function failuresOf({ skipped }: Loaded, unknown: readonly { request: string; answers: number }[]): string {
  const requests = unknown.map(({ request, answers }) => `${request}: no resource; ${answers} responses skipped`)
  const left = [...requests, ...skipped]
  const more = left.length > MOST_LINES ? [`and ${left.length - MOST_LINES} more; see --json`] : []
  return [...left.slice(0, MOST_LINES), ...more].map((line) => `${visibleLine(line)}\n`).join('')
}

/** `backfill --from-git REPOSITORY --detect`: lists what looks like responses, and loads nothing. Returns the exit code. */
async function detectCommand(context: Context, repository: string): Promise<number> {
  const found = await detect(context, repository)
  const { detected, notRead } = found
  const command = commandFor(repository, detected)
  const unread = notRead > 0 ? `${notRead} JSON files were not looked at, because there are too many\n` : ''
  const text =
    detected.length === 0
      ? `${repository}: no file of the last commit looks like a response of the API\n`
      : `${formatTable(['glob', 'resource', 'files', 'commits', 'records', 'expected'], detected)}${remarksOn(found)}\n${command}\n`
  writeSummary(context, { from: repository, ...found, command: detected.length === 0 ? null : command }, text + unread)
  return exitCode.done
}

/** Looks for responses, and shows every second how far that is. */
async function detect({ progress, app }: Context, repository: string): Promise<Detected> {
  // A little less than a second: no line is left out because a timer was early.
  progress.begin(repository, 900)
  let step: Parameters<DetectProgress> = ['commits', 0, null]
  const over = new AbortController()
  const showing = async () => {
    for (;;) {
      await app.clock.sleep(1000, over.signal)
      const [what, records, count] = step
      progress.seen(repository, { records, count }, what)
    }
  }
  showing().catch(() => undefined)
  try {
    return await detectResponses(repository, resources, (...next) => {
      step = next
    })
  } finally {
    over.abort()
    progress.end()
  }
}

/** What the table does not say: what is left out, and what is a part. */
function remarksOn({ detected, leftOut }: Detected): string {
  const others = leftOut.map(({ path, sameAs }) => `${path} is left out: ${sameAs} has its records`)
  const whole = detected
    .filter(({ mapped }) => !mapped)
    .map(({ glob }) => `${glob} is left out: other files have its records, or all there are`)
  const more = others.length > MOST_LINES ? [`and ${others.length - MOST_LINES} more; see --json`] : []
  return [...whole, ...others.slice(0, MOST_LINES), ...more].map((line) => `${visibleLine(line)}\n`).join('')
}

/** The command that loads what was detected, as a shell takes it. */
function commandFor(repository: string, detected: readonly DetectedFiles[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
  // In a glob, what a terminal does not show is written as so many bytes of any kind.
  const visible = (glob: string) =>
    [...glob].map((one) => (visibleLine(one) === one ? one : '?'.repeat(Buffer.byteLength(one)))).join('')
  const maps = detected.filter(({ mapped }) => mapped).map(({ glob, resource }) => `${visible(glob)}=${resource}`)
  return `wynnsync backfill --from-git ${quoted(visibleLine(repository))}${maps.map((map) => ` --map ${quoted(map)}`).join('')}`
}
