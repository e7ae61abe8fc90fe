import type { Command } from 'commander'
import { collect, command, concurrency, examples, type Run } from '../../options.ts'

/** The command that asks for everything there is, once. */
export function addBackfill(program: Command, run: Run): void {
  command(
    program,
    'backfill [resource]',
    'ask once for all guilds, players, items or recipes; or load recorded answers',
  )
    .addOption(concurrency())
    .option('--dry-run', 'only say what it would take: requests, minutes, rows, disk')
    .option('--limit <keys>', 'guilds, players: at most so many in this call')
    .option('--only <name>', 'guilds, players: only this one, by uuid, prefix or name; may be given again', collect)
    .option('--since <instant>', 'guilds, players: what was answered after this instant need not be asked again')
    .option('--restart', 'begin anew, whether the latest backfill is finished or not')
    .option('--from <folder>', 'load the recorded answers of a folder instead of asking the API')
    .addHelpText(
      'after',
      `
Killed or stopped at any moment, it goes on where it was when it is called again. Live polls and refreshes go first.
One that is finished says when, and requests nothing; --restart begins anew.
${examples([
  'wynnsync backfill guilds --dry-run',
  'wynnsync backfill guilds',
  'wynnsync backfill guilds --restart',
  'wynnsync backfill players --only Somebody --only 0000dead-beef-4000-8000-000000000000',
  'wynnsync backfill --from recordings',
])}`,
    )
    .action(async (name: string | undefined, options, self: Command) => {
      if (options.from !== undefined) {
        const { backfillFromCommand } = await import('./backfill-from.ts')
        await run(self, (context) => backfillFromCommand(name, options, context))
        return
      }
      const { backfillCommand } = await import('./backfill-command.ts')
      await run(self, (context) => backfillCommand(name, options, context))
    })
}
