import { primaryKey } from 'drizzle-orm/pg-core'
import { bigint, instant, integer, jsonb, smallint, text } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { syncTable } from '../../db/schemas.ts'

export const outbox = syncTable(
  'outbox',
  'Everything that changed in the last day, numbered without a gap in the order of commits: what change files and streams read.',
  {
    number: bigint('Number of the change. A reader that saw one has seen, or can see, every lower one.').notNull(),
    at: instant('When it was written, by the clock of the machine that wrote it.').notNull(),
    change: jsonb('The change as JSON: what `NOTIFY wynnsync` sends, without names of people.').notNull(),
  },
  (self) => [primaryKey({ name: 'outbox_pkey', columns: [self.number] })],
)

export const outboxHead = syncTable(
  'outbox_head',
  'The last number of sync.outbox, one row. Locked from the last statement of a transaction that changed something to its commit, so that numbers follow the order of commits.',
  {
    id: smallint('Always 0.').primaryKey(),
    last: bigint('The last number that was given.').notNull(),
  },
)

export const watchDelivery = syncTable(
  'watch_delivery',
  'How far each watch of watches.json has delivered the changes of sync.outbox. Messages are made anew for each attempt, and are not kept.',
  {
    watch: text('Name of the watch.').primaryKey(),
    number: bigint('Up to which number the watch has delivered, or has nothing to deliver.').notNull(),
    sending: bigint(
      'The last number of the message that is being sent: every attempt has the same changes, and the same idempotency key. NULL: none is.',
    ),
    attempts: integer('Attempts for that message which failed.').notNull(),
    retryAt: instant(
      'No attempt before this instant: after a failure, or by what the receiver asked for. NULL: at once.',
    ),
    failingSince: instant('The first failed attempt since the last message that was delivered. NULL: none failed.'),
    error: text('Why the last attempt failed. NULL: it did not.'),
    deliveredAt: instant('When a message was delivered last. NULL: none was.'),
  },
)

/** Which columns can name a player: none. */
export const outboxNaming = [
  namesPeople(outbox, {}, { 'of resources about people it has no names': ['change'] }),
  namesPeople(outboxHead, {}),
  namesPeople(watchDelivery, {}, { 'named by the user, or says what a receiver answered': ['watch', 'error'] }),
]
