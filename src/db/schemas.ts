import { pgSchema } from 'drizzle-orm/pg-core'

/** Entities, their history, events and samples. */
export const game = pgSchema('game')

/** What the program knows about its own work: runs, observations, budgets, drift, quarantine. */
export const sync = pgSchema('sync')
