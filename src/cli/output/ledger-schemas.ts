import * as z from 'zod'
import { count, instant, listOf, maybeInstant, maybeText, text } from './schema-parts.ts'

const path = text.describe('JSON pointer; empty: the record as a whole')
const rowId = text.describe('digits')

const ledgerRun = z.looseObject({
  runId: z.guid(),
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
  sourceId: maybeText.describe('what its response was imported from; null: the API'),
})

const quarantined = z.looseObject({
  id: rowId,
  resource: text,
  key: maybeText,
  path,
  reason: text,
  firstSeenAt: instant,
  runId: z.guid(),
  isOver: z.boolean().describe('a later response about the same could be read'),
})

export const configuredLake = z
  .looseObject({
    place: text,
    at: maybeInstant.describe('of the last export; null: there is none'),
    people: z.boolean().describe('whether people are named in it'),
    files: count,
    rows: count,
    bytes: count,
  })
  .nullable()
  .describe('the lake that `start` keeps up to date; null: none is configured')

/** What is said of an import from a lake. */
const imported = {
  tables: listOf({
    table: text,
    rows: count,
    taken: count.describe('rows that are in the table now and were not before; of versions those from the lake'),
    refused: count.describe('rows that cannot be right'),
    restricted: count.describe('rows about people who hide something here, were removed, or are not named in the lake'),
    conflicts: count.describe('versions that contradict what this database observed'),
  }),
  refused: listOf({ what: text.describe('a file or a table'), reason: text }),
  notTaken: z.array(text).describe('tables of the lake that are not imported'),
  known: count.describe('files that were imported before'),
  files: count,
  bytes: count,
  seconds: count,
}

/** What `runs` and `quarantine` print. @param run the schema of a run of `sync --json` */
export function ledgerSchemas<Run extends z.ZodType>(run: Run) {
  return {
    'backfill-lake': z.looseObject({ place: text, ...imported }),
    'move-merge': z.looseObject({ source: text, target: text, ...imported }),
    runs: z.looseObject({ runs: z.array(ledgerRun) }),
    'runs-show': z.looseObject({
      run: ledgerRun,
      requests: listOf({
        request: text,
        key: maybeText,
        httpStatus: count,
        receivedAt: instant,
        status: text,
      }),
      responses: listOf({ key: text, status: text, observedAt: maybeInstant, reason: maybeText }),
      guards: listOf({ at: instant, key: maybeText, guard: text, action: maybeText, reason: text }),
      quarantine: listOf({ id: rowId, key: maybeText, path, reason: text }),
      drift: listOf({ kind: text, path: text, member: text, key: text }),
    }),
    quarantine: z.looseObject({ quarantine: z.array(quarantined) }),
    'quarantine-show': quarantined.extend({ raw: z.unknown() }),
    'quarantine-retry': z.looseObject({ runs: z.array(run), records: count, over: count }),
  }
}
