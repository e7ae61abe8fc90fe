import type { CommandDeclaration } from '../command.ts'
import { acceptBaseUrl, concurrency, option, repeatable, webOptions } from '../options.ts'

export const sync: CommandDeclaration = {
  usage: 'sync [resource...]',
  summary: 'one pass over the named resources, or all of them',
  options: [
    concurrency,
    option('--walk', 'page by page, even where the API gives everything at once'),
    option(
      '--limit <keys>',
      'of a worklist: at most so many keys, the stalest first, 0 for all that are due (default: what the budget window allows)',
    ),
    option('--accept', 'accept the response of the named resources although it looks implausible'),
    acceptBaseUrl,
  ],
  loadOptions: async () => (await import('../commands/sync/sync-command.ts')).keyFlags,
  examples: [
    'wynnsync sync items recipes',
    'wynnsync sync guilds --limit 20',
    'wynnsync sync items --json | jq .runs[0].status',
  ],
  jsonOfError: (error) => ({ runs: [], error }),
  load: async () => (await import('../commands/sync/sync-command.ts')).syncCommand,
}

export const start: CommandDeclaration = {
  usage: 'start',
  summary: 'sync everything when it is due, until SIGTERM or Ctrl-C',
  options: [
    concurrency,
    acceptBaseUrl,
    option('--replace', 'stop another start on this database, and take its place once it has ended'),
    option('--metrics-port <number>', 'serve metrics for Prometheus, and /healthz, on this port (0 takes a free one)'),
    option('--metrics-host <address>', 'address of the metrics (default: 127.0.0.1)'),
    option(
      '--web-port <number>',
      'serve pages and the read API on this port, as wynnsync serve does (0 takes a free one)',
    ),
    option('--web-host <address>', 'its address (default: 127.0.0.1; with --public 0.0.0.0)'),
    ...webOptions,
  ],
  notes: `Each resource is synced by its schedule; what is left of the budget goes to the stalest keys of the worklists. SIGTERM or
Ctrl-C ends it within ten seconds.`,
  examples: [
    'wynnsync start',
    'wynnsync start --replace',
    'wynnsync start --metrics-port 9464 --web-port 8080',
    'WYNNSYNC_SCHEDULE="territories=*/5 * * * *; players=off" wynnsync start',
    'nohup wynnsync start 2>> wynnsync.log &',
  ],
  load: async () => (await import('../commands/start/start-command.ts')).startCommand,
}

export const backfill: CommandDeclaration = {
  usage: 'backfill [resource]',
  summary: 'fetch once all there is of a resource; or load recorded responses',
  options: [
    concurrency,
    option('--dry-run', 'only print the estimate: requests or responses, minutes, rows, disk'),
    option('--limit <keys>', 'of a worklist: at most so many keys in this call, 0 for all (default: all)'),
    repeatable('--only <name>', 'of a worklist: only this key, by uuid, prefix or name; may be given again'),
    option('--fetched-before <instant>', 'of a worklist: leave out keys that were fetched after this instant'),
    option('--since <instant>', 'the older name of --fetched-before').hideHelp(),
    option('--restart', 'begin anew, whether the latest backfill is finished or not'),
    acceptBaseUrl,
    option('--from <folder>', 'load the recorded responses of a folder instead of the API'),
    option(
      '--from-git <repository>',
      'load responses that were kept in git, each at the time of its commit: a clone, or a URL',
    ),
    repeatable('--map <glob=resource>', 'of --from-git: which files are responses of what; may be given again'),
    option('--dates <whose>', "of --from-git: author or committer (default: the author's where they rise)"),
    option(
      '--from-lake <place>',
      'import what another database recorded: a folder, https:// or s3:// with an exported lake',
    ),
    option('--max-bytes <bytes>', 'of --from-lake: refuse a lake with more to read (default: 20000000000)'),
    option('--detect', 'of --from-git: list the files that look like responses, with their commits'),
    option('--yes', 'of --detect: load what it finds'),
  ],
  notes: `Killed or stopped at any moment, the next call of a worklist continues with the keys that are left; a walk over pages
begins with the first page again. Live polls and refreshes go first. A finished backfill sends no request and prints when it finished;
--restart begins anew. --from-lake imports all resources of a lake, because its ledger says of all of them when they were observed: it
takes no resource.`,
  examples: [
    'wynnsync backfill guilds --dry-run',
    'wynnsync backfill guilds',
    'wynnsync backfill guilds --restart',
    'wynnsync backfill players --only PlayerName --only 0000dead-beef-4000-8000-000000000000',
    'wynnsync backfill --from recordings',
    'wynnsync backfill --from-lake https://example.org/lake --dry-run',
    'wynnsync backfill --from-lake ./lake-of-a-friend',
    'wynnsync backfill --from-git ~/wynn-data --detect',
    'wynnsync backfill --from-git https://example.org/wynn-data --detect --yes',
    "wynnsync backfill --from-git ~/wynn-data --map 'guilds/*.json=guilds' --map 'players/*.json=players'",
  ],
  load: async ({ from, fromGit, fromLake }) =>
    fromLake !== undefined
      ? (await import('../commands/backfill/backfill-from-lake.ts')).backfillFromLake
      : from === undefined && fromGit === undefined
        ? (await import('../commands/backfill/backfill-command.ts')).backfillCommand
        : (await import('../commands/backfill/backfill-from.ts')).backfillFromCommand,
}
