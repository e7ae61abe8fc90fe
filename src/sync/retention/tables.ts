import { primaryKey, text } from 'drizzle-orm/pg-core'
import { instant } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { sync } from '../../db/schemas.ts'

/** How far back each growing table has all of its rows, and the ledger all answers of a resource. No row: all the way. */
export const tier = sync.table('tier', {
  /** Such as `game.world_sample`; `ledger/guilds` for the ledger. */
  sampleTable: text('sample_table').primaryKey(),
  /** From then on every sample is there; before, what its coarser tier keeps. NULL: all of them are there. */
  fineSince: instant('fine_since'),
  /** From then on the coarser tier is there; before, one row per key. NULL: all of it is there. */
  coarseSince: instant('coarse_since'),
  /** Before then averages by the hour are there although every sample is. NULL: they are made when samples go. */
  averagedUntil: instant('averaged_until'),
  /** When the table was last looked after, by the clock of the machine that did. */
  checkedAt: instant('checked_at').notNull(),
})

/** From when to when accepted answers came without a break: what stays of older ones in the ledger. */
export const answerSpan = sync.table(
  'answer_span',
  {
    resource: text('resource').notNull(),
    /** The instants of the first and of the last of them. */
    beganAt: instant('began_at').notNull(),
    endedAt: instant('ended_at').notNull(),
  },
  (self) => [primaryKey({ name: 'answer_span_pkey', columns: [self.resource, self.beganAt] })],
)

/** Which columns can name a player: none. */
export const growthNaming = [
  namesPeople(tier, {}, { 'a table of the program': ['sampleTable'] }),
  namesPeople(answerSpan, {}, { 'a word of the program': ['resource'] }),
]
