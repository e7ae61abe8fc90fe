import type { CommandDeclaration } from '../../command.ts'
import { acceptBaseUrl, concurrency, option } from '../../options.ts'

export const sync: CommandDeclaration = {
  usage: 'sync [resource...]',
  summary: 'one pass over the named resources, or all of them',
  options: [
    concurrency,
    option('--walk', 'page by page, even where the API gives everything at once'),
    option(
      '--limit <keys>',
      'of a worklist: at most so many keys, the stalest first, 0 for all that are due (default: what the budget window allows)',
    ),
    option('--accept', 'accept the response of the named resources although it looks implausible'),
    acceptBaseUrl,
  ],
  loadOptions: async () => (await import('./sync-command.ts')).keyFlags,
  examples: [
    'wynnsync sync items recipes',
    'wynnsync sync guilds --limit 20',
    'wynnsync sync items --json | jq .runs[0].status',
  ],
  jsonOfError: (error) => ({ runs: [], error }),
  load: async () => (await import('./sync-command.ts')).syncCommand,
}
