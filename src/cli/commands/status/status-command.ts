import type { App } from '../../../app/app.ts'
import { type CredentialSources, chooseCredential } from '../../../app/stored-credential.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import type { Database } from '../../../db/database.ts'
import { readHeldLocks } from '../../../db/locks/held-locks.ts'
import { lakeState } from '../../../lake/index-file.ts'
import { type StoreSettings, storeSettings } from '../../../lake/lake-store.ts'
import { readDeliveries } from '../../../monitoring/watches/delivery-state.ts'
import { resources, worklists } from '../../../resources/index.ts'
import { type DriftOverview, readDrift } from '../../../sync/overview/drift-overview.ts'
import {
  readBudgets,
  readDatingRemarks,
  readFailures,
  readFreshness,
  readGaps,
  readKeyCounts,
  readSizes,
  readStates,
  readTiers,
  readUnsent,
} from '../../../sync/overview/overview.ts'
import { accountOf } from '../../../sync/run/database-budget-store.ts'
import { foundText, lastVerification } from '../../../sync/verify/verification.ts'
import { readPendingRefusals } from '../../../sync/worklist/refusals.ts'
import { type Context, showResult, tableWidth, withDatabase, writeResult } from '../../context.ts'
import { bold, red, type Style } from '../../output/output.ts'
import { formatTable } from '../../output/table.ts'
import { bytesText, durationText, minuteText, shortened } from '../../output/units.ts'

const DAY = 86_400_000

/** Everything `status` shows, in the names of its JSON. */
type Overview = Awaited<ReturnType<typeof readOverview>>

/**
 * Reads all of it as of `now`, ms since the epoch.
 * @param credentials names the accounts; without it, only guests have a name
 * @param lake the configured one
 */
export async function readOverview(
  db: Database,
  now: number,
  credentials: CredentialSources | null = null,
  lake?: { readonly place: string; readonly settings: StoreSettings },
) {
  const yesterday = new Date(now - DAY)
  const names = resources.map((resource) => resource.name)
  const freshness = await readFreshness(db)
  const states = await readStates(db, names)
  const pending = await readPendingRefusals(db, 5)
  const keys = await readKeyCounts(db)
  const nameless = await countNameless(db)
  const pendingOf = (resource: string) => (pending.has(resource) ? { pending: pending.get(resource) } : {})
  return {
    database: db.place,
    // The JSON's name for the number of current keys is `living`.
    resources: states.map(({ currentKeys: living, ...state }) => ({
      ...state,
      living,
      ...(keys.has(state.resource) ? { keys: keys.get(state.resource) } : {}),
      ...(nameless.has(state.resource) ? { nameless: nameless.get(state.resource) } : {}),
      ...freshness.get(state.resource),
      ...pendingOf(state.resource),
    })),
    budgets: (await readBudgets(db, now)).map((budget) => ({ ...budget, who: whoIs(budget.account, credentials) })),
    gaps: await readGaps(db, yesterday, 5),
    clocks: await readDatingRemarks(db, now, 24),
    unsent: await readUnsent(db, yesterday),
    failures: await readFailures(db, yesterday, 5),
    restrictions: await readPendingRestrictions(db),
    size: await readSizes(db, 5),
    tiers: await readTiers(db),
    locks: await readHeldLocks(db),
    watches: await readWatchStates(db),
    verification: (await lastVerification(db)) ?? null,
    lake: lake === undefined ? null : await lakeOf(lake.place, lake.settings),
  }
}

/** The configured lake; what is not there yet, or cannot be read, has nothing. */
async function lakeOf(place: string, settings: StoreSettings) {
  const state = await lakeState(place, settings, AbortSignal.timeout(3000)).catch(() => undefined)
  if (!state) return { place, at: null, people: false, files: 0, rows: 0, bytes: 0 }
  return { ...state, at: new Date(state.at) }
}

/** By resource, how many current keys have no name yet. */
async function countNameless(db: Database): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const { name, countNameless: count } of worklists) if (count) counts.set(name, await count(db))
  return counts
}

