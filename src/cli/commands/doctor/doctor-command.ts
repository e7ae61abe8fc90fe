import { existsSync } from 'node:fs'
import type { Api } from '../../../api/client.ts'
import type { RequestEvent } from '../../../api/http/transport.ts'
import { type App, checkReadable, migrateDatabase, objectsOfUsers, openDatabase } from '../../../app/app.ts'
import { admissionOf, openApi, openSharedApi } from '../../../app/app-api.ts'
import { type Config, watchFileOf } from '../../../base/config.ts'
import { FatalError, messageOf, RetryableError, UsageError } from '../../../base/errors.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import { readOnlyReason, withGrants } from '../../../db/access.ts'
import { serverVersion, tableExists } from '../../../db/catalog.ts'
import { NothingThere } from '../../../db/connect.ts'
import { beforeOthers, type Database } from '../../../db/database.ts'
import { sqlState } from '../../../db/sql-errors.ts'
import { unmatchedNames } from '../../../monitoring/watch-names.ts'
import type { Watch } from '../../../monitoring/watches/watch.ts'
import { readWatches, readWatchFile } from '../../../monitoring/watches/watch-store.ts'
import { readFreshness } from '../../../sync/overview/overview.ts'
import { type Admission, WrongOrigin } from '../../../sync/run/admission.ts'
import { type Context, rolledBack, tableWidth, writeResult } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { red, type Style, yellow } from '../../output/output.ts'
import { boldFirstLine, formatTable } from '../../output/table.ts'
import {
  checkCredential,
  checkDating,
  checkDisk,
  checkFields,
  checkLake,
  checkProxy,
  checkReplication,
  checkResponse,
  checkVerified,
  type Finding,
} from './doctor-checks.ts'

/** `doctor`: database, disk, API, clock, headers, credential, freshness; what is wrong and what to do. Returns the exit code. */
export async function doctorCommand(context: Context): Promise<number> {
  const findings = await diagnose(context)
  writeResult(
    context,
    { findings: findings.map(publicFinding) },
    findingsText(findings, tableWidth(context)),
    verdictColors,
  )
  return exitCodeOfFindings(findings)
}

/** The fields of a finding that are part of the public JSON. */
export function publicFinding({ temporary: _, ...finding }: Finding) {
  return finding
}

/** Findings as a table, then what to do about them. */
export function findingsText(findings: readonly Finding[], width?: number): string {
  const advice = findings.flatMap(({ check, todo }) => (todo ? [`\n${check}: ${visibleLine(todo)}\n`] : []))
  return formatTable(['check', 'verdict', 'seen'], findings, { width, wraps: true }) + advice.join('')
}

const verdictColors: Style = (text) =>
  boldFirstLine(text)
    .replace(/^(\w+ +)(problem)\b/gm, (_, check, word) => check + red(word))
    .replace(/^(\w+ +)(warning)\b/gm, (_, check, word) => check + yellow(word))

/** 75 when every problem may end by itself. */
export function exitCodeOfFindings(findings: readonly Finding[]): number {
  const problems = findings.filter(({ verdict }) => verdict === 'problem')
  if (problems.length === 0) return exitCode.done
  return problems.every(({ temporary }) => temporary) ? exitCode.tryLater : exitCode.failed
}

/** @param sets whether the database is made and brought up to date first, as by the commands that write into it */
export async function diagnose(context: Context, sets = false): Promise<Finding[]> {
  context.progress.during('doctor')
  // Beside a sync each of many statements would wait for it.
  return await beforeOthers(() => findAll(context, sets)).finally(() => context.progress.stop())
}

async function findAll(context: Context, sets: boolean): Promise<Finding[]> {
  const { app, signal } = context
  const findings: Finding[] = []
  let db: Database | undefined
  let api: Api | undefined
  try {
    db = await openDatabase(app, ['doctor'], {
      waitMs: 2000,
      isBrief: true,
      creates: sets,
      shares: 'writes' as const,
      thread: true,
    }).catch((error: unknown) => {
      findings.push(databaseProblem(error, app))
      return undefined
    })
    const database = db ? await checkDatabase(db, context, sets) : undefined
    findings.push(...(database?.findings ?? []))
    const watches = await checkWatches(app.config, db)
    findings.push(
      await checkDisk(app.config, db),
      ...watches,
      ...(await checkLake(app)),
      ...(await checkVerified(db, app)),
    )
    findings.push(...(await checkProxy(app.config)))
    const requests: RequestEvent[] = []
    const onRequest = (event: RequestEvent) => void requests.push(event)
    // The shared budget takes tables and writing: without them, a fault of the database would look like one of the API.
    const opened = db && database?.isWritable ? openSharedApi(app, db, onRequest) : openApi(app, undefined, onRequest)
    api = database?.admission ? opened.withRecorder(database.admission.check) : opened
    findings.push(...(await checkResponse(api, app, { signal, requests })))
    findings.push(await checkCredential(api, app, signal))
  } finally {
    await api?.close()
    await db?.close()
  }
  return findings
}

