import type { Command } from 'commander'
import { command, examples, type Run } from '../../options.ts'

/** `privacy` and its commands. */
export function addPrivacy(program: Command, run: Run): void {
  const privacy = program
    .command('privacy')
    .description('what is kept of a player')
    .addHelpText('after', examples(['wynnsync privacy show Somebody', 'wynnsync privacy purge Somebody --dry-run']))

  command(privacy, 'show <player>', 'what is kept of a player, what is restricted, and what was removed')
    .addHelpText('after', examples(['wynnsync privacy show Somebody', 'wynnsync privacy show <uuid> --json']))
    .action(async (player: string, _options, self: Command) => {
      const { privacyShow } = await import('./privacy-command.ts')
      await run(self, (context) => privacyShow(player, context))
    })

  command(privacy, 'purge <player>', 'remove everything that is kept of a player')
    .option('--group <rule>', 'only what falls under this privacy rule, such as mainAccess')
    .option('--dry-run', 'only say what would go')
    .addHelpText(
      'after',
      `
What was observed until now does not come back. What the API goes on to show is recorded as it is of anybody: only the
player can restrict that, in the game.
${examples(['wynnsync privacy purge Somebody --dry-run', 'wynnsync privacy purge <uuid> --group onlineStatus'])}`,
    )
    .action(async (player: string, options, self: Command) => {
      const { privacyPurge } = await import('./privacy-command.ts')
      await run(self, (context) => privacyPurge(player, options, context))
    })
}
