import type { CommandDeclaration, CommandGroup } from '../command.ts'
import { queryOptions } from '../commands/query/query-flags.ts'
import { consentFlags, option, repeatable, rowsLimit, webOptions, wide } from '../options.ts'

export const query: CommandDeclaration = {
  usage: 'query [question] [args...]',
  summary: 'query one view or function of the analytics schema',
  options: queryOptions,
  notes: `A guild is its uuid, prefix or exact name; a player is a uuid or a name. A name with several holders, now or in the past, is
an error that lists them. Instants are ISO 8601 (UTC), now, today, yesterday, -12h, -7d; of questions about
[from_time, to_time), both may be left out: the last seven days. The first argument of a view may be a name alone.
Rows are filtered by column=value, or column=OPERATOR.value: eq, neq, gt, gte, lt, lte, like.*bow*, ilike, in.(a,b,"c,d"), is.null,
is.true, and not. before each; unknown values (null) fulfil none but is.null. column=eq.VALUE is for a value that begins with an
operator. order=column.desc.nullslast,column sorts them, select=column,column has only these columns.`,
  examples: [
    'wynnsync query --list',
    'wynnsync query territory_hold --explain',
    'wynnsync query player_session PlayerName --limit 10',
    'wynnsync query guild GLD',
    'wynnsync query item_identification identification=rawStrength raw=gte.5 sub_type=bow level=gte.80 order=raw.desc',
    'wynnsync query item "tier=in.(mythic,fabled)" "display_name=like.*Bow*" select=display_name,level',
    'wynnsync query member_contribution GLD -30d now contributed=gt.0 order=contributed.desc',
    'wynnsync query recipes_using "Ash Plank" --csv > ash.csv',
    'wynnsync query world_peak --sql | psql "$DATABASE_URL"',
  ],
  // An argument may be -7d.
  allowUnknownOptions: true,
  load: async () => (await import('../commands/query/query-command.ts')).queryCommand,
}

export const report: CommandDeclaration = {
  usage: 'report',
  summary: 'what happened in a period, with charts, as one self-contained HTML file',
  options: [
    option('--from <instant>', 'start (default: seven days before the end, or the first observation)'),
    option('--to <instant>', 'end (default: the latest observation)'),
    option('--guild <name>', 'the guild with a page of its own, by uuid, prefix or exact name (default: the largest)'),
    option('--tables', 'print every row of the tables (default: the first 20 of each on paper; the file has all)'),
    option('--out <file>', 'where to write it (default: report.html)'),
  ],
  examples: [
    'wynnsync report',
    'wynnsync report --from 2026-05-01 --to 2026-06-01 --out may.html',
    'wynnsync report --guild PREFIX --out guild.html',
  ],
  load: async () => (await import('../commands/report/report-command.ts')).reportCommand,
}

export const dictionary: CommandDeclaration = {
  usage: 'dictionary',
  summary: 'the data dictionary: every view, function, table and column',
  options: [
    option('--html', 'as a page that needs no network (default: Markdown)'),
    option('--out <file>', 'write a file instead of stdout'),
  ],
  examples: ['wynnsync dictionary | less', 'wynnsync dictionary --html --out dictionary.html'],
  load: async () => (await import('../commands/dictionary/dictionary-command.ts')).dictionaryCommand,
}

export const serve: CommandDeclaration = {
  usage: 'serve',
  summary: 'serve pages and a read API over HTTP',
  options: [
    option('--port <number>', 'port to listen on (default: 8080; 0 takes a free one)'),
    option('--host <address>', 'address to listen on (default: 127.0.0.1; with --public 0.0.0.0)'),
    option('--export <folder>', 'write all pages as files into a folder instead, for a site without a database'),
    ...webOptions,
  ],
  notes: `--export needs an empty folder, or one of an earlier export, whose files it replaces at the end. http://127.0.0.1:8080/ begins the pages. /api/v1/<question>?argument=value answers every question of wynnsync query as JSON,
CSV or NDJSON (format=csv, format=ndjson); /openapi.json describes all. --mcp answers assistants at /mcp, which needs the package
@modelcontextprotocol/sdk. wynnsync start --web-port serves in the process that syncs.`,
  examples: [
    'wynnsync serve --port 8080',
    'curl "http://127.0.0.1:8080/api/v1/territory_owner_at?territory=Detlas&at=-1d"',
    'curl "http://127.0.0.1:8080/api/v1/territory_capture?order=captured_at.desc&limit=1000&format=csv"',
    'wynnsync serve --public --no-people --cors https://example.org',
    'wynnsync serve --mcp',
    'wynnsync serve --export ./site --no-people',
  ],
  load: async () => (await import('../commands/serve/serve-command.ts')).serveCommand,
}

export const mcp: CommandDeclaration = {
  usage: 'mcp',
  summary: 'the questions as tools for assistants, over stdin and stdout',
  options: [option('--no-people', 'leave out every answer about a single player')],
  notes: `The Model Context Protocol, read-only: tools for what is asked most, ask for every other question of wynnsync query, and describe,
which says what questions mean. An assistant starts this command; it needs the package @modelcontextprotocol/sdk beside wynnsync.
wynnsync serve --mcp answers the same over HTTP.`,
  examples: ['npm install @modelcontextprotocol/sdk', 'wynnsync mcp', 'wynnsync mcp --no-people'],
  load: async () => (await import('../commands/mcp/mcp-command.ts')).mcpCommand,
}

