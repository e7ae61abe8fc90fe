import { sql } from 'drizzle-orm'
import { index, primaryKey, unique } from 'drizzle-orm/pg-core'
import { bigint, boolean, bytes, instant, integer, json, jsonb, real, text, uuid } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { gameTable, syncTable } from '../../db/schemas.ts'

const count = (comment: string) => integer(comment).notNull().default(0)

export const run = syncTable(
  'run',
  'The ledger: one row per execution of a resource, also of those that failed, written in the same transaction as what it loaded. A gap in it is a gap in coverage.',
  {
    runId: uuid('Random; the log and other tables name the run by it.').primaryKey(),
    resource: text('The resource, such as items.').notNull(),
    status: text(
      'ok (something was written), unchanged, partial (loaded, but incomplete or with quarantined records), stale (older than the last accepted response), rejected (implausible), interrupted (a signal ended it; nothing is wrong), failed. Only ok, unchanged and partial are accepted.',
    ).notNull(),
    reason: text('Why the response was not accepted as a whole. NULL: it was.'),
    startedAt: instant('When the run began, by the clock of this machine.').notNull(),
    finishedAt: instant('When the run ended, by the clock of this machine.').notNull(),
    observedFrom: instant(
      'observed_at of the oldest page: when the API computed it, not when it was fetched. NULL: there was no response.',
    ),
    observedAt: instant(
      'The instant the response speaks for, from the headers of its newest page; its new versions start here. NULL: there was no response.',
    ),
    complete: boolean(
      'True: everything the API has was seen, so that absence means something. NULL: there was no response.',
    ),
    requests: count('HTTP requests sent, retries included.'),
    pages: count('Pages of the response.'),
    records: count('Records in the response, each key once, quarantined ones included.'),
    normalized: integer(
      'Records that could be normalized, each key once: what plausibility compares. Of a shrunken response that is loaded while what it lacks has not ended: what the last one of plausible size had. NULL: a row from before this column existed, or a response rejected for its clock.',
    ),
    inserted: count('Entities without a current version that got one: new ones, and ones that came back.'),
    changed: count('Entities that got a new version in place of the current one.'),
    closed: count('Tombstones: entities whose version ended because enough complete responses in a row lacked them.'),
    unchanged: count('Entities with the same content hash as the current version; nothing is written for them.'),
    events: count('Events appended, for resources that record events.'),
    rejected: count(
      'Responses that validation rejected; of a worklist also keys that were refused among many at once.',
    ),
    quarantined: count('Records that could not be normalized; see sync.quarantine.'),
    living: integer('Keys that have a current version after this run. NULL: the response was not accepted.'),
    contentHash: bytes(
      'SHA-256 over the content hashes of all records in any order, 32 bytes. Equal: the same content. NULL: there was no response.',
    ),
    reload: boolean(
      'True: the next response is loaded even where it is the same, because the tables lack something that this one showed, or were changed since.',
    )
      .notNull()
      .default(false),
    bodyHash: bytes(
      'SHA-256 over program version, UTC day, request, body and content hash: a response with the same one is unchanged without being parsed. NULL: the next one is parsed.',
    ),
    error: text('Error message. NULL: none.'),
    program: text('Version of the program that ran.').notNull(),
    sourceId: text('What its response was imported from: source_id in sync.source. NULL: this database requested it.'),
  },
  (self) => [
    // The last accepted response is looked up before every load, and nothing else of the ledger is.
    index('run_accepted')
      .on(self.resource, self.observedAt.desc(), self.finishedAt.desc())
      .where(sql`status in ('ok', 'unchanged', 'partial')`),
    // Of a resource whose responses are not whole for long, the last one that was.
    index('run_whole').on(self.resource, self.observedAt.desc()).where(sql`status in ('ok', 'unchanged') and complete`),
    index('run_recent').on(self.resource, self.startedAt.desc()),
    // The latest of each status stays, however old it is.
    index('run_status').on(self.resource, self.status, self.startedAt.desc()),
  ],
)

export const workItem = syncTable(
  'work_item',
  'The worklist of resources with one response per key: the last response of each key, and how urgent its refresh is.',
  {
    resource: text('The resource, such as guilds.').notNull(),
    key: text('Natural key.').notNull(),
    weight: real(
      'How much its staleness counts: a key of weight 10 is refreshed ten times as often as one of weight 1.',
    )
      .notNull()
      .default(1),
    firstObservedAt: instant(
      'observed_at of the first accepted response: where the history of the key begins. NULL: none yet.',
    ),
    observedAt: instant('observed_at of the latest accepted response. NULL: none yet.'),
    contentHash: bytes('Content hash of that response, 32 bytes. Equal: the same content. NULL: none yet.'),
    reload: boolean(
      'True: the next response is loaded even where it is the same, because the tables lack something that this one showed, or were changed since.',
    )
      .notNull()
      .default(false),
    records: integer('Records in that response.'),
    credential: text(
      'Kind of credential that accepted responses came with, the one that is shown more: token, once one did, or guest. NULL: not known.',
    ),
    checkedAt: instant(
      'When the last response was received, accepted or not, by the clock of this machine. NULL: never.',
    ),
    leasedUntil: instant(
      'Until then a process holds the lease, or the key backs off after a failure. NULL: it may be refreshed.',
    ),
    leasedBy: text(
      'Holder of the lease: a run, or `backfill`, which takes over its own leases when it is resumed. NULL: none.',
    ),
    goneAt: instant(
      'Since when it is gone from the API, confirmed; it is requested about once a day then. NULL: it exists as far as is known.',
    ),
  },
  (self) => [primaryKey({ name: 'work_item_pkey', columns: [self.resource, self.key] })],
)

