import * as z from 'zod'
import { configuredLake } from './ledger-schemas.ts'
import { count, instant, listOf, maybeInstant, maybeText, text } from './schema-parts.ts'

export const status = z.looseObject({
  database: text,
  resources: listOf({
    resource: text,
    status: maybeText,
    finishedAt: maybeInstant,
    observedAt: maybeInstant,
    changedAt: maybeInstant,
    living: count.nullable(),
    keys: z
      .looseObject({ listed: count, observed: count.describe('with a current version') })
      .optional()
      .describe('of a worklist'),
    nameless: count.optional().describe('keys online that have no name, since they were never requested'),
    quarantined: count,
    error: maybeText,
    lastObservedAt: maybeInstant.optional(),
    everySeconds: z.number().nullish(),
    isLate: z.boolean().optional(),
    pending: z
      .looseObject({
        redactions: count,
        tombstones: count,
        oldest: listOf({ key: text, pending: z.enum(['redaction', 'tombstone']), since: instant }),
      })
      .optional(),
  }),
  budgets: listOf({
    account: text,
    who: text.describe('the account for a person: guest, or token of NAME'),
    bucket: text,
    limit: count.nullable(),
    remaining: count.nullable(),
    live: count,
    refresh: count,
    backfill: count,
    endsAt: maybeInstant,
  }),
  unsent: listOf({ resource: text, field: text, lastSentAt: instant, fromAt: instant, untilAt: instant.nullable() }),
  gaps: listOf({ resource: text, beganAt: instant, endedAt: instant, missed: count, reason: text }),
  clocks: listOf({
    resource: text,
    guard: text.describe('clock: the two clocks differ; header: one says an age that the response cannot have'),
    action: text,
    at: instant.describe('when it was last noted; the same remark is made once an hour'),
    reason: text,
  }),
  failures: listOf({ resource: text, at: instant, error: text, times: count }),
  restrictions: listOf({
    group: text.describe('the privacy rule'),
    pending: count.describe('another response must confirm it before anything is removed'),
    held: count.describe('of these, by the guard mass-restriction'),
    needsToken: count.describe('of these, confirmed by a response to a token alone'),
    since: instant.describe('the oldest'),
  }),
  size: z.looseObject({
    bytes: count,
    tables: listOf({ table: text, bytes: count, rows: z.number() }),
  }),
  tiers: listOf({ table: text, fineSince: maybeInstant, coarseSince: maybeInstant }),
  locks: listOf({ name: text, pid: count, host: text, application: text, since: instant }),
  watches: listOf({
    watch: text,
    error: maybeText.describe('why the last attempt failed'),
    failingSince: maybeInstant.describe('the first failed attempt since the last message that arrived'),
    deliveredAt: maybeInstant,
  }),
  verification: z
    .looseObject({
      at: instant,
      seconds: count,
      checks: count,
      wrong: count.describe('rows'),
      found: listOf({ check: text, table: text, wrong: count }).describe('the checks that found wrong rows'),
    })
    .nullable()
    .describe('what `start` found last; null before that'),
  lake: configuredLake,
})
