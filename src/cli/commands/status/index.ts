import type { CommandDeclaration } from '../../command.ts'
import { option, wide } from '../../options.ts'

export const status: CommandDeclaration = {
  usage: 'status',
  summary: 'freshness of each resource, budgets, gaps, failures, sizes',
  options: [
    option('--watch', 'refresh every five seconds'),
    option('--drift', 'only drift: what the API sends and this program does not know, each thing once'),
    wide,
  ],
  examples: ['wynnsync status', 'wynnsync status --watch', 'wynnsync status --json | jq .gaps'],
  load: async () => (await import('./status-command.ts')).statusCommand,
}
