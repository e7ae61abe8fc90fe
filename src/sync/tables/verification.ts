import { bigint, instant, integer, jsonb, smallint } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { syncTable } from '../../db/schemas.ts'

export const verification = syncTable(
  'verification',
  'What the last verification by `start` found, one row; `wynnsync verify` changes nothing.',
  {
    id: smallint('Always 0.').primaryKey(),
    at: instant('When it ended, by the clock of the machine that made it.').notNull(),
    seconds: integer('How long it took.').notNull(),
    checks: integer('How many checks were made.').notNull(),
    wrong: bigint('Rows that were wrong, of all checks.').notNull(),
    found: jsonb('The checks that found wrong rows, with table and number.').notNull(),
  },
)

/** Which columns can name a player: none. */
export const verificationNaming = [namesPeople(verification, {}, { 'names of checks and tables': ['found'] })]
