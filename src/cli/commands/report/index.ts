import type { CommandDeclaration } from '../../command.ts'
import { option } from '../../options.ts'

export const report: CommandDeclaration = {
  usage: 'report',
  summary: 'what happened in a period, with charts, as one self-contained HTML file',
  options: [
    option('--from <instant>', 'start (default: seven days before the end, or the first observation)'),
    option('--to <instant>', 'end (default: the latest observation)'),
    option('--guild <name>', 'the guild with a page of its own, by uuid, prefix or exact name (default: the largest)'),
    option('--tables', 'print every row of the tables (default: the first 20 of each on paper; the file has all)'),
    option('--out <file>', 'where to write it (default: report.html)'),
  ],
  examples: [
    'wynnsync report',
    'wynnsync report --from 2026-05-01 --to 2026-06-01 --out may.html',
    'wynnsync report --guild PREFIX --out guild.html',
  ],
  load: async () => (await import('./report-command.ts')).reportCommand,
}
