import { Command, CommanderError, Option } from 'commander'
import { version } from '../app/app.ts'
import { RetryableError, UsageError } from '../app/errors.ts'
import { visibleLine } from '../app/terminal-text.ts'
import { addAuth } from './commands/auth/auth-commands.ts'
import { addBackfill } from './commands/backfill/backfill-commands.ts'
import { addPrivacy } from './commands/privacy/privacy-commands.ts'
import { addQuestions } from './commands/query/question-commands.ts'
import { addReplay } from './commands/replay/replay-commands.ts'
import { addUnattended } from './commands/start/unattended-commands.ts'
import { type CommonFlags, createContext, exitCode, type Terminal } from './context.ts'
import { collect, command, concurrency, examples, type Run } from './options.ts'

/**
 * Reads the command line, runs the command and returns its exit code. Never throws for what a person typed or what the
 * world does; the message is on stderr then.
 */
export async function runProgram(argv: readonly string[], terminal: Terminal): Promise<number> {
  // The command line may hold a password, and everybody on the machine may read it.
  process.title = 'wynnsync'
  let code: number = exitCode.done
  const run: Run = async (command, action) => {
    code = await action(await createContext(command.optsWithGlobals<CommonFlags>(), terminal))
  }
  try {
    await createProgram(terminal, run).parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage
    const message = error instanceof Error ? error.message : String(error)
    // Only what this program says about the command line or the configuration has lines of its own.
    const isUsage = error instanceof UsageError
    terminal.err.write(`wynnsync: ${isUsage ? message : visibleLine(message)}\n`)
    if (isUsage) return exitCode.usage
    return error instanceof RetryableError ? exitCode.tryLater : exitCode.failed
  }
}

/** The commands. What a command does is loaded when it is called: `sync` starts without the sandbox, and so on. */
function createProgram(terminal: Terminal, run: Run): Command {
  const program = new Command('wynnsync')
    .description('Remembers what the Wynncraft web API forgets: syncs it into Postgres with full history.')
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.out.write(text), writeErr: (text) => terminal.err.write(text) })
    .showHelpAfterError('(add --help for the flags and an example)')
    .addHelpText('after', examples(['npm run demo', 'wynnsync sync', 'wynnsync query item_change', 'wynnsync status']))

  command(program, 'sync [resource...]', 'one pass over the named resources, or all of them')
    .addOption(concurrency())
    .option('--walk', 'page by page, even where the API gives everything at once')
    .option('--limit <keys>', 'guilds, players: so many of the stalest (default: what the budget window allows)')
    .option('--guild <name>', 'only this guild, by uuid, prefix or exact name; may be given again', collect)
    .option('--player <name>', 'only this player, by uuid or name; may be given again', collect)
    .option('--accept', 'take the answer of what is named although it looks implausible')
    .addHelpText(
      'after',
      examples([
        'wynnsync sync items recipes',
        'wynnsync sync guilds --limit 20',
        'wynnsync sync items --json | jq .runs[0].status',
      ]),
    )
    .action(async (names: string[], options, self: Command) => {
      const { syncCommand } = await import('./commands/sync/sync-command.ts')
      await run(self, (context) => syncCommand(names, options, context))
    })

  addUnattended(program, run)
  addBackfill(program, run)
  addReplay(program, run)

  command(program, 'status', 'how fresh everything is, what the API still allows, what was missed')
    .option('--watch', 'show it again every five seconds')
    .option('--drift', 'only what the API sends that this program does not know, each thing once')
    .addHelpText('after', examples(['wynnsync status', 'wynnsync status --watch', 'wynnsync status --json | jq .gaps']))
    .action(async (options, self: Command) => {
      const { statusCommand } = await import('./commands/status/status.ts')
      await run(self, (context) => statusCommand(options, context))
    })

  addQuestions(program, run)

  command(program, 'report', 'what happened in a period, with pictures, as one HTML file that needs no other')
    .option('--from <instant>', 'since when (default: seven days before the end, or the first observation)')
    .option('--to <instant>', 'until when (default: the latest observation)')
    .option('--guild <name>', 'the guild that gets a page, by uuid, prefix or exact name (default: the biggest one)')
    .option('--out <file>', 'where to write it (default: report.html)')
    .addHelpText(
      'after',
      examples([
        'wynnsync report',
        'wynnsync report --from 2026-05-01 --to 2026-06-01 --out may.html',
        'wynnsync report --guild PREFIX --out guild.html',
      ]),
    )
    .action(async (options, self: Command) => {
      const { reportCommand } = await import('./commands/report/report-command.ts')
      await run(self, (context) => reportCommand(options, context))
    })

  command(program, 'migrate', 'bring the database up to date and exit')
    .addHelpText('after', examples(['DATABASE_URL=postgres://me@localhost/wynn wynnsync migrate']))
    .action(async (_options, self: Command) => {
      const { migrateCommand } = await import('./commands/migrate/migrate-command.ts')
      await run(self, migrateCommand)
    })

  command(program, 'demo', 'a simulated API, an embedded database, and some answers; no network')
    .option('--seed <number>', 'another world (default: 1)')
    .addHelpText('after', examples(['npm run demo', 'wynnsync demo --seed 7']))
    .action(async (options, self: Command) => {
      const { demoCommand } = await import('./commands/demo/demo.ts')
      await run(self, (context) => demoCommand(options, context))
    })

  command(program, 'sandbox', 'serve a stand-in of the API on this machine')
    .option('--port <number>', 'port on 127.0.0.1 (default: 8080; 0 takes a free one)')
    .addOption(new Option('--dialect <dialect>', 'which form of the API to speak').choices(['live', 'documented']))
    .option('--seed <number>', 'which world to invent (default: 1)')
    .option('--page-size <number>', 'records per page (default: 20)')
    .option('--recordings <folder>', 'serve recorded answers instead of an invented world')
    .option('--at <instant>', 'when its time begins (default: now; of recordings, with the first item database)')
    .option('--speed <number>', 'seconds of its time per second (default: 1)')
    .option(
      '--faults <plan>',
      'spoil answers: storm:0.1,gateway:0.5@60-120/guild or all (GET /__sandbox/faults lists them)',
    )
    .addHelpText('after', examples(['wynnsync sandbox --port 8080', 'curl http://127.0.0.1:8080/v3/item/sets']))
    .action(async (options, self: Command) => {
      const { sandboxCommand } = await import('./commands/sandbox/sandbox-command.ts')
      await run(self, (context) => sandboxCommand(options, context))
    })

  addPrivacy(program, run)
  addAuth(program, run)
  return program
}
