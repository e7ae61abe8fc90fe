import type { CommandDeclaration } from '../../command.ts'
import { option } from '../../options.ts'

export const demo: CommandDeclaration = {
  usage: 'demo',
  summary: 'three simulated days in an embedded database, in five paragraphs and a report; no network',
  options: [option('--seed <number>', 'another world (default: 1)')],
  examples: ['npm run demo', 'wynnsync demo --seed 7'],
  load: async () => (await import('./demo-command.ts')).demoCommand,
}
