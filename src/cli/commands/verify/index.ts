import type { CommandDeclaration } from '../../command.ts'
import { consentFlags, option, wide } from '../../options.ts'

export const verify: CommandDeclaration = {
  usage: 'verify',
  summary: 'prove that the database is whole: chains, events, ledger, archive, numbers',
  options: [
    option('--repair', 'put right what follows from what the database has'),
    option('--lake <place>', 'also read every file of this lake (default: that of WYNNSYNC_LAKE)'),
    option('--backup <place>', 'also read every file of this backup'),
    ...consentFlags('what would be repaired'),
    wide,
  ],
  notes:
    'It ends with 3 where rows are wrong, and prints which. It reads every table once, so it takes about a minute per GB. Files of a lake and of a backup are held against their hashes; nothing of them is changed.',
  examples: ['wynnsync verify', 'wynnsync verify --repair --dry-run', 'wynnsync verify --json | jq .wrong'],
  load: async () => (await import('./verify-command.ts')).verifyCommand,
}