/** What watches deliver: not how. */
async function readWatchStates(db: Database) {
  const states = await readDeliveries(db)
  return states.map(({ watch, error, failingSince, deliveredAt }) => ({ watch, error, failingSince, deliveredAt }))
}

/**
 * The account of a budget for a person: `guest`, `token of NAME`, `token of WYNNSYNC_TOKEN`, and of others `another token` with the
 * start of its hash; with the server where it is not the configured one.
 */
function whoIs(account: string, sources: CredentialSources | null): string {
  const [origin = '', who = ''] = account.split(' ')
  const at = sources === null || origin === new URL(sources.baseUrl).origin ? '' : ` at ${origin}`
  if (who === 'guest') return `guest${at}`
  const own = sources === null ? undefined : ownAccount(sources)
  return own?.account === account ? `token of ${own.name}` : `another token (${who.slice(0, 6)})${at}`
}

/** The account that requests of this configuration are counted for; undefined for a guest. */
function ownAccount(sources: CredentialSources): { account: string; name: string } | undefined {
  try {
    const credential = chooseCredential(sources)
    if (credential === null) return undefined
    const { from, stored } = credential
    const name = from === 'file' ? (stored?.who?.username ?? stored?.who?.uuid ?? 'the stored login') : from
    return { account: accountOf(sources.baseUrl, credential.token()), name }
  } catch {
    // A file that cannot be used is no concern of a status; `doctor` names it.
    return undefined
  }
}

/** How many restrictions wait for another response, by rule. */
async function readPendingRestrictions(db: Database) {
  return await db.query<{
    readonly group: string
    readonly pending: number
    /** Of these: what the guard mass-restriction holds. */
    readonly held: number
    /** Of these: what a guest set, and only a response to a token confirms. */
    readonly needsToken: number
    readonly since: Date
  }>(
    `select field_group as "group", count(*)::int as pending, count(*) filter (where is_held)::int as held,
            count(*) filter (where needs_credential = 'token')::int as "needsToken", min(since) as since
       from sync.privacy_restriction where is_pending group by field_group order by pending desc, field_group collate "C"`,
  )
}

/** Red what is late or failed, bold the titles. */
const statusColors: Style = (text) =>
  text
    .replace(/^(?:resource .*|[A-Z][^:]*)$/gm, bold)
    .replace(/^([a-z-]+ +)(failed|rejected)\b/gm, (_, name, status) => name + red(status))
    .replace(/^(?!resource )(.*? )late(?= )/gm, (_, before) => before + red('late'))

/** The overview for a person. @param now ms since the epoch @param width of the terminal */
export function statusText(overview: Overview, now: number, width?: number): string {
  const { database, resources, size } = overview
  const neverSynced = resources.every((state) => state.status === null)
  const parts = [
    `database ${database}, ${bytesText(size.bytes)}\n${lakeLine(overview, now)}${verificationLine(overview, now)}`,
    resourceTable(resources, now, width),
    ...(neverSynced ? ['Nothing was synced yet. Start with: wynnsync sync items\n'] : []),
    ...resources.flatMap(({ resource, nameless }) =>
      nameless ? [`${resource}: ${nameless} online have no name yet; they are requested first\n`] : [],
    ),
    ...resources.flatMap(({ resource, error }) => (error ? [`${resource}: ${visibleLine(error)}\n`] : [])),
  ]
  for (const { title, columns, rows, more } of sections(overview, now))
    if (rows.length > 0) parts.push(`${title}\n${formatTable(columns, rows, { width })}${more ?? ''}`)
  return parts.join('\n')
}

function lakeLine({ lake }: Overview, now: number): string {
  if (lake === null) return ''
  const { place, at, rows, bytes } = lake
  return `lake ${visibleLine(place)}, ${bytesText(bytes)}, ${rows.toLocaleString('en-US')} rows, exported ${ago(at, now)}\n`
}

function verificationLine({ verification }: Overview, now: number): string {
  if (verification === null) return ''
  const { at, wrong } = verification
  return `verified ${ago(at, now)}: ${wrong === 0 ? 'nothing is wrong' : `${foundText(verification)}; see wynnsync verify`}\n`
}

