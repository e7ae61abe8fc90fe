import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, jsonb, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, instant } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { sync } from '../../db/schemas.ts'

/** Numbers the answers in the order in which they were taken in. */
export const rawAnswerNumber = sync.sequence('raw_answer_number')

/** What the API sent, each distinct body once, under the SHA-256 of its text. */
export const rawBody = sync.table('raw_body', {
  hash: bytes('hash').primaryKey(),
  /** Brotli. */
  body: bytes('body').notNull(),
  /** Length of the text, before compression. */
  bytes: integer('bytes').notNull(),
  firstAt: instant('first_at').notNull(),
})

/** Which body answered which request when: what `replay` asks instead of the API. An answer may have taken several requests. */
export const rawAnswer = sync.table(
  'raw_answer',
  {
    /** The same for all requests of one answer. */
    answerId: bigint('answer_id', { mode: 'number' }).notNull(),
    position: smallint('position').notNull(),
    resource: text('resource').notNull(),
    /** Of a worklist; null where one answer holds all of the resource. */
    key: text('key'),
    /** `GET /guild/uuid/…?identifier=uuid`: method, path and query. */
    request: text('request').notNull(),
    httpStatus: smallint('http_status').notNull(),
    /** Those that say for which instant it speaks and how long it is kept. */
    headers: jsonb('headers').notNull(),
    /** `guest` or `token`. */
    credential: text('credential').notNull(),
    receivedAt: instant('received_at').notNull(),
    /** The instant the whole answer speaks for; null when it was refused or could not be read. */
    observedAt: instant('observed_at'),
    /** When it was taken in, by the clock of the ledger. */
    takenAt: instant('taken_at').notNull(),
    /** What it came to, as the ledger says. */
    status: text('status').notNull(),
    /** A person took it although it looked implausible. */
    accepted: boolean('accepted').notNull().default(false),
    hash: bytes('hash').notNull(),
    runId: uuid('run_id').notNull(),
  },
  (self) => [
    primaryKey({ name: 'raw_answer_pkey', columns: [self.answerId, self.position] }),
    index('raw_answer_key').on(self.resource, self.key, self.observedAt),
    index('raw_answer_taken').on(self.resource, self.takenAt),
    index('raw_answer_body').on(self.hash),
    // No table tells whom they are about.
    index('raw_answer_refused').on(self.resource).where(sql`status in ('rejected', 'failed')`),
  ],
)

/** Which columns can name a player. */
export const rawNaming = [
  namesPeople(rawBody, { body: 'own' }, { 'of a body': ['hash'] }),
  namesPeople(
    rawAnswer,
    { key: 'row', request: 'key' },
    {
      'a word of the program': ['resource', 'status', 'credential'],
      'only headers about time and caches are kept': ['headers'],
      'made by the program': ['hash', 'runId'],
    },
  ),
]