export const observation = syncTable(
  'observation',
  'One row per response about one key of a worklist, accepted or not. Of resources with one response for everything, the run is the observation.',
  {
    resource: text('The resource, such as guilds.').notNull(),
    key: text('Natural key.').notNull(),
    receivedAt: instant('When the response was received, by the clock of this machine.').notNull(),
    observedAt: instant('The instant the response speaks for, from its headers. NULL: there was none.'),
    status: text(
      'ok (something was written), unchanged, partial (loaded, with quarantined parts), stale (older than the last accepted response), rejected (implausible, or refused among many at once), hidden (private), gone (404). Only ok, unchanged and partial are accepted.',
    ).notNull(),
    reason: text('Why the response was not accepted as a whole. NULL: it was.'),
    runId: uuid('The run: run_id in sync.run.').notNull(),
  },
  (self) => [
    // With the status, so that a year of responses about a guild is read from the index alone.
    index('observation_key').on(self.resource, self.key, self.observedAt, self.status),
    // Coverage of a worklist: all responses by time, whatever their key.
    index('observation_received').on(self.resource, self.receivedAt),
  ],
)

export const quarantine = syncTable(
  'quarantine',
  'Records that could not be normalized, each distinct one once, as the API sent them. The last good version of such an entity stays current.',
  {
    id: bigint('Number of the row, rising.').primaryKey().generatedAlwaysAsIdentity(),
    resource: text('The resource, such as items.').notNull(),
    key: text('Natural key of the record. NULL: none is readable.'),
    path: text('JSON pointer to the bad value. Empty: the record as a whole.').notNull(),
    reason: text('What is wrong.').notNull(),
    raw: json(
      'The record with sorted keys. json, not jsonb, because jsonb refuses some text (U+0000, halves of surrogate pairs).',
    ).notNull(),
    rawHash: bytes('SHA-256 of raw, 32 bytes: the same bad record is kept once.').notNull(),
    firstSeenAt: instant('observed_at of the first response that had it.').notNull(),
    runId: uuid('The run that found it: run_id in sync.run.').notNull(),
  },
  (self) => [
    unique('quarantine_record').on(self.resource, self.rawHash),
    index('quarantine_time').on(self.resource, self.firstSeenAt),
  ],
)

export const drift = syncTable(
  'drift',
  'Fields, enum members and types that the program does not know, each once; also fields that vanished or came back. Nothing of it is dropped.',
  {
    id: bigint('Number of the row, rising.').primaryKey().generatedAlwaysAsIdentity(),
    resource: text('The resource, such as items.').notNull(),
    kind: text(
      'unknown_field, unknown_member, missing_field (every second record or more lost it at once, or it cannot be done without), retyped_field, returned_field (what was missing or of another type is as it was), or volatile_field (an unknown field that moves with nearly every response: its latest value is kept, and makes no version).',
    ).notNull(),
    path: text('JSON pointer to the field; * stands for any element of a list and any key of a map.').notNull(),
    member: text('The unknown member; of a retyped field the type that it has; else empty.').notNull(),
    key: text('Natural key of one entity that has it, or lost it. Empty: the response as a whole.').notNull(),
    example: jsonb('The value in that entity; null where there is none.'),
    firstSeenAt: instant('observed_at of the first response that had it.').notNull(),
    runId: uuid('The run that found it: run_id in sync.run.').notNull(),
  },
  (self) => [unique('drift_once').on(self.resource, self.kind, self.path, self.member)],
)

export const fieldChange = gameTable(
  'field_change',
  'What changed between consecutive versions of an entity, one row per changed field. The first response of a resource leaves none: history begins there.',
  {
    resource: text('The resource, such as items.').notNull(),
    key: text('Natural key of the entity; several columns are joined by a slash.').notNull(),
    changedAt: instant(
      'observed_at of the first response with the change; of an entity that disappeared, of the first without it.',
    ).notNull(),
    path: text(
      'JSON pointer (RFC 6901) into the record in the shape of the API. Empty: the entity as a whole appeared or disappeared.',
    ).notNull(),
    oldValue: jsonb('What was there before. NULL: nothing was; the jsonb value null: a null was.'),
    newValue: jsonb('What is there since. NULL: nothing is; the jsonb value null: a null is.'),
    isRevert: boolean(
      'True: the change brings back what the latest change of this path before it had replaced.',
    ).notNull(),
  },
  (self) => [
    unique('field_change_once').on(self.resource, self.key, self.path, self.changedAt),
    index('field_change_time').on(self.resource, self.changedAt),
  ],
)

const words = 'a word of the program'
const numbers = 'made by the program'

export const ledgerNaming = [
  namesPeople(
    run,
    { reason: 'text', error: 'text' },
    { [words]: ['resource', 'status', 'program'], [numbers]: ['runId', 'contentHash', 'bodyHash', 'sourceId'] },
  ),
  namesPeople(
    workItem,
    { key: 'standing' },
    { [words]: ['resource', 'credential'], [numbers]: ['contentHash', 'leasedBy'] },
  ),
  namesPeople(observation, { key: 'key', reason: 'text' }, { [words]: ['resource', 'status'], [numbers]: ['runId'] }),
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
