import type { CommandDeclaration } from '../../command.ts'
import { option } from '../../options.ts'

export const query: CommandDeclaration = {
  usage: 'query [question] [args...]',
  summary: 'query one view or function of the analytics schema',
  options: [
    option('--list', 'list the questions'),
    option('--csv', 'as CSV; text that a spreadsheet would run as a formula gets a leading apostrophe'),
    option('--raw', 'with --csv: text exactly as it is, without such apostrophes'),
    option('--sql', 'print the statement instead of running it'),
    option('--limit <rows>', 'at most that many rows, 0 for all (default: 50 in a table)'),
  ],
  notes: `A guild is its uuid, prefix or exact name; a player is a uuid or a name. A name with several holders, now or in the past, is
an error that lists them. Instants are ISO 8601 (UTC), now, today, yesterday, -12h, -7d; of questions about
[from_time, to_time), both may be left out: the last seven days. A view takes column=value.`,
  examples: [
    'wynnsync query --list',
    'wynnsync query member_contribution GLD -30d now',
    'wynnsync query player_session player_uuid=PlayerName --limit 10',
    'wynnsync query item_identification identification=rawStrength',
    'wynnsync query recipes_using "Ash Plank" --csv > ash.csv',
    'wynnsync query world_peak --sql | psql "$DATABASE_URL"',
  ],
  // An argument may be -7d.
  allowUnknownOptions: true,
  load: async () => (await import('./query-command.ts')).queryCommand,
}
