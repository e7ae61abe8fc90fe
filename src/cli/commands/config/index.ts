import type { CommandGroup } from '../../command.ts'
import { wide } from '../../options.ts'

export const config: CommandGroup = {
  usage: 'config',
  summary: 'the settings that commands use here',
  examples: ['wynnsync config show', 'wynnsync config show --json'],
  commands: [
    {
      usage: 'show',
      isDefault: true,
      summary: 'every setting, its value, and where that comes from: a flag, the environment, .env or the default',
      options: [wide],
      notes: 'Secrets are not shown, only whether they are set.',
      examples: ['wynnsync config show', 'wynnsync config show --database-url postgres://me@db.example/wynnsync'],
      load: async () => (await import('./config-command.ts')).configShow,
    },
  ],
}
