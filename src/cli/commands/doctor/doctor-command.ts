import type { Api } from '../../../api/client.ts'
import type { RequestEvent } from '../../../api/http/request-event.ts'
import { type App, checkReadable, migrateDatabase, objectsOfUsers, openDatabase } from '../../../app/app.ts'
import { admissionOf, openApi, openSharedApi } from '../../../app/app-api.ts'
import { messageOf, RetryableError } from '../../../base/errors.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import { readOnlyReason, withGrants } from '../../../db/access.ts'
import { serverVersion } from '../../../db/catalog.ts'
import { NothingThere } from '../../../db/connect.ts'
import type { Database } from '../../../db/database.ts'
import { sqlState } from '../../../db/sql-errors.ts'
import { readFreshness } from '../../../sync/overview/recent-runs.ts'
import { type Admission, WrongOrigin } from '../../../sync/run/admission.ts'
import { type Context, rolledBack, tableWidth, writeResult } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { red, type Style, yellow } from '../../output/output.ts'
import { boldFirstLine, formatTable } from '../../output/table.ts'
import { databaseAdvice, isDiskFull, ORIGIN_ADVICE, readOnlyAdvice, VIEWS_ADVICE } from './doctor-advice.ts'
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
import { checkWatches } from './doctor-watches.ts'

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
  const { app, signal } = context
  const findings: Finding[] = []
  let db: Database | undefined
  let api: Api | undefined
  try {
    db = await openDatabase(app, ['doctor'], { waitMs: 2000, isBrief: true, creates: sets, shares: 'writes' }).catch(
      (error: unknown) => {
        findings.push(databaseProblem(error, app))
        return undefined
      },
    )
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
