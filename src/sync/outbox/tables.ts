import { primaryKey } from 'drizzle-orm/pg-core'
import { bigint, instant, jsonb, smallint } from '../../db/columns.ts'
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

/** Which columns can name a player: none. */
export const outboxNaming = [
  namesPeople(outbox, {}, { 'of resources about people it has no names': ['change'] }),
  namesPeople(outboxHead, {}),
]
