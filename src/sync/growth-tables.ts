import { text } from 'drizzle-orm/pg-core'
import { instant } from '../db/columns.ts'
import { sync } from '../db/schemas.ts'

/** How far back each growing table of samples has all of them. No row: all the way. */
export const tier = sync.table('tier', {
  /** Such as `game.world_sample`. */
  sampleTable: text('sample_table').primaryKey(),
  /** From then on every sample is there; before, what its coarser tier keeps. NULL: all of them are there. */
  fineSince: instant('fine_since'),
  /** From then on the coarser tier is there; before, one row per key. NULL: all of it is there. */
  coarseSince: instant('coarse_since'),
  /** When the table was last looked after, by the clock of the machine that did. */
  checkedAt: instant('checked_at').notNull(),
})
