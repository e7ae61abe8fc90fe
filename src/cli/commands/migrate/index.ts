import type { CommandDeclaration } from '../../command.ts'

export const migrate: CommandDeclaration = {
  usage: 'migrate',
  summary: 'bring the database up to date and exit',
  examples: ['DATABASE_URL=postgres://me@localhost/wynn wynnsync migrate'],
  load: async () => (await import('./migrate-command.ts')).migrateCommand,
}
