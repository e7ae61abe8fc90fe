import { index, primaryKey } from 'drizzle-orm/pg-core'
import { doublePrecision, exactBigint, instant, integer, jsonb, text, uuid } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { syncTable } from '../../db/schemas.ts'

export const budget = syncTable(
  'budget',
  'Request budget that all processes with one credential share, per rate-limit bucket. Locked while it changes.',
  {
    account: text(
      'Which server, and which credential by the start of its SHA-256; `guest` without one. Never the credential itself.',
    ).notNull(),
    bucket: text(
      'The rate-limit bucket as responses name it; a route whose bucket is not known yet has one of its own.',
    ).notNull(),
    state: jsonb(
      'The current window from the rate-limit headers, reservations with their expiry, and the cadence of live polls.',
    ).notNull(),
    changedAt: instant('When it last changed, by the clock of the machine that changed it.').notNull(),
  },
  (self) => [primaryKey({ name: 'budget_pkey', columns: [self.account, self.bucket] })],
)

export const routeBucket = syncTable(
  'route_bucket',
  'The rate-limit bucket of each route of the API, from its responses.',
  {
    account: text('Which server and credential, as in sync.budget.').notNull(),
    route: text('The path as a template, /guild/uuid/{uuid}.').notNull(),
    bucket: text('The bucket that its last response named.').notNull(),
    learnedAt: instant('When a response named it, by the clock of this machine.').notNull(),
  },
  (self) => [primaryKey({ name: 'route_bucket_pkey', columns: [self.account, self.route] })],
)

export const expectation = syncTable(
  'expectation',
  'How often each resource should be observed, since when: what coverage is measured against.',
  {
    resource: text('The resource, such as territories.').notNull(),
    validFrom: instant('Since when, until the next row of the resource.').notNull(),
    everySeconds: doublePrecision(
      'Seconds from one observation to the next. NULL: none is expected: the resource is switched off.',
    ),
    toldBy: text(
      'Command that set it: `start`, `sync` (a crontab), or `backfill` (of recordings, until then).',
    ).notNull(),
  },
  (self) => [primaryKey({ name: 'expectation_pkey', columns: [self.resource, self.validFrom] })],
)

export const gap = syncTable(
  'gap',
  'Stretches of time in which expected observations are missing, each written with the next observation.',
  {
    resource: text('The resource, such as territories.').notNull(),
    beganAt: instant('The last observation before the gap.').notNull(),
    endedAt: instant('The first observation after the gap.').notNull(),
    missed: integer('Observations that should have been made in between.').notNull(),
    reason: text(
      'Why, as far as is known: the errors of the attempts in between, or that no request was sent.',
    ).notNull(),
  },
  (self) => [
    primaryKey({ name: 'gap_pkey', columns: [self.resource, self.beganAt] }),
    index('gap_end').on(self.resource, self.endedAt),
  ],
)

export const coverageHour = syncTable(
  'coverage_hour',
  'Rollup of the observations of each hour: source of long coverage queries, and what remains when rows of the ledger expire.',
  {
    resource: text('The resource, such as territories.').notNull(),
    hour: instant('The full hour (UTC).').notNull(),
    expected: integer('Observations that should have been made.').notNull(),
    observed: integer('Accepted responses, unchanged and partial ones included.').notNull(),
    unchanged: integer('Accepted responses without a change.').notNull(),
    partial: integer('Accepted responses with quarantined or missing parts.').notNull(),
    stale: integer('Responses older than the last accepted one; not accepted.').notNull(),
    rejected: integer('Responses that validation rejected.').notNull(),
    missed: integer('Observations that were expected and not made.').notNull(),
  },
  (self) => [primaryKey({ name: 'coverage_hour_pkey', columns: [self.resource, self.hour] })],
)

export const coverageReach = syncTable(
  'coverage_reach',
  'Watermark of sync.coverage_hour by resource. A late observation or a new expected interval lowers it and removes the hours from there on; maintenance counts them again.',
  {
    resource: text('The resource, such as territories.').primaryKey(),
    countedUntil: instant(
      'Hours before it are counted, and queries read them instead of the ledger. -infinity: none.',
    ).notNull(),
    thinnedUntil: instant(
      'Rows of the ledger before it may have expired: their hours are never counted again. NULL: none have.',
    ),
  },
)

export const guardAction = syncTable(
  'guard_action',
  'Each time a guard rejected or ignored a response or a part of one.',
  {
    at: instant('When, by the clock of this machine.').notNull(),
    resource: text('The resource, such as items.').notNull(),
    key: text('The key. NULL: the whole response.'),
    guard: text(
      'staleness, plausibility, clock (whose clock dated the response, or an instant that cannot be), header (an age that a response cannot have), absence, zero-glitch, walk, mass-refusal, mass-restriction or credential.',
    ).notNull(),
    action: text(
      'What the guard did: rejected, ignored, accepted, accepted after agreement, given up, withdrawn, stopped, pending or tombstoned. NULL: a row from before this column existed.',
    ),
    reason: text('What was found and what was done.').notNull(),
    runId: uuid('The run: run_id in sync.run.').notNull(),
  },
  (self) => [index('guard_action_time').on(self.resource, self.at)],
)

export const backfill = syncTable(
  'backfill',
  'Backfills: each requests all keys of a resource that were not refreshed since it began.',
  {
    backfillId: uuid('Random id.').primaryKey(),
    resource: text('The resource, such as guilds.').notNull(),
    startedAt: instant('When it was first started, by the clock of this machine.').notNull(),
    since: instant('Keys whose last response came after this instant need no request.').notNull(),
    keys: integer('Keys to request when it began.').notNull(),
    finishedAt: instant('When the last key was requested. NULL: unfinished; `backfill` resumes it.'),
  },
  (self) => [index('backfill_resource').on(self.resource, self.startedAt.desc())],
)

export const lock = syncTable(
  'lock',
  'Locks of this program. They are rows and not advisory locks of a known key, so that a role that may only read cannot hold one.',
  {
    name: text('What is locked, such as `wynnsync items` for a sync of items.').primaryKey(),
    sessionKey: exactBigint(
      "Random key of an advisory lock that the holder's connection holds: the lock is held while that one is. NULL: a row that transactions lock until they end.",
    ),
    backendPid: integer("The server process of the holder's connection. NULL: as for session_key."),
    processId: integer("The holder's process on its own machine. NULL: as for session_key."),
    host: text("Host name of the holder's machine. NULL: as for session_key."),
    application: text("The application_name of the holder's connection. NULL: as for session_key."),
    since: instant('Since when it is held, by the clock of the server. NULL: as for session_key.'),
  },
)

const words = 'a word of the program'
const numbers = 'made by the program'
const limits = 'names a limit of the API, not a person'

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
