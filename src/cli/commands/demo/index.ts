import type { CommandDeclaration } from '../../command.ts'
import { option } from '../../options.ts'

export const demo: CommandDeclaration = {
  usage: 'demo',
  summary: 'three simulated days in an embedded database, in five paragraphs and a report; no network',
  options: [option('--seed <number>', 'another world (default: 1)')],
  notes: `Without --data-dir it is in the temporary folder of the system; what an earlier demo left in its folder is removed. --database-url,
--base-url, --json, --quiet and --log-level do nothing in it, and are refused.`,
  examples: ['npm run demo', 'wynnsync demo --seed 7', 'wynnsync demo --data-dir ./demo'],
  load: async () => (await import('./demo-command.ts')).demoCommand,
}
