import { createHash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fetchRepository, repositoryUrl, shownUrl } from '../../../api/recordings/git-clone.ts'
import type { GitDates } from '../../../api/recordings/git-history.ts'
import { openRecordedResponses, type RecordedResponses, recordedResponses } from '../../../api/recordings/recorded.ts'
import type { Recorded } from '../../../api/schemas/recordings/recording-index.ts'
import { admissionOf, engineOf } from '../../../app/app-api.ts'
import { UsageError, withRoom } from '../../../base/errors.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import { NothingThere } from '../../../db/connect.ts'
import type { Database } from '../../../db/database.ts'
import { resources, resourcesNamed } from '../../../resources/index.ts'
import { type LoadedFolder, loadRecorded } from '../../../sync/backfill/backfill-recorded.ts'
import { detectResponses } from '../../../sync/backfill/git-detect.ts'
import { openGitSource } from '../../../sync/backfill/git-source.ts'
import type { Resource, Worklist } from '../../../sync/declare/resource.ts'
import { type Source as ImportSource, saveSource, sourceOf } from '../../../sync/retract/sources.ts'
import { type Context, withDatabase, writeSummary } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { formatTable } from '../../output/table.ts'
import { bytesText, durationText } from '../../output/units.ts'

interface BackfillFromFlags {
  readonly from?: string
  readonly fromGit?: string
  readonly map?: readonly string[]
  readonly detect?: boolean
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly dates?: string
  readonly [flag: string]: unknown
}

type GitSource = Awaited<ReturnType<typeof openGitSource>>
type GitMapping = Parameters<typeof openGitSource>[2][number]
type Detected = Awaited<ReturnType<typeof detectResponses>>
type DetectProgress = NonNullable<Parameters<typeof detectResponses>[2]>

/** What is loaded, and what of it is not. */
interface Source {
  readonly recorded: RecordedResponses
  readonly skipped: readonly string[]
  readonly broken: readonly string[]
  /** Responses that are not after what the database knows, and were not read. */
  readonly known: number
  /** How long a response takes, in seconds of a machine that others are compared with. Absent: all take as long. */
  readonly secondsOf?: (line: Recorded) => number
  close(): void
}

/** A repository whose files are responses. */
interface GitArchive {
  /** As it is named, without a password. */
  readonly name: string
  readonly folder: string
  readonly mappings: readonly GitMapping[]
  readonly dates: GitDates
  /** Where the mapping was detected. */
  readonly detected?: Detected
}

/** How many lines about single responses are printed; the JSON has all. */
const PRINTED_LINES = 20

/** What two slow cores load: responses a second, and bytes of them. For the estimate before the first is loaded. */
const LOADED_PER_SECOND = { responses: 150, bytes: 40_000_000 }

/**
 * Opens what `--from-git` names: fetches a URL, and with `--detect` finds out what is in it.
 * @returns undefined where that was only to be shown
 */
async function openArchive(
  context: Context,
  { fromGit = '', map, detect: isDetected, yes, dryRun, dates }: BackfillFromFlags,
  name: string | undefined,
): Promise<GitArchive | undefined> {
  if (yes && !isDetected) throw new UsageError('--yes does nothing without --detect')
  if (isDetected && (map !== undefined || name !== undefined))
    throw new UsageError('--detect finds out what is in a repository: it takes no --map')
  const opened = { dates: datesOf(dates), mappings: isDetected ? [] : mappingsOf(map, name) }
  const url = repositoryUrl(fromGit)
  const place = { name: url === undefined ? fromGit : shownUrl(url), folder: fromGit }
  if (url !== undefined) place.folder = await fetched(context, url)
  if (!isDetected) return { ...opened, ...place }
  const detected = await detect(context, place)
  if (!yes && !dryRun) {
    showDetected(context, place.name, detected)
    return undefined
  }
  const mapped = detected.detected.filter((one) => one.mapped)
  if (mapped.length === 0) throw new UsageError(nothingIn(place.name))
  if (!context.flags.json && !context.flags.quiet) context.out.write(detectedText(place.name, detected))
  const mappings = mapped.map(({ glob, resource }) => ({ glob, resource: resourceNamed(resource) }))
  return { ...opened, ...place, mappings, detected }
}

/** The responses of an archive, after the price of loading them is printed. */
async function openResponses(context: Context, db: Database, archive: GitArchive): Promise<Source> {
  const source = await readArchive(context, db, archive)
  if (!context.flags.json && !context.flags.quiet) context.out.write(priceText(source))
  return {
    ...source,
    recorded: recordedResponses(source),
    secondsOf: ({ line }) => secondsFor(source.bytes[line] ?? 0),
  }
}