async function checkDatabase(
  db: Database,
  { app }: Context,
  sets: boolean,
): Promise<{ readonly findings: Finding[]; readonly isWritable: boolean; readonly admission?: Admission }> {
  const check = 'database'
  try {
    if (sets) await migrateDatabase(db, app)
    const installed = await checkReadable(db, { clock: app.clock })
    const readOnly = await readOnlyReason(db)
    if (readOnly === null && db.kind === 'server') await tryToWrite(db)
    const product = db.kind === 'server' ? 'PostgreSQL' : 'embedded PostgreSQL'
    const needed = installed === 'all' ? [] : await objectsOfUsers(db)
    const own = needed.length > 0 ? `, with objects of your own on them: ${needed.join(', ')}` : ''
    const tables = installed === 'all' ? 'up to date' : `whose views are not those of this version${own}`
    const seen = `${product} ${await serverVersion(db)} at ${db.place}, ${tables}`
    const finding: Finding = readOnly
      ? { check, verdict: 'warning', seen: `${seen}, read-only: ${readOnly}`, todo: readOnlyAdvice }
      : installed === 'all'
        ? { check, verdict: 'fine', seen }
        : { check, verdict: 'warning', seen, todo: VIEWS_ADVICE }
    const origin = await checkOrigin(db, app)
    return {
      findings: [
        finding,
        ...origin.findings,
        await checkFreshness(db),
        ...(await checkDating(db, app.clock.now())),
        ...(await checkFields(db, app.clock.now())),
        ...(await checkReplication(db)),
      ],
      isWritable: readOnly === null,
      ...(origin.admission ? { admission: origin.admission } : {}),
    }
  } catch (error) {
    const cause = error instanceof NothingThere ? await tryToBegin(db).catch((refusal: unknown) => refusal) : undefined
    return { findings: [databaseProblem(cause ?? error, app)], isWritable: false }
  }
}

const SOME_ROWS = 'create table sync.tried as select md5(random()::text) as text from generate_series(1, 50000)'

/** Whether the server has room: writes some and takes it back. That the user may make no table is no fault. */
async function tryToWrite(db: Database): Promise<void> {
  await rolledBack(db, (sql) => sql.query(SOME_ROWS)).catch((error: unknown) => {
    // SQLSTATE class 53: disk or memory is used up.
    if (sqlState(error)?.startsWith('53') || isDiskFull(error)) throw error
  })
}

/** Whether a history could begin in an empty database: makes some of what it takes, and takes it back. */
async function tryToBegin(db: Database): Promise<void> {
  await rolledBack(db, async (sql) => {
    await sql.query('create schema if not exists sync')
    await sql.query(SOME_ROWS)
  }).catch(async (error: unknown) => {
    throw await withGrants(db, error)
  })
}

/** Whether the history is of the configured API; nothing where it is. */
async function checkOrigin(db: Database, app: App): Promise<{ findings: Finding[]; admission?: Admission }> {
  try {
    return { findings: [], admission: await admissionOf(app, db) }
  } catch (error) {
    if (!(error instanceof WrongOrigin)) throw error
    return { findings: [{ check: 'origin', verdict: 'problem', seen: messageOf(error), todo: ORIGIN_ADVICE }] }
  }
}

async function checkFreshness(db: Database): Promise<Finding> {
  const check = 'freshness'
  const states = [...(await readFreshness(db))]
  const late = states.flatMap(([resource, { isLate }]) => (isLate ? [resource] : []))
  if (states.length === 0) return { check, verdict: 'fine', seen: 'nothing was synced yet' }
  if (late.length === 0) return { check, verdict: 'fine', seen: `${states.length} resources, none is late` }
  return {
    check,
    verdict: 'warning',
    seen: `late: ${late.join(', ')}`,
    todo: '`wynnsync status` shows why; is `wynnsync start`, or the crontab, running?',
  }
}

function databaseProblem(error: unknown, { config }: Pick<App, 'config'>): Finding {
  if (error instanceof NothingThere)
    return { check: 'database', verdict: 'warning', seen: messageOf(error), todo: databaseAdvice(error, config) }
  return {
    check: 'database',
    verdict: 'problem',
    seen: messageOf(error),
    todo: databaseAdvice(error, config),
    temporary: error instanceof RetryableError,
  }
}

const check = 'watches'

/** As many names as are listed. */
const LISTED_NAMES = 10

/** Whether the watches can be read and something has the names in them, and what the file of an earlier version has; nothing where there are none. */
async function checkWatches(config: { readonly dataDir: string }, db?: Database): Promise<Finding[]> {
  try {
    const isThere = db && (await tableExists(db, 'sync.watch'))
    const { names, watches, unreadable } = isThere ? await readWatches(db) : { names: [], watches: [], unreadable: [] }
    const findings: Finding[] = [
      ...checkFile(watchFileOf(config), names.length > 0),
      ...unreadable.map(({ name, problem }) => ({
        check,
        verdict: 'problem' as const,
        seen: `this version cannot read the watch ${name}: ${problem}`,
        todo: `it sends nothing: replace it with wynnsync watch add ${name}, or wynnsync watch remove it`,
      })),
      ...(await checkNames(watches, db)),
    ]
    if (findings.length > 0 || names.length === 0) return findings
    return [{ check, verdict: 'fine', seen: `${names.length} in the database` }]
  } catch (error) {
    return [{ check, verdict: 'problem', seen: messageOf(error) }]
  }
}

