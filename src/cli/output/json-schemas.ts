import * as z from 'zod'
import { watchSchemas } from '../../monitoring/watches/watch.ts'

const count = z.int().min(0)
const instant = z.iso.datetime().describe('ISO 8601, UTC')
const maybeInstant = instant.nullable()
const text = z.string()
const maybeText = text.nullable()

/** A list of objects with these fields, and others that may be added. */
const listOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.array(z.looseObject(shape))

const path = text.describe('JSON pointer; empty: the record as a whole')
const rowId = text.describe('digits')

/** Of a folder or bucket that a database was written to. */
const filesWritten = {
  place: text,
  dryRun: z.boolean().describe('whether nothing was written, and the numbers say what would be'),
  files: count,
  rows: count,
  bytes: count,
  written: count.describe('files that were written; the others hold what the database holds'),
  writtenRows: count,
  dropped: count.describe('files of earlier calls that were deleted'),
  seconds: count,
}

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

const configuredLake = z
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
function ledgerSchemas<Run extends z.ZodType>(run: Run) {
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

const status = z.looseObject({
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

/*
 * The documents that `--json` prints, the notifications and the webhook. `npm run generate` writes them as JSON Schema into
 * docs/reference/json; a test holds the program's output to them. Fields may be added, and keep their names.
 */

const uuid = z.guid()

const counts = { inserted: count, changed: count, closed: count, events: count }

const run = z.looseObject({
  resource: text,
  status: z.enum(['ok', 'unchanged', 'stale', 'rejected', 'partial', 'skipped', 'failed']),
  observedAt: maybeInstant.describe('the instant the response speaks for; null without a response'),
  requests: count,
  pages: count,
  records: count,
  ...counts,
  unchanged: count,
  rejected: count,
  quarantined: count,
  durationMs: count,
  error: text.optional().describe('what went wrong, or why the response was not accepted as a whole'),
})

const plan = z.looseObject({
  resource: text,
  keys: count,
  requests: count,
  minutes: count.describe('when nothing else sends requests'),
  rows: count,
  bytes: count,
  assumptions: z.array(text),
})

const drift = z.looseObject({
  drift: listOf({
    resource: text,
    path: text.describe('JSON pointer; empty: the response or the record as a whole'),
    member: maybeText.describe('unknown member of an enumeration; null for a field'),
    seen: listOf({ what: text, at: instant, key: text }),
    example: z.unknown(),
  }),
})

const finding = z.looseObject({
  check: text,
  verdict: z.enum(['fine', 'warning', 'problem', 'unknown']),
  seen: text,
  todo: text.optional(),
})

const question = z.looseObject({
  name: text,
  kind: z.enum(['view', 'function']),
  comment: maybeText,
  parameters: listOf({ name: text, type: text, optional: z.boolean() }),
  columns: listOf({ name: text, type: text, comment: maybeText }),
})

const rowsOfTable = { table: text, rows: count }

const event = { resource: text, key: text.optional().describe('of a worklist'), run: uuid, at: instant }

/** Every document by the name of its file. */
export const jsonSchemas = {
  sync: z.looseObject({
    runs: z.array(run),
    error: text.optional().describe('what is wrong with the command line or the configuration; then nothing ran'),
  }),
  backfill: z.looseObject({
    plan: plan.nullable(),
    run,
    left: count.nullable().describe('keys left to fetch; null when unknown'),
    finishedAt: instant.optional(),
  }),
  'backfill-dry-run': plan,
  'backfill-detect': z.looseObject({
    from: text,
    detected: listOf({
      glob: text,
      resource: text,
      files: count,
      commits: count,
      records: count.describe('of all files together'),
      expected: count.nullable().describe('about how many records the resource has; null: any number'),
      mapped: z.boolean().describe('whether `command` loads them; false: other files have their records'),
    }),
    leftOut: listOf({ path: text, resource: text, sameAs: text.describe('the file that has its records') }),
    notRead: count.describe('JSON files that were not looked at, because there are too many'),
    unreadable: listOf({ path: text, commit: text, reason: text }).describe(
      'files of which the latest versions are no JSON',
    ),
    notSent: listOf({ what: text.describe('what they hold instead'), paths: z.array(text) }).describe(
      'files that were made from responses, or are of an earlier version of the API',
    ),
    remarks: z.array(text).describe('what the repository has not'),
    command: text.nullable().describe('loads what was detected'),
  }),
  status,
  'status-drift': drift,
  doctor: z.looseObject({ findings: z.array(finding) }),
  'config-show': z.looseObject({
    settings: listOf({
      name: text,
      value: text.nullable().describe('null: not set; of a secret `[hidden]`'),
      source: z.enum(['flag', 'environment', '.env', 'default']).nullable(),
    }),
  }),
  init: z.looseObject({
    file: text.describe('path of the .env'),
    written: z.array(text).describe('names of the settings in it that were asked for or given'),
    way: z.enum(['systemd', 'cron', 'compose', 'start']),
    run: text.describe('what to install or run'),
    findings: z.array(finding),
  }),
  'web-key-add': z.looseObject({ name: text, key: text.describe('kept nowhere') }),
  'web-key-list': z.looseObject({ keys: listOf({ name: text, createdAt: z.iso.datetime() }) }),
  ...ledgerSchemas(run),
  'query-list': z.looseObject({ questions: z.array(question) }),
  'query-explain': question.extend({
    example: text.describe('a command line'),
    madeFrom: z.array(text).describe('tables, through the views and functions between'),
  }),
  migrate: z.looseObject({ database: text, applied: z.array(text) }),
  move: z.looseObject({
    source: text.describe('host and database, or folder'),
    target: text,
    tables: listOf({ ...rowsOfTable, digest: text.describe('sum of 64 bits of the SHA-256 of each row') }),
    rows: count,
    resumed: count.describe('tables that an earlier call had copied'),
    seconds: count,
    writtenMeanwhile: z
      .int()
      .describe('rows that were written into the source during the move, and are not in the target'),
    environment: z.record(text, maybeText).describe('settings for the target; null: not set'),
  }),
  'move-dry-run': z.looseObject({
    source: text,
    target: text,
    tables: listOf({ ...rowsOfTable, bytes: count }),
    rows: count,
    bytes: count,
    minutes: count,
    resumes: z.boolean().describe('whether an earlier call was interrupted'),
  }),
  'lake-export': z.looseObject({ ...filesWritten, people: z.boolean() }),
  verify: z.looseObject({
    wrong: count.describe('rows that are wrong, of all checks; 0: the database is whole'),
    checks: listOf({
      check: text,
      table: text,
      meaning: text.describe('what rows are wrong'),
      wrong: count,
      examples: z.array(z.record(text, z.unknown())).describe('the first of them, at most five, by their keys'),
    }),
    seconds: count,
    dryRun: z.boolean().optional().describe('with --repair: whether nothing was changed'),
    repaired: listOf({ check: text, table: text, rows: count })
      .optional()
      .describe('with --repair: what was put right, or would be; `checks` is of the database after that'),
  }),
  backup: z.looseObject(filesWritten),
  restore: z.looseObject({
    place: text,
    target: text.describe('host and database, or folder'),
    at: instant.nullable().describe('when the backup began to read; null: there was none (`--if-any`)'),
    program: text.nullable().describe('version of the program that made it'),
    tables: listOf(rowsOfTable),
    files: count,
    rows: count,
    bytes: count,
    resumed: count.describe('tables that an earlier call had loaded'),
    wrong: count.describe('rows that `verify` finds wrong'),
    seconds: count,
  }),
  report: z.looseObject({ path: text, from: instant, to: instant, guild: uuid.nullable(), bytes: count }),
  'serve-export': z.looseObject({
    dir: text,
    pages: count,
    bytes: count,
    failed: count,
    leftOut: count,
    removed: count,
  }),
  'privacy-show': z.looseObject({
    player: uuid,
    tables: listOf({ ...rowsOfTable, first: maybeInstant, last: maybeInstant }),
    restrictions: listOf({ fieldGroup: text, toldBy: text, since: instant }),
    removals: listOf({ at: instant, fieldGroup: text, policy: text, rows: count, reason: text }),
  }),
  'privacy-purge': z.looseObject({
    player: uuid,
    group: maybeText,
    dryRun: z.boolean(),
    tables: z.array(z.looseObject(rowsOfTable)),
  }),
  notification: z
    .discriminatedUnion('event', [
      z
        .looseObject({ event: z.literal('change'), status: text, observedAt: maybeInstant, ...counts, ...event })
        .describe('a response changed something'),
      z
        .looseObject({ event: z.literal('guard'), guard: text, action: text, message: text, ...event })
        .describe('a guard acted'),
      z
        .looseObject({ event: z.literal('drift'), kind: text, path: text, member: text, ...event })
        .describe('something new that the program does not know'),
      z.looseObject({ event: z.literal('failure'), message: text, ...event }).describe('a run failed'),
    ])
    .describe('payload of NOTIFY wynnsync'),
  change: z
    .looseObject({
      number: z.int().min(1),
      writtenAt: instant,
      event: z.enum(['change', 'guard', 'drift', 'failure', 'freshness', 'event soon', 'numbers', 'top']),
      resource: text,
      key: text.optional().describe('of a worklist; never a player'),
      run: text.optional().describe('of `freshness`, `event soon`, `numbers` and `top` none'),
      name: text.optional().describe('of `event soon`: the world event'),
      startsAt: instant.optional().describe('of `event soon`: when it begins'),
      minutes: count.optional().describe('of `event soon`: how long before that it was to be written'),
      each: z.enum(['day', 'week', 'month']).optional().describe('of `top`: which period ended'),
      from: instant.optional().describe('of `top`: its beginning'),
      to: instant.optional().describe('of `top`: its end'),
      isLate: z.boolean().optional().describe('of `freshness`: whether the resource is late now, or no longer'),
      at: instant,
      keys: z.array(text).optional().describe('records that appeared, changed or disappeared; at most 100'),
      touched: count.optional().describe('how many those are'),
      concerns: z.array(text).optional().describe('keys of other resources that it is about'),
      late: z.literal(true).optional().describe('no news when it was loaded, such as a recording'),
    })
    .describe('/changes/N.json, and the data of /changes/stream'),
  ...watchSchemas,
  webhook: z.looseObject({
    event: z.enum(['failure', 'recovery', 'guard', 'start', 'stop']),
    resource: maybeText.describe('null: about the program'),
    at: instant,
    message: text,
    run: text.optional(),
    text: text.describe('for Slack'),
    content: text.describe('for Discord'),
  }),
} as const
