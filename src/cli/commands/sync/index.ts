import type { CommandDeclaration } from '../../command.ts'
import { concurrency, option, repeatable } from '../../options.ts'

export const sync: CommandDeclaration = {
  usage: 'sync [resource...]',
  summary: 'one pass over the named resources, or all of them',
  options: [
    concurrency,
    option('--walk', 'page by page, even where the API gives everything at once'),
    option('--limit <keys>', 'of a worklist: so many of the stalest keys (default: what the budget window allows)'),
    repeatable('--guild <name>', 'only this guild, by uuid, prefix or exact name; may be given again'),
    repeatable('--player <name>', 'only this player, by uuid or name; may be given again'),
    option('--accept', 'accept the response of the named resources although it looks implausible'),
  ],
  examples: [
    'wynnsync sync items recipes',
    'wynnsync sync guilds --limit 20',
    'wynnsync sync items --json | jq .runs[0].status',
  ],
  load: async () => (await import('./sync-command.ts')).syncCommand,
}
