import type { Command } from 'commander'
import { command, examples, type Run } from '../../options.ts'

/** The commands for people who ask: one question, what the words mean, a port for other programs. */
export function addQuestions(program: Command, run: Run): void {
  command(program, 'query [question] [args...]', 'ask one question of the analytics schema')
    .option('--list', 'the questions there are')
    .option('--csv', 'as CSV; text that a spreadsheet would run as a formula gets a leading apostrophe')
    .option('--raw', 'with --csv: text exactly as it is, without such apostrophes')
    .option('--sql', 'print the statement instead of asking it')
    .option('--limit <rows>', 'at most that many rows, 0 for all (default: 50 in a table)')
    // An argument may be -7d.
    .allowUnknownOption()
    .addHelpText(
      'after',
      `
A guild is its uuid, prefix or exact name; a player is a uuid or a name. A name that several bear or bore is reported with
all of them. Instants are ISO 8601 (UTC), now, today, yesterday, -12h, -7d; of questions about [from_time, to_time), both
may be left out: the last seven days. A view takes column=value.
${examples([
  'wynnsync query --list',
  'wynnsync query member_contribution GLD -30d now',
  'wynnsync query player_session player_uuid=Somebody --limit 10',
  'wynnsync query item_identification identification=rawStrength',
  'wynnsync query recipes_using "Ash Plank" --csv > ash.csv',
  'wynnsync query world_peak --sql | psql "$DATABASE_URL"',
])}`,
    )
    .action(async (name: string | undefined, given: string[], options, self: Command) => {
      const { queryCommand } = await import('./query.ts')
      await run(self, (context) => queryCommand(name, given, options, context))
    })

  command(program, 'dictionary', 'what every view, function, table and column means')
    .option('--html', 'as a page that needs no network (default: Markdown)')
    .option('--out <file>', 'write a file instead of stdout')
    .addHelpText('after', examples(['wynnsync dictionary | less', 'wynnsync dictionary --html --out dictionary.html']))
    .action(async (options, self: Command) => {
      const { dictionaryCommand } = await import('../dictionary/dictionary-command.ts')
      await run(self, (context) => dictionaryCommand(options, context))
    })

  command(program, 'serve-db', 'let other programs ask the embedded database, as a Postgres server would')
    .option('--port <number>', 'port to listen on (default: 5433; 0 takes a free one)')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--password <password>', 'what clients must give; needed for a --host that other machines reach')
    .addHelpText(
      'after',
      `
Whoever connects may ask the analytics schema and change nothing. All share one session: a statement or
transaction waits for the end of the one before it, and nothing can be synced meanwhile.
${examples(['wynnsync serve-db', 'psql -h 127.0.0.1 -p 5433 -c "select * from analytics.freshness"'])}`,
    )
    .action(async (options, self: Command) => {
      const { serveDatabaseCommand } = await import('../serve-db/serve-database.ts')
      await run(self, (context) => serveDatabaseCommand(options, context))
    })
}
