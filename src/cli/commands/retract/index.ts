import type { CommandDeclaration } from '../../command.ts'
import { consentFlags, option } from '../../options.ts'

export const retract: CommandDeclaration = {
  usage: 'retract <source>',
  summary: 'take back an import, or the responses of a period of one resource',
  options: [
    option('--from <instant>', 'of a resource: the first instant that is taken back'),
    option('--to <instant>', 'of a resource: until before this instant'),
    ...consentFlags('what would be taken back'),
  ],
  notes: `The source is a lake, a folder of recordings or a git repository that was imported, by its place or its id, or the name of a
resource, with --from and --to. Its history is rebuilt from the responses that are left, as if the others had never come; that time is a gap
then. Recordings and lakes can be imported again. Responses of this database itself stay in ledger and archive, as rejected.`,
  examples: [
    'wynnsync retract recordings --dry-run',
    'wynnsync retract territories --from 2026-05-01T10:00Z --to 2026-05-01T12:00Z --dry-run',
  ],
  load: async () => (await import('./retract-command.ts')).retractCommand,
}
