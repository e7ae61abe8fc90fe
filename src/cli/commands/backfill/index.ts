import type { CommandDeclaration } from '../../command.ts'
import { acceptBaseUrl, concurrency, option, repeatable } from '../../options.ts'

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
      ? (await import('./backfill-from-lake.ts')).backfillFromLake
      : from === undefined && fromGit === undefined
        ? (await import('./backfill-command.ts')).backfillCommand
        : (await import('./backfill-from.ts')).backfillFromCommand,
}