/** `--dry-run`: prints the price. Where there is no history yet, nothing of the archive is known. Returns the exit code. */
async function showGitPrice(context: Context, archive: GitArchive): Promise<number> {
  const show = async (db: Database | undefined) => {
    const source = await readArchive(context, db, archive)
    source.close()
    const { lines, known, skipped, broken } = source
    const price = {
      from: archive.name,
      responses: lines.length,
      bytes: sum(source.bytes),
      seconds: secondsOf(source),
      known,
      skipped,
      broken,
    }
    writeSummary(context, price, priceText(source), linesText([...broken, ...skipped]))
    return exitCode.done
  }
  return await withDatabase(context, 'the price of a git history', show).catch(async (error: unknown) => {
    if (!(error instanceof NothingThere)) throw error
    return await show(undefined)
  })
}

async function readArchive({ app, progress }: Context, db: Database | undefined, archive: GitArchive) {
  const { folder, mappings, dates } = archive
  progress.begin('versions')
  const onProgress = (records: number, count: number) => progress.seen('versions', { records, count }, 'files')
  return await openGitSource(db, folder, mappings, app.clock.now(), { dates, onProgress }).finally(() => progress.end())
}

function secondsOf({ bytes }: Pick<GitSource, 'bytes'>): number {
  return Math.ceil(sum(bytes.map(secondsFor)))
}

/** How long a response takes of so many bytes. */
function secondsFor(bytes: number): number {
  return 1 / LOADED_PER_SECOND.responses + bytes / LOADED_PER_SECOND.bytes
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

function priceText(source: GitSource): string {
  const count = source.lines.length.toLocaleString('en-US')
  return `${count} responses to load, ${bytesText(sum(source.bytes))}: about ${durationText(secondsOf(source))}\n`
}

/** Fetches a repository into the data folder, where the next call finds it. */
async function fetched({ app, progress, signal }: Context, url: string): Promise<string> {
  const folder = join(app.config.dataDir, 'git', createHash('sha256').update(url).digest('hex').slice(0, 16))
  progress.begin(shownUrl(url))
  const onProgress = (records: number, count: number) => progress.seen(shownUrl(url), { records, count }, 'objects')
  await fetchRepository(url, folder, { clock: app.clock, signal, onProgress })
    .catch((error: unknown) => {
      throw withRoom(error, folder)
    })
    .finally(() => progress.end())
  return folder
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
    if (/\.(ya?ml|csv|tsv|xml|toml|html?|parquet|sqlite|zip)$/i.test(glob))
      throw new UsageError(`--map ${map}: files of git are read as JSON alone, one document or one in each line`)
    return { glob, resource: resourceNamed(resource) }
  })
}

function resourceNamed(name: string): GitMapping['resource'] {
  return resourcesNamed([name])[0] as GitMapping['resource']
}

/** `--detect` alone: lists what looks like responses, and the command that loads them. */
function showDetected(context: Context, name: string, found: Detected): void {
  const { detected } = found
  const command = detected.length === 0 ? null : commandFor(name, detected)
  const text = detectedText(name, found) + (command === null ? '' : `\n${command}\n`)
  writeSummary(context, { from: name, ...found, command }, text)
}

function nothingIn(name: string): string {
  return `${name}: no file looks like a response of the API that can be loaded from git`
}

function detectedText(name: string, found: Detected): string {
  const { detected, notRead } = found
  const columns = ['glob', 'resource', 'files', 'commits', 'records', 'expected'] as const
  const table = (detected.length === 0 ? `${nothingIn(name)}\n` : formatTable(columns, detected)) + remarksOn(found)
  return table + (notRead > 0 ? `${notRead} JSON files were not looked at, because there are too many\n` : '')
}

/** Looks for responses, and shows every second how far that is. */
async function detect({ progress, app }: Context, place: Pick<GitArchive, 'name' | 'folder'>): Promise<Detected> {
  // A little less than a second: no line is left out because a timer was early.
  progress.begin(place.name, 900)
  let step: Parameters<DetectProgress> = ['commits', 0, null]
  const over = new AbortController()
  const showing = async () => {
    for (;;) {
      await app.clock.sleep(1000, over.signal)
      const [what, records, count] = step
      progress.seen(place.name, { records, count }, what)
    }
  }
  showing().catch(() => undefined)
  try {
    return await detectResponses(place.folder, resources, (...next) => {
      step = next
    })
  } finally {
    over.abort()
    progress.end()
  }
}

