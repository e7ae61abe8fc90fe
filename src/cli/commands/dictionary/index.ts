import type { CommandDeclaration } from '../../command.ts'
import { option } from '../../options.ts'

export const dictionary: CommandDeclaration = {
  usage: 'dictionary',
  summary: 'the data dictionary: every view, function, table and column',
  options: [
    option('--html', 'as a page that needs no network (default: Markdown)'),
    option('--out <file>', 'write a file instead of stdout'),
  ],
  examples: ['wynnsync dictionary | less', 'wynnsync dictionary --html --out dictionary.html'],
  load: async () => (await import('./dictionary-command.ts')).dictionaryCommand,
}