export const serveDb: CommandDeclaration = {
  usage: 'serve-db',
  summary: 'serve the embedded database read-only over the Postgres protocol',
  options: [
    option('--port <number>', 'port to listen on (default: 5433; 0 takes a free one)'),
    option('--host <address>', 'address to listen on (default: 127.0.0.1)'),
    option('--password <password>', 'password of the clients; required with a --host that other machines reach'),
  ],
  notes: `Clients may read the analytics schema and change nothing. All share one session: a statement or transaction waits for the
end of the one before it, and nothing can be synced meanwhile.`,
  examples: ['wynnsync serve-db', 'psql -h 127.0.0.1 -p 5433 -c "select * from analytics.freshness"'],
  load: async () => (await import('../commands/serve-db/serve-db-command.ts')).serveDbCommand,
}

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
      load: async () => (await import('../commands/lake/lake-command.ts')).lakeExport,
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
      load: async () => (await import('../commands/lake/lake-command.ts')).lakeQuery,
    },
  ],
}

export const watch: CommandGroup = {
  usage: 'watch',
  summary: 'rules that send a message when something happens',
  notes: `The rules are kept in the database. wynnsync start sends the messages, and so does every wynnsync sync when it ends.`,
  examples: [
    'wynnsync watch add mine --event captured --event lost --guild ABC --discord https://...',
    'wynnsync watch list',
  ],
  commands: [
    {
      usage: 'add <name>',
      summary: 'add a rule, or replace the one of this name',
      options: [
        repeatable(
          '--event <event>',
          "captured, lost, joined, left, rank, renamed, 'item changed', patch, 'world down', online, news, 'freshness late', level, counter, top, 'rating gap', 'in pool' or 'event soon'; several times for several",
        ),
        repeatable('--guild <guild>', 'only this guild: name, prefix or uuid; several times for several'),
        repeatable('--territory <territory>', 'only this territory; several times for several'),
        repeatable('--player <player>', 'only this player; several times for several'),
        repeatable('--item <item>', 'only this item, or this reward of pools; several times for several'),
        repeatable('--world-event <name>', 'only this world event; several times for several'),
        option(
          '--counter <counter>',
          "with --event counter or top: its kind and name, such as 'member contributed' or 'player wars'",
        ),
        option('--above <number>', 'with --counter: when it comes to so much'),
        option('--gains <number>', 'with --counter: when it rose by so much within 24 hours'),
        option('--top <number>', 'with --event top: how many of those who gained most'),
        option('--each <period>', 'with --top: day, week or month (UTC); sent an hour after it ended (default: week)'),
        option('--gap <rating>', "with --event 'rating gap': when a guild next to it in the season is so close"),
        option(
          '--before <duration>',
          "with --event 'event soon': how long before it begins, such as 10m (default: 10m)",
        ),
        option('--at-least <events/minutes>', 'only when so many come within so many minutes, such as 5/10'),
        option(
          '--quiet-hours <hours>',
          'send later what comes then, such as "22:00-07:00 Europe/Berlin" (default: UTC)',
        ),
        option('--collect <duration>', 'what comes within so long is one message, such as 90s or 5m (default: 60s)'),
        option('--group <seconds>', 'the older name of --collect').hideHelp(),
        option('--discord <url>', 'send to a webhook of Discord'),
        option('--slack <url>', 'send to a webhook of Slack'),
        option('--webhook <url>', 'send JSON to this URL'),
        option('--secret <text>', 'sign that JSON, as Standard Webhooks do'),
        option('--command <line>', 'run this with the JSON on stdin'),
        option('--site <url>', 'where wynnsync serve can be reached, for the links of all messages'),
      ],
      notes:
        'An option that is `-` is read from stdin, so that no other user of the machine can read it in the list of processes.',
      examples: [
        'wynnsync watch add mine --event captured --event lost --guild ABC --discord https://discord.com/api/webhooks/...',
        'wynnsync watch add war --event captured --guild ABC --at-least 5/10 --slack - < url.txt',
        "wynnsync watch add busy --event counter --counter 'member contributed' --gains 1000000 --guild ABC --slack - < url.txt",
        "wynnsync watch add weekly --event top --counter 'member contributed' --top 10 --guild ABC --slack - < url.txt",
        "wynnsync watch add soon --event 'event soon' --before 15m --discord https://discord.com/api/webhooks/...",
        "wynnsync watch add bows --event 'item changed' --item 'Oak Bow' --command 'mail -s bows me@example.org'",
      ],
      load: async () => (await import('../commands/watch/watch-command.ts')).watchAdd,
    },
    {
      usage: 'list',
      summary: 'the rules, without the secrets of their targets',
      options: [wide],
      examples: ['wynnsync watch list', 'wynnsync watch list --json'],
      load: async () => (await import('../commands/watch/watch-command.ts')).watchList,
    },
    {
      usage: 'test <name>',
      summary: 'send a message of this rule now, so that you see whether it arrives',
      examples: ['wynnsync watch test mine'],
      load: async () => (await import('../commands/watch/watch-command.ts')).watchTest,
    },
    {
      usage: 'remove <name>',
      summary: 'remove a rule, and the address of its target',
      options: consentFlags('the rule'),
      examples: ['wynnsync watch remove mine --dry-run', 'wynnsync watch remove mine --yes'],
      load: async () => (await import('../commands/watch/watch-command.ts')).watchRemove,
    },
  ],
}
