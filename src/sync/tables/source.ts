import { index, primaryKey } from 'drizzle-orm/pg-core'
import { bigint, boolean, instant, integer, text } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { syncTable } from '../../db/schemas.ts'

export const source = syncTable(
  'source',
  'What history was imported from, other than the responses to this database.',
  {
    sourceId: text(
      'Of a lake: which database it is of, by the hash in its index; else a hash of kind and place.',
    ).primaryKey(),
    kind: text('lake, recordings or git.').notNull().default('lake'),
    place: text('The folder, repository or URL that it was taken from last.').notNull(),
    program: text(
      'Version of the program that exported it; of recordings and git archives, of the one that loaded it.',
    ).notNull(),
    exportedAt: instant('When that export, or that loading, began to read.').notNull(),
    takenAt: instant('When it was last imported as a whole, by the clock of this machine. NULL: not yet.'),
  },
)

export const sourceFile = syncTable(
  'source_file',
  'Files of lakes that were imported, or refused: they are not read again.',
  {
    sourceId: text('The lake: source_id in sync.source.').notNull(),
    sha256: text('SHA-256 of the file, in hex.').notNull(),
    tableName: text('The table, such as game.item.').notNull(),
    month: text(
      'The month that its rows are of, such as 2026-05. NULL: of all, or an earlier version of the program imported it.',
    ),
    takenAt: instant('When, by the clock of this machine.').notNull(),
    rows: bigint('Rows in the file.').notNull(),
    taken: bigint('Rows of it that are in the table now.').notNull(),
    refused: bigint(
      'Rows that could not be right: impossible instants, inverted intervals, what Postgres cannot store.',
    ).notNull(),
  },
  (self) => [primaryKey({ name: 'source_file_pkey', columns: [self.sourceId, self.sha256] })],
)

export const sourceSpan = syncTable(
  'source_span',
  'Intervals in which a resource was observed by another database and not by this one: what is said of them comes from its lake.',
  {
    sourceId: text('The lake: source_id in sync.source.').notNull(),
    resource: text('The resource.').notNull(),
    beganAt: instant('Its first accepted response that was imported.').notNull(),
    endedAt: instant('Its last one before this database observed again, or before its own gap.').notNull(),
    hasSessions: boolean('Whether the sessions of that time were imported too; without them playtime is not known.')
      .notNull()
      .default(false),
  },
  (self) => [
    primaryKey({ name: 'source_span_pkey', columns: [self.sourceId, self.resource, self.beganAt] }),
    index('source_span_time').on(self.resource, self.beganAt),
  ],
)

export const sourceVersion = syncTable(
  'source_version',
  'Versions that come from the lake of another database, not from a response that this one received.',
  {
    sourceId: text('The lake: source_id in sync.source.').notNull(),
    tableName: text('The table of versions, such as game.item.').notNull(),
    key: text('Natural key; several columns are joined by a slash.').notNull(),
    validFrom: instant('Start of the version.').notNull(),
  },
  (self) => [primaryKey({ name: 'source_version_pkey', columns: [self.tableName, self.key, self.validFrom] })],
)

export const sourceConflict = syncTable(
  'source_conflict',
  'Where this database and another one observed the same time and recorded something else. What this one observed stays.',
  {
    sourceId: text('The lake: source_id in sync.source.').notNull(),
    tableName: text('The table of versions, such as game.item.').notNull(),
    key: text('Natural key; several columns are joined by a slash.').notNull(),
    validFrom: instant('Start of the version that the lake has and this database has not.').notNull(),
    validUntil: instant('Its end. infinity: it was current there.').notNull(),
    observations: integer('Responses of this database in that interval, none of which had it.').notNull(),
  },
  (self) => [
    primaryKey({ name: 'source_conflict_pkey', columns: [self.sourceId, self.tableName, self.key, self.validFrom] }),
  ],
)

export const origin = syncTable(
  'origin',
  'Where the responses of this history come from: of another API, and of a sandbox beside a real one, none is taken.',
  {
    baseUrl: text(
      'Base URL of an API, without a slash at its end; `recordings` for responses that were recorded elsewhere.',
    ).primaryKey(),
    isSandbox: boolean('Whether it is a sandbox, by the header of its responses; the same in all rows.').notNull(),
    firstAt: instant('When the first of its responses was taken, by the clock of this machine.').notNull(),
  },
)

const numbers = 'made by the program'

export const sourceNaming = [
  namesPeople(origin, {}, { 'set by a person': ['baseUrl'] }),
  namesPeople(source, {}, { 'set by a person': ['place'], [numbers]: ['sourceId', 'kind', 'program'] }),
  namesPeople(sourceFile, {}, { [numbers]: ['sourceId', 'sha256', 'tableName', 'month'] }),
  namesPeople(sourceSpan, {}, { [numbers]: ['sourceId', 'resource'] }),
  namesPeople(sourceVersion, { key: 'row' }, { [numbers]: ['sourceId', 'tableName'] }),
  namesPeople(sourceConflict, { key: 'row' }, { [numbers]: ['sourceId', 'tableName'] }),
]
