import * as z from 'zod'

const count = z.int().min(0)
const instant = z.iso.datetime().describe('ISO 8601, UTC')
const maybeInstant = instant.nullable()
const text = z.string()
const maybeText = text.nullable()
const path = text.describe('JSON pointer; empty: the record as a whole')
const rowId = text.describe('digits')

/** A row of the ledger. */
const ledgerRun = z.looseObject({
  runId: z.uuid(),
  resource: text,
  status: text,
  reason: maybeText.describe('why the response was not accepted as a whole'),
  error: maybeText,
  startedAt: instant,
  finishedAt: instant,
  observedFrom: maybeInstant,
  observedAt: maybeInstant,
  complete: z.boolean().nullable(),
  requests: count,
  pages: count,
  records: count,
  inserted: count,
  changed: count,
  closed: count,
  unchanged: count,
  events: count,
  rejected: count,
  quarantined: count,
  currentKeys: count.nullable(),
  program: text,
})

const quarantined = z.looseObject({
  id: rowId,
  resource: text,
  key: maybeText,
  path,
  reason: text,
  firstSeenAt: instant,
  runId: z.uuid(),
  isOver: z.boolean().describe('a later response about the same could be read'),
})

/** What `runs` and `quarantine` print. @param run the schema of a run of `sync --json` */
export function ledgerSchemas<Run extends z.ZodType>(run: Run) {
  return {
    runs: z.looseObject({ runs: z.array(ledgerRun) }),
    'runs-show': z.looseObject({
      run: ledgerRun,
      requests: z.array(
        z.looseObject({
          request: text,
          key: maybeText,
          httpStatus: count,
          receivedAt: instant,
          status: text,
        }),
      ),
      responses: z.array(z.looseObject({ key: text, status: text, observedAt: maybeInstant, reason: maybeText })),
      guards: z.array(z.looseObject({ at: instant, key: maybeText, guard: text, action: maybeText, reason: text })),
      quarantine: z.array(z.looseObject({ id: rowId, key: maybeText, path, reason: text })),
      drift: z.array(z.looseObject({ kind: text, path: text, member: text, key: text })),
    }),
    quarantine: z.looseObject({ quarantine: z.array(quarantined) }),
    'quarantine-show': quarantined.extend({ raw: z.unknown() }),
    'quarantine-retry': z.looseObject({ runs: z.array(run), records: count, over: count }),
  }
}
