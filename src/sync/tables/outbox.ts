import { primaryKey } from 'drizzle-orm/pg-core'
import { bigint, instant, integer, jsonb, smallint, text, texts } from '../../db/columns.ts'
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

export const watch = syncTable(
  'watch',
  'Watches: rules that send a message when something happens. Targets are secrets: no view, export or page has them.',
  {
    name: text('What the user calls it.').primaryKey(),
    rule: jsonb('Events, filters without people, and when messages are sent.').notNull(),
    player: texts('Names or uuids of the only people that it is about. NULL: all. A purge takes a person out.'),
    target: jsonb('Secret: where messages go, and what signs them.').notNull(),
    site: text('Where `wynnsync serve` can be reached, for links: the same in every row. NULL: messages have none.'),
  },
)

export const watchDelivery = syncTable(
  'watch_delivery',
  'How far each watch of sync.watch has delivered the changes of sync.outbox. Messages are made anew for each attempt, and are not kept.',
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

/** Which columns can name a player. */
export const outboxNaming = [
  namesPeople(outbox, {}, { 'of resources about people it has no names': ['change'] }),
  namesPeople(outboxHead, {}),
  namesPeople(
    watch,
    { player: 'list' },
    { 'named by the user': ['name', 'target', 'site'], 'events, and names of what are no people': ['rule'] },
  ),
  namesPeople(watchDelivery, {}, { 'named by the user, or says what a receiver answered': ['watch', 'error'] }),
]
