import type { CommandDeclaration } from '../../command.ts'
import { option } from '../../options.ts'

export const replay: CommandDeclaration = {
  usage: 'replay [resource...]',
  summary: 'rebuild tables from the archive, and show what differs',
  options: [
    option('--yes', 'replace the tables by the rebuilt ones'),
    option('--dry-run', 'only show what differs, as without --yes'),
    option('--keep', 'keep the schemas game_replay and sync_replay, for inspection'),
  ],
  notes: `For when a newer version of this program understands more of what the API sent. Nothing is changed without --yes. No request
is sent; on a server syncs may run meanwhile. A resource that holds more than its archive is left alone.`,
  examples: ['wynnsync replay items', 'wynnsync replay items recipes --yes', 'wynnsync replay --json | jq .tables'],
  load: async () => (await import('./replay-command.ts')).replayCommand,
}
