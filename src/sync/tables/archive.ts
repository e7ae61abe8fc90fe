import { sql } from 'drizzle-orm'
import { index, primaryKey } from 'drizzle-orm/pg-core'
import {
  bigint,
  boolean,
  bytes,
  instant,
  integer,
  jsonb,
  smallint,
  text,
  uuid,
  withComments,
} from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { sync, syncTable } from '../../db/schemas.ts'

export const rawAnswerNumber = withComments(
  sync.sequence('raw_answer_number'),
  'Numbers the archived responses in the order of loading.',
)

export const rawBody = syncTable(
  'raw_body',
  'Archived response bodies, each distinct one once, for the days that WYNNSYNC_RAW_DAYS sets; `replay` rebuilds the tables from them.',
  {
    hash: bytes('SHA-256 of the text as the API sent it, without transport compression.').primaryKey(),
    body: bytes(
      'The text, compressed with brotli; where base is not NULL, what differs from the text of base.',
    ).notNull(),
    bytes: integer('Length of the text in bytes, before compression.').notNull(),
    firstAt: instant('When it was received first, by the clock of the requesting machine.').notNull(),
    base: bytes('The body that this one differs little from, which has no base itself. NULL: all of the text is here.'),
  },
  (self) => [index('raw_body_base').on(self.base).where(sql`base is not null`)],
)

export const rawAnswer = syncTable(
  'raw_answer',
  'Archived responses: request, headers and body. A response of several requests (pages, two listings) has a row for each.',
  {
    answerId: bigint('The response; rises in the order of loading.').notNull(),
    position: smallint('Number of the request within the response, from 0.').notNull(),
    resource: text('The resource.').notNull(),
    key: text('The key, such as the uuid of a guild. NULL where one response holds all of the resource.'),
    request: text('Method, path and query below the base URL.').notNull(),
    httpStatus: smallint(
      'HTTP status. 404 and 403 are archived too where they mean that a key is gone or hidden.',
    ).notNull(),
    headers: jsonb('The headers about time and caching.').notNull(),
    credential: text('`guest`, or `token` when a credential was sent. Never the credential itself.').notNull(),
    receivedAt: instant('When its headers were received, by the clock of the requesting machine.').notNull(),
    observedAt: instant('The instant the response speaks for, as in the ledger. NULL: refused or unreadable.'),
    takenAt: instant('When it was loaded, by the clock of the ledger; its retention counts from here.').notNull(),
    status: text(
      'ok, unchanged, partial, rejected, gone, hidden, failed when the program could not read it, or retracted: it is not replayed.',
    ).notNull(),
    accepted: boolean('True: accepted by --accept although it was implausible.').notNull().default(false),
    hash: bytes('Its body, in sync.raw_body.').notNull(),
    runId: uuid('The run: run_id in sync.run.').notNull(),
  },
  (self) => [
    primaryKey({ name: 'raw_answer_pkey', columns: [self.answerId, self.position] }),
    index('raw_answer_key').on(self.resource, self.key, self.observedAt),
    index('raw_answer_taken').on(self.resource, self.takenAt),
    index('raw_answer_body').on(self.hash),
    // No table has the people of these.
    index('raw_answer_refused').on(self.resource).where(sql`status in ('rejected', 'failed')`),
  ],
)

export const rawNaming = [
  namesPeople(rawBody, { body: 'own' }, { 'of a body': ['hash', 'base'] }),
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
