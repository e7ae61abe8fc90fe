import { bigint, doublePrecision, index, integer, jsonb, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { sync } from '../../db/schemas.ts'

/** What every process that uses one credential may still ask for, per bucket: one row that is locked while it changes. */
export const budget = sync.table(
  'budget',
  {
    /** Which server and which credential: never the credential itself. */
    account: text('account').notNull(),
    bucket: text('bucket').notNull(),
    /** The running window, what is reserved of it, and the pulse of the live polls. */
    state: jsonb('state').notNull(),
    changedAt: instant('changed_at').notNull(),
  },
  (self) => [primaryKey({ name: 'budget_pkey', columns: [self.account, self.bucket] })],
)

/** Which bucket a route belongs to, as its answers said. */
export const routeBucket = sync.table(
  'route_bucket',
  {
    account: text('account').notNull(),
    route: text('route').notNull(),
    bucket: text('bucket').notNull(),
    learnedAt: instant('learned_at').notNull(),
  },
  (self) => [primaryKey({ name: 'route_bucket_pkey', columns: [self.account, self.route] })],
)

/** How often a resource should be observed, since when: what coverage is measured against. */
export const expectation = sync.table(
  'expectation',
  {
    resource: text('resource').notNull(),
    validFrom: instant('valid_from').notNull(),
    /** Seconds from one observation to the next. Null: not expected at all, because somebody switched it off. */
    everySeconds: doublePrecision('every_seconds'),
    /** Which command said so: `start` or `sync`. */
    toldBy: text('told_by').notNull(),
  },
  (self) => [primaryKey({ name: 'expectation_pkey', columns: [self.resource, self.validFrom] })],
)

/** Stretches of time in which expected observations are missing, written when the next one arrives. */
export const gap = sync.table(
  'gap',
  {
    resource: text('resource').notNull(),
    /** The last observation before. */
    beganAt: instant('began_at').notNull(),
    /** The first observation after. */
    endedAt: instant('ended_at').notNull(),
    /** Observations that should have been made in between. */
    missed: integer('missed').notNull(),
    reason: text('reason').notNull(),
  },
  (self) => [
    primaryKey({ name: 'gap_pkey', columns: [self.resource, self.beganAt] }),
    index('gap_end').on(self.resource, self.endedAt),
  ],
)

/** Observations of an hour, counted: what questions about weeks rest on, and what remains of the ledger when its rows go. */
export const coverageHour = sync.table(
  'coverage_hour',
  {
    resource: text('resource').notNull(),
    hour: instant('hour').notNull(),
    expected: integer('expected').notNull(),
    /** Accepted answers, the unchanged and the partial ones among them. */
    observed: integer('observed').notNull(),
    unchanged: integer('unchanged').notNull(),
    partial: integer('partial').notNull(),
    stale: integer('stale').notNull(),
    rejected: integer('rejected').notNull(),
    missed: integer('missed').notNull(),
  },
  (self) => [primaryKey({ name: 'coverage_hour_pkey', columns: [self.resource, self.hour] })],
)

/** How far the hours of a resource are counted, and how far its ledger is still there to count them again. */
export const coverageReach = sync.table('coverage_reach', {
  resource: text('resource').primaryKey(),
  /** Hours before are in `sync.coverage_hour`, and nowhere else looked for; of those after, the ledger alone tells. */
  countedUntil: instant('counted_until').notNull(),
  /** Rows of the ledger from before are gone: what is counted of them stays as it is. NULL: none are gone. */
  thinnedUntil: instant('thinned_until'),
})

/** Each time a guard kept something from being believed, or ended something. */
export const guardAction = sync.table(
  'guard_action',
  {
    at: instant('at').notNull(),
    resource: text('resource').notNull(),
    key: text('key'),
    /** staleness, plausibility, clock, absence, zero-glitch, walk or mass-refusal. */
    guard: text('guard').notNull(),
    /** What the guard did, in one or two words. Null: a row from before this column existed. */
    action: text('action'),
    reason: text('reason').notNull(),
    runId: uuid('run_id').notNull(),
  },
  (self) => [index('guard_action_time').on(self.resource, self.at)],
)

/** Backfills: each a walk over all keys of a resource that were not asked for since it began. */
export const backfill = sync.table(
  'backfill',
  {
    backfillId: uuid('backfill_id').primaryKey(),
    resource: text('resource').notNull(),
    startedAt: instant('started_at').notNull(),
    /** Keys whose last answer came after this instant need not be asked for. */
    since: instant('since').notNull(),
    /** Keys there were to ask for when it began. */
    keys: integer('keys').notNull(),
    /** Null while it is not finished. */
    finishedAt: instant('finished_at'),
  },
  (self) => [index('backfill_resource').on(self.resource, self.startedAt.desc())],
)

/**
 * Locks, where no reader can reach them. One that a process holds lives as long as the connection that took it; one of a
 * transaction is only a row to lock.
 */
export const lock = sync.table('lock', {
  name: text('name').primaryKey(),
  /** Advisory key of the connection that holds it: while that is held, so is this. Null: a row for transactions to lock. */
  sessionKey: bigint('session_key', { mode: 'bigint' }),
  backendPid: integer('backend_pid'),
  processId: integer('process_id'),
  host: text('host'),
  application: text('application'),
  since: instant('since'),
})

const words = 'a word of the program'
const numbers = 'made by the program'
const limits = 'names a limit of the API, whoever is asked for'

/** Which columns can name a player. */
export const watchNaming = [
  namesPeople(budget, {}, { [limits]: ['account', 'bucket', 'state'] }),
  namesPeople(routeBucket, {}, { [limits]: ['account', 'route', 'bucket'] }),
  namesPeople(expectation, {}, { [words]: ['resource', 'toldBy'] }),
  namesPeople(gap, { reason: 'text' }, { [words]: ['resource'] }),
  namesPeople(coverageHour, {}, { [words]: ['resource'] }),
  namesPeople(coverageReach, {}, { [words]: ['resource'] }),
  namesPeople(
    guardAction,
    { key: 'key', reason: 'text' },
    { [words]: ['resource', 'guard', 'action'], [numbers]: ['runId'] },
  ),
  namesPeople(
    lock,
    {},
    { [words]: ['name', 'host', 'application'], [numbers]: ['sessionKey', 'backendPid', 'processId'] },
  ),
  namesPeople(backfill, {}, { [words]: ['resource'], [numbers]: ['backfillId'] }),
]