/** Who may reserve requests of a bucket. */
const lanes = ['live', 'refresh', 'backfill'] as const

const resourceColumns = ['resource', 'last run', 'finished', 'observed', 'due every', 'late', 'last change'].concat([
  'records',
  'quarantined',
])

function resourceTable(resources: Overview['resources'], now: number, width?: number): string {
  const rows = resources.map((state) => ({
    ...state,
    'last run': state.status ?? 'never',
    finished: ago(state.finishedAt, now),
    observed: ago(state.lastObservedAt ?? state.observedAt, now),
    'due every': state.everySeconds ? durationText(state.everySeconds) : 'no schedule',
    late: state.isLate ? 'late' : 'no',
    'last change': ago(state.changedAt, now),
    records: state.living ?? state.keys?.observed ?? 0,
  }))
  return formatTable(resourceColumns, rows, { width })
}

/** A table that is left out while it has no rows. */
interface Section {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly object[]
  readonly more?: string
}

function sections(overview: Overview, now: number): readonly Section[] {
  const { budgets, gaps, clocks, failures, restrictions, size, tiers, locks, watches } = overview
  return [
    {
      title: 'Requests the API allows',
      columns: ['account', 'bucket', 'limit', 'left', ...lanes.map((lane) => `reserved ${lane}`), 'window ends in'],
      rows: budgets.map((budget) => ({
        ...budget,
        account: budget.who,
        limit: budget.limit ?? 'unknown',
        left: budget.remaining ?? 'unknown',
        ...Object.fromEntries(lanes.map((lane) => [`reserved ${lane}`, budget[lane]])),
        'window ends in': durationText(Math.max(0, ((budget.endsAt?.getTime() ?? now) - now) / 1000)),
      })),
    },
    {
      title: 'Not observed, in the last day',
      columns: ['resource', 'from', 'to', 'missed', 'why'],
      rows: gaps.map((gap) => ({ ...gap, from: gap.beganAt, to: gap.endedAt, why: shortened(gap.reason, 90) })),
    },
    {
      title: 'Clocks and headers that disagree, in the last day',
      columns: ['resource', 'last', 'what was seen and done'],
      rows: clocks.map((remark) => ({
        resource: remark.resource,
        last: ago(remark.at, now),
        'what was seen and done': shortened(remark.reason, 120),
      })),
    },
    unsentSection(overview, now),
    pendingSection(overview, now),
    {
      title: 'Hidden, and pending until another response confirms it',
      columns: ['rule', 'pending', 'held', 'need a token', 'since'],
      rows: restrictions.map((one) => ({
        ...one,
        rule: one.group,
        'need a token': one.needsToken,
        since: ago(one.since, now),
      })),
    },
    {
      title: 'Failures of the last day',
      columns: ['resource', 'last', 'times', 'error'],
      rows: failures.map((failure) => ({
        ...failure,
        last: ago(failure.at, now),
        error: shortened(failure.error, 90),
      })),
    },
    {
      title: 'Watches whose messages do not arrive',
      columns: ['watch', 'since', 'last delivered', 'error'],
      rows: watches
        .filter(({ failingSince }) => failingSince !== null)
        .map(({ watch, failingSince, deliveredAt, error }) => ({
          watch,
          error,
          since: ago(failingSince, now),
          'last delivered': ago(deliveredAt, now),
        })),
    },
    {
      title: 'Largest tables',
      columns: ['table', 'size', 'rows'],
      rows: size.tables.map(({ table, bytes, rows }) => ({
        table,
        size: bytesText(bytes),
        rows: rows || 'not estimated yet',
      })),
    },
    {
      title: 'Older than its retention',
      columns: ['table', 'whole since', 'coarser since'],
      rows: tiers.map((tier) => ({
        ...tier,
        'whole since': tier.fineSince ?? 'the beginning',
        'coarser since': tier.coarseSince ?? 'the beginning',
      })),
    },
    {
      title: 'Locks held now',
      columns: ['lock', 'process', 'host', 'application', 'since'],
      rows: locks.map((lock) => ({ ...lock, lock: lock.name, process: lock.pid, since: ago(lock.since, now) })),
    },
  ]
}

