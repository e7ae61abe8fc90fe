import type { CommandGroup } from '../../command.ts'
import { consentFlags, option, rowsLimit, wide } from '../../options.ts'

export const lake: CommandGroup = {
  usage: 'lake',
  summary: 'the history as Parquet files, for DuckDB, Spark, ClickHouse and others',
  notes: 'Needs the package @duckdb/node-api beside wynnsync.',
  examples: ['npm install @duckdb/node-api@1.5.6-r.1', 'wynnsync lake export ./lake'],
  commands: [
    {
      usage: 'export <place>',
      summary:
        'write what changed since the last export as Parquet files, into a folder or s3://bucket/prefix, or one file',
      options: [
        option('--people', 'also what names a player: without it uuids, names and rows about single ones are left out'),
        option(
          '--keep-replaced <duration>',
          'how long files that were replaced stay for their readers, such as 24h (default: 24h)',
        ),
        option('--keep <duration>', 'the older name of --keep-replaced').hideHelp(),
        ...consentFlags('what would be written'),
        option('--replace', 'the same as --yes').hideHelp(),
      ],
      notes: `A file for each table, or for each month of a large one, listed in index.json, which is put in place last. A month in
which nothing changed is not read again. What was removed from the database is removed here at the next export, and its old
files after --keep-replaced. Interrupted at any instant, the same call goes on. A bucket needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,
and AWS_REGION or AWS_ENDPOINT_URL_S3 where they are not the defaults. It asks only before it replaces the lake of another database.
A place that ends in .duckdb or .sqlite is one file to hand on, with the same tables, written anew each time; .sqlite needs the package
node-sqlite3-wasm.`,
      examples: [
        'wynnsync lake export ./lake',
        'wynnsync lake export ./lake --people --keep-replaced 1h',
        'wynnsync lake export history.duckdb',
      ],
      load: async () => (await import('./lake-command.ts')).lakeExport,
    },
    {
      usage: 'query <place> <name>',
      summary: 'answer a question about a lake, without a database',
      options: [
        rowsLimit,
        option('--max-bytes <bytes>', 'of a place that is no folder, fetch no more than this (default: 20000000000)'),
        wide,
      ],
      notes: `Questions: captures, economy, holds, item-changes, members-rises, online-totals, who-takes-from-whom, worlds-by-hour.
Their SQL, in src/lake/sql of the package, is the same for DuckDB and Spark. The place is a folder, s3://bucket/prefix, or https://:
from these the files of the question's tables are fetched first, into a temporary folder.`,
      examples: ['wynnsync lake query ./lake who-takes-from-whom', 'wynnsync lake query ./lake holds --json --limit 5'],
      load: async () => (await import('./lake-command.ts')).lakeQuery,
    },
  ],
}
