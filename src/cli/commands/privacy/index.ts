import type { CommandGroup } from '../../command.ts'
import { consentFlags, option } from '../../options.ts'

export const privacy: CommandGroup = {
  usage: 'privacy',
  summary: 'the data that is kept of a player',
  examples: ['wynnsync privacy show PlayerName', 'wynnsync privacy purge PlayerName --dry-run'],
  commands: [
    {
      usage: 'show <player>',
      summary: 'what is kept of a player, what is restricted, and what was removed',
      examples: ['wynnsync privacy show PlayerName', 'wynnsync privacy show <uuid> --json'],
      load: async () => (await import('./privacy-command.ts')).privacyShow,
    },
    {
      usage: 'purge <player>',
      summary: 'remove everything that is kept of a player',
      options: [
        option('--group <rule>', 'only what falls under this privacy rule, such as mainAccess'),
        ...consentFlags('what would be removed'),
      ],
      notes: `What was observed until now does not come back. What the API still shows is recorded again: only the player can restrict
that, in the game.`,
      examples: [
        'wynnsync privacy purge PlayerName --dry-run',
        'wynnsync privacy purge <uuid> --group onlineStatus --yes',
      ],
      load: async () => (await import('./privacy-command.ts')).privacyPurge,
    },
  ],
}
