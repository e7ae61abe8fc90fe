import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, json, jsonb, primaryKey, real, text, unique, uuid } from 'drizzle-orm/pg-core'
import { bytes, instant } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { game, sync } from '../../db/schemas.ts'

const count = (name: string) => integer(name).notNull().default(0)

/** The ledger: one row per execution of a resource, written in the transaction of what it loaded. */
export const run = sync.table(
  'run',
  {
    runId: uuid('run_id').primaryKey(),
    resource: text('resource').notNull(),
    status: text('status').notNull(),
    /** Why the answer was not simply loaded. */
    reason: text('reason'),
    startedAt: instant('started_at').notNull(),
    finishedAt: instant('finished_at').notNull(),
    observedFrom: instant('observed_from'),
    observedAt: instant('observed_at'),
    complete: boolean('complete'),
    requests: count('requests'),
    pages: count('pages'),
    records: count('records'),
    /** Records that could be normalized: what plausibility compares. Null: a row from before this column existed. */
    normalized: integer('normalized'),
    inserted: count('inserted'),
    changed: count('changed'),
    closed: count('closed'),
    unchanged: count('unchanged'),
    events: count('events'),
    rejected: count('rejected'),
    quarantined: count('quarantined'),
    /** Keys that are current after this run. */
    living: integer('living'),
    contentHash: bytes('content_hash'),
    error: text('error'),
    program: text('program').notNull(),
  },
  (self) => [
    // The last accepted answer is looked up before every load, and nothing else of the ledger is.
    index('run_accepted')
      .on(self.resource, self.observedAt.desc(), self.finishedAt.desc())
      .where(sql`status in ('ok', 'unchanged', 'partial')`),
    index('run_recent').on(self.resource, self.startedAt.desc()),
    // The latest of each status stays, however old it is.
    index('run_status').on(self.resource, self.status, self.startedAt.desc()),
  ],
)

/** The worklist of resources that are asked for key by key: what is known of each key's last answer, and how urgent it is. */
export const workItem = sync.table(
  'work_item',
  {
    resource: text('resource').notNull(),
    key: text('key').notNull(),
    /** How much its staleness counts: a key of weight 10 is asked for ten times as often as one of weight 1. */
    weight: real('weight').notNull().default(1),
    firstObservedAt: instant('first_observed_at'),
    observedAt: instant('observed_at'),
    contentHash: bytes('content_hash'),
    records: integer('records'),
    checkedAt: instant('checked_at'),
    leasedUntil: instant('leased_until'),
    /** Who holds the lease: a run, or a backfill, which takes its own back when it goes on. */
    leasedBy: text('leased_by'),
    goneAt: instant('gone_at'),
    /** `hidden` (403) or `gone` (404) while that is not confirmed; null when nothing is pending. */
    refusal: text('refusal'),
    refusedSince: instant('refused_since'),
    refusedTimes: integer('refused_times'),
  },
  (self) => [
    primaryKey({ name: 'work_item_pkey', columns: [self.resource, self.key] }),
    index('work_item_refused').on(self.refusedSince).where(sql`refusal is not null`),
  ],
)

/** One row per answer about one key. Resources that are asked for as a whole have their run as their observation. */
export const observation = sync.table(
  'observation',
  {
    resource: text('resource').notNull(),
    key: text('key').notNull(),
    receivedAt: instant('received_at').notNull(),
    observedAt: instant('observed_at'),
    status: text('status').notNull(),
    reason: text('reason'),
    runId: uuid('run_id').notNull(),
  },
  (self) => [
    index('observation_key').on(self.resource, self.key, self.observedAt),
    // Coverage of a worklist: which answers came when, whatever their key.
    index('observation_received').on(self.resource, self.receivedAt),
  ],
)

/** Keys that complete answers have lacked since they were last seen; closed after enough of them (rule: absence is not deletion). */
export const absence = sync.table(
  'absence',
  {
    resource: text('resource').notNull(),
    key: text('key').notNull(),
    firstMissedAt: instant('first_missed_at').notNull(),
    lastMissedAt: instant('last_missed_at').notNull(),
    times: integer('times').notNull(),
  },
  (self) => [unique('absence_key').on(self.resource, self.key)],
)

/** Records that could not be understood, each distinct one once, with their raw value. */
export const quarantine = sync.table(
  'quarantine',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    resource: text('resource').notNull(),
    key: text('key'),
    path: text('path').notNull(),
    reason: text('reason').notNull(),
    /** `json`, not `jsonb`: it keeps what jsonb refuses, such as an escaped NUL. */
    raw: json('raw').notNull(),
    rawHash: bytes('raw_hash').notNull(),
    firstSeenAt: instant('first_seen_at').notNull(),
    runId: uuid('run_id').notNull(),
  },
  (self) => [
    unique('quarantine_record').on(self.resource, self.rawHash),
    index('quarantine_time').on(self.resource, self.firstSeenAt),
  ],
)

/** What the API sent that this program did not know, each thing once: fields and enum members. */
export const drift = sync.table(
  'drift',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    resource: text('resource').notNull(),
    kind: text('kind').notNull(),
    path: text('path').notNull(),
    /** The unknown member; empty for a field. */
    member: text('member').notNull(),
    /** One record that has it, and what it held there. */
    key: text('key').notNull(),
    example: jsonb('example'),
    firstSeenAt: instant('first_seen_at').notNull(),
    runId: uuid('run_id').notNull(),
  },
  (self) => [unique('drift_once').on(self.resource, self.kind, self.path, self.member)],
)

/** What differs between consecutive versions of an entity, by JSON pointer. */
export const fieldChange = game.table(
  'field_change',
  {
    resource: text('resource').notNull(),
    key: text('key').notNull(),
    changedAt: instant('changed_at').notNull(),
    path: text('path').notNull(),
    oldValue: jsonb('old_value'),
    newValue: jsonb('new_value'),
    /** The new value is the one before the previous change of this path: a field that flaps. */
    isRevert: boolean('is_revert').notNull(),
  },
  (self) => [
    unique('field_change_once').on(self.resource, self.key, self.path, self.changedAt),
    index('field_change_time').on(self.resource, self.changedAt),
  ],
)

const words = 'a word of the program'
const numbers = 'made by the program'

/** Which columns can name a player. */
export const ledgerNaming = [
  namesPeople(
    run,
    { reason: 'text', error: 'text' },
    { [words]: ['resource', 'status', 'program'], [numbers]: ['runId', 'contentHash'] },
  ),
  namesPeople(
    workItem,
    { key: 'standing' },
    { [words]: ['resource', 'refusal'], [numbers]: ['contentHash', 'leasedBy'] },
  ),
  namesPeople(observation, { key: 'key', reason: 'text' }, { [words]: ['resource', 'status'], [numbers]: ['runId'] }),
  namesPeople(absence, { key: 'row' }, { [words]: ['resource'] }),
  namesPeople(
    quarantine,
    { key: 'text', path: 'text', reason: 'text', raw: 'text' },
    { [words]: ['resource'], [numbers]: ['rawHash', 'runId'] },
  ),
  // A path is part of the key of these two.
  namesPeople(
    drift,
    { path: 'row', member: 'row', key: 'text', example: 'text' },
    { [words]: ['resource', 'kind'], [numbers]: ['runId'] },
  ),
  namesPeople(fieldChange, { key: 'row', path: 'row', oldValue: 'text', newValue: 'text' }, { [words]: ['resource'] }),
]