function unsentSection({ unsent }: Overview, now: number): Section {
  return {
    title: 'Fields that are not sent, or were not in the last day: what they say is unknown for that time',
    columns: ['resource', 'field', 'last sent', 'until'],
    rows: unsent.map(({ resource, field, lastSentAt, untilAt }) => ({
      resource,
      field,
      'last sent': ago(lastSentAt, now),
      until: untilAt ? ago(untilAt, now) : 'now',
    })),
  }
}

/** Redactions and tombstones that wait for a second response. */
function pendingSection({ resources }: Overview, now: number): Section {
  const rows = resources.flatMap(({ resource, pending }) =>
    (pending?.oldest ?? []).map((key) => ({ ...key, resource, since: ago(key.since, now) })),
  )
  const all = resources.reduce((sum, { pending }) => sum + (pending ? pending.redactions + pending.tombstones : 0), 0)
  return {
    title: 'Refused, and pending until a second response confirms it',
    columns: ['resource', 'key', 'pending', 'since'],
    rows,
    more: all > rows.length ? `and ${all - rows.length} more\n` : '',
  }
}

/** How long ago an instant was; a future one as it is, and none as `never`. */
function ago(instant: Date | null | undefined, now: number): string {
  if (!instant) return 'never'
  const seconds = Math.round((now - instant.getTime()) / 1000)
  return seconds < 0 ? minuteText(instant) : `${durationText(seconds)} ago`
}

/** Drift for a person: each thing once, with where and when. */
function driftText(things: readonly DriftOverview[], width?: number): string {
  if (things.length === 0) return 'No drift: the API sends nothing unknown.\n'
  return formatTable(
    ['resource', 'where', 'what', 'first in', 'example'],
    things.map(({ resource, path, member, seen, example }) => ({
      resource,
      where: path || '(the whole)',
      what:
        (member === null ? '' : `${JSON.stringify(member)} `) +
        seen.map(({ what, at }) => `${what} ${minuteText(at)}`).join(', '),
      'first in': seen[0]?.key ?? '',
      example: example === null || member !== null ? '' : shortened(JSON.stringify(example), 40),
    })),
    { width },
  )
}

interface StatusFlags {
  readonly watch?: boolean
  readonly drift?: boolean
}

/** How often `--watch` reads everything again, ms. */
const REFRESH_MS = 5000

/** `status`: freshness, budgets, gaps, failures, sizes. */
export async function statusCommand(context: Context, { watch = false, drift = false }: StatusFlags): Promise<void> {
  const { app, out, flags, signal } = context
  const width = tableWidth(context)
  const read = async (db: Database) => (drift ? await driftOf(db, width) : await overviewOf(db, app, width))
  if (!watch) {
    const [json, text] = await withDatabase(context, 'status', read, { isInterruptible: true })
    return await showResult(context, json, text, statusColors)
  }
  const show = async (db: Database) => {
    while (!signal.aborted) {
      const [json, text] = await read(db)
      if (!flags.json) out.clear()
      writeResult(context, json, text, statusColors)
      await app.clock.sleep(REFRESH_MS, signal).catch(() => undefined)
      if (!out.isTTY && !flags.json) out.write('\n')
    }
  }
  return await withDatabase(context, 'status', show, { isInterruptible: true, stays: true })
}

async function driftOf(db: Database, width?: number): Promise<[json: object, text: string]> {
  const drift = await readDrift(db)
  return [{ drift }, driftText(drift, width)]
}

async function overviewOf(db: Database, app: App, width?: number): Promise<[json: object, text: string]> {
  const { clock, config } = app
  const now = clock.now()
  const lake = config.lake === undefined ? undefined : { place: config.lake, settings: storeSettings(app) }
  const overview = await readOverview(db, now, config, lake)
  return [overview, statusText(overview, now, width)]
}
