import { sql } from 'drizzle-orm'
import { index, primaryKey } from 'drizzle-orm/pg-core'
import { instant, integer, text, texts, uuid } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { syncTable } from '../../db/schemas.ts'

export const presence = syncTable(
  'presence',
  'How many of the records of a resource have each field that the program knows: what later responses are compared with.',
  {
    resource: text('Name of the resource.').notNull(),
    field: text('JSON pointer to the field; * stands for any element of a list and any key of a map.').notNull(),
    had: integer('Records that had it, null included.').notNull(),
    outOf: integer('Records that may have it, such as the entries of a list.').notNull(),
    observedAt: instant('observed_at of the latest response that was counted.').notNull(),
  },
  (self) => [primaryKey({ name: 'presence_pkey', columns: [self.resource, self.field] })],
)

export const unsent = syncTable(
  'unsent',
  'When the API did not send a field that most records had before: what it says is unknown in that time, neither 0 nor as before.',
  {
    resource: text('Name of the resource.').notNull(),
    field: text('JSON pointer to the field; * stands for any element of a list and any key of a map.').notNull(),
    lastSentAt: instant(
      'observed_at of the latest response before it that had the field: from then on it is unknown.',
    ).notNull(),
    fromAt: instant('observed_at of the first response that lacked it.').notNull(),
    untilAt: instant('observed_at of the first response that had it again. NULL: it is not sent.'),
    receivedFrom: instant('When the response that confirmed it was received, by the clock of this machine.').notNull(),
    receivedUntil: instant(
      'When the first response that had it again was received, by the clock of this machine. NULL: none was.',
    ),
    had: integer('Records that had it before, of those in out_of.').notNull(),
    outOf: integer('Records that might have had it before.').notNull(),
    runId: uuid('The run that confirmed it: run_id in sync.run.').notNull(),
    columns: texts(
      'Columns of schema game that follow from it, as table.column; table.* where it says which rows there are.',
    ).default([]),
  },
  (self) => [primaryKey({ name: 'unsent_pkey', columns: [self.resource, self.field, self.fromAt] })],
)

export const unread = syncTable(
  'unread',
  'When responses had a key whose record, or what is one of its histories, could not be read, or lacked it and were not whole: the last good version stays, and whether it was so is unknown in that time.',
  {
    resource: text('The resource, or the resource and one of its histories, separated by a slash.').notNull(),
    key: text('Natural key of the entity; several columns are joined by a slash.').notNull(),
    fromAt: instant('observed_at of the first response in which it could not be read, or was lacking.').notNull(),
    untilAt: instant('observed_at of the first response in which it could be read again. NULL: it cannot.'),
    runId: uuid('The run that confirmed it: run_id in sync.run.').notNull(),
  },
  (self) => [
    primaryKey({ name: 'unread_pkey', columns: [self.resource, self.key, self.fromAt] }),
    // Each response looks for those that last.
    index('unread_open').on(self.resource, self.key).where(sql`until_at is null`),
  ],
)

const words = 'a word of the program'

export const unsentNaming = [
  namesPeople(presence, {}, { [words]: ['resource', 'field'] }),
  namesPeople(unread, { key: 'row' }, { [words]: ['resource'], 'made by the program': ['runId'] }),
  namesPeople(unsent, {}, { [words]: ['resource', 'field'], 'made by the program': ['runId', 'columns'] }),
]