/** What the table does not say: what is left out, and what is a part. */
function remarksOn({ detected, leftOut, unreadable, notSent, remarks }: Detected): string {
  const others = leftOut.map(({ path, sameAs }) => `${path} is left out: ${sameAs} has its records`)
  const whole = detected
    .filter(({ mapped }) => !mapped)
    .map(({ glob }) => `${glob} is left out: other files have its records, or all there are`)
  const broken = unreadable.map(({ path, commit, reason }) => `${path} of commit ${commit} cannot be read: ${reason}`)
  const made = notSent.map(({ what, paths: [first, second, ...more] }) => {
    const rest = more.length > 0 ? ` and ${more.length} more` : ''
    return `${[first, second].filter(Boolean).join(', ')}${rest} cannot be loaded: ${what}`
  })
  return linesText([...whole, ...broken, ...made, ...remarks, ...others])
}

/** Lines for a terminal, not too many. */
function linesText(lines: readonly string[]): string {
  const more = lines.length > PRINTED_LINES ? [`and ${lines.length - PRINTED_LINES} more; --json has all`] : []
  return [...lines.slice(0, PRINTED_LINES), ...more].map((line) => `${visibleLine(line)}\n`).join('')
}

/** The command that loads what was detected, as a shell takes it. */
function commandFor(repository: string, detected: Detected['detected']): string {
  const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
  // In a glob, what a terminal does not show is written as so many bytes of any kind.
  const visible = (glob: string) =>
    [...glob].map((one) => (visibleLine(one) === one ? one : '?'.repeat(Buffer.byteLength(one)))).join('')
  const maps = detected.filter(({ mapped }) => mapped).map(({ glob, resource }) => `${visible(glob)}=${resource}`)
  return `wynnsync backfill --from-git ${quoted(visibleLine(repository))}${maps.map((map) => ` --map ${quoted(map)}`).join('')}`
}

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
  // A wrong name makes no database.
  const opened = archive ? undefined : openFolder(from ?? '')
  const work = async (db: Database) => {
    const source = opened ?? (await openResponses(context, db, archive as GitArchive))
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
    lowMemory: archive !== undefined,
  }).finally(() => context.progress.end())
  // With a resource named, the other recordings are none of its business.
  const unknown = name === undefined ? [...loaded.unknown].map(([request, answers]) => ({ request, answers })) : []
  const { resources: counts, broken, skipped, known } = loaded
  const ofGit = archive ? { skipped, known, ...(archive.detected ?? {}) } : {}
  writeSummary(
    context,
    { from: archive?.name ?? from, resources: counts, broken, unknown, ...ofGit },
    textOf(loaded),
    failuresOf(loaded, unknown, archive ?? { name: from ?? '' }),
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
const PACE_RESPONSES = 20

/** How long all take at the pace of the first. */
function paceText(ms: number, share: number): string {
  return `at the pace of the first ${PACE_RESPONSES} responses: about ${durationText((ms / share) * 1e-3)} in all\n`
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
  let next = 0
  let done = 0
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
      if (isSaid && records === PACE_RESPONSES && count > 2 * PACE_RESPONSES)
        out.write(paceText(app.clock.now() - began, share))
    },
  })
}

function openFolder(folder: string): Source {
  if (existsSync(join(folder, 'index.jsonl')))
    return { recorded: openRecordedResponses(folder), skipped: [], broken: [], known: 0, close: () => undefined }
  const isFile = statSync(folder, { throwIfNoEntry: false })?.isFile() ?? false
  const found = isFile ? `${folder} is a file: unpack it first` : `there is none in ${folder}`
  throw new UsageError(`--from must be a folder with an index.jsonl of recorded responses; ${found}`)
}

const columns = ['resource', 'responses', 'new', 'changed', 'gone', 'events', 'unchanged', 'stale', 'rejected'] as const

type Loaded = LoadedFolder & Pick<Source, 'skipped' | 'known'>

function textOf({ resources, known }: Loaded): string {
  const rows = resources.map((row) => ({ ...row, responses: row.answers, new: row.inserted, gone: row.closed }))
  const before = known > 0 ? `${known} responses are not after what is known, and were left alone\n` : ''
  return formatTable(columns, rows) + before
}

/** What was not loaded; what could not be read is in the log. */
function failuresOf(
  { skipped, broken, resources }: Loaded,
  unknown: readonly { request: string; answers: number }[],
  { name, folder = name }: { readonly name: string; readonly folder?: string },
): string {
  const requests = unknown.map(({ request, answers }) => `${request}: no resource; ${answers} responses skipped`)
  const clone = folder === name ? '' : `remove ${folder}, which is fetched anew, `
  const again = `${broken.length} responses could not be read. Later ones are loaded, so once they are right: ${clone}wynnsync retract ${name}, and the same command again`
  const isLoaded = broken.length > 0 && resources.length > 0
  return linesText([...requests, ...skipped]) + (isLoaded ? `${visibleLine(again)}\n` : '')
}