/** What the file of an earlier version means. */
function checkFile(file: string, hasWatches: boolean): Finding[] {
  if (!existsSync(file)) return []
  if (hasWatches) {
    const todo = `add what is missing with wynnsync watch add, and remove ${file}`
    return [{ check, verdict: 'warning', seen: `${file} is not read, because the database has watches`, todo }]
  }
  try {
    const { watches } = readWatchFile(file)
    const seen = `${watches.length} in ${file}, which the next sync or start takes into the database`
    return [{ check, verdict: 'fine', seen }]
  } catch (error) {
    const todo = `correct or remove ${file}: the next sync or start takes its watches into the database`
    return [{ check, verdict: 'problem', seen: messageOf(error), todo }]
  }
}

/** Names that nothing matches. A database that cannot say is a finding of its own. */
async function checkNames(watches: readonly Watch[], db?: Database): Promise<Finding[]> {
  const unmatched = db ? await unmatchedNames(db, watches).catch(() => []) : []
  const first = unmatched.slice(0, LISTED_NAMES).map(({ watch, text }) => `${watch}: ${text}`)
  if (first.length === 0) return []
  const more = unmatched.length > LISTED_NAMES ? [`and ${unmatched.length - LISTED_NAMES} more`] : []
  const todo = 'nothing is sent about a name that nothing has: correct it with wynnsync watch add'
  return [{ check, verdict: 'warning', seen: [...first, ...more].join('. '), todo }]
}

/** What to do about a database in which nothing can be written. */
const readOnlyAdvice =
  'queries work; to sync, set DATABASE_URL to the primary, or unset default_transaction_read_only for this user'

/** The same where the views of another version are installed, and where the history is of another API. */
const VIEWS_ADVICE = '`wynnsync migrate` installs them, or says what is in the way; until then some questions fail'
const ORIGIN_ADVICE = 'nothing is synced into it as it is configured now'

const FULL_DISK = 'make room on the disk that the database is on; nothing can be synced until then'

/** What to do about each SQLSTATE (PostgreSQL manual, appendix A). */
const byState: Readonly<Record<string, string>> = {
  '53100': FULL_DISK,
  '53200': 'the server is out of memory: look at its shared_buffers and work_mem, and at what else runs there',
  '53300': 'the server has no free connection: end some, or raise its max_connections',
  '25006': readOnlyAdvice,
  '42501': 'this user lacks a right: grant what the line above shows, or use the user who owns the tables',
  '28P01':
    'check user and password in DATABASE_URL, or PGPASSWORD; special characters in a URL must be percent-encoded',
  '28000': 'check the user in DATABASE_URL, pg_hba.conf of the server, and whether it requires ?sslmode=require',
  '3D000': 'create the database first: createdb NAME',
  '57P03': 'the server is starting up or shutting down: wait, then look into its log',
}

/** The same for connection errors, by the names of errno(3) and of the driver. */
const byReason: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'is the server running, and are host and port of DATABASE_URL right? pg_isready checks',
  ENOTFOUND: 'is the host name in DATABASE_URL right, and does this machine resolve it?',
  EAI_AGAIN: 'this machine cannot resolve host names now: look at its network and DNS',
  EHOSTUNREACH: 'look at the network between this machine and the host in DATABASE_URL',
  ENETUNREACH: 'look at the network between this machine and the host in DATABASE_URL',
  ETIMEDOUT: 'a firewall may be in the way, or the host in DATABASE_URL is down',
  CONNECT_TIMEOUT: 'a firewall may be in the way, or the host in DATABASE_URL is down',
  ENOENT: 'the socket that DATABASE_URL names does not exist: is the server running?',
}

/** Whether a server says in an internal error that its disk is full: it fails to write the files of a new session (PostgreSQL, relcache.c). */
function isDiskFull(error: unknown): boolean {
  return error instanceof Error && /could not write init file|no space left on device/i.test(error.message)
}

/** What to do about a database that cannot be used. */
function databaseAdvice(error: unknown, { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): string {
  const state = sqlState(error)
  const known = state === undefined ? undefined : byState[state]
  if (known !== undefined) return known
  if (isDiskFull(error)) return FULL_DISK
  const isOurs = error instanceof FatalError || error instanceof RetryableError
  const reason = isOurs ? byReason[String(error.context.reason)] : undefined
  if (reason !== undefined) return reason
  if (error instanceof NothingThere) return 'nothing, where this is to be its place: the first `wynnsync sync` makes it'
  if (error instanceof UsageError) return 'correct the setting as the line above shows'
  if (databaseUrl !== undefined) return 'look into the log of the server'
  if (error instanceof RetryableError)
    return 'another process has the embedded database open: wait for its end, or end it'
  return `look at the folder ${dataDir}: is it yours, and is there room?`
}
