import { primaryKey } from 'drizzle-orm/pg-core'
import { instant, text } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { syncTable } from '../../db/schemas.ts'

export const tier = syncTable(
  'tier',
  'Retention tiers: how far back each growing table has all of its rows, and the ledger all accepted responses of a resource. Without a row: from the beginning.',
  {
    sampleTable: text(
      'The table, such as game.world_sample; ledger/ and a resource, such as ledger/guilds; raw/ and a resource for archived responses older than the ledger.',
    ).primaryKey(),
    fineSince: instant('From then on every row is there; older ones are compacted. NULL: every row is there.'),
    coarseSince: instant(
      'From then on the coarser tier is there; before it one row per key, and nothing of the ledger. NULL: all of it is there.',
    ),
    averagedUntil: instant(
      'Watermark of hourly averages made while the samples are still there. NULL: they are made when samples are compacted.',
    ),
    checkedAt: instant('When maintenance last ran for it, by the clock of that machine.').notNull(),
  },
)

export const answerSpan = syncTable(
  'answer_span',
  'Intervals of accepted responses without a gap: what compaction keeps of runs past the retention of the ledger.',
  {
    resource: text('The resource.').notNull(),
    beganAt: instant('observed_at of the first response.').notNull(),
    endedAt: instant(
      'observed_at of the last response; of online-players, each is at most 90 seconds after the one before.',
    ).notNull(),
  },
  (self) => [primaryKey({ name: 'answer_span_pkey', columns: [self.resource, self.beganAt] })],
)

/** Which columns can name a player: none. */
export const retentionNaming = [
  namesPeople(tier, {}, { 'a table of the program': ['sampleTable'] }),
  namesPeople(answerSpan, {}, { 'a word of the program': ['resource'] }),
]
